import { constants, type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from 'node:http2';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connectHttp2, setFlowInterval, setFlowTimeout, type ByteStream } from '@gatehouse/net';
import { DialError, type DialContext } from '../../interfaces/index.js';
import { abortError, toDialError } from '../dial-error.js';
import { dialNodeServer, type NodeServer } from '../node-server.js';
import type { ServerDialer } from '../server-dialer.js';
import { toDuplex } from '../tls.js';
import { unlessAborted } from '../unless-aborted.js';

/** The most streams of a session before another is opened; a server may allow fewer. */
const MAX_STREAMS = 100;
/** The most sessions with one server, including servers that allow one stream each. */
const MAX_SESSIONS = 1024;
const IDLE_CLOSE_MS = 30_000;
/** While streams are open the server gets a ping this often, and has as long to answer. */
const PING_MS = 15_000;
const OPEN_TIMEOUT_MS = 10_000;
/** The most bytes of a stream before its owner reads. */
const WINDOW_BYTES = 1024 * 1024;

/** A stream of a session, with the connection below it. */
export interface PooledStream {
  stream: ClientHttp2Stream;
  below: ByteStream;
  /** Resets the stream. `close` and `destroy` would end its body first, which a server takes for a regular end. */
  reset: () => void;
}

interface PooledSession {
  session: ClientHttp2Session;
  below: ByteStream;
  streams: number;
  /** The server has announced how many streams it allows. */
  ready: boolean;
  idle: NodeJS.Timeout | null;
}

const CLOSED = new DialError('dial', 'other', 'the node is no longer used');

/** HTTP/2 sessions with one server, shared by streams. They are opened when needed and closed when idle. */
export class SessionPool {
  private readonly node: NodeServer;
  private readonly dialer: ServerDialer;
  private readonly sessions = new Set<PooledSession>();
  private readonly openings = new Map<Promise<PooledSession>, AbortController>();
  /** Requests that wait for a session. */
  private waiting = 0;
  /** The number of streams that the newest session allows. */
  private capacity = MAX_STREAMS;
  private closed = false;

  constructor(node: NodeServer, dialer: ServerDialer) {
    this.node = node;
    this.dialer = dialer;
  }

  /** Begins a request with a body in both directions. @throws DialError; the signal's reason when it is aborted. */
  async request(headers: OutgoingHttpHeaders, context: DialContext): Promise<PooledStream> {
    const pooled = await this.session(context);
    try {
      if (context.signal.aborted) throw abortError(context.signal);
      const reset = new AbortController();
      const stream = pooled.session.request(headers, { endStream: false, signal: reset.signal });
      stream.once('close', () => this.leave(pooled));
      return { stream, below: pooled.below, reset: () => reset.abort() };
    } catch (error) {
      this.leave(pooled);
      throw toDialError(error, 'handshake');
    }
  }

  close(): void {
    this.closed = true;
    for (const controller of this.openings.values()) controller.abort(CLOSED);
    for (const { session } of this.sessions) session.destroy();
  }

  /** A session with room for a stream, which is reserved; `leave` releases it. */
  private async session(context: DialContext): Promise<PooledSession> {
    // A chain may lead elsewhere at the next dial, so each of its streams has its own session.
    if (!this.dialer.direct) return enter(await this.open(context));
    this.waiting += 1;
    try {
      for (;;) {
        const free = [...this.sessions].find(hasRoom);
        if (free) return enter(free);
        if (this.openings.size * this.capacity < this.waiting) this.openForAll(context);
        // A request that waits may leave; the session is opened for all of them.
        const opened = await unlessAborted(Promise.race(this.openings.keys()), context.signal);
        if (hasRoom(opened)) return enter(opened);
      }
    } finally {
      this.waiting -= 1;
    }
  }

