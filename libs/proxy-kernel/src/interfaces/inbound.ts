import type { Socket } from 'node:net';
import type { ByteCounter, ByteStream } from '@gatehouse/net';
import type { ListenerConfig, SniffingConfig } from './config.js';
import type { ConnectionMetadata, RouteDecision } from './connection.js';
import type { KernelLogger, KernelTimeouts } from './kernel.js';
import type { Outbound } from './outbound.js';

export type CloseReason = 'client_closed' | 'remote_closed' | 'idle' | 'user' | 'shutdown' | 'error' | 'rejected';

/** How a flow ended, for its record. `error` may be anything thrown by routing, dialling or relaying. */
export interface FlowOutcome {
  closeReason: CloseReason;
  error?: unknown;
}

/** The way a flow takes, fixed for its life. */
export interface FlowRoute {
  outbound: Outbound;
  decision: RouteDecision;
  /** Same for flows that may share a connection: generation and outbound. */
  key: string;
}

/** One flow from its request to its record. Every flow ends in exactly one `finish`, its own or by `relay`. */
export interface Flow {
  readonly id: string;
  readonly metadata: ConnectionMetadata;
  readonly counter: ByteCounter;
  /** Aborted when the flow is closed from outside, its client leaves or its dial runs out of time. */
  readonly signal: AbortSignal;
  /** Decides the way. @throws DialError stage `dns` or `route`. */
  route(): Promise<FlowRoute>;
  /** Routes if that was not done, then connects. @throws DialError, RejectedError. */
  connect(): Promise<ByteStream>;
  /** Says which machine carries the flow, where `connect` was not what opened it. */
  opened(remoteAddress: string | undefined): void;
  /** Carries bytes until both ways have ended, and finishes the flow. */
  relay(client: ByteStream, remote: ByteStream, head?: Uint8Array): void;
  setHttpStatus(status: number): void;
  /** Ends a flow that is not being relayed. Later calls do nothing. */
  finish(outcome: FlowOutcome): void;
}

export interface Dispatcher {
  /**
   * Takes a request for a flow. `abort` is called when the flow is closed from outside while it is not being relayed:
   * the inbound then ends the client's side.
   */
  begin(metadata: ConnectionMetadata, abort: (reason: CloseReason) => void): Flow;
}

/** Whose credentials these are. */
export interface AuthVerdict {
  /** Null: nobody's, or they were not looked at. */
  user: string | null;
  /** Above 0: there were too many wrong guesses; right or wrong, these were not looked at. */
  retryAfterSec: number;
}

/** What an inbound works with. `config` may be exchanged while it listens; ask it for each new connection. */
export interface InboundContext {
  readonly config: ListenerConfig;
  readonly dispatcher: Dispatcher;
  readonly timeouts: KernelTimeouts;
  readonly sniffing: SniffingConfig | false;
  readonly logger: KernelLogger;
  /** `address` of the client: too many wrong guesses are refused, by address and by user. */
  authenticate(username: string, password: string, address: string): AuthVerdict;
  readonly requiresAuth: boolean;
}

/** Takes accepted client sockets of one listener. */
export interface Inbound {
  /** The socket is paused and has an error listener. */
  accept(socket: Socket): void;
  close(): void;
}
