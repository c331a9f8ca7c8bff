import { KernelConfigError } from '@gatehouse/proxy-kernel';
import { KernelUnavailableError } from './kernel-errors.js';
import type {
  ChildMessage,
  EventBatch,
  KernelCalls,
  KernelMethod,
  ParentMessage,
  RemoteError,
} from '../common/kernel-ipc.js';

/** The part of a `ChildProcess` that supervision needs. */
export interface ChildLike {
  readonly pid?: number | undefined;
  send(message: ParentMessage, callback: (error: Error | null) => void): boolean;
  kill(signal: 'SIGKILL' | 'SIGTERM'): boolean;
  on(event: 'message', listener: (message: ChildMessage) => void): unknown;
  on(event: 'exit', listener: (code: number | null, signal: string | null) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

export interface Clock {
  now(): number;
  /** Returns what cancels it. */
  after(ms: number, run: () => void): () => void;
}

export interface KernelProcessOptions {
  fork(): ChildLike;
  clock: Clock;
  onReady(): void;
  onEvents(batch: EventBatch): void;
  onExit(reason: string): void;
  /** The kernel goes on when nobody wants this process's end of it. */
  leaveRunning?: boolean;
  /** First wait before a restart; doubles with every death in a row, up to `maxRestartMs`. */
  restartMs?: number;
  maxRestartMs?: number;
  /** A child that lived this long starts the series of waits anew. */
  stableMs?: number;
  readyTimeoutMs?: number;
  requestTimeoutMs?: number;
  heartbeatMs?: number;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
  cancelTimeout: () => void;
}

export type KernelProcessState = 'stopped' | 'starting' | 'running' | 'restarting';

const DEFAULTS = {
  restartMs: 50,
  maxRestartMs: 800,
  stableMs: 10_000,
  readyTimeoutMs: 10_000,
  requestTimeoutMs: 10_000,
  heartbeatMs: 5_000,
  leaveRunning: false,
};
/** Heartbeats missed in a row before a kernel counts as hung. */
const MISSED_HEARTBEATS = 3;

/** Starts the kernel's process, watches it, and starts another when it dies or hangs. Fork and clock are handed in. */
export class KernelProcess {
  readonly #options: Required<KernelProcessOptions>;
  readonly #waiting = new Map<number, Waiting>();
  #child: ChildLike | null = null;
  #state: KernelProcessState = 'stopped';
  #nextId = 1;
  #startedAt = 0;
  #deathsInRow = 0;
  #restarts = 0;
  #missed = 0;
  #wanted = false;
  #cancelTimer: () => void = () => undefined;

  constructor(options: KernelProcessOptions) {
    this.#options = { ...DEFAULTS, ...options };
  }

  get state(): KernelProcessState {
    return this.#state;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
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
   * Asks the kernel something.
   * @throws KernelUnavailableError when it is down or does not answer in time; KernelConfigError as the kernel raised it.
   */
  request<M extends KernelMethod>(
    method: M,
    params: KernelCalls[M]['params'],
    timeoutMs = this.#options.requestTimeoutMs,
  ): Promise<KernelCalls[M]['result']> {
    const child = this.#child;
    if (!child || this.#state !== 'running') {
      return Promise.reject(new KernelUnavailableError('The kernel is not running.'));
    }
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      const fail = (error: Error): void => this.#settle(id, (waiting) => waiting.reject(error));
      const cancelTimeout = this.#options.clock.after(timeoutMs, () =>
        fail(new KernelUnavailableError(`The kernel did not answer ${method} within ${timeoutMs} ms.`)),
      );
      this.#waiting.set(id, { resolve: resolve as (result: unknown) => void, reject, cancelTimeout });
      child.send({ type: 'request', id, method, params } as ParentMessage, (error) => {
        if (error) fail(new KernelUnavailableError('The kernel cannot be reached.', { cause: error }));
      });
    });
  }

  /** Lets flows end for `graceMs`, then the process; kills it when it does not go by itself. */
  async stop(graceMs = 1_000): Promise<void> {
    this.#wanted = false;
    this.#cancelTimer();
    const child = this.#child;
    if (!child) {
      this.#state = 'stopped';
      return;
    }
    const gone = new Promise<void>((resolve) => child.on('exit', () => resolve()));
    // A kernel that cannot answer is ended by the kill below.
    if (this.#options.leaveRunning) child.kill('SIGTERM');
    else await this.request('shutdown', { graceMs }, graceMs + 2_000).catch(() => child.kill('SIGKILL'));
    const cancelKill = this.#options.clock.after(1_000, () => child.kill('SIGKILL'));
    await gone;
    cancelKill();
  }

  #spawn(): void {
    this.#state = 'starting';
    this.#missed = 0;
    this.#startedAt = this.#options.clock.now();
    const child = this.#options.fork();
    this.#child = child;
    let ended = false;
    const end = (reason: string): void => {
      if (ended) return;
      ended = true;
      this.#ended(reason);
    };
    child.on('message', (message) => this.#receive(child, message));
    child.on('exit', (code, signal) => end(signal ? `killed by ${signal}` : `exit code ${code ?? 'unknown'}`));
    child.on('error', (error) => {
      if (child.pid === undefined) end(error.message);
    });
    this.#after(this.#options.readyTimeoutMs, () => child.kill('SIGKILL'));
  }

  #receive(child: ChildLike, message: ChildMessage): void {
    if (child !== this.#child) return;
    switch (message.type) {
      case 'ready':
        this.#state = 'running';
        this.#watch(child);
        this.#options.onReady();
        return;
      case 'events':
        this.#options.onEvents(message);
        return;
      case 'response':
        this.#settle(message.id, (waiting) =>
          message.ok ? waiting.resolve(message.result) : waiting.reject(fromRemoteError(message.error)),
        );
    }
  }

  #watch(child: ChildLike): void {
    this.#after(this.#options.heartbeatMs, () => {
      this.request('ping', null, this.#options.heartbeatMs)
        .then(() => (this.#missed = 0))
        .catch(() => this.#missed++)
        .finally(() => {
          if (child !== this.#child || !this.#wanted) return;
          if (this.#missed >= MISSED_HEARTBEATS) child.kill('SIGKILL');
          else this.#watch(child);
        })
        .catch(() => undefined);
    });
  }

  #ended(reason: string): void {
    const { clock, stableMs, restartMs, maxRestartMs, onExit } = this.#options;
    this.#cancelTimer();
    this.#child = null;
    this.#state = this.#wanted ? 'restarting' : 'stopped';
    // Settling deletes from the map, which its iterator allows.
    for (const id of this.#waiting.keys()) {
      this.#settle(id, (waiting) => waiting.reject(new KernelUnavailableError(`The kernel ended: ${reason}.`)));
    }
    if (!this.#wanted) return;
    this.#deathsInRow = clock.now() - this.#startedAt >= stableMs ? 0 : this.#deathsInRow + 1;
    this.#restarts++;
    const wait = Math.min(restartMs * 2 ** Math.max(0, this.#deathsInRow - 1), maxRestartMs);
    this.#after(wait, () => this.#spawn());
    onExit(reason);
  }

  #after(ms: number, run: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.after(ms, run);
  }

  #settle(id: number, how: (waiting: Waiting) => void): void {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    waiting.cancelTimeout();
    how(waiting);
  }
}

function fromRemoteError(error: RemoteError): Error {
  if (error.path === undefined) return Object.assign(new Error(error.message), { name: error.name });
  const prefix = `${error.path}: `;
  const message = error.message.startsWith(prefix) ? error.message.slice(prefix.length) : error.message;
  return new KernelConfigError(error.path, message);
}
