import type { Socket } from 'node:net';
import { guardPromise } from '@gatehouse/net';
import type { HandedSocket, SocketHandle } from '@gatehouse/net';
import type {
  EdgeCalls,
  EdgeLogEntry,
  EdgeMessage,
  EdgeMethod,
  EdgeOptions,
  EdgePorts,
  ParentMessage,
  PortName,
} from './edge-ipc.js';

/** The part of a `ChildProcess` that supervision needs. */
export interface EdgeChild {
  readonly pid?: number | undefined;
  send(message: ParentMessage, callback: (error: Error | null) => void): boolean;
  /** With a socket, or what the system has of one. */
  send(message: ParentMessage, handle: Socket, callback: (error: Error | null) => void): boolean;
  kill(signal: 'SIGKILL'): boolean;
  on(event: 'message', listener: (message: EdgeMessage, handle?: unknown) => void): unknown;
  on(event: 'exit', listener: (code: number | null, signal: string | null) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

export interface EdgeEvents {
  prepared(): void;
  /** The ports for visitors are bound. */
  bound?(): void;
  /** A socket that it listens on; whoever gets it closes it. */
  socket?(socket: HandedSocket): void;
  ready(ports: EdgePorts): void;
  /** A port of the gateway itself cannot be bound; `exited` follows. */
  failed(port: PortName, code: string): void;
  logs(entries: readonly EdgeLogEntry[]): void;
  exited(reason: string): void;
}

/** The edge is not there, died with the question open, or did not answer in time. */
export class EdgeUnavailableError extends Error {
  override readonly name = 'EdgeUnavailableError';
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

const REQUEST_MS = 2_000;
const HEARTBEAT_MS = 5_000;
/** Heartbeats missed in a row before an edge counts as hung. */
const MISSED_HEARTBEATS = 3;
/** Before the first answer: a process takes its time to start on a busy machine. */
const MISSED_AT_START = 12;

/** One process of an edge, from its start to its end. */
export class EdgeProcess {
  private readonly child: EdgeChild;
  private readonly events: EdgeEvents;
  private readonly waiting = new Map<number, Waiting>();
  private readonly heartbeat: NodeJS.Timeout;
  private nextId = 1;
  private missed = 0;
  private hasAnswered = false;
  /** Why it was killed from here. */
  private killedFor: string | null = null;
  private gone = false;
  readonly exited: Promise<void>;
  private resolveExited: () => void = () => undefined;

  constructor(child: EdgeChild, options: EdgeOptions, events: EdgeEvents) {
    this.child = child;
    this.events = events;
    this.exited = new Promise((resolve) => {
      this.resolveExited = resolve;
    });
    child.on('message', (message, handle) => this.receive(message, handle));
    child.on('exit', (code, signal) =>
      this.ended(this.killedFor ?? (signal ? `killed by ${signal}` : `exit code ${code ?? 'unknown'}`)),
    );
    child.on('error', (error) => {
      if (child.pid === undefined) this.ended(error.message);
    });
    this.send({ type: 'start', options });
    this.heartbeat = setInterval(() => guardPromise(null, this.beat()), HEARTBEAT_MS);
  }

  get pid(): number | null {
    return this.child.pid ?? null;
  }

  /** The ports are free: take them. `moving`: those for visitors; see `ParentMessage`. */
  bind(ports: EdgePorts | null = null, moving: number[] | null = null): void {
    this.send({ type: 'bind', ports, moving });
  }

  /** The port for agents is free, too. */
  admit(): void {
    this.send({ type: 'admit' });
  }

  /** Sends a socket that another process listens on. `done`: it may be closed here. */
  inherit({ key, handle }: HandedSocket, done: () => void): void {
    if (this.gone) return done();
    this.child.send({ type: 'socket', key }, handle as unknown as Socket, done);
  }

  /** @throws EdgeUnavailableError */
  request<M extends EdgeMethod>(
    method: M,
    params: EdgeCalls[M]['params'],
    timeoutMs = REQUEST_MS,
  ): Promise<EdgeCalls[M]['result']> {
    if (this.gone) return Promise.reject(new EdgeUnavailableError('The edge is not running.'));
    return new Promise((resolve, reject) => {
      const id = this.nextId++;
      const timer = setTimeout(() => {
        this.settle(id, (waiting) => waiting.reject(new EdgeUnavailableError(`no answer to ${method}`)));
      }, timeoutMs);
      this.waiting.set(id, { resolve: resolve as (result: unknown) => void, reject, timer });
      this.send({ type: 'request', id, method, params } as ParentMessage);
    });
  }

  /** Lets connections end for `graceMs`; kills the process when it does not end by itself. */
  async stop(graceMs: number): Promise<void> {
    if (this.gone) return;
    const limit = setTimeout(() => this.kill(), graceMs + 5_000);
    await this.request('shutdown', { graceMs }, graceMs + 5_000).catch(() => this.kill());
    await this.exited;
    clearTimeout(limit);
  }

  /** `reason` is what `exited` says. */
  kill(reason: string | null = null): void {
    this.killedFor ??= reason;
    this.child.kill('SIGKILL');
  }

  private send(message: ParentMessage): void {
    // Whoever waits for an answer hears of it from the end of the process.
    if (!this.gone) this.child.send(message, () => undefined);
  }

  private receive(message: EdgeMessage, handle: unknown): void {
    switch (message.type) {
      case 'bound':
        return this.events.bound?.();
      case 'socket':
        return this.takeSocket(message.key, (handle as SocketHandle | undefined) ?? null);
      case 'prepared':
        return this.events.prepared();
      case 'ready':
        return this.events.ready(message.ports);
      case 'failed':
        return this.events.failed(message.port, message.code);
      case 'logs':
        return this.events.logs(message.entries);
      case 'response':
        this.settle(message.id, (waiting) =>
          message.ok ? waiting.resolve(message.result) : waiting.reject(new Error(message.message)),
        );
    }
  }

  private takeSocket(key: string, handle: SocketHandle | null): void {
    if (!handle) return;
    if (this.events.socket) this.events.socket({ key, handle });
    else handle.close();
  }

  private async beat(): Promise<void> {
    try {
      await this.request('ping', null, HEARTBEAT_MS - 500);
      this.missed = 0;
      this.hasAnswered = true;
    } catch {
      this.missed += 1;
      if (this.missed < (this.hasAnswered ? MISSED_HEARTBEATS : MISSED_AT_START)) return;
      this.kill(`no answer for ${(this.missed * HEARTBEAT_MS) / 1000} s`);
    }
  }

  private settle(id: number, how: (waiting: Waiting) => void): void {
    const waiting = this.waiting.get(id);
    if (!waiting) return;
    this.waiting.delete(id);
    clearTimeout(waiting.timer);
    how(waiting);
  }

  private ended(reason: string): void {
    if (this.gone) return;
    this.gone = true;
    clearInterval(this.heartbeat);
    for (const id of this.waiting.keys()) {
      this.settle(id, (waiting) => waiting.reject(new EdgeUnavailableError(`The edge ended: ${reason}.`)));
    }
    this.resolveExited();
    this.events.exited(reason);
  }
}
