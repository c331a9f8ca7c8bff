import { Duplex } from 'node:stream';
import type { ByteCounter } from './idle-watch.js';
import { failFlow, flowEmit } from './flow-boundary.js';
import { resetStream, type ByteStream } from './byte-stream.js';
import type { Pacer } from './relay-throttle.js';

/**
 * A `stream.Duplex` over a byte stream, for libraries that want one (`node:http`, `node:tls`). The counter and the pacer
 * may be replaced while the stream is in use.
 */
export class ByteStreamDuplex extends Duplex {
  counter: ByteCounter | null;
  /** Asked for the pacer of the moment. Null: no limit. */
  pacer: (() => Pacer | null) | null = null;
  private readonly inner: ByteStream;
  private onDrain: (() => void) | null = null;
  private held = false;
  /** Whether the reader has room for more. */
  private wanted = true;
  /** Chunks that the pacer makes later ones wait for. */
  private waits = 0;

  constructor(inner: ByteStream, counter: ByteCounter | null = null) {
    super({ allowHalfOpen: true });
    this.inner = inner;
    this.counter = counter;
    inner.on('data', (chunk) => {
      if (this.held) return void this.destroy();
      if (this.counter) this.counter.download += chunk.length;
      this.wanted = this.push(chunk);
      if (!this.mayContinue(chunk.length, () => this.waited())) this.waits += 1;
      if (!this.wanted || this.waits > 0) inner.pause();
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
    this.wanted = true;
    if (this.waits === 0) this.inner.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    if (this.inner.destroyed) return callback(new Error('the stream underneath is closed'));
    if (this.counter) this.counter.upload += chunk.length;
    try {
      const room = this.inner.write(chunk) || this.inner.writableLength === 0;
      const next = (): void => {
        if (room || this.inner.writableLength === 0) callback();
        else this.onDrain = callback;
      };
      if (this.mayContinue(chunk.length, next)) next();
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

  private mayContinue(bytes: number, resume: () => void): boolean {
    return this.pacer?.()?.pass(bytes, resume) ?? true;
  }

  private waited(): void {
    this.waits -= 1;
    if (this.wanted && this.waits === 0) this.inner.resume();
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
