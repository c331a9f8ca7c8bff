import type { ByteStream } from './byte-stream.js';

export class ByteReaderError extends Error {
  readonly code: 'ended' | 'too_long' | 'failed';
  constructor(code: 'ended' | 'too_long' | 'failed', message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ByteReaderError';
    this.code = code;
  }
}

const NOTHING = Buffer.alloc(0);

interface Waiter {
  /** Bytes that can be returned now; 0: not yet. */
  measure: (buffered: Buffer) => number;
  resolve: (bytes: Buffer) => void;
  reject: (error: ByteReaderError) => void;
  consume: boolean;
}

/**
 * Reads handshakes from a stream: exact lengths or up to a delimiter, never holding more than `limit` bytes (the
 * stream is paused there). It keeps listening between reads, so it notices a client that leaves.
 */
export class ByteReader {
  private readonly stream: ByteStream;
  private readonly limit: number;
  private buffered: Buffer = NOTHING;
  private waiter: Waiter | null = null;
  private failure: ByteReaderError | null = null;
  private attached = true;

  constructor(stream: ByteStream, limit = 64 * 1024) {
    this.stream = stream;
    this.limit = limit;
    stream.on('data', this.onData);
    stream.on('end', this.onEnd);
    stream.on('error', this.onError);
    stream.on('close', this.onClose);
    stream.resume();
  }

  /** Bytes read and not consumed. */
  get length(): number {
    return this.buffered.length;
  }

  /** Exactly `count` bytes. @throws ByteReaderError when the stream ends first or `count` is over the limit. */
  read(count: number): Promise<Buffer> {
    if (this.hasNow(count)) return Promise.resolve(this.consumed(count));
    return this.wait((buffered) => (buffered.length >= count ? count : 0), count, true);
  }

  /** The first `count` bytes or more, left in place. An aborted signal ends the wait. @throws ByteReaderError. */
  peek(count: number, signal?: AbortSignal): Promise<Buffer> {
    if (this.hasNow(count)) return Promise.resolve(this.buffered);
    const bytes = this.wait((buffered) => (buffered.length >= count ? buffered.length : 0), count, false);
    const { waiter } = this;
    signal?.addEventListener('abort', () => this.giveUp(waiter), { once: true });
    return bytes;
  }

  /** Everything up to and including `delimiter`. @throws ByteReaderError `too_long` when it is not in the limit. */
  readThrough(delimiter: Buffer): Promise<Buffer> {
    let searched = 0;
    const measure = (buffered: Buffer): number => {
      const at = buffered.indexOf(delimiter, searched);
      searched = Math.max(0, buffered.length - delimiter.length);
      return at < 0 ? 0 : at + delimiter.length;
    };
    return this.wait(measure, 0, true);
  }

  /** Stops reading and leaves the stream paused. Returns what was read but not consumed. */
  detach(): Buffer {
    const rest = this.buffered;
    if (!this.attached) return rest;
    this.attached = false;
    this.stream.off('data', this.onData);
    this.stream.off('end', this.onEnd);
    this.stream.off('close', this.onClose);
    this.stream.pause();
    // The error listener stays: an error between now and the next owner's listener must not end the process.
    if (this.waiter) this.fail(detachedError());
    this.buffered = NOTHING;
    return rest;
  }

  /** Like `detach`, but puts the rest back into the stream. */
  restore(): void {
    const rest = this.detach();
    if (rest.length > 0 && !this.stream.destroyed) this.stream.unshift(rest);
  }

  /** Like `restore`, and removes the error listener as well: the owner of the stream must have its own. */
  leave(): void {
    this.restore();
    this.stream.off('error', this.onError);
  }

  /** Most parts of a handshake arrive together, and the later ones need not wait. */
  private hasNow(count: number): boolean {
    return count > 0 && this.buffered.length >= count && count <= this.limit && this.waiter === null;
  }

  private consumed(size: number): Buffer {
    const bytes = this.buffered.subarray(0, size);
    this.consume(size);
    return bytes;
  }

  private wait(measure: Waiter['measure'], atLeast: number, consume: boolean): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.waiter) return reject(new ByteReaderError('failed', 'a read is already waiting'));
      if (atLeast > this.limit) return reject(this.tooLong());
      this.waiter = { measure, resolve, reject, consume };
      this.serve();
    });
  }

  private giveUp(waiter: Waiter | null): void {
    if (waiter === null || this.waiter !== waiter) return;
    this.waiter = null;
    waiter.reject(new ByteReaderError('failed', 'the wait was given up'));
  }

  private serve(): void {
    const { waiter } = this;
    if (!waiter) return;
    const size = waiter.measure(this.buffered);
    if (size > this.limit && waiter.consume) this.fail(this.tooLong());
    else if (size > 0) {
      this.waiter = null;
      waiter.resolve(waiter.consume ? this.consumed(size) : this.buffered.subarray(0, size));
    } else if (this.failure) this.fail(this.failure);
    else if (!this.attached) this.fail(detachedError());
    else if (this.buffered.length >= this.limit) this.fail(this.tooLong());
  }

  private consume(size: number): void {
    const wasFull = this.buffered.length >= this.limit;
    this.buffered = this.buffered.subarray(size);
    if (wasFull && this.attached && this.buffered.length < this.limit) this.stream.resume();
  }

  private tooLong(): ByteReaderError {
    return new ByteReaderError('too_long', `more than ${this.limit} bytes before the handshake was complete`);
  }

  private fail(error: ByteReaderError): void {
    this.failure ??= error;
    const { waiter } = this;
    this.waiter = null;
    waiter?.reject(this.failure);
  }

  private readonly onData = (chunk: Buffer): void => {
    this.buffered = this.buffered.length === 0 ? chunk : Buffer.concat([this.buffered, chunk]);
    if (this.buffered.length >= this.limit) this.stream.pause();
    this.serve();
  };

  private readonly onEnd = (): void => this.fail(new ByteReaderError('ended', 'the stream ended'));

  private readonly onError = (error: Error): void => {
    if (this.attached) this.fail(new ByteReaderError('failed', error.message, { cause: error }));
  };

  private readonly onClose = (): void => this.fail(new ByteReaderError('ended', 'the stream was closed'));
}

/** Created only when a read is waiting, because an error object costs more than the rest of a detach. */
function detachedError(): ByteReaderError {
  return new ByteReaderError('failed', 'the reader was detached');
}
