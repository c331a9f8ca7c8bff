import { guarded, CarriedStream, type ByteStream } from '@gatehouse/net';
import { DialError } from '../interfaces/index.js';

/**
 * A byte stream that is encoded into another one and ends with it. Not a `stream.Duplex`: its buffering and callbacks
 * would cost more per chunk than a cipher does. A chunk is encoded at once into the buffer of the stream below, which
 * gives the backpressure.
 */
export abstract class EncodedStream extends CarriedStream implements ByteStream {
  private readonly waiting: Buffer[] = [];
  private paused = true;
  private sourceEnded = false;
  private endEmitted = false;
  private writingEnded = false;
  private room = true;
  /** Inside `received`: whether a listener may still look at memory of the bytes below. */
  private kept = false;
  private released = false;
  /** The stream below is closed, and its `close` waits for the owner to take what came before. */
  private closeHeld = false;
  /** The owner wants nothing more of it: its close is not for holding back. */
  private abandoned = false;
  private closed = false;

  constructor(inner: ByteStream) {
    super(inner);
    inner.on('data', (bytes) => this.received(bytes));
    inner.on('end', () => this.innerEnd());
    inner.on('drain', () => this.emit('drain'));
    inner.on('error', (error) => this.fail(error));
    inner.on('close', () => this.innerClosed());
  }

  get destroyed(): boolean {
    return this.closed || (this.inner.destroyed && !this.sourceEnded);
  }

  get readableEnded(): boolean {
    return this.endEmitted;
  }

  write(chunk: Uint8Array): boolean {
    if (this.closeHeld || this.closed) {
      this.fail(new DialError('relay', 'connection_reset', 'the other end has closed'));
      this.emitClose();
      return false;
    }
    this.room = true;
    this.inner.cork();
    this.encode(chunk);
    this.inner.uncork();
    // Corked writes say "full" before the system was asked; what counts is what it left.
    return this.room || this.writableLength === 0;
  }

  end(): void {
    if (this.writingEnded) return;
    this.writingEnded = true;
    if (this.closeHeld) setImmediate(guarded(this, () => this.emitClose()));
    else this.endWriting();
  }

  pause(): void {
    this.paused = true;
    this.inner.pause();
  }

  resume(): void {
    this.paused = false;
    while (!this.paused && this.waiting.length > 0) {
      const plain = this.waiting.shift();
      if (plain) this.emit('data', plain);
    }
    if (this.paused) return;
    // After an end inside the stream, too: a connection that nobody reads never notices that the server closed it.
    this.inner.resume();
    if (this.sourceEnded) this.emitEnd();
  }

  unshift(chunk: Uint8Array): void {
    this.waiting.unshift(Buffer.from(chunk));
  }

  destroy(error?: Error): void {
    if (error) this.fail(error);
    this.abandoned = true;
    if (this.closeHeld) this.emitClose();
    else this.inner.destroy();
  }

  override resetAndDestroy(): void {
    this.abandoned = true;
    if (this.closeHeld) this.emitClose();
    else super.resetAndDestroy();
  }

  release(): void {
    this.released = true;
  }

  /** Frames a chunk and `put`s it; called corked. */
  protected abstract encode(chunk: Uint8Array): void;

  /** Hands what is in these bytes to `give`. Must copy what it keeps for later. What it throws ends the stream. */
  protected abstract decode(bytes: Buffer): void;

  /** The stream below ended: null, or what is wrong with that. */
  protected checkEnd(): Error | null {
    return null;
  }

  /** Nothing more will be written. */
  protected endWriting(): void {
    this.inner.end();
  }

  /** False: when the other end is done, so is the stream below, and failures of it mean nothing any more. */
  protected get halfCloses(): boolean {
    return true;
  }

  /** Called once when nothing comes or goes any more. */
  protected cleanUp(): void {}

  protected get readingEnded(): boolean {
    return this.sourceEnded;
  }

  protected get writingIsEnded(): boolean {
    return this.writingEnded;
  }

  protected put(piece: Uint8Array): void {
    if (!this.inner.write(piece)) this.room = false;
  }

  /** What was written waits: the next write is for after `drain`. */
  protected full(): void {
    this.room = false;
  }

  protected give(plain: Buffer): void {
    if (plain.length === 0) return;
    if (this.paused || this.waiting.length > 0) {
      this.kept = true;
      this.waiting.push(plain);
      return;
    }
    this.released = false;
    this.emit('data', plain);
    if (!this.released) this.kept = true;
  }

  /** The other end has nothing more to say. */
  protected endReading(): void {
    if (this.sourceEnded) return;
    this.sourceEnded = true;
    if (!this.paused && this.waiting.length === 0) this.emitEnd();
  }

  protected fail(error: Error): void {
    if (this.closed || (this.sourceEnded && !this.halfCloses)) return;
    // Without a listener an `error` event would end the process; `close` follows in any case.
    if (this.listenerCount('error') > 0) this.emit('error', error);
  }

  private received(bytes: Buffer): void {
    // After the end of what was framed nothing counts.
    if (this.sourceEnded || this.closed) return;
    this.kept = false;
    try {
      this.decode(bytes);
    } catch (error) {
      this.kept = true;
      this.destroy(toProtocolError(error));
    }
    if (!this.kept) this.inner.release?.();
  }

  private innerEnd(): void {
    if (this.sourceEnded) return;
    const wrong = this.checkEnd();
    if (wrong) this.destroy(toProtocolError(wrong));
    else this.endReading();
  }

  private emitEnd(): void {
    if (this.endEmitted || this.waiting.length > 0) return;
    this.endEmitted = true;
    this.emit('end');
  }

  private innerClosed(): void {
    this.cleanUp();
    // The owner has bytes to hand on, and a `close` before its own end would look like an abort to it.
    if (this.sourceEnded && !this.writingEnded && !this.closed && !this.abandoned) this.closeHeld = true;
    else this.emitClose();
  }

  private emitClose(): void {
    if (this.closed) return;
    this.closeHeld = false;
    this.closed = true;
    this.emit('close');
  }
}

function toProtocolError(error: unknown): DialError {
  if (error instanceof DialError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new DialError('handshake', 'protocol_error', message, { cause: error });
}
