import { constants, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { setFlowTimeout } from '@gatehouse/net';
import { RequestBody } from './request-body.js';

type Options = Dispatcher.DispatchOptions;
type Handler = Dispatcher.DispatchHandler;

/** One request to a target that speaks HTTP/2, reported to its handler as undici does. */
export class H2cStream implements Dispatcher.DispatchController {
  /** Name, value, name, value …: repeated fields stay apart. */
  rawHeaders: string[] | null = null;
  rawTrailers: string[] | null = null;
  aborted = false;
  paused = false;
  reason: Error | null = null;
  /** The target ended its answer with the head, as gRPC does for a call that fails at once (Trailers-Only). */
  headOnly = false;
  private readonly stream: ClientHttp2Stream;
  private readonly handler: Handler;
  private trailers: IncomingHttpHeaders = {};
  private answered = false;
  /** The handler has received the whole answer. */
  private finished = false;
  private timer: NodeJS.Timeout | undefined;

  /** `answerMs`: from the end of the request to the head of its answer. */
  constructor(session: ClientHttp2Session, options: Options, handler: Handler, answerMs: number) {
    this.handler = handler;
    const body = options.body as Readable | Buffer | null;
    const waitForTrailers = body instanceof RequestBody;
    this.stream = session.request(targetHeaders(options), { endStream: body === null, waitForTrailers });
    // Otherwise Node discards what arrives together with the head.
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

  /** Runs in an event of the stream, where nothing above would catch an error. */
  private sendTrailers({ rawTrailers, withheld }: RequestBody, { headers }: Options): void {
    try {
      // Without trailers, Node ends the stream with an empty frame.
      this.stream.sendTrailers(requestTrailers(rawTrailers, headers as string[], withheld));
    } catch (error) {
      this.abort(error as Error);
    }
  }

  private listen(): void {
    const { stream, handler } = this;
    stream.on('headers', (headers, status, raw: string[]) => {
      this.rawHeaders = raw;
      this.notify(() => handler.onResponseStart?.(this, Number(headers[':status'] ?? status), headers));
    });
    stream.on('response', (headers, flags, raw: string[]) => {
      clearTimeout(this.timer);
      this.rawHeaders = raw;
      if (this.aborted) return;
      this.answered = true;
      this.headOnly = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      handler.onResponseStarted?.();
      this.notify(() => handler.onResponseStart?.(this, Number(headers[':status']), headers));
      // Immediately: the visitor's stream may close as soon as it has the head, which must not look like an aborted
      // visit.
      if (this.headOnly) this.finish();
      stream.on('data', (chunk: Buffer) => this.notify(() => handler.onResponseData?.(this, chunk)));
      if (!this.paused) stream.resume();
    });
    stream.on('trailers', (trailers, _flags, raw: string[]) => {
      this.trailers = trailers;
      this.rawTrailers = raw;
    });
    // `close` is not enough, because it waits for the end of the request: a target may answer before that.
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
    handler.onResponseError?.(this, this.reason ?? resetError(stream.rstCode));
  }

  private finish(): void {
    if (this.finished) return;
    this.notify(() => this.handler.onResponseEnd?.(this, this.trailers));
    this.finished = !this.aborted;
  }

  /** As in undici: if a handler cannot process the answer, the request fails and not the process. */
  private notify(step: () => void): void {
    if (this.aborted) return;
    try {
      step();
    } catch (error) {
      this.abort(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

/** Code of the error if the target cancelled its answer, as gRPC does when a deadline has passed. */
export const TARGET_CANCELLED = 'TARGET_CANCELLED';

function resetError(code: number | undefined): Error {
  const error = new Error(`the stream was reset (${code})`);
  return code === constants.NGHTTP2_CANCEL ? Object.assign(error, { code: TARGET_CANCELLED }) : error;
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
 * Fields that are forbidden in trailers: those about framing, routing, request modifiers and authentication (RFC 9110
 * 6.5.1), and those that only the gateway may set about visitors.
 */
const FORBIDDEN =
  /^(?::.*|.*_.*|host|transfer-encoding|trailer|te|connection|keep-alive|proxy-.*|upgrade|http2-settings|expect|max-forwards|cache-control|pragma|range|if-.*|content-.*|authorization|cookie|set-cookie|forwarded|x-forwarded-.*|x-real-ip|via|date)$/;
const MAX_FIELDS = 64;

/**
 * The trailers of a request as they are sent to the target. `raw`, `head`: name, value, name, value … Fields of the
 * head are not repeated, because the gateway or the host's owner may have set them. `withheld`: fields that were
 * removed from the head.
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
