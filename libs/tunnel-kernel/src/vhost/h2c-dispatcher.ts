import type { ClientHttp2Session } from 'node:http2';
import type { Duplex } from 'node:stream';
import { connectHttp2, guardPromise } from '@gatehouse/net';
import type { Dispatcher } from 'undici';
import { TunnelError } from '../errors.js';
import { H2cStream } from './h2c-stream.js';

const MAX_SESSIONS = 16;
const MAX_STREAMS = 100;
const IDLE_MS = 30_000;

export interface H2cOptions {
  /** @throws TunnelError */
  connect(): Promise<Duplex>;
  /** From the end of a request to the head of its answer, in milliseconds. */
  answerMs: number;
}

/**
 * Requests over HTTP/2 without TLS (RFC 9113 3.3), multiplexed on a connection. Undici 8.12 supports this too, but
 * loses the body of an answer that arrives at once when the underlying stream is not a socket of the system.
 */
export class H2cDispatcher {
  private readonly options: H2cOptions;
  /** Keyed by session: the number of running requests. */
  private readonly sessions = new Map<ClientHttp2Session, number>();
  private opening: Promise<ClientHttp2Session> | null = null;
  private closing = false;

  constructor(options: H2cOptions) {
    this.options = options;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    if (options.upgrade) return handler.onResponseError?.(null as never, new Error('no upgrade of HTTP/2'));
    const session = this.free();
    if (!session) return guardPromise(null, this.startLater(options, handler));
    try {
      this.start(session, options, handler);
    } catch (error) {
      handler.onResponseError?.(null as never, error instanceof Error ? error : new Error(String(error)));
    }
  }

  async close(): Promise<void> {
    this.closing = true;
    for (const session of this.sessions.keys()) session.close();
  }

  async destroy(): Promise<void> {
    this.closing = true;
    for (const session of this.sessions.keys()) session.destroy();
  }

  private async startLater(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): Promise<void> {
    try {
      // Requests that come while a session is being opened wait for it, and then check again.
      this.opening ??= this.open().finally(() => (this.opening = null));
      const session = await this.opening;
      this.start(this.free() ?? session, options, handler);
    } catch (error) {
      handler.onResponseError?.(null as never, error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** @throws Error for fields that HTTP/2 does not allow. */
  private start(
    session: ClientHttp2Session,
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): void {
    const request = new H2cStream(session, options, handler, this.options.answerMs);
    this.sessions.set(session, (this.sessions.get(session) ?? 0) + 1);
    request.onClosed(() => {
      const running = this.sessions.get(session);
      if (running !== undefined) this.sessions.set(session, running - 1);
    });
  }

  private free(): ClientHttp2Session | null {
    for (const [session, running] of this.sessions) {
      const limit = Math.min(MAX_STREAMS, session.remoteSettings?.maxConcurrentStreams ?? MAX_STREAMS);
      if (running < limit && !session.closed && !session.destroyed) return session;
    }
    return null;
  }

  private async open(): Promise<ClientHttp2Session> {
    if (this.sessions.size >= MAX_SESSIONS) throw new TunnelError('overloaded', 'too many requests to the target');
    const stream = await this.options.connect();
    const options = {
      createConnection: () => stream,
      // Repeated fields are passed on, as to targets of HTTP/1.1. Node's types lack this option on the client side.
      strictSingleValueFields: false,
      settings: { enablePush: false, initialWindowSize: 256 * 1024 },
    };
    const session = connectHttp2('http://target', options);
    this.sessions.set(session, 0);
    session.on('error', () => undefined);
    session.on('goaway', () => session.close());
    session.on('close', () => this.sessions.delete(session));
    session.setTimeout(IDLE_MS, () => {
      if ((this.sessions.get(session) ?? 0) === 0) session.close();
    });
    if (this.closing) session.close();
    return session;
  }
}
