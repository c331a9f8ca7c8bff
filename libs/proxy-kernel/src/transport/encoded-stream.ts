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
  /** During `received`: whether a listener may have kept memory of the bytes below. */
  private kept = false;
  private released = false;
  /** The stream below is closed, but `close` is delayed until the owner has taken what came before. */
  private closeHeld = false;
  /** The owner has destroyed the stream, so its `close` is not delayed. */
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
    // Corked writes return false before the system has taken anything. What counts is what is left after that.
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
    // Even after an end inside the stream: a connection that is not read never notices that the server closed it.
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

  /** Encodes a chunk and `put`s it. Called while the stream below is corked. */
  protected abstract encode(chunk: Uint8Array): void;

  /** Decodes bytes and passes the result to `give`. Must copy what it keeps for later. An exception ends the stream. */
  protected abstract decode(bytes: Buffer): void;

  /** Called when the stream below ended. Null, or an error if it must not end here. */
  protected checkEnd(): Error | null {
    return null;
  }

  /** Called when nothing more will be written. */
  protected endWriting(): void {
    this.inner.end();
  }

  /** False: an end of the other side ends the stream below as well, and later failures are ignored. */
  protected get halfCloses(): boolean {
    return true;
  }

  /** Called once, when the stream below has closed. */
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

  /** Makes `write` return false, because what was written has to wait. */
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

  /** The other side will send nothing more. */
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
    // Bytes after the encoded end are ignored.
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
    // The owner may still have bytes to pass on, and a `close` before its own end would look like an abort.
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
