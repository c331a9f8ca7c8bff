import type { ByteStream } from '@gatehouse/net';
import type { ErrorKind, ErrorStage } from './connection.js';

/** The destination of an outbound's connection. */
export interface Target {
  /** Domain or address literal. */
  host: string;
  port: number;
  /** Addresses that routing resolved for a domain. Only an outbound that connects directly may use them. */
  ips?: readonly string[];
  /** Position of the rule that matched; absent without one. */
  ruleIndex?: number;
  /** This machine may connect to public addresses only. */
  publicOnly?: boolean;
}

/**
 * A step on the way to a node's server: name resolved, TCP connected, TLS established, or the first answer of a
 * protocol that speaks before it knows the target.
 */
export type DialStage = 'dns' | 'connect' | 'tls' | 'greeting';

export interface DialContext {
  /** Aborted when the client leaves or the dial runs out of time. */
  signal: AbortSignal;
  /**
   * Called as each step ends, in order. A server given by address has no `dns`. Through a chain each step occurs once a
   * hop, except `greeting`, which is the last node's own.
   */
  onStage?: ((stage: DialStage) => void) | undefined;
}

/** A UDP association through an outbound. */
export interface PacketConnection {
  send(payload: Buffer, target: Target): void;
  /**
   * The address that datagrams to a target go to, if this machine resolves names; absent if a node does.
   * @throws DialError stage `dns`.
   */
  resolve?(target: Target): Promise<string>;
  onMessage(listener: (payload: Buffer, from: Target) => void): void;
  onClose(listener: (error?: Error) => void): void;
  close(): void;
}

/** A way out of the kernel. The registry creates it from a node; it keeps no state of a connection between dials. */
export interface Outbound {
  readonly tag: string;
  readonly type: string;
  readonly udp: boolean;
  /**
   * Opens a byte stream to the target, paused. `ByteStreamDuplex` of `@gatehouse/net` turns it into a Duplex.
   * @throws DialError with the stage that failed; RejectedError from an outbound that refuses by design.
   */
  connect(target: Target, context: DialContext): Promise<ByteStream>;
  /** Only if `udp`. @throws DialError. */
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

/** Refused by policy. `drop`: the client gets no answer at all. */
export class RejectedError extends Error {
  readonly drop: boolean;
  constructor(drop: boolean, message = 'rejected by policy') {
    super(message);
    this.name = 'RejectedError';
    this.drop = drop;
  }
}

/** This machine must not connect to the requested address. */
export class ForbiddenTargetError extends RejectedError {
  constructor(message: string) {
    super(false, message);
    this.name = 'ForbiddenTargetError';
  }
}

/** The limits of the user do not allow the flow. The message is for the user. */
export class UserLimitError extends RejectedError {
  /** Whether a later flow may succeed, when others of the user have ended. */
  readonly isTemporary: boolean;
  constructor(message: string, isTemporary = false) {
    super(false, message);
    this.name = 'UserLimitError';
    this.isTemporary = isTemporary;
  }
}

/** No node of the present ones is what the user asked for. The message is for the user. */
export class NoSuchWayError extends DialError {
  constructor(message: string) {
    super('route', 'unreachable', message);
    this.name = 'NoSuchWayError';
  }
}
