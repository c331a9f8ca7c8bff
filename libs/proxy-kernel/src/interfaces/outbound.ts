import type { Duplex } from 'node:stream';
import type { ErrorKind, ErrorStage } from './connection.js';

/** Where an outbound is to connect. */
export interface Target {
  /** Domain or address literal. */
  host: string;
  port: number;
}

export interface DialContext {
  /** Aborted when the client leaves or the dial runs out of time. */
  signal: AbortSignal;
}

/** A UDP association through an outbound. */
export interface PacketConnection {
  send(payload: Buffer, target: Target): void;
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
   * Opens a byte stream to the target.
   * @throws DialError with the stage that failed.
   */
  connect(target: Target, context: DialContext): Promise<Duplex>;
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
