import type { TunnelError } from '../errors.js';

export interface MuxTransportHandlers {
  data(part: Buffer): void;
  /** After a `send` that answered false. */
  drain(): void;
  /** Once, whoever ended it. */
  closed(error: TunnelError): void;
}

/** What a multiplexer runs over: bytes in order, both ways. */
export interface MuxTransport {
  /** Bytes sent and not yet taken by the system. */
  readonly writableLength: number;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  /** Begins to read. */
  start(handlers: MuxTransportHandlers): void;
  /** The parts may still be read from as long as `writableLength` is not 0. False: wait for `drain`. */
  send(parts: readonly Uint8Array[]): boolean;
  /** Ends once everything sent has left. */
  close(): void;
  destroy(): void;
}
