import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/**
 * A two-way byte stream as a relay needs it: what `net.Socket` and `tls.TLSSocket` have, and what a protocol's own
 * stream can offer without the cost of `stream.Duplex`. Both directions close on their own (`end` is a FIN, not a close).
 */
export interface ByteStream {
  readonly destroyed: boolean;
  /** True once `end` was emitted. */
  readonly readableEnded: boolean;
  /** Bytes written and not yet taken by the system. */
  readonly writableLength: number;
  /** Address of the machine at the other end of the connection underneath. */
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  /** False: wait for `drain` before the next write, unless `writableLength` is 0. */
  write(chunk: Uint8Array): boolean;
  /** Closes the sending direction once everything written has left. */
  end(): unknown;
  /** No `data` after this until `resume`. A stream given to a relay or a reader is paused. */
  pause(): unknown;
  resume(): unknown;
  /** Puts bytes back in front of those to come; only while paused. */
  unshift(chunk: Uint8Array): unknown;
  cork(): void;
  uncork(): void;
  destroy(error?: Error): unknown;
  /** Closes with a reset, so that the other end sees an abort and not an end. */
  resetAndDestroy?(): unknown;
  /** Called inside a `data` event: the chunk is not kept, its memory may be used again. */
  release?(): void;
  on<E extends keyof ByteStreamEvents>(event: E, listener: ByteStreamEvents[E]): unknown;
  once<E extends keyof ByteStreamEvents>(event: E, listener: ByteStreamEvents[E]): unknown;
  off<E extends keyof ByteStreamEvents>(event: E, listener: ByteStreamEvents[E]): unknown;
}

export interface ByteStreamEvents {
  data: (chunk: Buffer) => void;
  end: () => void;
  drain: () => void;
  error: (error: Error) => void;
  /** Last event, once. */
  close: () => void;
}

/** Ends `stream` so that its other end sees an abort where the transport can say so. */
export function resetStream(stream: ByteStream): void {
  if (stream.destroyed) return;
  // A TLS socket has the method and answers it with an error: its handle is not a TCP one.
  if (stream.resetAndDestroy && !(stream instanceof TLSSocket) && !isEnding(stream)) stream.resetAndDestroy();
  else stream.destroy();
}

/**
 * A socket whose FIN is on its way cannot be reset: Node waits for it for ever, and loses the socket when told to destroy it.
 * As long as bytes wait before the FIN it can, and has to be: destroyed, it sends the FIN in place of them.
 */
function isEnding(stream: ByteStream): boolean {
  return stream instanceof Socket && stream.writableEnded && !stream.writableFinished && stream.writableLength === 0;
}
