import { ChildLink, RestartWaits, type ChildLike, type Clock } from '@gatehouse/child';
import { traceCall } from '@gatehouse/platform';
import { KernelConfigError } from '@gatehouse/proxy-kernel';
import type {
  ChildMessage,
  EventBatch,
  KernelCalls,
  KernelMethod,
  KernelReady,
  LiveTraffic,
  ParentMessage,
  RemoteError,
} from '../common/kernel-ipc.js';
import { KernelUnavailableError } from './kernel-errors.js';

/** The kernel's process, or a connection to a separate kernel that behaves like one. */
export type KernelChild = ChildLike<ParentMessage, ChildMessage>;

export interface KernelProcessOptions {
  fork(): KernelChild;
  clock: Clock;
  onReady(ready: KernelReady): void;
  onEvents(batch: EventBatch): void;
  /** Traffic as it flows, after a request to `watch`. */
  onLive?(traffic: LiveTraffic): void;
  /** The kernel has records that, as far as it knows, were not stored. */
  onUnstored?(spools: readonly string[]): void;
  onExit(reason: string): void;
  /** The kernel keeps running when this process disconnects. */
  leaveRunning?: boolean;
  /** First wait before a restart; doubles with every death in a row, up to `maxRestartMs`. */
  restartMs?: number;
  maxRestartMs?: number;
  /** A child that ran for this long resets the waits. */
  stableMs?: number;
  readyTimeoutMs?: number;
  heartbeatMs?: number;
}

export type KernelProcessState = 'stopped' | 'starting' | 'running' | 'restarting';

const DEFAULTS = {
  restartMs: 50,
  maxRestartMs: 800,
  stableMs: 10_000,
  /** On a busy machine a process takes long to start. */
  readyTimeoutMs: 60_000,
  heartbeatMs: 5_000,
  leaveRunning: false,
  onUnstored: () => undefined,
  onLive: () => undefined,
};
const REQUEST_TIMEOUT_MS = 10_000;
/** Missed heartbeats in a row before a kernel counts as hung. A large configuration keeps it busy for seconds. */
const MISSED_HEARTBEATS = 6;

type KernelLink = ChildLink<KernelCalls, ParentMessage, ChildMessage>;

/**
 * Starts the kernel's process, watches it, and starts another when it dies or hangs. Tests pass in the launcher and the
 * clock.
 */
export class KernelProcess {
  readonly #options: Required<KernelProcessOptions>;
  readonly #restartWaits: RestartWaits;
  #current: { child: KernelChild; link: KernelLink } | null = null;
  #state: KernelProcessState = 'stopped';
  #restarts = 0;
  #wanted = false;
  #cancelTimer: () => void = () => undefined;

  constructor(options: KernelProcessOptions) {
    this.#options = { ...DEFAULTS, ...options };
    const { restartMs: firstMs, maxRestartMs: lastMs, stableMs, clock } = this.#options;
    this.#restartWaits = new RestartWaits({ firstMs, lastMs, stableMs, now: () => clock.now() });
  }

  get state(): KernelProcessState {
    return this.#state;
  }

  get pid(): number | null {
    return this.#current?.link.pid ?? null;
  }

  get restarts(): number {
    return this.#restarts;
  }

  start(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    this.#spawn();
  }

  /**
   * Sends a request to the kernel and returns its answer.
   * @throws KernelUnavailableError when it is down or does not answer in time; KernelConfigError as raised by the
   * kernel.
   */
  request<M extends KernelMethod>(
    method: M,
    params: KernelCalls[M]['params'],
    timeoutMs = REQUEST_TIMEOUT_MS,
  ): Promise<KernelCalls[M]['result']> {
    const link = this.#current?.link;
    if (!link || this.#state !== 'running') {
      return Promise.reject(new KernelUnavailableError('The kernel is not running.'));
    }
    return traceCall('kernel', method, () => link.request(method, params, timeoutMs));
  }

  /** Gives flows `graceMs` to end, then ends the process, by force if necessary. */
  async stop(graceMs = 1_000): Promise<void> {
    this.#wanted = false;
    this.#cancelTimer();
    if (!this.#current) {
      this.#state = 'stopped';
      return;
    }
    const { child, link } = this.#current;
    // A kernel that cannot answer is killed below.
    if (this.#options.leaveRunning) child.kill('SIGTERM');
    else await this.request('shutdown', { graceMs }, graceMs + 2_000).catch(() => link.kill());
    const cancelKill = this.#options.clock.after(1_000, () => link.kill());
    await link.exited;
    cancelKill();
  }

  #spawn(): void {
    const { fork, clock, readyTimeoutMs } = this.#options;
    this.#state = 'starting';
    this.#restartWaits.started();
    const child = fork();
    const link: KernelLink = new ChildLink<KernelCalls, ParentMessage, ChildMessage>(child, {
      name: 'kernel',
      clock,
      unavailable: (message, cause) => new KernelUnavailableError(message, { cause }),
      errorOf: (answer) => ('error' in answer ? fromRemoteError(answer.error) : new Error('the kernel failed')),
      onMessage: (message) => this.#receive(link, message),
      onExit: (reason) => this.#ended(reason),
    });
    this.#current = { child, link };
    this.#after(readyTimeoutMs, () => link.kill(`not ready after ${readyTimeoutMs / 1000} s`));
  }

  #receive(link: KernelLink, message: Exclude<ChildMessage, { type: 'response' }>): void {
    if (link !== this.#current?.link) return;
    if (message.type === 'events') return this.#options.onEvents(message);
    if (message.type === 'live') return this.#options.onLive(message.traffic);
    if (message.type === 'left') return this.#options.onUnstored(message.spools);
    this.#state = 'running';
    this.#cancelTimer();
    link.watch({ everyMs: this.#options.heartbeatMs, missed: MISSED_HEARTBEATS });
    this.#options.onReady(message);
  }

  #ended(reason: string): void {
    this.#cancelTimer();
    this.#current = null;
    this.#state = this.#wanted ? 'restarting' : 'stopped';
    if (!this.#wanted) return;
    this.#restarts++;
    this.#after(this.#restartWaits.died(), () => this.#spawn());
    this.#options.onExit(reason);
  }

  #after(ms: number, run: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.after(ms, run);
  }
}

function fromRemoteError(error: RemoteError): Error {
  if (error.path === undefined) return Object.assign(new Error(error.message), { name: error.name });
  const prefix = `${error.path}: `;
  const message = error.message.startsWith(prefix) ? error.message.slice(prefix.length) : error.message;
  return new KernelConfigError(error.path, message);
}
