import { EventEmitter } from 'node:events';
import { resetStream, type ByteStream, type ByteStreamEvents } from '@gatehouse/net';
import { protocolError } from '../errors.js';
import { HeldBytes } from '../mux/held-bytes.js';

/**
 * A stream inside the bytes of another, whose ends are said inside: a transport that ends without one was cut, whoever did
 * it (the system ends the sockets of a killed process as if it had meant to), and shows as `error` and `close`. Both
 * directions end on their own.
 */
export abstract class LayeredStream extends EventEmitter implements ByteStream {
  protected readonly inner: ByteStream;
  /** Read and not given on, while paused. */
  private readonly held = new HeldBytes();
  private paused = true;
  private delivering = false;
  private released = false;
  private endSeen = false;
  private endSaid = false;
  readableEnded = false;

  /** `inner` is paused, with allowHalfOpen. */
  constructor(inner: ByteStream) {
    super();
    this.inner = inner;
    // A reset must not end the process between two readers.
    this.on('error', () => undefined);
    inner.on('data', (chunk) => this.take(chunk));
    inner.on('end', () => this.transportEnded());
    inner.on('drain', () => this.emit('drain'));
    inner.on('error', (error) => this.emit('error', error));
    inner.on('close', () => this.closed());
  }

  /** Sends bytes, one or more; keeps none of them once the system has taken them. Answers as `write` does. */
  protected abstract send(chunk: Uint8Array): boolean;

  protected abstract sendEnd(): void;

  /** Takes `chunk` apart: calls `received` and `ended`. An error that it throws ends the stream. */
  protected abstract read(chunk: Buffer): void;

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
    if (this.endSaid || this.inner.destroyed) return true;
    return chunk.length === 0 ? this.inner.writableLength === 0 : this.send(chunk);
  }

  end(): void {
    if (this.endSaid || this.inner.destroyed) return;
    this.endSaid = true;
    this.sendEnd();
    this.inner.end();
  }

  /** Called inside a `data` event: the chunk is not kept. */
  release(): void {
    this.released = true;
  }

  pause(): void {
    this.paused = true;
    this.inner.pause();
  }

  resume(): void {
    if (!this.paused || this.inner.destroyed) return;
    this.paused = false;
    this.deliverHeld();
    // A listener may have paused again.
    if (!this.paused) this.inner.resume();
  }

  unshift(chunk: Uint8Array): void {
    if (chunk.length > 0) this.held.unshift(chunk);
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

  resetAndDestroy(): void {
    resetStream(this.inner);
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

  /** Bytes of the stream. True: they were given on, and nobody keeps them. @throws TunnelError `protocol`. */
  protected received(bytes: Buffer): boolean {
    if (this.inner.destroyed) return true;
    if (this.endSeen) throw protocolError('bytes after the end of the stream');
    if (this.paused || this.delivering || !this.held.isEmpty) {
      this.held.push(bytes);
      return false;
    }
    this.released = false;
    this.deliver(bytes);
    return this.released;
  }

  /** @throws TunnelError `protocol`. */
  protected ended(): void {
    if (this.endSeen) throw protocolError('a second end of the stream');
    this.endSeen = true;
    this.deliverEnd();
  }

  private take(chunk: Buffer): void {
    // What was on its way when the stream was given up.
    if (this.inner.destroyed) return;
    try {
      this.read(chunk);
    } catch (error) {
      this.inner.destroy(error as Error);
    }
    // What a listener put back, and what came behind it.
    if (!this.held.isEmpty) this.deliverHeld();
  }

  private deliver(bytes: Uint8Array): void {
    this.delivering = true;
    this.emit('data', bytes);
    this.delivering = false;
  }

  private deliverHeld(): void {
    while (!this.paused && !this.delivering && !this.inner.destroyed) {
      const part = this.held.shift();
      if (!part) break;
      this.deliver(part);
    }
    this.deliverEnd();
  }

  private deliverEnd(): void {
    const waits = this.paused || this.delivering || !this.held.isEmpty;
    if (!this.endSeen || waits || this.readableEnded || this.inner.destroyed) return;
    this.readableEnded = true;
    this.emit('end');
  }

  private transportEnded(): void {
    if (this.endSeen) return;
    this.inner.destroy(Object.assign(new Error('the other end cut the stream'), { code: 'ECONNRESET' }));
  }

  protected closed(): void {
    this.held.clear();
    this.emit('close');
  }
}
