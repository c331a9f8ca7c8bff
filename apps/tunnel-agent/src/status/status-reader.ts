import { connect } from 'node:net';
import type { AgentReport } from './agent-report.js';
import type { StatusPlace } from './status-place.js';

const ASK_MS = 2_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** `gone`: nobody listens there. `silent`: no answer, or none that can be read. */
export type Asked = AgentReport | 'gone' | 'silent';

/** What the agents of this place say, in the order of their start; those that do not answer are counted. */
export async function askAgents(place: StatusPlace): Promise<{ agents: AgentReport[]; silent: number }> {
  const asked = await Promise.all(place.listAll().map((path) => askAgent(path)));
  const agents = asked.filter((answer) => typeof answer === 'object');
  return {
    agents: agents.toSorted((a, b) => a.started_at.localeCompare(b.started_at)),
    silent: asked.filter((answer) => answer === 'silent').length,
  };
}

export function askAgent(path: string): Promise<Asked> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const parts: Buffer[] = [];
    let bytes = 0;
    const timer = setTimeout(() => socket.destroy(), ASK_MS);
    socket.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > MAX_BYTES) socket.destroy();
      else parts.push(part);
    });
    socket.on('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code === 'ECONNREFUSED' || code === 'ENOENT' ? 'gone' : 'silent'),
    );
    socket.on('end', () => resolve(readReport(Buffer.concat(parts).toString('utf8'))));
    socket.on('close', () => {
      clearTimeout(timer);
      resolve('silent');
    });
  });
}

function readReport(text: string): Asked {
  try {
    const report = JSON.parse(text) as AgentReport;
    return report.format === 1 ? report : 'silent';
  } catch {
    return 'silent';
  }
}
