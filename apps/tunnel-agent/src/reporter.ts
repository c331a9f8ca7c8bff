import type { HostRequestView } from '@gatehouse/contracts';
import type {
  AgentHost,
  AgentStatus,
  AgentTunnel,
  FlowDelta,
  TunnelError,
  TunnelLogger,
} from '@gatehouse/tunnel-kernel';
import { adviceFor, reasonFor } from './exit-codes.js';
import type { Published } from './publish/publication.js';
import { qrLines } from './qr-lines.js';
import { agentWords, type AgentWords } from './messages/index.js';
import { formatTable } from './status/text-table.js';

/** Where the program writes to. */
export interface Output {
  write(text: string): unknown;
}

/** Output for people or log collectors. */
export interface Reporter extends TunnelLogger {
  /** The gateway is reached through this proxy. */
  proxied(proxy: string): void;
  status(status: AgentStatus, server: string): void;
  resources(tunnels: readonly AgentTunnel[], hosts: readonly AgentHost[]): void;
  carried(deltas: readonly FlowDelta[]): void;
  published(all: readonly Published[]): void;
  /** A request of a visitor to what was published. */
  request(request: HostRequestView): void;
}

type Fields = Record<string, unknown>;

/** One JSON object per line, in English whatever the language of the terminal. */
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

  proxied(proxy: string): void {
    this.line('info', 'proxied', { proxy, udp: false });
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

  published(all: readonly Published[]): void {
    for (const { address, target } of all) this.line('info', 'published', { address, target });
  }

  request({ method, path, host, status, error, failure, visitor_ip, ended_ms }: HostRequestView): void {
    const reason = error ?? failure;
    this.line('info', 'request', {
      method,
      host,
      path,
      status,
      ...(reason !== null && { reason }),
      visitor_ip,
      ms: ended_ms,
    });
  }

  private line(level: string, message: string, fields: Fields = {}): void {
    this.output.write(`${JSON.stringify({ time: this.now().toISOString(), level, message, ...fields })}\n`);
  }
}

function reasonOf({ code, message: reason }: TunnelError): Fields {
  const advice = adviceFor(code, agentWords('en'));
  return { code, reason, ...(advice && { advice }) };
}

/** Lines and a table for a terminal. */
export class TextReporter implements Reporter {
  private readonly output: Output;
  private readonly now: () => Date;
  private readonly words: AgentWords;
  private shown = '';

  constructor(output: Output, now: () => Date, words: AgentWords = agentWords('en')) {
    this.output = output;
    this.now = now;
    this.words = words;
  }

  debug(): void {}

  info(message: string, fields?: Fields): void {
    this.line(message, fields);
  }

  warn(message: string, fields?: Fields): void {
    this.line(message, fields);
  }

  error(message: string, fields?: Fields): void {
    this.line(this.words.text('status.error', { message }), fields);
  }

  proxied(proxy: string): void {
    this.line(this.words.text('status.proxied', { proxy }));
  }

  status(status: AgentStatus, server: string): void {
    const { words } = this;
    if (status.state === 'connecting') return this.line(words.text('status.connecting', { server }));
    if (status.state === 'online') {
      const key = status.via === 'websocket' ? 'status.onlineByWebSocket' : 'status.online';
      return this.line(words.text(key, { server, client: String(status.clientId) }));
    }
    const { code } = status.reason;
    const reason = reasonFor(status.reason, words);
    if (status.state === 'waiting') {
      const seconds = (status.retryMs / 1000).toFixed(1);
      this.line(words.text('status.offline', { reason, seconds }));
    } else this.line(code === 'stopped' ? words.text('status.stopped') : words.text('status.gaveUp', { reason }));
    const advice = adviceFor(code, words);
    if (advice) this.line(`  ${advice}`);
  }

  /** Called repeatedly; printed when it changed. */
  resources(tunnels: readonly AgentTunnel[], hosts: readonly AgentHost[]): void {
    const { words } = this;
    const rows = [
      ...tunnels.map((tunnel) => [
        tunnel.mode,
        tunnel.entrance || words.text('table.byKey'),
        words.text('table.tunnel', { id: String(tunnel.id) }),
        targetsOf(tunnel, words),
      ]),
      ...hosts.map((host) => [
        'host',
        host.name,
        words.text('table.host', { id: String(host.id) }),
        targetsOf(host, words),
      ]),
    ];
    const table =
      rows.length === 0
        ? `${words.text('table.empty')}\n`
        : formatTable([COLUMNS.map((column) => words.text(`table.${column}`)), ...rows]);
    if (table === this.shown) return;
    this.shown = table;
    this.output.write(`\n${table}\n`);
  }

  carried(): void {}

  published(all: readonly Published[]): void {
    for (const { address, target } of all) {
      const said = this.words.text('publish.leadsTo', { address, target });
      const code = qrLines(address).map((line) => `  ${line}\n`);
      this.output.write(`\n  ${said}\n\n${code.join('')}`);
    }
    this.output.write(`\n  ${this.words.text('publish.howToEnd')}\n\n`);
  }

  request({ method, path, status, error, failure, visitor_ip: visitor, ended_ms: ms }: HostRequestView): void {
    const reason = error ?? failure;
    const took = ms === null ? '' : ` ${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
    this.line(`${status ?? '---'} ${method} ${path}${took} ${visitor}${reason === null ? '' : ` (${reason})`}`);
  }

  private line(message: string, fields: Fields = {}): void {
    const details = Object.entries(fields).map(([name, value]) => ` ${name}=${String(value)}`);
    this.output.write(`${this.now().toTimeString().slice(0, 8)} ${message}${details.join('')}\n`);
  }
}

function targetsOf(resource: AgentTunnel | AgentHost, words: AgentWords): string {
  if ('file' in resource && resource.file) {
    const { path, readOnly } = resource.file;
    return readOnly ? words.text('table.readOnly', { path }) : path;
  }
  if (resource.targets.length > 0) return resource.targets.map(({ host, port }) => `${host}:${port}`).join(', ');
  return ('destinations' in resource && resource.destinations.join(', ')) || words.text('table.anything');
}

const COLUMNS = ['mode', 'reachedAt', 'is', 'leadsTo'] as const;
