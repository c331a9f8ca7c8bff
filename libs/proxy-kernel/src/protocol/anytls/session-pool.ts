import { setFlowTimeout } from '@gatehouse/net';
import type { DialContext } from '../../interfaces/index.js';
import { abortError } from '../../transport/dial-error.js';
import { dialNodeServer, type NodeServer } from '../../transport/node-server.js';
import type { ServerDialer } from '../../transport/server-dialer.js';
import { PaddingScheme } from './padding.js';
import { AnyTlsSession } from './session.js';

/** The most idle sessions that are kept. */
const MAX_IDLE = 64;

export interface PoolOptions {
  password: string;
  idleMs: number;
}

interface Idle {
  session: AnyTlsSession;
  timer: NodeJS.Timeout;
}

/** The sessions with one server. A stream gets an idle session, or a new one. */
export class AnyTlsSessionPool {
  private readonly node: NodeServer;
  private readonly dialer: ServerDialer;
  private readonly options: PoolOptions;
  private readonly padding = { scheme: PaddingScheme.default };
  /** The most recently used one is last, since it is the most likely to be alive. */
  private idle: Idle[] = [];
  private closed = false;

  constructor(node: NodeServer, dialer: ServerDialer, options: PoolOptions) {
    this.node = node;
    this.dialer = dialer;
    this.options = options;
  }

  /** @throws DialError; the signal's reason when it is aborted. */
  async acquire(context: DialContext): Promise<AnyTlsSession> {
    if (context.signal.aborted) throw abortError(context.signal);
    const entry = this.idle.pop();
    if (entry) {
      clearTimeout(entry.timer);
      entry.session.stream.pause();
      return entry.session;
    }
    const stream = await dialNodeServer(this.node, this.dialer, context);
    return new AnyTlsSession(stream, {
      password: this.options.password,
      padding: this.padding,
      onIdle: (session) => this.keep(session),
      onClose: (session) => this.forget(session),
    });
  }

  /** Closes idle sessions; those in use close with their streams. */
  close(): void {
    this.closed = true;
    for (const { session } of this.idle.slice()) session.close();
  }

  private keep(session: AnyTlsSession): void {
    // A chain may lead elsewhere at the next dial.
    if (this.closed || !this.dialer.direct || this.idle.length >= MAX_IDLE) return session.close();
    const timer = setFlowTimeout(null, () => session.close(), this.options.idleMs);
    timer.unref();
    this.idle.push({ session, timer });
  }

  private forget(session: AnyTlsSession): void {
    const entry = this.idle.find((candidate) => candidate.session === session);
    if (!entry) return;
    clearTimeout(entry.timer);
    this.idle = this.idle.filter((candidate) => candidate !== entry);
  }
}
