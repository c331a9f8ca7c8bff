import type { ByteStream } from '@gatehouse/net';
import { NextTurn, setFlowTimeout } from '@gatehouse/net';
import { TunnelError } from '../errors.js';
import { FrameCutter } from './frame-cutter.js';
import { writeHeader, FRAME_HEADER_BYTES, SESSION_BYTES, type DatagramTransport, type FrameHandler } from './frames.js';

const BATCH_BYTES = 64 * 1024;
/** A buffer that is fuller than this is passed on; from a smaller one the bytes are copied. */
const SMALL_BATCH_BYTES = 4096;
/** Datagrams that wait for the network; more are dropped, because late ones are worthless. */
const MAX_UNSENT_BYTES = 512 * 1024;
/** How long the last datagrams may take to be sent. */
const LAST_WORD_MS = 1000;

export interface StreamTransportHandlers {
  frame: FrameHandler;
  /** Called once. Null: the other side or the network ended it. */
  closed(error: TunnelError | null): void;
}

/** Frames over a data channel, for when UDP does not get through. An unreadable frame ends this transport only. */
export class StreamTransport implements DatagramTransport {
  private readonly handlers: StreamTransportHandlers;
  private readonly cutter: FrameCutter;
  private stream: ByteStream | null = null;
  private batch: Buffer | null = null;
  private used = 0;
  private readonly flushing = new NextTurn(null, () => this.flush());
  private ended = false;
  /** Frames dropped because the buffer was full. */
  dropped = 0;

  constructor(handlers: StreamTransportHandlers) {
    this.handlers = handlers;
    this.cutter = new FrameCutter(handlers.frame);
  }

  get closed(): boolean {
    return this.ended;
  }

  /** Whether it has its data channel. Before that, frames wait in one buffer, or are dropped. */
  get attached(): boolean {
    return this.stream !== null && !this.ended;
  }

  /** `head`: bytes already read from the stream. Waiting frames are sent first. */
  attach(stream: ByteStream, head?: Buffer): void {
    if (this.ended) return void stream.destroy();
    this.stream = stream;
    stream.on('data', (chunk) => this.read(chunk));
    stream.on('end', () => this.end(null));
    stream.on('error', () => this.end(null));
    stream.on('close', () => this.end(null));
    if (head && head.length > 0) this.read(head);
    if (stream.destroyed) return this.end(null);
    stream.resume();
    this.flush();
  }

  put(type: number, session: number, head: Uint8Array, payload: Uint8Array): void {
    if (this.ended) return;
    const bytes = FRAME_HEADER_BYTES + SESSION_BYTES + head.length + payload.length;
    if (this.used + bytes > (this.batch?.length ?? 0)) {
      if (this.used > 0) this.flush();
      // Until a channel is attached, only one buffer of frames waits.
      if (this.used > 0) return void (this.dropped += 1);
      if (!this.batch || bytes > this.batch.length) this.batch = Buffer.allocUnsafeSlow(Math.max(BATCH_BYTES, bytes));
    }
    if (!this.batch || (this.stream?.writableLength ?? 0) > MAX_UNSENT_BYTES) return void (this.dropped += 1);
    const at = writeHeader(this.batch, this.used, type, session, head.length + payload.length);
    this.batch.set(head, at);
    this.batch.set(payload, at + head.length);
    this.used += bytes;
    this.flushing.schedule();
  }

  /** Sends waiting frames first. */
  close(): void {
    const { stream } = this;
    if (this.ended) return;
    this.flush();
    stream?.end();
    const timer = setFlowTimeout(stream, () => stream?.destroy(), LAST_WORD_MS);
    stream?.once('close', () => clearTimeout(timer));
    this.finish(null);
  }

  private flush(): void {
    const { stream, batch, used } = this;
    if (!stream || !batch || used === 0 || this.ended) return;
    this.used = 0;
    if (used < SMALL_BATCH_BYTES) stream.write(Buffer.from(batch.subarray(0, used)));
    else {
      stream.write(batch.subarray(0, used));
      // The stream still reads from the batch unless the system took it at once.
      if (stream.writableLength > 0) this.batch = null;
    }
  }

  private read(chunk: Buffer): void {
    if (this.ended) return;
    try {
      this.cutter.read(chunk);
    } catch (error) {
      if (!(error instanceof TunnelError)) throw error;
      this.end(error);
    }
  }

  private end(error: TunnelError | null): void {
    if (this.ended) return;
    this.stream?.destroy();
    this.finish(error);
  }

  private finish(error: TunnelError | null): void {
    this.ended = true;
    this.batch = null;
    this.used = 0;
    this.handlers.closed(error);
  }
}
