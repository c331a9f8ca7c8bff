import { Socket } from 'node:net';
import { afterNextPoll, type AfterPoll, type ByteStream, setFlowTimeout, CarriedStream } from '@gatehouse/net';
import { protocolError } from '../errors.js';
import { HeldBytes } from '../mux/held-bytes.js';
import { isReady } from './prelude.js';

/** How a transport is reused for the next visitor (docs/tunnel-protocol.md, flag 4). */
export interface ChannelReuse {
  side: 'agent' | 'server';
  /** Server side: how long to wait until the agent reports the transport free, or ends it, in milliseconds. */
  readyMs?: number;
  /**
   * Called when this side has sent its end, and at the agent once more before it reports the transport free. False: the
   * transport ends as without reuse.
   */
  wanted(): boolean;
  /**
   * Called once, when both ends were sent and delivered, so that no byte of the visitor is on its way. The transport
   * has no listeners then.
   */
  free(): void;
}

const NOTHING = Buffer.alloc(0);
const ignored = (): void => undefined;

/**
 * A stream inside another, with its ends sent inside. If the transport ends without one, it was cut, which shows as
 * `error` and `close`: the system also closes the sockets of a killed process in an orderly way. Both directions end
 * independently.
 */
export abstract class ReusableChannelStream extends CarriedStream implements ByteStream, AfterPoll {
  /** Received but not delivered while paused. */
  private readonly held = new HeldBytes();
  private paused = true;
  private delivering = false;
  private released = false;
  /** Whether what is read now is in memory that nobody uses again. */
  private isOwn = false;
  private endSeen = false;
  private endSaid = false;
  /** Null if the transport ends with both directions. */
  private reuse: ChannelReuse | null = null;
  /** The transport belongs to the next visitor: this stream no longer affects it. */
  private parted = false;
  /** `READY` was sent or received. */
  private ready = false;
  private readyMs: number | undefined;
  private readyTimer: NodeJS.Timeout | undefined;
  /** To be sent in front of the first bytes. */
  private lead: Buffer | null = null;
  /** The server does not keep the transport, but the agent may still report it free. */
  private declined = false;
  readableEnded = false;

  /** `inner` has allowHalfOpen. If it is not paused, it is as soon as something comes before `resume`. */
  constructor(inner: ByteStream) {
    super(inner);
    // A reset must not end the process while no reader is attached.
    this.on('error', ignored);
    inner.on('data', this.onData);
    inner.on('end', this.onEnd);
    inner.on('drain', this.onDrain);
    inner.on('error', this.onError);
    inner.on('close', this.onClose);
  }

  private readonly onData = (chunk: Buffer): void => this.take(chunk);
  private readonly onEnd = (): void => this.transportEnded();
  private readonly onDrain = (): void => void this.emit('drain');
  // An error of the transport does not concern a visitor that has sent and received everything: it may still be
  // reading.
  private readonly onError = (error: Error): void => void (this.isOver || this.emit('error', error));
  private readonly onClose = (): void => this.closed();

  /**
   * From now on the transport does not end with both directions, but becomes free for the next visitor. An abort ends
   * it.
   */
  reuseWith(reuse: ChannelReuse): void {
    this.reuse = reuse;
    this.readyMs = reuse.readyMs;
  }

  /**
   * Sends `lead` before the stream: with its first bytes, which are mostly there already, or else after the next turn of the
   * event loop.
   */
  startWith(lead: Buffer): void {
    this.lead = lead;
    afterNextPoll(this);
  }

  afterPoll(): void {
    if (this.lead && !this.destroyed) this.sendLead(NOTHING);
  }

  /** Sends one or more bytes, and keeps none of them once the system has taken them. Returns as `write` does. */
  protected abstract send(chunk: Uint8Array): boolean;

  /** As `send`, with bytes before the stream in front of `chunk`, which may be empty. */
  protected abstract sendBehind(lead: Buffer, chunk: Uint8Array): boolean;

  protected abstract sendEnd(): void;

  /** Reports the transport free (`READY`). */
  protected abstract sendReady(): void;

  /** Parses `chunk`: calls `received` and `ended`. An error that it throws ends the stream. */
  protected abstract read(chunk: Buffer): void;

  /** Both ends were sent and delivered. */
  private get isOver(): boolean {
    return this.endSaid && this.readableEnded;
  }

  get destroyed(): boolean {
    return this.parted || this.inner.destroyed;
  }

  write(chunk: Uint8Array): boolean {
    if (this.endSaid || this.inner.destroyed) return true;
    if (chunk.length === 0) return this.inner.writableLength === 0;
    return this.lead ? this.sendLead(chunk) : this.send(chunk);
  }

