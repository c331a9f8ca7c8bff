import type { Socket } from 'node:net';
import { ChildLink, type ChildLike } from '@gatehouse/child';
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
import type { WantedState } from './edge-leases.js';

/** The part of a `ChildProcess` that supervision needs. */
export interface EdgeChild extends ChildLike<ParentMessage, EdgeMessage> {
  send(message: ParentMessage, callback: (error: Error | null) => void): boolean;
  /** Sends a message with a socket or its raw handle. */
  send(message: ParentMessage, handle: Socket, callback: (error: Error | null) => void): boolean;
}

export interface EdgeEvents {
  prepared(): void;
  /** The ports for visitors are bound. */
  bound?(): void;
  /** A listening socket; the receiver closes it. */
  socket?(socket: HandedSocket): void;
  ready(ports: EdgePorts): void;
  /** A port of the gateway itself cannot be bound; `exited` follows. */
  failed(port: PortName, code: string): void;
  /** What an administrator wants of this edge. */
  wanted?(state: WantedState): void;
  logs(entries: readonly EdgeLogEntry[]): void;
  exited(reason: string): void;
}

/** The edge is not running, died before it answered, or did not answer in time. */
export class EdgeUnavailableError extends Error {
  override readonly name = 'EdgeUnavailableError';
}

const REQUEST_MS = 2_000;
/** An edge counts as hung after 15 s without an answer, or a minute while it starts. */
const HEARTBEAT = { everyMs: 5_000, missed: 3, missedAtStart: 12 };

/** One process of an edge, from its start to its end. */
export class EdgeProcess {
  private readonly child: EdgeChild;
  private readonly events: EdgeEvents;
  private readonly link: ChildLink<EdgeCalls, ParentMessage, EdgeMessage>;

  constructor(child: EdgeChild, options: EdgeOptions, events: EdgeEvents) {
    this.child = child;
    this.events = events;
    this.link = new ChildLink<EdgeCalls, ParentMessage, EdgeMessage>(child, {
      name: 'edge',
      unavailable: (message, cause) => new EdgeUnavailableError(message, { cause }),
      errorOf: (answer) => new Error('message' in answer ? answer.message : 'the edge failed'),
      onMessage: (message, handle) => this.receive(message, handle),
      onExit: (reason) => events.exited(reason),
    });
    this.link.send({ type: 'start', options });
    this.link.watch(HEARTBEAT);
  }

  get pid(): number | null {
    return this.link.pid;
  }

  get exited(): Promise<void> {
    return this.link.exited;
  }

  /** The ports are free: bind them. `moving`: those for visitors; see `ParentMessage`. */
  bind(ports: EdgePorts | null = null, moving: number[] | null = null): void {
    this.link.send({ type: 'bind', ports, moving });
  }

  /** The port for agents is free, too. */
  admit(): void {
    this.link.send({ type: 'admit' });
  }

  /** Sends a socket that another process listens on. `done`: it may be closed here. */
  inherit({ key, handle }: HandedSocket, done: () => void): void {
    if (this.link.isGone) return done();
    this.child.send({ type: 'socket', key }, handle as unknown as Socket, done);
  }

  /** @throws EdgeUnavailableError */
  request<M extends EdgeMethod>(
    method: M,
    params: EdgeCalls[M]['params'],
    timeoutMs = REQUEST_MS,
  ): Promise<EdgeCalls[M]['result']> {
    return this.link.request(method, params, timeoutMs);
  }

  /** Lets connections end for `graceMs`; kills the process if it does not exit. */
  async stop(graceMs: number): Promise<void> {
    if (this.link.isGone) return;
    const limit = setTimeout(() => this.kill(), graceMs + 5_000);
    await this.request('shutdown', { graceMs }, graceMs + 5_000).catch(() => this.kill());
    await this.exited;
    clearTimeout(limit);
  }

  /** `reason` is passed to `exited`. */
  kill(reason: string | null = null): void {
    this.link.kill(reason);
  }

  private receive(message: Exclude<EdgeMessage, { type: 'response' }>, handle: unknown): void {
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
      case 'wanted':
        return this.events.wanted?.(message.state);
      case 'logs':
        return this.events.logs(message.entries);
    }
  }

  private takeSocket(key: string, handle: SocketHandle | null): void {
    if (!handle) return;
    if (this.events.socket) this.events.socket({ key, handle });
    else handle.close();
  }
}
