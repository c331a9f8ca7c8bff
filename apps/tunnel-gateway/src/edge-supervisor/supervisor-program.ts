import { existsSync } from 'node:fs';
import { ChannelError, ChannelPeer, ControlServer, type ControlLink } from '@gatehouse/net';
import type { EdgeLogEntry, EdgeStatus } from '../common/edge-ipc.js';
import { EdgeUnavailableError, type EdgeChild } from '../common/edge-process.js';
import { EdgeSupervisor, type FirstStart } from './edge-supervisor.js';
import { openChannelKey } from '../common/channel-key.js';
import { CHANNEL_LIMITS } from '../common/channel-limits.js';
import type {
  ForwardedMethod,
  SupervisorCalls,
  SupervisorMethod,
  SupervisorNotes,
  SupervisorStart,
  SupervisorState,
} from '../common/supervisor-calls.js';

export interface SupervisorProgramOptions {
  start: SupervisorStart;
  launch(): EdgeChild;
  /** Receives log lines while no administration is connected; absent: the last of them are kept for one. */
  onLogs?(entries: readonly EdgeLogEntry[]): void;
  /** Everything has ended: the process should exit. */
  onEnd(code: number): void;
}

/** How long the first edge may take before a taken port is only retried. */
const FIRST_START_MS = 10_000;
/** How long a supervisor whose edge could not start waits to report that. */
const FAREWELL_MS = 5_000;
const WATCH_MS = 250;
/** How long an administration may take to read the last message. */
const LAST_WORDS_MS = 500;
const MAX_KEPT_LINES = 1_000;
const FORWARDED: ReadonlySet<string> = new Set<ForwardedMethod>([
  'status',
  'agents',
  'tunnels',
  'checkedTargets',
  'connections',
  'requests',
  'replay',
  'checkTarget',
  'kick',
  'peers',
]);

/**
 * Keeps an edge running, with or without an administration: tunnels do not depend on the service's process.
 * Administrations connect over its channel.
 */
export class SupervisorProgram {
  private readonly options: SupervisorProgramOptions;
  private readonly supervisor: EdgeSupervisor;
  private readonly server: ControlServer;
  private readonly peers = new Set<ChannelPeer>();
  private optionsId: string | null;
  private watched: number | null;
  private failed: SupervisorState['failed'] = null;
  private kept: EdgeLogEntry[] = [];
  private watching: NodeJS.Timeout | null = null;
  private ending: Promise<void> | null = null;
  /** The edge has ended completely. */
  private over = false;

  constructor(options: SupervisorProgramOptions) {
    const { start } = options;
    this.options = options;
    this.optionsId = start.optionsId;
    this.watched = start.watch;
    this.server = new ControlServer({
      keys: start.channelKeys.map(openChannelKey),
      onLink: (link) => this.accept(link),
      limits: CHANNEL_LIMITS,
    });
    this.supervisor = new EdgeSupervisor({
      launch: () => options.launch(),
      edge: start.edge,
      onLogs: (entries) => this.log(entries),
      onExit: (reason) => this.died(reason),
      onChange: () => this.notify('state', this.state()),
    });
  }

  /** Resolves when the outcome of the edge's first start is known. @throws Error of `listen`, of the channel. */
  async start(): Promise<FirstStart> {
    await this.server.listen(this.options.start.channel);
    this.watch();
    const first = await this.supervisor.start(FIRST_START_MS);
    if (first.outcome !== 'port') return first;
    this.failed = { port: first.port, code: first.code };
    this.notify('state', this.state());
    setTimeout(() => this.endNow(), this.peers.size > 0 ? 0 : FAREWELL_MS).unref();
    return first;
  }

  /** Replaces the process because of a signal; failures are logged. */
  async renew(): Promise<void> {
    try {
      await this.supervisor.replace();
    } catch (error) {
      this.log([{ level: 'error', message: 'the edge was not replaced', fields: { error: String(error) } }]);
    }
  }

  /** @throws EdgeUnavailableError */
  status(): Promise<EdgeStatus> {
    return this.supervisor.request('status', null);
  }

  /** Lets connections end for `graceMs`. The process exits afterwards. */
  end(graceMs: number): Promise<void> {
    // A second request without a grace period wins over the first.
    if (this.ending && graceMs === 0) this.supervisor.hurry();
    this.ending ??= this.close(graceMs);
    return this.ending;
  }

