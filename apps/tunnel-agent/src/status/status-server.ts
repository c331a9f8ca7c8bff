import { randomUUID } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import type { AgentReport } from './agent-report.js';
import type { StatusPlace } from './status-place.js';
import { askAgent } from './status-reader.js';

/** Questions at a time. */
const MAX_QUESTIONS = 8;
const ANSWER_MS = 2_000;

/** Answers every connection with the report, and reads nothing. */
export class StatusServer {
  private readonly server: Server;
  private readonly report: () => AgentReport;
  private closed = false;

  constructor(report: () => AgentReport) {
    this.report = report;
    this.server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.setTimeout(ANSWER_MS, () => socket.destroy());
      socket.end(JSON.stringify(this.report()));
    });
    this.server.maxConnections = MAX_QUESTIONS;
  }

  /** @throws Error if the agent cannot be asked */
  async open(place: StatusPlace): Promise<void> {
    await removeStale(place);
    if (this.closed) return;
    const path = place.prepare(randomUUID().slice(0, 8));
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(path, () => {
        this.server.off('error', reject).on('error', () => undefined);
        resolve();
      });
    });
    if (process.platform !== 'win32') chmodSync(path, 0o600);
    this.server.unref();
  }

  close(): void {
    this.closed = true;
    // Node removes the socket's file.
    this.server.close();
  }
}

/** Sockets of agents that were killed. */
async function removeStale(place: StatusPlace): Promise<void> {
  if (process.platform === 'win32') return;
  const remove = async (path: string): Promise<void> => {
    if ((await askAgent(path)) === 'gone') rmSync(path, { force: true });
  };
  await Promise.all(place.list().map(remove));
}