  private openForAll({ onStage }: DialContext): void {
    if (this.sessions.size + this.openings.size >= MAX_SESSIONS) {
      if (this.openings.size > 0) return;
      throw new DialError('dial', 'other', `more than ${MAX_SESSIONS} sessions with the server`);
    }
    const controller = new AbortController();
    const late = new DialError('dial', 'timeout', `no session within ${OPEN_TIMEOUT_MS} ms`);
    const timer = setFlowTimeout(null, () => controller.abort(late), OPEN_TIMEOUT_MS);
    const opening = this.open({ signal: controller.signal, onStage }).finally(() => {
      clearTimeout(timer);
      this.openings.delete(opening);
    });
    this.openings.set(opening, controller);
    // All waiting requests may have left by the time it fails.
    opening.catch(() => undefined);
  }

  private async open(context: DialContext): Promise<PooledSession> {
    const below = await dialNodeServer(this.node, this.dialer, { ...context, plain: true });
    if (this.closed) {
      below.destroy();
      throw CLOSED;
    }
    const session = connectHttp2(`http://${isIP(this.node.server) === 6 ? 'server' : this.node.server}`, {
      createConnection: () => reading(below),
      settings: { initialWindowSize: WINDOW_BYTES, enablePush: false },
    });
    const pooled: PooledSession = { session, below, streams: 0, ready: false, idle: null };
    // Node reports the connection in a later turn, when the session may already be destroyed.
    session.on('connect', () => session.destroyed || session.setLocalWindowSize(WINDOW_BYTES * 4));
    const forget = (): void => {
      this.sessions.delete(pooled);
      if (pooled.idle) clearTimeout(pooled.idle);
    };
    session.on('error', forget);
    session.on('goaway', forget);
    session.on('close', forget);
    this.sessions.add(pooled);
    try {
      await settled(session, context.signal);
      if (roomOf(session) === 0) throw new DialError('handshake', 'other', 'the server allows no streams');
    } catch (error) {
      session.destroy();
      throw error;
    }
    pooled.ready = true;
    this.capacity = roomOf(session);
    this.watch(pooled);
    this.closeWhenIdle(pooled);
    return pooled;
  }

  private leave(pooled: PooledSession): void {
    pooled.streams -= 1;
    if (pooled.streams > 0) return;
    if (this.dialer.direct) this.closeWhenIdle(pooled);
    else pooled.session.close();
  }

  /** Also for a session that was never used, because all who waited for it had left. */
  private closeWhenIdle(pooled: PooledSession): void {
    if (pooled.idle) clearTimeout(pooled.idle);
    pooled.idle = setFlowTimeout(pooled.session, () => pooled.session.close(), IDLE_CLOSE_MS);
    pooled.idle.unref();
  }

  /** If a server disappears without notice, every stream would hang until TCP gives up. */
  private watch(pooled: PooledSession): void {
    const { session } = pooled;
    let answered = true;
    const timer = setFlowInterval(
      session,
      () => {
        if (!answered) return session.destroy(new Error('the server no longer answers'));
        if (pooled.streams === 0 || session.destroyed) return;
        answered = false;
        session.ping((error) => (answered = error === null));
      },
      PING_MS,
    );
    timer.unref();
    session.on('close', () => clearInterval(timer));
  }
}

/**
 * A session takes over a socket in its present state: a paused one would never be read, a half-open one never closed.
 */
function reading(below: ByteStream): Duplex {
  const duplex = toDuplex(below);
  duplex.once('end', () => duplex.destroy());
  duplex.resume();
  return duplex;
}

function enter(pooled: PooledSession): PooledSession {
  pooled.streams += 1;
  if (pooled.idle) clearTimeout(pooled.idle);
  pooled.idle = null;
  return pooled;
}

function hasRoom({ session, streams, ready }: PooledSession): boolean {
  return ready && !session.closed && !session.destroyed && streams < roomOf(session);
}

function roomOf({ remoteSettings }: ClientHttp2Session): number {
  return Math.min(MAX_STREAMS, remoteSettings?.maxConcurrentStreams ?? MAX_STREAMS);
}

/** Waits for the server's settings, since a server without HTTP/2 sends something else or nothing. */
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
