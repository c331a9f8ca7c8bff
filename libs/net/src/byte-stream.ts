import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/**
 * A two-way byte stream as a relay needs it: the part of `net.Socket` and `tls.TLSSocket` that a protocol's own stream
 * can offer without the cost of `stream.Duplex`. Each direction closes on its own (`end` is a FIN, not a close).
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
  /** Whether the memory of what was written can be used for something else as soon as `writableLength` is 0. */
  readonly copiesWrites?: boolean;
  /** Whether that memory can be used as soon as `write` has returned, however much waits. */
  readonly copiesAtOnce?: boolean;
  /** False: wait for `drain` before the next write, unless `writableLength` is 0. */
  write(chunk: Uint8Array): boolean;
  /** Closes the sending direction once everything written has left. */
  end(): unknown;
  /** No `data` after this until `resume`. A stream given to a relay or a reader is paused. */
  pause(): unknown;
  resume(): unknown;
  /** Puts bytes back in front of what will be read next. Only while paused. */
  unshift(chunk: Uint8Array): unknown;
  cork(): void;
  uncork(): void;
  destroy(error?: Error): unknown;
  /** Closes with a reset, so that the other end sees an abort instead of an end. */
  resetAndDestroy?(): unknown;
  /** A listener calls this inside a `data` event when it does not keep the chunk, so its memory can be reused. */
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
  /** The last event; emitted once. */
  close: () => void;
}

/** Ends `stream` with an abort that the other end can see, where the transport can express one. */
export function resetStream(stream: ByteStream): void {
  if (stream.destroyed) return;
  // A TLS socket has the method, but it fails there because the handle is not a TCP one.
  if (stream.resetAndDestroy && !(stream instanceof TLSSocket) && !isEnding(stream)) stream.resetAndDestroy();
  else stream.destroy();
}

/**
 * Ends the sending direction of a stream whose other direction has ended. A TCP socket with nothing left to send is closed
 * at once: the other end sees the same FIN, and one call of the system and the work around it are saved.
 */
export function endLast(stream: ByteStream): void {
  const isIdleTcp = stream instanceof Socket && !(stream instanceof TLSSocket) && stream.readableEnded;
  if (isIdleTcp && stream.writableLength === 0 && !stream.writableEnded) stream.destroy();
  else stream.end();
}

/**
 * Node cannot reset a socket whose FIN is being sent: it waits forever, and loses the socket on a later `destroy`. While
 * bytes are still queued before the FIN a reset works and is needed: `destroy` would send the FIN instead of those bytes.
 */
function isEnding(stream: ByteStream): boolean {
  return stream instanceof Socket && stream.writableEnded && !stream.writableFinished && stream.writableLength === 0;
}
