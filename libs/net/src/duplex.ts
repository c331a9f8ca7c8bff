import { Duplex } from 'node:stream';
import type { ByteCounter } from './idle-watch.js';
import { failFlow, flowEmit } from './flow-boundary.js';
import { resetStream, type ByteStream } from './byte-stream.js';

/**
 * A `stream.Duplex` over a byte stream, for libraries that want one (`node:http`, `node:tls`). The counter may be replaced
 * while the stream is in use.
 */
export class ByteStreamDuplex extends Duplex {
  counter: ByteCounter | null;
  private readonly inner: ByteStream;
  private onDrain: (() => void) | null = null;
  private held = false;

  constructor(inner: ByteStream, counter: ByteCounter | null = null) {
    super({ allowHalfOpen: true });
    this.inner = inner;
    this.counter = counter;
    inner.on('data', (chunk) => {
      if (this.held) return void this.destroy();
      if (this.counter) this.counter.download += chunk.length;
      if (!this.push(chunk)) inner.pause();
    });
    inner.on('end', () => (this.held ? this.destroy() : this.push(null)));
    inner.on('error', (error) => this.destroy(error));
    inner.on('close', () => this.innerClosed());
    inner.on('drain', () => this.drained());
  }

  get remoteAddress(): string | undefined {
    return this.inner.remoteAddress;
  }

  /** Marks the stream as idle until `use` is called: any data or end in between destroys it. False: it has already ended. */
  hold(): boolean {
    if (this.destroyed || this.inner.destroyed || this.inner.readableEnded || this.readableLength > 0) return false;
    this.held = true;
    this.inner.resume();
    return true;
  }

  use(): void {
    this.held = false;
  }

  /** `node:http` and `node:tls` call these on a socket. The owner of the byte stream underneath has set them already. */
  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {
    this.inner.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    if (this.inner.destroyed) return callback(new Error('the stream underneath is closed'));
    if (this.counter) this.counter.upload += chunk.length;
    try {
      if (this.inner.write(chunk) || this.inner.writableLength === 0) callback();
      else this.onDrain = callback;
    } catch (error) {
      // Node's TLS calls this outside of any event that has a boundary.
      failFlow(this, 'ByteStreamDuplex write', error);
    }
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.inner.end();
    callback();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (error) resetStream(this.inner);
    else this.inner.destroy();
    this.drained();
    callback(error);
  }

  private drained(): void {
    const { onDrain } = this;
    this.onDrain = null;
    onDrain?.();
  }

  private innerClosed(): void {
    if (!this.readableEnded && !this.inner.readableEnded) this.destroy(new Error('the connection was closed'));
    else if (!this.writableFinished) this.destroy();
  }
}

ByteStreamDuplex.prototype.emit = flowEmit;