  end(): void {
    const { inner } = this;
    if (this.endSaid || inner.destroyed) return;
    this.endSaid = true;
    inner.cork();
    if (this.lead) this.sendLead(NOTHING);
    this.sendEnd();
    if (!this.isWanted()) inner.end();
    else if (this.readableEnded) this.sayReady();
    inner.uncork();
    this.settle();
  }

  /** Called inside a `data` event: the chunk may be reused. */
  release(): void {
    this.released = true;
  }

  pause(): void {
    if (this.parted) return;
    this.paused = true;
    // After the end, only `READY` or the transport's own end can follow, so there is nothing to hold back.
    if (!this.readableEnded) this.inner.pause();
  }

  /** As `pause`, but goes on reading until something comes: for a moment in which nothing is expected. */
  hold(): void {
    this.paused = true;
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
    // The end follows the held bytes again.
    this.readableEnded = false;
  }

  override cork(): void {
    if (!this.parted) super.cork();
  }

  override uncork(): void {
    if (!this.parted) super.uncork();
  }

  destroy(error?: Error): void {
    // Destroying a finished stream without an error asks for nothing more.
    const waits = this.isOver && this.reuse !== null && !error;
    if (!this.parted && !waits) this.inner.destroy(error);
  }

  override resetAndDestroy(): void {
    if (!this.parted) super.resetAndDestroy();
  }

  /** Delivers bytes of the stream. True: delivered and not kept by anybody. @throws TunnelError `protocol`. */
  protected received(bytes: Buffer): boolean {
    if (this.inner.destroyed) return true;
    if (this.endSeen) throw protocolError('bytes after the end of the stream');
    if (this.paused || this.delivering || !this.held.isEmpty) {
      if (this.isOwn) this.held.keep(bytes);
      else this.held.push(bytes);
      if (this.paused && !this.isOwn) this.inner.pause();
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

  /** Only the agent's `READY` may follow the end. @throws TunnelError `protocol`. */
  protected afterEnd(bytes: Buffer): void {
    const isDue = (this.declined || this.reuse?.side === 'server') && this.endSaid && !this.ready;
    if (!isDue || !isReady(bytes)) throw protocolError('bytes after the end of the stream');
    this.ready = true;
    this.settle();
  }

  /** Takes bytes that another reader has read from the transport. Their memory is used for nothing else. */
  precede(chunk: Buffer): void {
    this.isOwn = true;
    this.take(chunk);
    this.isOwn = false;
  }

  private sendLead(chunk: Uint8Array): boolean {
    const { lead } = this;
    this.lead = null;
    return lead ? this.sendBehind(lead, chunk) : true;
  }

  private take(chunk: Buffer): void {
    // These bytes were on their way when the stream was destroyed.
    if (this.inner.destroyed) return;
    try {
      this.read(chunk);
    } catch (error) {
      this.inner.destroy(error as Error);
    }
    // Bytes that a listener put back, and those behind them.
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

  /** Whether to reuse the transport; once refused, it stays refused. */
  private isWanted(): boolean {
    const { reuse } = this;
    if (reuse && !reuse.wanted()) {
      this.reuse = null;
      this.declined = reuse.side === 'server';
    }
    return this.reuse !== null;
  }

  /** When both ends were sent and delivered, the agent reports the transport free, and the server waits for that. */
  private settle(): void {
    const { reuse, inner } = this;
    if (!this.isOver || this.parted || inner.destroyed) return;
    // This also bounds the wait for the end of a transport that is not reused: an agent might never send it.
    if (this.readyMs !== undefined) this.readyTimer ??= setFlowTimeout(this, () => this.giveUp(), this.readyMs);
    if (!reuse) return;
    if (reuse.side === 'agent') this.sayReady();
    if (!this.ready) return;
    // The last bytes must leave first: until then the transport is this visitor's.
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
    process.nextTick(emitClose, this);
    reuse.free();
  }

  /**
   * The agent has not finished with the visitor, and may still hold its last bytes: it ends the transport when it has.
   */
  private giveUp(): void {
    const { inner } = this;
    this.reuse = null;
    this.declined = true;
    // Closes as soon as the system has taken all bytes, as without reuse.
    if (inner instanceof Socket) inner.destroySoon();
    else inner.end();
  }

  private transportEnded(): void {
    const { reuse } = this;
    // The other side does not reuse it.
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

function emitClose(stream: ReusableChannelStream): void {
  stream.emit('close');
}
