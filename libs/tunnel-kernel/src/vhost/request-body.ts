import { IncomingMessage, type IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';

/** Returns false to pause the source until it calls `resume`. */
export type Meter = (bytes: number, resume: () => void) => boolean;

export interface BodyOptions {
  /** Called at the first read. */
  onStart: () => void;
  meter: Meter;
  /** Called with each part that is read. */
  onPart?: ((part: Buffer) => void) | undefined;
  /** A longer body fails with `BodyTooLargeError`. Undefined: no limit. */
  maxBytes?: number | undefined;
}

/** The body of a request is longer than its host accepts. */
export class BodyTooLargeError extends Error {
  override name = 'BodyTooLargeError';
}

/**
 * The body of a visitor's request on its way to the target. It is a stream of its own, so that its reader may destroy
 * it while the visitor can still be answered.
 */
export class RequestBody extends Readable {
  private readonly source: Readable;
  private readonly options: BodyOptions;
  private started = false;
  private held = false;
  private wanted = false;
  /** Trailers, once the body has ended: name, value, name, value … */
  rawTrailers: readonly string[] = [];
  /** Called with names in lower case: fields that the target must not see from anybody. */
  withheld: (field: string) => boolean = () => false;

  constructor(source: Readable, options: BodyOptions) {
    super();
    this.source = source;
    this.options = options;
    // HTTP/2 emits them whether or not the body is read.
    source.once('trailers', (_headers, _flags, raw: string[]) => (this.rawTrailers = raw));
  }

  /** Nothing was read yet: the request may be sent again. */
  get untouched(): boolean {
    return !this.started;
  }

  override _read(): void {
    this.wanted = true;
    if (!this.started) this.start();
    if (!this.held) this.source.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    // What still arrives is read and discarded; the connection's owner decides for how long.
    this.source.resume();
    callback(error);
  }

  private start(): void {
    this.started = true;
    const { source, options } = this;
    options.onStart();
    let left = options.maxBytes ?? Infinity;
    source.on('data', (chunk: Buffer) => {
      if (this.destroyed) return;
      left -= chunk.length;
      if (left < 0) return void this.destroy(new BodyTooLargeError('the body is too large'));
      options.onPart?.(chunk);
      this.wanted = this.push(chunk);
      this.held = !options.meter(chunk.length, () => this.released());
      if (!this.wanted || this.held) source.pause();
    });
    source.on('end', () => {
      if (source instanceof IncomingMessage) this.rawTrailers = source.rawTrailers;
      this.push(null);
    });
    source.on('error', (error) => this.destroy(error));
    source.on('aborted', () => this.destroy(new Error('the visitor is gone')));
    source.on('close', () => {
      if (!this.readableEnded && !source.readableEnded) this.destroy(new Error('the visitor is gone'));
    });
  }

  private released(): void {
    this.held = false;
    if (this.wanted || this.destroyed) this.source.resume();
  }
}

/** Whether a request of HTTP/1 has a body: only if it announces one (RFC 9112 6.3). */
export function announcesBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
