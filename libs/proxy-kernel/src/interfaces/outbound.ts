import type { ByteStream } from '@gatehouse/net';
import type { ErrorKind, ErrorStage } from './connection.js';

/** Where an outbound is to connect. */
export interface Target {
  /** Domain or address literal. */
  host: string;
  port: number;
  /** Addresses that routing resolved for a domain. Only an outbound that connects by itself may use them. */
  ips?: readonly string[];
  /** Position of the rule that sent the flow here; absent where none did. */
  ruleIndex?: number;
  /** Only addresses of the Internet may be connected to from this machine. */
  publicOnly?: boolean;
}

/**
 * A step on the way to a node's server: its name resolved, TCP connected, TLS with it done, and, where its protocol
 * lets it speak before it has the target, its first answer.
 */
export type DialStage = 'dns' | 'connect' | 'tls' | 'greeting';

export interface DialContext {
  /** Aborted when the client leaves or the dial runs out of time. */
  signal: AbortSignal;
  /** Told as each step ends, in order; a name that is an address has no `dns`. Through a chain once a hop, but for `greeting`, which is the last node's own. */
  onStage?: ((stage: DialStage) => void) | undefined;
}

/** A UDP association through an outbound. */
export interface PacketConnection {
  send(payload: Buffer, target: Target): void;
  /**
   * The address that datagrams to a target go to, where this machine looks names up; absent where a node does.
   * @throws DialError stage `dns`.
   */
  resolve?(target: Target): Promise<string>;
  onMessage(listener: (payload: Buffer, from: Target) => void): void;
  onClose(listener: (error?: Error) => void): void;
  close(): void;
}

/** One way out. Made from a node by the registry; holds no connection state between dials. */
export interface Outbound {
  readonly tag: string;
  readonly type: string;
  readonly udp: boolean;
  /**
   * Opens a byte stream to the target, paused. `ByteStreamDuplex` of `@gatehouse/net` makes a Duplex of it.
   * @throws DialError with the stage that failed; RejectedError from an outbound that refuses by design.
   */
  connect(target: Target, context: DialContext): Promise<ByteStream>;
  /** @throws DialError; only where `udp`. */
  openPackets?(context: DialContext): Promise<PacketConnection>;
  close?(): void;
}

export class DialError extends Error {
  readonly stage: ErrorStage;
  readonly kind: ErrorKind;
  constructor(stage: ErrorStage, kind: ErrorKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'DialError';
    this.stage = stage;
    this.kind = kind;
  }
}

/** The policy says no. `drop`: the client is to get no answer at all. */
export class RejectedError extends Error {
  readonly drop: boolean;
  constructor(drop: boolean, message = 'rejected by policy') {
    super(message);
    this.name = 'RejectedError';
    this.drop = drop;
  }
}

/** What was asked for must not be connected to from this machine. */
export class ForbiddenTargetError extends RejectedError {
  constructor(message: string) {
    super(false, message);
    this.name = 'ForbiddenTargetError';
  }
}
