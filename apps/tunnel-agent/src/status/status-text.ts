import type { AgentReport, ResourceReport } from './agent-report.js';
import type { AgentWords } from '../messages/index.js';
import { formatTable } from './text-table.js';

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const COLUMNS = ['mode', 'reachedAt', 'is', 'leadsTo', 'up', 'down', 'connections'] as const;
/** What an agent says may come from a gateway, and must not move the cursor or turn the line round. */
const CONTROL = /[\p{Cc}\p{Cf}]/gu;

/** The reports for people. */
export function statusText(agents: readonly AgentReport[], words: AgentWords): string {
  const blocks = agents.map((agent) => `${headOf(agent, words)}\n${bodyOf(agent, words)}`);
  return blocks.join('\n');
}

function headOf(agent: AgentReport, words: AgentWords): string {
  const { gateway, proxy, pid, version, via, client_id: client, open_connections: open, traffic } = agent;
  const state = words.text(`agents.${agent.state}`, {
    way: via === 'websocket' ? 'WebSocket' : 'TCP',
    client: String(client),
    since: localTime(agent.since),
  });
  const lines = [
    `${clean(gateway)}  ${state}`,
    `  ${words.text('agents.program', { pid: String(pid), version: clean(version), started: localTime(agent.started_at) })}`,
    ...(proxy === null ? [] : [`  ${words.text('agents.proxy', { proxy: clean(proxy) })}`]),
    `  ${words.text('agents.traffic', {
      up: bytesText(traffic.upload),
      down: bytesText(traffic.download),
      connections: String(traffic.connections),
      open: String(open),
    })}`,
  ];
  const { last_error: last } = agent;
  if (last) lines.push(`  ${words.text('agents.lastError', { at: localTime(last.at), reason: clean(last.message) })}`);
  return `${lines.join('\n')}\n`;
}

function bodyOf({ resources, omitted }: AgentReport, words: AgentWords): string {
  if (resources.length === 0) return `  ${words.text('table.empty')}\n`;
  const rows = [COLUMNS.map((column) => words.text(`table.${column}`)), ...resources.map((one) => rowOf(one, words))];
  const more = omitted === 0 ? '' : `  ${words.text('agents.omitted', { count: String(omitted) })}\n`;
  return formatTable(rows) + more;
}

function rowOf(resource: ResourceReport, words: AgentWords): string[] {
  const { kind, id, mode, address, leads_to: target, upload, download, connections } = resource;
  return [
    clean(mode),
    clean(address) || words.text('table.byKey'),
    words.text(`table.${kind}`, { id: String(id) }),
    clean(target) || words.text('table.anything'),
    bytesText(upload),
    bytesText(download),
    String(connections),
  ];
}

function clean(text: string): string {
  return text.replaceAll(CONTROL, '?');
}

/** `2026-11-21 10:00:00` in the time zone of the terminal. */
function localTime(text: string): string {
  const at = new Date(text);
  const day = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, '0'));
  return `${day.join('-')} ${at.toTimeString().slice(0, 8)}`;
}

function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}
