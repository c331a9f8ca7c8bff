import { type ByteStream, guarded, StreamEmitter } from '@gatehouse/net';
import { protocolError } from '../errors.js';
import { HeldBytes } from './held-bytes.js';
import { FIRST_WINDOW_BYTES } from './windows.js';

/** What a stream asks of its connection. */
export interface MuxStreamOwner {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  /** Bytes of all streams that the system has not taken. */
  readonly unsent: number;
  /** False: a `drain` will come. */
  readonly room: boolean;
  /** Bytes or an end are there to be sent; sends what there is room for. */
  offer(stream: MuxStream): void;
  /** So many bytes were read; `elapsedMs` since the last time, `window` the stream's own. Answers its window from now on. */
  consumed(stream: MuxStream, bytes: number, window: number, elapsedMs: number): number;
  /** Its first real window, the first of `FIRST_WINDOW_BYTES` included. */
  widen(stream: MuxStream): number;
  /** It is over; `reset` says whether the other side has to be told. */
  gone(stream: MuxStream, window: number, reset: boolean): void;
  /** Somebody waits for `drain`. */
  wantsDrain(stream: MuxStream): void;
}

/** One of many two-way streams of a connection: ends and resets as TCP has them, each with a window of its own. */
export class MuxStream extends StreamEmitter implements ByteStream {
  readonly id: number;
  private readonly owner: MuxStreamOwner;
  private readonly queue: Uint8Array[] = [];
  private queued = 0;
  /** What the other side may still be sent. */
  private credit = FIRST_WINDOW_BYTES;
  private window = FIRST_WINDOW_BYTES;
  /** What the other side may still send. */
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
    // A reset must not end the process between two readers.
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

  /** Whether bytes or an end wait, and may go. */
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
    // As with a socket, nothing comes out of the call itself.
    if (!this.held.isEmpty || this.endSeen) setImmediate(guarded(this, () => this.deliverHeld()));
  }

  unshift(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.held.unshift(chunk);
    // It was counted as read once.
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

  /** From here on the other side may send as much as a stream in use may. */
  widen(): void {
    if (this.destroyed || this.window > FIRST_WINDOW_BYTES) return;
    this.window = this.owner.widen(this);
    this.allowance += this.window - FIRST_WINDOW_BYTES;
    this.reportedAt = performance.now();
  }

  /** The next bytes to send, at most `limit` and what the window lets through. Null: none. */
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

  /** Whether the end is to be sent now. */
  takeEnd(): boolean {
    if (!this.endSaid || this.endSent || this.queued > 0) return false;
    this.endSent = true;
    if (this.readableEnded) queueMicrotask(() => this.finish(undefined, false));
    return true;
  }

  /** The other side gives more room. @throws TunnelError `protocol` for more than there can be. */
  granted(bytes: number): void {
    this.credit += bytes;
    if (this.credit > 0x7f_ff_ff_ff) throw protocolError('a window without an end');
    this.owner.offer(this);
  }

  /** @throws TunnelError `protocol` for bytes that were not allowed, or after the end. */
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

  /** The other side, or the line, gave up. */
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
