import { Socket } from 'node:net';
import { type ByteStream, setFlowTimeout, CarriedStream } from '@gatehouse/net';
import { protocolError } from '../errors.js';
import { HeldBytes } from '../mux/held-bytes.js';
import { isReady } from './prelude.js';

/** Who gets the transport back when its visitor is gone, for the next one (docs/tunnel-protocol.md, flag 4). */
export interface ChannelReuse {
  side: 'agent' | 'server';
  /** On the server's side, how long it waits for the agent's word that the transport is free, or for its end, milliseconds. */
  readyMs?: number;
  /** Asked when this side says its end, and by the agent once more before it says that the transport is free. False: it ends as without a reuse. */
  wanted(): boolean;
  /** Called once, when both sides have said and given on both ends: nothing of the visitor is on its way. The transport has no listener then. */
  free(): void;
}

const NOTHING = Buffer.alloc(0);

/**
 * A stream inside the bytes of another, whose ends are said inside: a transport that ends without one was cut, whoever did
 * it (the system ends the sockets of a killed process as if it had meant to), and shows as `error` and `close`. Both
 * directions end on their own.
 */
export abstract class ReusableChannelStream extends CarriedStream implements ByteStream {
  /** Read and not given on, while paused. */
  private readonly held = new HeldBytes();
  private paused = true;
  private delivering = false;
  private released = false;
  private endSeen = false;
  private endSaid = false;
  /** Null where the transport ends with both directions. */
  private reuse: ChannelReuse | null = null;
  /** The transport is the next visitor's: what the owner of this stream still does with it does not reach it. */
  private parted = false;
  /** `READY` was said, or read. */
  private ready = false;
  private readyMs: number | undefined;
  private readyTimer: NodeJS.Timeout | undefined;
  /** The server keeps the transport no more: the agent may say all the same that it is free. */
  private declined = false;
  readableEnded = false;

  /** `inner` is paused, with allowHalfOpen. */
  constructor(inner: ByteStream) {
    super(inner);
    // A reset must not end the process between two readers.
    this.on('error', () => undefined);
    inner.on('data', this.onData);
    inner.on('end', this.onEnd);
    inner.on('drain', this.onDrain);
    inner.on('error', this.onError);
    inner.on('close', this.onClose);
  }

  private readonly onData = (chunk: Buffer): void => this.take(chunk);
  private readonly onEnd = (): void => this.transportEnded();
  private readonly onDrain = (): void => void this.emit('drain');
  // What becomes of the transport is no failure of a visitor who has said and heard everything: it may still be reading.
  private readonly onError = (error: Error): void => void (this.isOver || this.emit('error', error));
  private readonly onClose = (): void => this.closed();

  /** From now on the transport does not end with both directions: it is free for the next visitor. An abort ends it. */
  reuseWith(reuse: ChannelReuse): void {
    this.reuse = reuse;
    this.readyMs = reuse.readyMs;
  }

  /** Sends bytes, one or more; keeps none of them once the system has taken them. Answers as `write` does. */
  protected abstract send(chunk: Uint8Array): boolean;

  protected abstract sendEnd(): void;

  /** Sends that the transport is free (`READY`). */
  protected abstract sendReady(): void;

  /** Takes `chunk` apart: calls `received` and `ended`. An error that it throws ends the stream. */
  protected abstract read(chunk: Buffer): void;

  /** Both ends are said and given on. */
  private get isOver(): boolean {
    return this.endSaid && this.readableEnded;
  }

  get destroyed(): boolean {
    return this.parted || this.inner.destroyed;
  }

  write(chunk: Uint8Array): boolean {
    if (this.endSaid || this.inner.destroyed) return true;
    return chunk.length === 0 ? this.inner.writableLength === 0 : this.send(chunk);
  }

  end(): void {
    const { inner } = this;
    if (this.endSaid || inner.destroyed) return;
    this.endSaid = true;
    inner.cork();
    this.sendEnd();
    if (!this.isWanted()) inner.end();
    else if (this.readableEnded) this.sayReady();
    inner.uncork();
    this.settle();
  }

