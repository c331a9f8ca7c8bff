import type { TunnelError } from '../errors.js';

export interface MuxTransportHandlers {
  data(part: Buffer): void;
  /** Called after a `send` that returned false. */
  drain(): void;
  /** Called once, whichever side ended it. */
  closed(error: TunnelError): void;
}

/** The transport below a multiplexer: an ordered byte stream in both directions. */
export interface MuxTransport {
  /** Bytes sent but not yet accepted by the system. */
  readonly writableLength: number;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  /** Starts reading. */
  start(handlers: MuxTransportHandlers): void;
  /** The transport may read from the parts while `writableLength` is not 0. False: wait for `drain`. */
  send(parts: readonly Uint8Array[]): boolean;
  /** Ends once everything was sent. */
  close(): void;
  destroy(): void;
}
