import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ByteStream } from '@gatehouse/net';
import { DialError, type DialContext } from '../../interfaces/index.js';
import { abortError, toDialError } from '../dial-error.js';
import { dialNodeServer, type NodeServer } from '../node-server.js';
import type { ServerDialer } from '../server-dialer.js';
import { toDuplex } from '../tls.js';
import { unlessAborted } from '../unless-aborted.js';

/** Streams that one session carries before another is opened; a server may allow fewer. */
const MAX_STREAMS = 100;
/** Sessions with one server. */
const MAX_SESSIONS = 16;
const IDLE_CLOSE_MS = 30_000;
/** While streams are open the server is asked this often whether it is there, and has as long to answer. */
const PING_MS = 15_000;
const OPEN_TIMEOUT_MS = 10_000;
/** What a stream may send before its owner has read any of it. */
const WINDOW_BYTES = 1024 * 1024;

/** A stream of a session, and what it stands on. */
export interface PooledStream {
  stream: ClientHttp2Stream;
  below: ByteStream;
  /** Resets it. `close` and `destroy` of a stream end its body first, which a server takes for a good end. */
  reset: () => void;
}

interface PooledSession {
  session: ClientHttp2Session;
  below: ByteStream;
  streams: number;
  idle: NodeJS.Timeout | null;
}

/** HTTP/2 sessions with one server, shared by streams; opened when needed, closed when quiet. */
export class SessionPool {
  private readonly node: NodeServer;
  private readonly dialer: ServerDialer;
  private readonly sessions = new Set<PooledSession>();
  private opening: Promise<PooledSession> | null = null;
  private closed = false;

  constructor(node: NodeServer, dialer: ServerDialer) {
    this.node = node;
    this.dialer = dialer;
  }

  /** Begins a request that has a body both ways. @throws DialError; the signal's reason when it is aborted. */
  async request(headers: OutgoingHttpHeaders, context: DialContext): Promise<PooledStream> {
    const pooled = await this.session(context);
    if (context.signal.aborted) throw abortError(context.signal);
    try {
      const reset = new AbortController();
      const stream = pooled.session.request(headers, { endStream: false, signal: reset.signal });
      this.count(pooled, stream);
      return { stream, below: pooled.below, reset: () => reset.abort() };
    } catch (error) {
      throw toDialError(error, 'handshake');
    }
  }

  close(): void {
    this.closed = true;
    for (const { session } of this.sessions) session.destroy();
  }

  private async session(context: DialContext): Promise<PooledSession> {
    // A chain may lead elsewhere at the next dial: each of its streams has a session of its own.
    if (!this.dialer.direct) return this.open(context);
    for (;;) {
      const free = [...this.sessions].find(hasRoom);
      if (free) return free;
      if (this.sessions.size >= MAX_SESSIONS && !this.opening) {
        throw new DialError('dial', 'other', `more than ${MAX_SESSIONS} sessions with the server`);
      }
      // Whoever waits for it may leave: it is opened for all.
      this.opening ??= this.openForAll(context).finally(() => (this.opening = null));
      const opened = await unlessAborted(this.opening, context.signal);
      if (hasRoom(opened)) return opened;
    }
  }

  private openForAll({ onStage }: DialContext): Promise<PooledSession> {
    const controller = new AbortController();
    const late = new DialError('dial', 'timeout', `no session within ${OPEN_TIMEOUT_MS} ms`);
    const timer = setTimeout(() => controller.abort(late), OPEN_TIMEOUT_MS);
    return this.open({ signal: controller.signal, onStage }).finally(() => clearTimeout(timer));
  }

  private async open(context: DialContext): Promise<PooledSession> {
    const below = await dialNodeServer(this.node, this.dialer, { ...context, plain: true });
    const session = connect(`http://${isIP(this.node.server) === 6 ? 'server' : this.node.server}`, {
      createConnection: () => reading(below),
      settings: { initialWindowSize: WINDOW_BYTES, enablePush: false },
    });
    const pooled: PooledSession = { session, below, streams: 0, idle: null };
    session.on('connect', () => session.setLocalWindowSize(WINDOW_BYTES * 4));
    const forget = (): void => {
      this.sessions.delete(pooled);
      if (pooled.idle) clearTimeout(pooled.idle);
    };
    session.on('error', forget);
    session.on('goaway', forget);
    session.on('close', forget);
    this.sessions.add(pooled);
    if (this.closed) session.destroy();
    try {
      await settled(session, context.signal);
    } catch (error) {
      session.destroy();
      throw error;
    }
    this.watch(pooled);
    return pooled;
  }

  private count(pooled: PooledSession, stream: ClientHttp2Stream): void {
    pooled.streams += 1;
    if (pooled.idle) clearTimeout(pooled.idle);
    pooled.idle = null;
    stream.once('close', () => {
      pooled.streams -= 1;
      if (pooled.streams > 0) return;
      if (!this.dialer.direct) return pooled.session.close();
      pooled.idle = setTimeout(() => pooled.session.close(), IDLE_CLOSE_MS);
      pooled.idle.unref();
    });
  }

  /** A server that is gone without a word would keep every stream hanging until TCP gives up. */
  private watch(pooled: PooledSession): void {
    const { session } = pooled;
    let answered = true;
    const timer = setInterval(() => {
      if (!answered) return session.destroy(new Error('the server does not answer any more'));
      if (pooled.streams === 0 || session.destroyed) return;
      answered = false;
      session.ping((error) => (answered = error === null));
    }, PING_MS);
    timer.unref();
    session.on('close', () => clearInterval(timer));
  }
}

/** A session takes a socket over as it is: a paused one would never be read, a half-open one never be closed. */
function reading(below: ByteStream): Duplex {
  const duplex = toDuplex(below);
  duplex.once('end', () => duplex.destroy());
  duplex.resume();
  return duplex;
}

function hasRoom({ session, streams }: PooledSession): boolean {
  const allowed = session.remoteSettings?.maxConcurrentStreams ?? MAX_STREAMS;
  return !session.closed && !session.destroyed && streams < Math.min(MAX_STREAMS, allowed);
}

/** Waits for the server's settings: what is no HTTP/2 server says something else or nothing. */
function settled(session: ClientHttp2Session, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => settle(abortError(signal));
    const onError = (error: Error): void => settle(toProtocolError(error));
    const onClose = (): void => settle(toProtocolError(new Error('the server closed the session')));
    const onSettings = (): void => settle(null);
    const settle = (error: unknown): void => {
      signal.removeEventListener('abort', onAbort);
      session.off('error', onError).off('close', onClose).off('remoteSettings', onSettings);
      if (error === null) resolve();
      else reject(error);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    session.once('error', onError).once('close', onClose).once('remoteSettings', onSettings);
    if (signal.aborted) onAbort();
  });
}

function toProtocolError(error: Error): DialError {
  const { code } = error as NodeJS.ErrnoException;
  const dialError = toDialError(error, 'handshake');
  if (dialError.kind !== 'other') return dialError;
  const kind = code === 'ERR_HTTP2_SESSION_ERROR' || code === 'ERR_HTTP2_ERROR' ? 'protocol_error' : 'connection_reset';
  return new DialError('handshake', kind, error.message, { cause: error });
}

/** The code of a stream that was not reset. */
export const NO_ERROR = constants.NGHTTP2_NO_ERROR;
