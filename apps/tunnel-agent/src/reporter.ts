import type {
  AgentHost,
  AgentStatus,
  AgentTunnel,
  FlowDelta,
  TunnelError,
  TunnelLogger,
} from '@gatehouse/tunnel-kernel';
import { adviceFor } from './exit-codes.js';

/** Where the program writes to. */
export interface Output {
  write(text: string): unknown;
}

/** Output for people or log collectors. */
export interface Reporter extends TunnelLogger {
  status(status: AgentStatus, server: string): void;
  resources(tunnels: readonly AgentTunnel[], hosts: readonly AgentHost[]): void;
  carried(deltas: readonly FlowDelta[]): void;
}

type Fields = Record<string, unknown>;

/** One JSON object per line. */
export class JsonReporter implements Reporter {
  private readonly output: Output;
  private readonly now: () => Date;

  constructor(output: Output, now: () => Date) {
    this.output = output;
    this.now = now;
  }

  debug(): void {}

  info(message: string, fields?: Fields): void {
    this.line('info', message, fields);
  }

  warn(message: string, fields?: Fields): void {
    this.line('warn', message, fields);
  }

  error(message: string, fields?: Fields): void {
    this.line('error', message, fields);
  }

  status(status: AgentStatus, server: string): void {
    const reason = 'reason' in status ? reasonOf(status.reason) : {};
    const level = status.state === 'waiting' ? 'warn' : 'info';
    const { state } = status;
    const details = state === 'online' ? { client: status.clientId, via: status.via } : {};
    const retry = state === 'waiting' ? { retry_ms: Math.round(status.retryMs) } : {};
    this.line(level, state, { server, ...details, ...reason, ...retry });
  }

  resources(tunnels: readonly AgentTunnel[], hosts: readonly AgentHost[]): void {
    this.line('info', 'configured', {
      tunnels: tunnels.map(({ id, mode, entrance }) => ({ id, mode, entrance })),
      hosts: hosts.map(({ id, name }) => ({ id, name })),
    });
  }

  carried(deltas: readonly FlowDelta[]): void {
    for (const { resource, upload, download, connections } of deltas) {
      this.line('info', 'carried', { [resource.kind]: resource.id, upload, download, connections });
    }
  }

  private line(level: string, message: string, fields: Fields = {}): void {
    this.output.write(`${JSON.stringify({ time: this.now().toISOString(), level, message, ...fields })}\n`);
  }
}

function reasonOf({ code, message: reason }: TunnelError): Fields {
  const advice = adviceFor(code);
  return { code, reason, ...(advice && { advice }) };
}

/** Lines and a table for a terminal. */
export class TextReporter implements Reporter {
  private readonly output: Output;
  private readonly now: () => Date;
  private shown = '';

  constructor(output: Output, now: () => Date) {
    this.output = output;
    this.now = now;
  }

  debug(): void {}

  info(message: string, fields?: Fields): void {
    this.line(message, fields);
  }

  warn(message: string, fields?: Fields): void {
    this.line(message, fields);
  }

  error(message: string, fields?: Fields): void {
    this.line(`error: ${message}`, fields);
  }

  status(status: AgentStatus, server: string): void {
    if (status.state === 'connecting') return this.line(`connecting to ${server}`);
    if (status.state === 'online') {
      const over = status.via === 'websocket' ? ' over a WebSocket' : '';
      return this.line(`online at ${server}${over} as client ${status.clientId}`);
    }
    const { code, message } = status.reason;
    if (status.state === 'waiting') {
      this.line(`offline: ${message}; next attempt in ${(status.retryMs / 1000).toFixed(1)} s`);
    } else this.line(code === 'stopped' ? 'stopped' : `gave up: ${message}`);
    const advice = adviceFor(code);
    if (advice) this.line(`  ${advice}`);
  }

  /** Called repeatedly; printed when it changed. */
  resources(tunnels: readonly AgentTunnel[], hosts: readonly AgentHost[]): void {
    const rows = [
      ...tunnels.map((tunnel) => [
        tunnel.mode,
        tunnel.entrance || '(by key)',
        `tunnel ${tunnel.id}`,
        targetsOf(tunnel),
      ]),
      ...hosts.map((host) => ['host', host.name, `host ${host.id}`, targetsOf(host)]),
    ];
    const table = rows.length === 0 ? 'nothing is set up at the gateway yet\n' : formatTable(rows);
    if (table === this.shown) return;
    this.shown = table;
    this.output.write(`\n${table}\n`);
  }

  carried(): void {}

  private line(message: string, fields: Fields = {}): void {
    const details = Object.entries(fields).map(([name, value]) => ` ${name}=${String(value)}`);
    this.output.write(`${this.now().toTimeString().slice(0, 8)} ${message}${details.join('')}\n`);
  }
}

function targetsOf(resource: AgentTunnel | AgentHost): string {
  if ('file' in resource && resource.file) {
    return `${resource.file.path}${resource.file.readOnly ? ' (read only)' : ''}`;
  }
  if (resource.targets.length > 0) return resource.targets.map(({ host, port }) => `${host}:${port}`).join(', ');
  return ('destinations' in resource && resource.destinations.join(', ')) || 'whatever visitors ask for';
}

const TITLES = ['MODE', 'REACHED AT', 'IS', 'LEADS TO'];

function formatTable(rows: readonly string[][]): string {
  const lines = [TITLES, ...rows];
  const widths = TITLES.map((_, column) => Math.max(...lines.map((row) => row[column]?.length ?? 0)));
  return lines
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
    .join('\n')
    .concat('\n');
}