  /** Called inside a `data` event: the chunk is not kept. */
  release(): void {
    this.released = true;
  }

  pause(): void {
    if (this.parted) return;
    this.paused = true;
    // After the end nothing comes that could be too much, but that the transport is free, or its own end.
    if (!this.readableEnded) this.inner.pause();
  }

  resume(): void {
    if (!this.paused || this.destroyed) return;
    this.paused = false;
    this.deliverHeld();
    // A listener may have paused again.
    if (!this.paused && !this.parted) this.inner.resume();
  }

  unshift(chunk: Uint8Array): void {
    if (chunk.length === 0 || this.parted) return;
    this.held.unshift(chunk);
    // The end comes behind it, again.
    this.readableEnded = false;
  }

  override cork(): void {
    if (!this.parted) super.cork();
  }

  override uncork(): void {
    if (!this.parted) super.uncork();
  }

  destroy(error?: Error): void {
    // Without an error, of a stream that is over anyway, it asks for nothing more than that.
    const waits = this.isOver && this.reuse !== null && !error;
    if (!this.parted && !waits) this.inner.destroy(error);
  }

  override resetAndDestroy(): void {
    if (!this.parted) super.resetAndDestroy();
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

  /** Bytes after the end: nothing but the agent's word that the transport is free. @throws TunnelError `protocol`. */
  protected afterEnd(bytes: Buffer): void {
    const isDue = (this.declined || this.reuse?.side === 'server') && this.endSaid && !this.ready;
    if (!isDue || !isReady(bytes)) throw protocolError('bytes after the end of the stream');
    this.ready = true;
    this.settle();
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

  private deliver(bytes: Buffer): void {
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
    this.settle();
  }

  /** Whether the transport is to be kept; where not, it never will be. */
  private isWanted(): boolean {
    const { reuse } = this;
    if (reuse && !reuse.wanted()) {
      this.reuse = null;
      this.declined = reuse.side === 'server';
    }
    return this.reuse !== null;
  }

  /** When both ends are said and given on, the agent says that the transport is free, and the server waits for its word. */
  private settle(): void {
    const { reuse, inner } = this;
    if (!this.isOver || this.parted || inner.destroyed) return;
    // Nor is the end of a transport that is not kept waited for longer: an agent could leave it out.
    if (this.readyMs !== undefined) this.readyTimer ??= setFlowTimeout(this, () => this.giveUp(), this.readyMs);
    if (!reuse) return;
    if (reuse.side === 'agent') this.sayReady();
    if (!this.ready) return;
    // The last words have to leave first: until then the transport is this visitor's.
    if (inner.writableLength > 0 && inner instanceof Socket) inner.write(NOTHING, () => this.part());
    else this.part();
  }

  private sayReady(): void {
    if (this.ready || this.reuse?.side !== 'agent') return;
    if (!this.isWanted()) return void this.inner.end();
    this.ready = true;
    this.sendReady();
  }

  private part(): void {
    const { inner, reuse } = this;
    if (!reuse || inner.destroyed) return;
    this.reuse = null;
    this.parted = true;
    clearTimeout(this.readyTimer);
    inner.off('data', this.onData);
    inner.off('end', this.onEnd);
    inner.off('drain', this.onDrain);
    inner.off('error', this.onError);
    inner.off('close', this.onClose);
    process.nextTick(() => this.emit('close'));
    reuse.free();
  }

  /** The agent has not done with the visitor, whose last bytes it may still have: it ends the transport when it has. */
  private giveUp(): void {
    const { inner } = this;
    this.reuse = null;
    this.declined = true;
    // As soon as the system has all of it, as without a reuse.
    if (inner instanceof Socket) inner.destroySoon();
    else inner.end();
  }

  private transportEnded(): void {
    const { reuse } = this;
    // The other side does not keep it.
    this.reuse = null;
    if (this.endSeen) return void (reuse && this.endSaid && this.inner.end());
    this.inner.destroy(Object.assign(new Error('the other end cut the stream'), { code: 'ECONNRESET' }));
  }

  protected closed(): void {
    this.held.clear();
    clearTimeout(this.readyTimer);
    this.emit('close');
  }
}
