import { constants, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { setFlowTimeout } from '@gatehouse/net';
import { RequestBody } from './request-body.js';

type Options = Dispatcher.DispatchOptions;
type Handler = Dispatcher.DispatchHandler;

/** One request to a target that speaks HTTP/2, told to its handler in the way of undici. */
export class H2cStream implements Dispatcher.DispatchController {
  rawHeaders = null;
  rawTrailers = null;
  aborted = false;
  paused = false;
  reason: Error | null = null;
  /** The target ended its answer with the head, as gRPC does for a call that fails at once (Trailers-Only). */
  headOnly = false;
  private readonly stream: ClientHttp2Stream;
  private readonly handler: Handler;
  private trailers: IncomingHttpHeaders = {};
  private answered = false;
  /** The handler has the whole answer. */
  private finished = false;
  private timer: NodeJS.Timeout | undefined;

  /** `answerMs`: from the end of the request until the head of its answer. */
  constructor(session: ClientHttp2Session, options: Options, handler: Handler, answerMs: number) {
    this.handler = handler;
    const body = options.body as Readable | Buffer | null;
    const waitForTrailers = body instanceof RequestBody;
    this.stream = session.request(targetHeaders(options), { endStream: body === null, waitForTrailers });
    // Without a word, Node throws away what comes together with the head.
    this.stream.pause();
    this.listen();
    const asked = (): void => {
      this.timer = setFlowTimeout(null, () => this.abort(headersTimeout()), answerMs);
    };
    handler.onRequestStart?.(this, null);
    if (waitForTrailers) this.stream.once('wantTrailers', () => this.sendTrailers(body, options));
    this.send(body, asked);
  }

  pause(): void {
    this.paused = true;
    this.stream.pause();
  }

  resume(): void {
    this.paused = false;
    this.stream.resume();
  }

  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.stream.close(constants.NGHTTP2_CANCEL);
  }

  onClosed(listener: () => void): void {
    this.stream.once('close', listener);
  }

  private send(body: Readable | Buffer | null, asked: () => void): void {
    const { stream } = this;
    if (body === null) return asked();
    stream.once('finish', asked);
    if (Buffer.isBuffer(body)) return void stream.end(body);
    body.on('error', (error) => this.abort(error));
    body.pipe(stream);
    stream.once('close', () => body.destroy());
  }

  /** In an event of the stream: nobody above would catch what is raised. */
  private sendTrailers({ rawTrailers, withheld }: RequestBody, { headers }: Options): void {
    try {
      // With none, Node ends the stream with an empty frame.
      this.stream.sendTrailers(requestTrailers(rawTrailers, headers as string[], withheld));
    } catch (error) {
      this.abort(error as Error);
    }
  }

  private listen(): void {
    const { stream, handler } = this;
    stream.on('headers', (headers, status) => {
      this.notify(() => handler.onResponseStart?.(this, Number(headers[':status'] ?? status), headers));
    });
    stream.on('response', (headers, flags) => {
      clearTimeout(this.timer);
      if (this.aborted) return;
      this.answered = true;
      this.headOnly = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      handler.onResponseStarted?.();
      this.notify(() => handler.onResponseStart?.(this, Number(headers[':status']), headers));
      // At once: the visitor's stream may close as soon as it has the head, and that must not look like a visitor who left.
      if (this.headOnly) this.finish();
      stream.on('data', (chunk: Buffer) => this.notify(() => handler.onResponseData?.(this, chunk)));
      if (!this.paused) stream.resume();
    });
    stream.on('trailers', (trailers) => (this.trailers = trailers));
    // Not only at `close`, which waits for the end of the request: a target may answer a stream before that is over.
    stream.on('end', () => {
      if (this.answered && !stream.rstCode) this.finish();
    });
    stream.on('error', (error) => (this.reason ??= error));
    stream.on('close', () => this.closed());
  }

  private closed(): void {
    clearTimeout(this.timer);
    const { stream, handler } = this;
    const whole = stream.readableEnded && stream.rstCode === constants.NGHTTP2_NO_ERROR;
    if (whole && !this.aborted && stream.sentHeaders) this.finish();
    if (this.finished) return;
    handler.onResponseError?.(this, this.reason ?? new Error(`the stream was reset (${stream.rstCode})`));
  }

  private finish(): void {
    if (this.finished) return;
    this.notify(() => this.handler.onResponseEnd?.(this, this.trailers));
    this.finished = !this.aborted;
  }

  /** As undici does: a handler that cannot take what the target says fails the request, not the process. */
  private notify(step: () => void): void {
    if (this.aborted) return;
    try {
      step();
    } catch (error) {
      this.abort(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

function headersTimeout(): Error {
  return Object.assign(new Error('no answer in time'), { code: 'UND_ERR_HEADERS_TIMEOUT' });
}

function targetHeaders({ method, path, headers }: Options): Record<string, string | string[]> {
  const result = Object.create(null) as Record<string, string | string[]>;
  Object.assign(result, { ':method': method, ':path': path, ':scheme': 'http', te: 'trailers' });
  const fields = headers as string[];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const lower = (fields[at] ?? '').toLowerCase();
    const name = lower === 'host' ? ':authority' : lower;
    const value = fields[at + 1] ?? '';
    const before = result[name];
    if (before === undefined) result[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else result[name] = [before, value];
  }
  return result;
}

/**
 * What may not follow a body: fields that say where the message ends, whom it is for, how it is to be acted upon or who asks
 * (RFC 9110 6.5.1), and what the gateway alone says of visitors.
 */
const FORBIDDEN =
  /^(?::.*|.*_.*|host|transfer-encoding|trailer|te|connection|keep-alive|proxy-.*|upgrade|http2-settings|expect|max-forwards|cache-control|pragma|range|if-.*|content-.*|authorization|cookie|set-cookie|forwarded|x-forwarded-.*|x-real-ip|via|date)$/;
const MAX_FIELDS = 64;

/**
 * The fields after a request's body as its target gets them. `raw`, `head`: name, value, name, value … What the head says already
 * is not said anew: the gateway, or the host's owner, may have set it. `withheld`: what was taken out of the head.
 */
function requestTrailers(
  raw: readonly string[],
  head: readonly string[],
  withheld: (name: string) => boolean,
): Record<string, string[]> {
  const trailers = Object.create(null) as Record<string, string[]>;
  if (raw.length === 0) return trailers;
  const said = new Set(head.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()));
  for (let at = 0; at + 1 < raw.length && at < 2 * MAX_FIELDS; at += 2) {
    const name = (raw[at] ?? '').toLowerCase();
    if (!FORBIDDEN.test(name) && !said.has(name) && !withheld(name)) (trailers[name] ??= []).push(raw[at + 1] ?? '');
  }
  return trailers;
}
