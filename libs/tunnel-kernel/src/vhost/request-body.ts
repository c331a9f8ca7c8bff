import { IncomingMessage, type IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';

/** The source is told to stop when `meter` answers false, until it calls `resume`. */
export type Meter = (bytes: number, resume: () => void) => boolean;

export interface BodyOptions {
  /** The first time that somebody wants to read. */
  onStart: () => void;
  meter: Meter;
}

/**
 * The body of a visitor's request on its way to the target. A stream of its own, so that who reads it may destroy it and
 * the visitor can still be answered.
 */
export class RequestBody extends Readable {
  private readonly source: Readable;
  private readonly options: BodyOptions;
  private started = false;
  private held = false;
  private wanted = false;
  /** What followed the body, once it has ended: name, value, name, value … */
  rawTrailers: readonly string[] = [];
  /** Of names in lower case: fields that the target must not see, whoever says them. */
  withheld: (field: string) => boolean = () => false;

  constructor(source: Readable, options: BodyOptions) {
    super();
    this.source = source;
    this.options = options;
    // Of HTTP/2, whether anybody reads or not.
    source.once('trailers', (_headers, _flags, raw: string[]) => (this.rawTrailers = raw));
  }

  /** Nothing was read yet: the request may be sent once more. */
  get untouched(): boolean {
    return !this.started;
  }

  override _read(): void {
    this.wanted = true;
    if (!this.started) this.start();
    if (!this.held) this.source.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    // What still comes is read and thrown away; how long, the owner of the connection decides.
    this.source.resume();
    callback(error);
  }

  private start(): void {
    this.started = true;
    const { source, options } = this;
    options.onStart();
    source.on('data', (chunk: Buffer) => {
      if (this.destroyed) return;
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

/** Whether a request of HTTP/1 has a body: one that does not say so has none (RFC 9112 6.3). */
export function announcesBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
