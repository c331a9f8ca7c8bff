import { EventEmitter } from 'node:events';
import { resetStream, reuseMemory, type ByteStream, type ByteStreamEvents } from '@gatehouse/net';
import { protocolError } from '../errors.js';
import { HeldBytes } from '../mux/held-bytes.js';
import { freeMemory } from './free-memory.js';
import { MAX_RECORD_BYTES, RecordOpener, RecordSealer, type ChannelKeys, type SealedRecord } from './sealed-records.js';

const NOTHING = Buffer.alloc(0);

/**
 * Bytes in sealed records over a transport that everybody may read and change. An end is a record of its own: a transport
 * that ends without it was cut, whoever did it, and shows as `error` and `close`, as do bytes that are not those that were
 * sent. Both directions end on their own.
 */
export class SealedStream extends EventEmitter implements ByteStream {
  private readonly inner: ByteStream;
  private readonly sealer: RecordSealer;
  private readonly opener: RecordOpener;
  /** Opened and not given on, while paused. */
  private readonly held = new HeldBytes();
  private paused = true;
  private delivering = false;
  private endSeen = false;
  private endSaid = false;
  private released = false;
  readableEnded = false;

  /** `inner` is paused, with allowHalfOpen. */
  constructor(inner: ByteStream, keys: ChannelKeys, side: keyof ChannelKeys) {
    super();
    // A reset must not end the process between two readers.
    this.on('error', () => undefined);
    this.inner = inner;
    this.sealer = new RecordSealer(keys[side]);
    this.opener = new RecordOpener(keys[side === 'agent' ? 'server' : 'agent'], (plain) => this.opened(plain));
    inner.on('data', (chunk) => this.read(chunk));
    inner.on('end', () => this.transportEnded());
    inner.on('drain', () => this.emit('drain'));
    inner.on('error', (error) => this.emit('error', error));
    inner.on('close', () => this.closed());
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

  /** From now on the transport reads into memory that is used again: not before it is in use, for it costs memory. */
  reuseMemory(): void {
    reuseMemory(this.inner);
  }

  write(chunk: Uint8Array): boolean {
    if (this.endSaid || this.inner.destroyed) return true;
    if (chunk.length === 0) return this.inner.writableLength === 0;
    let room = true;
    for (let at = 0; at < chunk.length; at += MAX_RECORD_BYTES) {
      room = this.send(this.sealer.seal(chunk.subarray(at, at + MAX_RECORD_BYTES)));
    }
    return room;
  }

  end(): void {
    if (this.endSaid || this.inner.destroyed) return;
    this.endSaid = true;
    this.send(this.sealer.seal(NOTHING));
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

  private send([head, sealed]: SealedRecord): boolean {
    const { inner } = this;
    if (!sealed) return inner.write(head);
    inner.cork();
    inner.write(head);
    const room = inner.write(sealed);
    inner.uncork();
    if (inner.writableLength === 0) freeMemory(sealed);
    return room;
  }

  private read(chunk: Buffer): void {
    // What is on its way when the stream is given up.
    if (this.inner.destroyed) return;
    try {
      this.opener.read(chunk);
    } catch (error) {
      this.abort(error as Error);
    }
    this.inner.release?.();
    // What a listener put back, and what came behind it.
    if (!this.held.isEmpty) this.deliverHeld();
  }

  private opened(plain: Buffer): void {
    if (this.inner.destroyed) return;
    if (this.endSeen) throw protocolError('a record after the end of the stream');
    if (plain.length === 0) {
      this.endSeen = true;
      if (!this.paused && !this.delivering && this.held.isEmpty) this.deliverEnd();
    } else if (this.paused || this.delivering || !this.held.isEmpty) this.held.push(plain);
    else {
      this.released = false;
      this.deliver(plain);
      if (this.released) freeMemory(plain);
    }
  }

  private deliver(plain: Uint8Array): void {
    this.delivering = true;
    this.emit('data', plain);
    this.delivering = false;
  }

  private deliverHeld(): void {
    while (!this.paused && !this.delivering && !this.inner.destroyed) {
      const part = this.held.shift();
      if (!part) break;
      this.deliver(part);
    }
    if (this.endSeen && this.held.isEmpty && !this.paused && !this.delivering) this.deliverEnd();
  }

  private deliverEnd(): void {
    if (this.readableEnded || this.inner.destroyed) return;
    this.readableEnded = true;
    this.emit('end');
  }

  private transportEnded(): void {
    if (this.endSeen) return;
    this.abort(Object.assign(new Error('the other end cut the stream'), { code: 'ECONNRESET' }));
  }

  private abort(error: Error): void {
    this.inner.destroy(error);
  }

  private closed(): void {
    this.opener.close();
    this.held.clear();
    this.emit('close');
  }
}
