import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { guardPromise } from '@gatehouse/net';
import { Client, errors, type Dispatcher } from 'undici';

/**
 * Idle connections are closed before most servers close them (Node: 5 s); a target may set another time with
 * `Keep-Alive`.
 */
const IDLE_MS = 4000;
const LONGEST_IDLE_MS = 60_000;
/**
 * Age at which a connection takes no new requests; this frees what undici keeps for a connection that was once busy.
 */
const LONGEST_USE_MS = 300_000;
const MAX_HEAD_BYTES = 64 * 1024;
/**
 * Attempts to connect: a second one where the target ended the first before a request was written. A target that speaks
 * first (SSH, SMTP) ends every connection like that, and undici would retry for as long as the request waits.
 */
const MAX_CONNECTIONS = 2;

export interface Http1TargetOptions {
  /** @throws TunnelError */
  connect(): Promise<Duplex>;
  /** From the end of a request to the head of its answer, in milliseconds. */
  answerMs: number;
  /** Milliseconds of a clock that may jump. */
  now: () => number;
}

/** One connection, or an attempt to make one. */
interface Line {
  client: Client;
  /** Connections begun so far. */
  connections: number;
  openedAt: number;
  /** `leaving`: its current request is the last. */
  state: 'busy' | 'idle' | 'leaving';
}

/**
 * Requests over HTTP/1.1, one at a time per connection; the caller limits their number. Undici's own pool scans all of
 * its connections, and reads the clock for each, twice per request: with 64 busy connections that was a tenth of a
 * request's cost.
 */
export class Http1Target {
  private readonly options: Http1TargetOptions;
  private readonly lines = new Set<Line>();
  /** Last in, first out, so that surplus connections age. */
  private readonly idle: Line[] = [];
  private closed = false;

  constructor(options: Http1TargetOptions) {
    this.options = options;
  }

  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    if (this.closed) return handler.onResponseError?.(null as never, new errors.ClientClosedError());
    const line = this.take() ?? this.open();
    line.client.dispatch(request, handler);
    // A request that cannot be written never makes the connection busy.
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
      // An event stream may be silent for any time.
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

  /** Takes no new requests. A request that waits for this connection is sent over another, which ends with it. */
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
