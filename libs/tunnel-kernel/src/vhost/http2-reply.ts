import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { ByteStream } from '@gatehouse/net';
import { setFlowTimeout } from '@gatehouse/net';
import { LINGER_MS, type Reply, type ReplyHead, type ReplyOwner } from './reply.js';

/** An answer in HTTP/2. */
export class Http2Reply implements Reply {
  owner: ReplyOwner | null = null;
  private readonly stream: ServerHttp2Stream;
  private readonly requested: boolean;
  private trailers: OutgoingHttpHeaders | null = null;

  /** `requested`: whether the request has a body. */
  constructor(stream: ServerHttp2Stream, requested: boolean) {
    this.stream = stream;
    this.requested = requested;
    stream.on('drain', () => this.owner?.drained());
    stream.on('close', () => this.owner?.gone());
    // `close` follows.
    stream.on('error', () => undefined);
  }

  inform(status: number, fields: readonly string[]): void {
    if (!this.stream.headersSent && !this.closed) this.stream.additionalHeaders(asHeaders(status, fields));
  }

  begin({ status, fields, bodyless }: ReplyHead): void {
    const { stream } = this;
    if (this.closed) return;
    // Trailers of the target are known only after its body.
    stream.respond(asHeaders(status, fields), { endStream: bodyless, waitForTrailers: !bodyless });
    // Without trailers, Node ends the stream with an empty frame.
    stream.on('wantTrailers', () => this.sendTrailers());
  }

  write(chunk: Buffer): boolean {
    return this.closed ? true : this.stream.write(chunk);
  }

  end(trailers: readonly string[], last: Buffer | null = null): void {
    const { stream } = this;
    if (trailers.length > 0) this.trailers = asHeaders(null, trailers);
    if (this.closed) return;
    if (last) stream.end(last);
    else stream.end();
    if (this.requested && !stream.readableEnded) this.linger();
  }

  abort(cancelled = false): void {
    this.stream.close(cancelled ? constants.NGHTTP2_CANCEL : constants.NGHTTP2_INTERNAL_ERROR);
  }

  /** A malformed request affects its own stream only. */
  close(): void {}

  takeOver(_protocol: string, fields: readonly string[]): ByteStream | null {
    if (this.closed) return null;
    const kept = fields.filter((_, at) => !/^sec-websocket-accept$/i.test(fields[at - (at % 2)] ?? ''));
    this.owner = null;
    this.stream.respond(asHeaders(200, kept));
    return this.stream;
  }

  /** Runs in an event of the stream, where nothing would catch an error about fields that HTTP/2 does not allow. */
  private sendTrailers(): void {
    const { stream } = this;
    try {
      stream.sendTrailers(this.trailers ?? {});
    } catch {
      this.abort();
    }
  }

  /** Resets a request that continues after its answer (RFC 9113 8.1), after a grace period. */
  private linger(): void {
    const { stream } = this;
    stream.resume();
    const timer = setFlowTimeout(stream, () => stream.close(constants.NGHTTP2_NO_ERROR), LINGER_MS);
    stream.once('close', () => clearTimeout(timer));
  }

  private get closed(): boolean {
    return this.stream.destroyed || this.stream.closed;
  }
}

function asHeaders(status: number | null, fields: readonly string[]): OutgoingHttpHeaders {
  const headers = Object.create(null) as Record<string, string | number | string[]>;
  if (status !== null) headers[':status'] = status;
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = (fields[at] ?? '').toLowerCase();
    const value = fields[at + 1] ?? '';
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else headers[name] = [String(before), value];
  }
  return headers;
}
