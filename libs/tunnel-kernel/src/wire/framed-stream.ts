import { EventEmitter } from 'node:events';
import type { ByteStream, ByteStreamEvents } from '@gatehouse/net';

/** Length of what follows, big endian; 0 is the end of the direction. */
const HEADER_BYTES = 3;
const MAX_FRAME_BYTES = 0xff_ff_ff;
const END = Buffer.alloc(HEADER_BYTES);
const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Bytes in frames, for transports that cannot tell an end from an abort: Node's TLS answers a lost `close_notify` and a
 * reset under it with a plain end. Here an end is said, and a transport that ends without it was cut: `error`, then
 * `close`. Both directions end on their own.
 */
export class FramedStream extends EventEmitter implements ByteStream {
  private readonly inner: ByteStream;
  private header = NOTHING;
  /** Bytes of the frame being read that have not come yet. */
  private remaining = 0;
  /** Read from the transport and not given on, while paused. */
  private held = NOTHING;
  private paused = true;
  private endSeen = false;
  private endSaid = false;
  private innerEnded = false;
  readableEnded = false;

  /** `inner` is paused, with allowHalfOpen. */
  constructor(inner: ByteStream) {
    super();
    this.inner = inner;
    inner.on('data', (chunk) => this.take(chunk));
    inner.on('end', () => this.transportEnded());
    inner.on('drain', () => this.emit('drain'));
    inner.on('error', (error) => this.emit('error', error));
    inner.on('close', () => this.emit('close'));
  }

  get destroyed(): boolean {
    return this.inner.destroyed;
  }

  get writableLength(): number {
    return this.inner.writableLength;
  }

  get remoteAddress(): string | undefined {
    return this.inner.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.inner.remotePort;
  }

  write(chunk: Uint8Array): boolean {
    if (chunk.length === 0) return this.inner.writableLength === 0;
    if (chunk.length > MAX_FRAME_BYTES) {
      this.write(chunk.subarray(0, MAX_FRAME_BYTES));
      return this.write(chunk.subarray(MAX_FRAME_BYTES));
    }
    const header = Buffer.allocUnsafe(HEADER_BYTES);
    header.writeUIntBE(chunk.length, 0, HEADER_BYTES);
    this.inner.cork();
    this.inner.write(header);
    const room = this.inner.write(chunk);
    this.inner.uncork();
    return room;
  }

  end(): void {
    if (this.endSaid || this.inner.destroyed) return;
    this.endSaid = true;
    this.inner.write(END);
    this.inner.end();
  }

  pause(): void {
    this.paused = true;
    this.inner.pause();
  }

  resume(): void {
    if (!this.paused || this.inner.destroyed) return;
    this.paused = false;
    const { held } = this;
    this.held = NOTHING;
    this.take(held);
    // A listener may have paused again.
    if (!this.paused) this.inner.resume();
  }

  unshift(chunk: Uint8Array): void {
    const headers: Uint8Array[] = [];
    // What is held is in the middle of a frame or before one: the bytes put back become a frame of their own before it.
    if (this.remaining > 0) {
      this.remaining += chunk.length;
      headers.push(chunk, this.held);
    } else {
      const header = Buffer.allocUnsafe(HEADER_BYTES);
      header.writeUIntBE(chunk.length, 0, HEADER_BYTES);
      headers.push(header, chunk, this.header, this.held);
      this.header = NOTHING;
    }
    this.held = Buffer.concat(headers);
  }

  cork(): void {
    this.inner.cork();
  }

  uncork(): void {
    this.inner.uncork();
  }

  destroy(error?: Error): void {
    this.inner.destroy(error);
  }

  /** The transport ends without the end having been said. */
  resetAndDestroy(): void {
    this.inner.destroy();
  }

  override on<E extends keyof ByteStreamEvents>(event: E, listener: ByteStreamEvents[E]): this {
    return super.on(event, listener);
  }

  override once<E extends keyof ByteStreamEvents>(event: E, listener: ByteStreamEvents[E]): this {
    return super.once(event, listener);
  }

  override off<E extends keyof ByteStreamEvents>(event: E, listener: ByteStreamEvents[E]): this {
    return super.off(event, listener);
  }

  private take(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.endSeen) {
      if (this.paused) {
        // After what a listener put back.
        this.held = Buffer.concat([this.held, chunk.subarray(at)]);
        return;
      }
      at += this.remaining > 0 ? this.giveOn(chunk, at) : this.readHeader(chunk, at);
    }
    if (at < chunk.length) this.destroy(new Error('bytes after the end of the stream'));
    else if (this.innerEnded && this.held.length === 0) this.checkEnd();
  }

  private giveOn(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.remaining);
    this.remaining -= end - at;
    this.emit('data', at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end));
    return end - at;
  }

  private readHeader(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + HEADER_BYTES - this.header.length);
    const part = chunk.subarray(at, end);
    this.header = this.header.length === 0 ? part : Buffer.concat([this.header, part]);
    if (this.header.length === HEADER_BYTES) {
      this.remaining = this.header.readUIntBE(0, HEADER_BYTES);
      this.header = NOTHING;
      if (this.remaining === 0) this.sawEnd();
    }
    return end - at;
  }

  private sawEnd(): void {
    this.endSeen = true;
    this.readableEnded = true;
    this.emit('end');
  }

  private transportEnded(): void {
    this.innerEnded = true;
    if (this.held.length === 0) this.checkEnd();
  }

  private checkEnd(): void {
    if (this.endSeen || this.inner.destroyed) return;
    this.inner.destroy(Object.assign(new Error('the other end cut the stream'), { code: 'ECONNRESET' }));
  }
}
