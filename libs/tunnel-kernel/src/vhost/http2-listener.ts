import { randomBytes } from 'node:crypto';
import type { Http2Server, IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { createHttp2Server } from '@gatehouse/net';
import { endpoint, farEnd } from '../base/endpoint.js';
import { Http2Reply } from './http2-reply.js';
import { KEEP_ALIVE_MS, MAX_HEAD_BYTES, type ListenerContext } from './listener-context.js';
import type { RawRequest } from './request-rules.js';
import type { Arrival } from './visitor-origin.js';

const END_STREAM = 1;
const MAX_STREAMS = 128;
const MAX_SESSION_MB = 10;
/**
 * Streams that a visitor may abort at once, and per second after that: the remaining budget of a rapid reset
 * (CVE-2023-44487).
 */
const RESET_BURST = 1000;
const RESETS_A_SECOND = 33;

/** Requests of HTTP/2 connections, which always use TLS. */
export class Http2Listener {
  private readonly context: ListenerContext;
  private readonly server: Http2Server;
  /** Keyed by session: the number of open streams. */
  private readonly sessions = new Map<ServerHttp2Session, number>();
  private readonly arrivals = new WeakMap<ServerHttp2Session, Arrival & { covers: (host: string) => boolean }>();
  private readonly covers: (socket: TLSSocket, host: string) => boolean;

  constructor(context: ListenerContext, covers: (socket: TLSSocket, host: string) => boolean) {
    this.context = context;
    this.covers = covers;
    this.server = createHttp2Server({
      maxSessionMemory: MAX_SESSION_MB,
      maxSessionInvalidFrames: 100,
      maxSessionRejectedStreams: 100,
      maxHeaderListPairs: 512,
      // `readRequest` checks requests; answers of targets are passed on unchanged.
      strictSingleValueFields: false,
      streamResetBurst: RESET_BURST,
      streamResetRate: RESETS_A_SECOND,
      settings: {
        maxConcurrentStreams: MAX_STREAMS,
        maxHeaderListSize: MAX_HEAD_BYTES,
        initialWindowSize: 256 * 1024,
        enableConnectProtocol: true,
      },
    });
    this.server.on('session', (session) => this.opened(session));
    this.server.on('sessionError', (error: Error) => context.logger.debug('HTTP/2 failed', { error: error.message }));
    this.server.on('stream', (stream, headers, flags, raw) => {
      this.take(stream as ServerHttp2Stream, headers, flags, raw);
    });
  }

  /** Serves a connection that negotiated `h2`. */
  accept(socket: TLSSocket): void {
    socket.on('error', () => undefined);
    const peer = farEnd(socket);
    if (!peer) return void socket.destroy();
    const arrival = {
      peer,
      entrance: endpoint(socket.localAddress, socket.localPort),
      secure: true,
      trusted: this.context.proxies.has(peer.address),
      covers: (host: string) => this.covers(socket, host),
    };
    const begun = (session: ServerHttp2Session): void => void this.arrivals.set(session, arrival);
    this.server.once('session', begun);
    this.server.emit('connection', socket);
    // If the session did not begin, its address must not be given to the next one.
    this.server.off('session', begun);
  }

  /** Asks visitors to reconnect (GOAWAY); running requests continue. */
  drain(): void {
    for (const session of this.sessions.keys()) session.close();
  }

  destroy(): void {
    for (const session of this.sessions.keys()) session.destroy();
  }

  private opened(session: ServerHttp2Session): void {
    this.sessions.set(session, 0);
    session.on('close', () => this.sessions.delete(session));
    session.on('error', () => undefined);
    session.setTimeout(KEEP_ALIVE_MS, () => {
      // An event stream may be silent for any time.
      if ((this.sessions.get(session) ?? 0) === 0) session.close();
    });
    if (this.context.draining()) session.close();
  }

  private take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, raw: string[]): void {
    const { session } = stream;
    const arrival = session instanceof Object ? this.arrivals.get(session as ServerHttp2Session) : undefined;
    if (!session || !arrival) return stream.close();
    this.count(session as ServerHttp2Session, 1);
    stream.on('close', () => this.count(session as ServerHttp2Session, -1));
    const protocol = asText(headers[':protocol']);
    const hasBody = (flags & END_STREAM) === 0 && protocol === null;
    this.context.dispatcher.receive({
      raw: rawRequest(headers, raw, protocol),
      arrival,
      covers: arrival.covers,
      body: hasBody ? stream : null,
      reply: new Http2Reply(stream, hasBody),
    });
  }

  private count(session: ServerHttp2Session, by: number): void {
    const open = this.sessions.get(session);
    if (open !== undefined) this.sessions.set(session, open + by);
  }
}

function rawRequest(headers: IncomingHttpHeaders, raw: string[], protocol: string | null): RawRequest {
  return {
    method: asText(headers[':method']) ?? '',
    version: 'h2',
    target: asText(headers[':path']) ?? '',
    authority: asText(headers[':authority']),
    protocol,
    // HTTP/2 has no key that proves the server understood; HTTP/1.1 requires one (RFC 8441 5).
    fields: protocol === null ? raw : [...raw, 'Sec-WebSocket-Key', randomBytes(16).toString('base64')],
  };
}

function asText(value: string | string[] | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
