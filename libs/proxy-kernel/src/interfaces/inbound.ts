import type { Socket } from 'node:net';
import type { ByteCounter, ByteStream, Pacer, Throttle } from '@gatehouse/net';
import type { ListenerConfig, SniffingConfig } from './config.js';
import type { ConnectionMetadata, RouteDecision, Wishes } from './connection.js';
import type { KernelLogger, KernelTimeouts } from './kernel.js';
import type { Outbound } from './outbound.js';

/** `user_limit`: the limits of the flow's user, or that this user does not exist any longer. */
export type CloseReason =
  'client_closed' | 'remote_closed' | 'idle' | 'user' | 'user_limit' | 'shutdown' | 'error' | 'rejected';

/** Limits the bytes of a flow. */
export interface FlowThrottle extends Throttle, Pacer {
  /** For a datagram, which is carried whole or not at all. */
  tryTake(bytes: number): boolean;
}

/** How a flow ended, for its record. `error` may be anything thrown by routing, dialling or relaying. */
export interface FlowOutcome {
  closeReason: CloseReason;
  error?: unknown;
}

/** The route of a flow, fixed for its life. */
export interface FlowRoute {
  outbound: Outbound;
  decision: RouteDecision;
  /** Equal for flows that can share a connection: generation and outbound. */
  key: string;
}

/**
 * One flow from its request to its record. Every flow ends with exactly one `finish`, called by the inbound or by
 * `relay`.
 */
export interface Flow {
  readonly id: string;
  readonly metadata: ConnectionMetadata;
  readonly counter: ByteCounter;
  /** For bytes that `relay` does not carry. Null: no limit. It may change while the flow is open. */
  readonly throttle: FlowThrottle | null;
  /** Aborted when the flow is closed from outside, its client leaves or its dial runs out of time. */
  readonly signal: AbortSignal;
  /** Decides the route. @throws DialError stage `dns` or `route`. */
  route(): Promise<FlowRoute>;
  /** Routes if that has not been done, then connects. @throws DialError, RejectedError. */
  connect(): Promise<ByteStream>;
  /** Sets the remote address of a flow that `connect` did not open. */
  opened(remoteAddress: string | undefined): void;
  /** Relays bytes until both directions have ended, and finishes the flow. */
  relay(client: ByteStream, remote: ByteStream, head?: Uint8Array): void;
  setHttpStatus(status: number): void;
  /** Ends a flow that is not being relayed. Later calls do nothing. */
  finish(outcome: FlowOutcome): void;
}

export interface Dispatcher {
  /**
   * Begins a flow. `abort` is called if the flow is closed from outside while it is not being relayed; the inbound then
   * ends the client's side.
   */
  begin(metadata: ConnectionMetadata, abort: (reason: CloseReason) => void): Flow;
}

/** Who a client is, and what it asks for. */
export interface Login {
  /** Null on an open listener. */
  user: string | null;
  wishes?: Wishes;
}

/** The result of checking credentials. */
export interface AuthVerdict {
  /** Null: they belong to no user, ask for what cannot be understood, or were not checked. */
  login: Login | null;
  /** What is wrong with the wishes of a user whose password is right. */
  problem?: string;
  /** Above 0: after too many wrong guesses these credentials were not checked. */
  retryAfterSec: number;
}

/** What an inbound works with. `config` may be replaced while it listens, so read it for each new connection. */
export interface InboundContext {
  readonly config: ListenerConfig;
  /** That the listener is bound to. */
  readonly port: number;
  readonly dispatcher: Dispatcher;
  readonly timeouts: KernelTimeouts;
  readonly sniffing: SniffingConfig | false;
  readonly logger: KernelLogger;
  /** @param address the client's: wrong guesses are limited by address and by user. */
  authenticate(username: string, password: string, address: string): AuthVerdict;
  readonly requiresAuth: boolean;
}

/** Serves accepted client sockets of one listener. */
export interface Inbound {
  /** The socket is paused and has an error listener. */
  accept(socket: Socket): void;
  close(): void;
}