  private endNow(): void {
    this.end(0).catch(() => this.options.onEnd(1));
  }

  /**
   * Detects that the parent of the service or the home has disappeared: the platform was stopped or removed without a
   * message.
   */
  private watch(): void {
    const { channel } = this.options.start;
    const path = 'path' in channel && process.platform !== 'win32' ? channel.path : null;
    this.watching = setInterval(() => {
      const { watched } = this;
      const unwanted = (watched !== null && !isRunning(watched)) || (path !== null && !existsSync(path));
      if (unwanted) this.endNow();
    }, WATCH_MS);
  }

  private async close(graceMs: number): Promise<void> {
    if (this.watching && graceMs === 0) clearInterval(this.watching);
    await this.supervisor.stop(graceMs);
    // The answer to `stop` is sent first.
    setImmediate(() => {
      this.over = true;
      // An administration that loses this connection looks for another edge, or for the next program at this address.
      this.server.stopListening();
      for (const peer of this.peers) peer.finish();
      this.leaveSoon();
      setTimeout(() => this.options.onEnd(this.exitCode), LAST_WORDS_MS);
    });
  }

  private get exitCode(): number {
    return this.failed ? 1 : 0;
  }

  /** The administration reads the message and closes the connection. */
  private leaveSoon(): void {
    const leave = (): void => this.options.onEnd(this.exitCode);
    if (this.peers.size === 0) this.server.close().then(leave, leave);
  }

  private accept(link: ControlLink): void {
    const peer: ChannelPeer = new ChannelPeer(link, {
      perform: (method, params) => this.perform(method as SupervisorMethod, params),
      noted: () => undefined,
      closed: () => {
        this.peers.delete(peer);
        if (this.over) this.leaveSoon();
      },
    });
    this.peers.add(peer);
    if (this.kept.length > 0) peer.note('logs', this.kept.splice(0));
  }

  private async perform(method: SupervisorMethod, params: unknown): Promise<unknown> {
    if (FORWARDED.has(method)) return this.forward(method as ForwardedMethod, params);
    if (method === 'hello') return this.hello(params as SupervisorCalls['hello']['params']);
    if (method === 'replace') return this.replace(params as SupervisorCalls['replace']['params']);
    if (method === 'stop') return this.end((params as SupervisorCalls['stop']['params']).graceMs);
    throw new ChannelError('unknown', 'no such request');
  }

  private hello({ watch }: SupervisorCalls['hello']['params']): SupervisorCalls['hello']['result'] {
    if (watch !== undefined) this.watched = watch;
    return { protocol: 1, pid: process.pid, optionsId: this.optionsId, state: this.state() };
  }

  private async replace({ start }: SupervisorCalls['replace']['params']): Promise<null> {
    await this.unlessUnavailable(this.supervisor.replace(start?.edge));
    if (start) this.optionsId = start.optionsId;
    return null;
  }

  private forward(method: ForwardedMethod, params: unknown): Promise<unknown> {
    const { supervisor } = this;
    if (method === 'kick') return this.unlessUnavailable(supervisor.kick(params as SupervisorCalls['kick']['params']));
    if (method === 'requests') {
      return this.unlessUnavailable(supervisor.requests(params as SupervisorCalls['requests']['params']));
    }
    if (method !== 'connections') return this.unlessUnavailable(supervisor.request(method, params as never));
    return this.unlessUnavailable(supervisor.connections(params as SupervisorCalls['connections']['params']));
  }

  private async unlessUnavailable<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof EdgeUnavailableError) throw new ChannelError('unavailable', error.message);
      throw error;
    }
  }

  private state(): SupervisorState {
    const { pid, ports } = this.supervisor;
    return { edge: pid, ports, failed: this.failed };
  }

  private died(reason: string): void {
    if (this.peers.size === 0) this.log([{ level: 'warn', message: `the edge ended (${reason})` }]);
    else this.notify('exited', reason);
  }

  private log(entries: readonly EdgeLogEntry[]): void {
    if (entries.length === 0) return;
    if (this.options.onLogs) return this.options.onLogs(entries);
    if (this.peers.size > 0) return this.notify('logs', [...entries]);
    this.kept = [...this.kept, ...entries].slice(-MAX_KEPT_LINES);
  }

  private notify<N extends keyof SupervisorNotes>(name: N, value: SupervisorNotes[N]): void {
    for (const peer of this.peers) peer.note(name, value);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
