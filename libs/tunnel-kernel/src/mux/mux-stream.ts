import { type ByteStream, guarded, StreamEmitter } from '@gatehouse/net';
import { protocolError } from '../errors.js';
import { HeldBytes } from './held-bytes.js';
import { FIRST_WINDOW_BYTES } from './windows.js';

/** What a stream needs of its connection. */
export interface MuxStreamOwner {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  /** Bytes of all streams that the system has not accepted. */
  readonly unsent: number;
  /** False: a `drain` event will follow. */
  readonly room: boolean;
  /** The stream has bytes or an end to send; sends as much as possible. */
  offer(stream: MuxStream): void;
  /**
   * The reader consumed `bytes`; `elapsedMs` since the last time, `window` is the stream's current one. Returns its new
   * window.
   */
  consumed(stream: MuxStream, bytes: number, window: number, elapsedMs: number): number;
  /** The stream's first full window, including the initial `FIRST_WINDOW_BYTES`. */
  widen(stream: MuxStream): number;
  /** The stream is over; `reset` says whether to send a reset. */
  gone(stream: MuxStream, window: number, reset: boolean): void;
  /** The stream waits for `drain`. */
  wantsDrain(stream: MuxStream): void;
}

/** One of many two-way streams of a connection. Ends and resets work as in TCP; each stream has its own window. */
export class MuxStream extends StreamEmitter implements ByteStream {
  readonly id: number;
  private readonly owner: MuxStreamOwner;
  private readonly queue: Uint8Array[] = [];
  private queued = 0;
  /** Bytes that may still be sent. */
  private credit = FIRST_WINDOW_BYTES;
  private window = FIRST_WINDOW_BYTES;
  /** Bytes that the other side may still send. */
  private allowance = FIRST_WINDOW_BYTES;
  private unreported = 0;
  private reportedAt = 0;
  private readonly held = new HeldBytes();
  private paused = true;
  private delivering = false;
  private endSaid = false;
  private endSent = false;
  private endSeen = false;
  readableEnded = false;
  destroyed = false;

  constructor(id: number, owner: MuxStreamOwner) {
    super();
    this.id = id;
    this.owner = owner;
    // A reset must not end the process while no reader is attached.
    this.on('error', () => undefined);
  }

  get writableLength(): number {
    return this.queued + this.owner.unsent;
  }

  get remoteAddress(): string | undefined {
    return this.owner.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.owner.remotePort;
  }

  /** Whether bytes or an end are waiting and may be sent. */
  get sendable(): boolean {
    return this.queued > 0 ? this.credit > 0 : this.endSaid && !this.endSent;
  }

  get isEmpty(): boolean {
    return this.queued === 0;
  }

  write(chunk: Uint8Array): boolean {
    if (this.destroyed || this.endSaid) return true;
    if (chunk.length > 0) {
      this.queue.push(chunk);
      this.queued += chunk.length;
      this.owner.offer(this);
    }
    if (this.queued === 0 && this.owner.room) return true;
    this.owner.wantsDrain(this);
    return false;
  }

  end(): void {
    if (this.endSaid || this.destroyed) return;
    this.endSaid = true;
    this.owner.offer(this);
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    if (!this.paused || this.destroyed) return;
    this.paused = false;
    // As with a socket, no event is emitted during the call.
    if (!this.held.isEmpty || this.endSeen) setImmediate(guarded(this, () => this.deliverHeld()));
  }

  unshift(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.held.unshift(chunk);
    // These bytes were counted as read before.
    this.unreported -= chunk.length;
  }

  cork(): void {}

  uncork(): void {}

  destroy(error?: Error): void {
    if (this.destroyed) return;
    this.finish(error, !(this.endSent && this.endSeen));
  }

  resetAndDestroy(): void {
    this.destroy();
  }

  /** From now on the other side may send as much as on any active stream. */
  widen(): void {
    if (this.destroyed || this.window > FIRST_WINDOW_BYTES) return;
    this.window = this.owner.widen(this);
    this.allowance += this.window - FIRST_WINDOW_BYTES;
    this.reportedAt = performance.now();
  }

  /** The next bytes to send, within `limit` and the window. Null: none. */
  takeBytes(limit: number): Uint8Array | null {
    const [first] = this.queue;
    if (!first || this.credit === 0) return null;
    const bytes = first.subarray(0, Math.min(limit, this.credit));
    if (bytes.length === first.length) this.queue.shift();
    else this.queue[0] = first.subarray(bytes.length);
    this.queued -= bytes.length;
    this.credit -= bytes.length;
    return bytes;
  }

  /** Whether to send the end now. */
  takeEnd(): boolean {
    if (!this.endSaid || this.endSent || this.queued > 0) return false;
    this.endSent = true;
    if (this.readableEnded) queueMicrotask(() => this.finish(undefined, false));
    return true;
  }

  /** The other side enlarges the window. @throws TunnelError `protocol` if it becomes impossibly large. */
  granted(bytes: number): void {
    this.credit += bytes;
    if (this.credit > 0x7f_ff_ff_ff) throw protocolError('a window without an end');
    this.owner.offer(this);
  }

  /** @throws TunnelError `protocol` for bytes beyond the window, or after the end. */
  announced(bytes: number): void {
    this.allowance -= bytes;
    if (this.endSeen || this.allowance < 0) throw protocolError('bytes that the stream has no room for');
  }

  received(part: Buffer): void {
    if (this.paused || this.delivering || !this.held.isEmpty) this.held.push(part);
    else this.deliver(part);
  }

  /** @throws TunnelError `protocol` for a second end. */
  ended(): void {
    if (this.endSeen) throw protocolError('a second end of a stream');
    this.endSeen = true;
    if (this.held.isEmpty && !this.paused && !this.delivering) this.deliverEnd();
  }

  /** The other side or the connection aborted the stream. */
  aborted(error: Error): void {
    this.finish(error, false);
  }

  private deliver(part: Buffer): void {
    this.delivering = true;
    this.emit('data', part);
    this.delivering = false;
    this.report(part.length);
  }

  private deliverHeld(): void {
    while (!this.paused && !this.destroyed && !this.delivering) {
      const part = this.held.shift();
      if (!part) break;
      this.deliver(part);
    }
    if (this.endSeen && this.held.isEmpty && !this.paused) this.deliverEnd();
  }

  private deliverEnd(): void {
    if (this.readableEnded || this.destroyed) return;
    this.readableEnded = true;
    this.emit('end');
    if (this.endSent) this.finish(undefined, false);
  }

  private report(bytes: number): void {
    this.unreported += bytes;
    if (this.unreported < this.window / 2 || this.destroyed || this.endSeen) return;
    const now = performance.now();
    const before = this.window;
    this.window = this.owner.consumed(this, this.unreported, before, now - this.reportedAt);
    this.allowance += this.unreported + this.window - before;
    this.unreported = 0;
    this.reportedAt = now;
  }

  private finish(error: Error | undefined, reset: boolean): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.queue.length = 0;
    this.queued = 0;
    this.held.clear();
    this.owner.gone(this, this.window, reset);
    process.nextTick(() => {
      if (error) this.emit('error', error);
      this.emit('close');
    });
  }
}
