import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { guardPromise } from '@gatehouse/net';
import { Client, errors, type Dispatcher } from 'undici';

/** Idle connections are let go of before most servers do (Node: 5 s); a target may say otherwise with `Keep-Alive`. */
const IDLE_MS = 4000;
const LONGEST_IDLE_MS = 60_000;
/** A connection serves no new requests after this; what undici keeps for one that was busy once goes with it. */
const LONGEST_USE_MS = 300_000;
const MAX_HEAD_BYTES = 64 * 1024;
/**
 * Connections of a line: one, and another where the target ended the first before a request was written. A target that
 * speaks first (SSH, SMTP) ends each of them so, and undici would go on for as long as the request waits.
 */
const MAX_CONNECTIONS = 2;

export interface Http1TargetOptions {
  /** @throws TunnelError */
  connect(): Promise<Duplex>;
  /** From the end of a request until the head of its answer, milliseconds. */
  answerMs: number;
  /** Milliseconds of a clock that may step. */
  now: () => number;
}

/** One connection, or the wish for one. */
interface Line {
  client: Client;
  /** Begun so far. */
  connections: number;
  openedAt: number;
  /** `leaving`: what it has begun is the last. */
  state: 'busy' | 'idle' | 'leaving';
}

/**
 * Requests over HTTP/1.1, one at a time to a connection; how many there may be is the caller's matter. Undici's own pool
 * looks through all of its connections, and at the clock for each of them, twice a request: with 64 of them at work that
 * was a tenth of what a request costs.
 */
export class Http1Target {
  private readonly options: Http1TargetOptions;
  private readonly lines = new Set<Line>();
  /** The one that was used last is taken first, so that what is too many gets old. */
  private readonly idle: Line[] = [];
  private closed = false;

  constructor(options: Http1TargetOptions) {
    this.options = options;
  }

  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    if (this.closed) return handler.onResponseError?.(null as never, new errors.ClientClosedError());
    const line = this.take() ?? this.open();
    line.client.dispatch(request, handler);
    // A request that cannot be written never makes it busy.
    this.rest(line);
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.lines].map(({ client }) => client.close()));
  }

  async destroy(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.lines].map(({ client }) => client.destroy()));
  }

  private take(): Line | null {
    const now = this.options.now();
    for (let line = this.idle.pop(); line; line = this.idle.pop()) {
      line.state = 'busy';
      const used = now - line.openedAt;
      if (used >= 0 && used < LONGEST_USE_MS) return line;
      this.leave(line);
    }
    return null;
  }

  private open(): Line {
    const { options } = this;
    const client = new Client('http://target', {
      allowH2: false,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: LONGEST_IDLE_MS,
      headersTimeout: options.answerMs,
      // A stream of events may be quiet for as long as it likes.
      bodyTimeout: 0,
      maxHeaderSize: MAX_HEAD_BYTES,
      connect: (_, callback) => this.connect(line, callback),
    });
    const line: Line = { client, connections: 0, openedAt: options.now(), state: 'busy' };
    client.on('drain', () => this.rest(line));
    client.on('disconnect', () => this.leave(line));
    client.on('connectionError', () => this.leave(line));
    this.lines.add(line);
    return line;
  }

  private connect(line: Line, done: Connected): void {
    line.connections += 1;
    if (line.connections <= MAX_CONNECTIONS) guardPromise(null, hand(this.options, done));
    else done(new Error('the target ended its connections before it was asked'), null);
  }

  private rest(line: Line): void {
    if (line.state !== 'busy' || line.client.stats.size > 0) return;
    line.state = 'idle';
    this.idle.push(line);
  }

  /** Takes no new request. One that waited for the connection is sent over another, which ends with it. */
  private leave(line: Line): void {
    if (line.state === 'leaving') return;
    if (line.state === 'idle') this.idle.splice(this.idle.indexOf(line), 1);
    line.state = 'leaving';
    const gone = (): void => void this.lines.delete(line);
    line.client.close().then(gone, gone);
  }
}

type Connected = (...answer: [null, Socket] | [Error, null]) => void;

async function hand(options: Http1TargetOptions, done: Connected): Promise<void> {
  let stream: Duplex;
  try {
    stream = await options.connect();
  } catch (error) {
    return done(error instanceof Error ? error : new Error(String(error)), null);
  }
  done(null, stream as Socket);
}
