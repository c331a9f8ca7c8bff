import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import {
  ByteStreamDuplex,
  finalStatus,
  guarded,
  requestHttp,
  setFlowTimeout,
  watchIdle,
  writeStatusLine,
  type IdleWatch,
} from '@gatehouse/net';
import { DialError, RejectedError, type CloseReason, type Flow, type InboundContext } from '../../interfaces/index.js';
import { endToEndHeaders, publicReason, statusOf } from './codec.js';
import type { ForwardAgent, ForwardRequestArgs } from './forward-agent.js';
import type { ForwardTarget } from './target.js';

const EARLY_HINTS = 103;

/** A plain HTTP request to its origin and the response: one flow. */
export class HttpExchange {
  private readonly context: InboundContext;
  private readonly agent: ForwardAgent;
  private readonly request: IncomingMessage;
  private readonly response: ServerResponse;
  private readonly target: ForwardTarget;
  private flow: Flow | null = null;
  private upstream: ClientRequest | null = null;
  private message: IncomingMessage | null = null;
  private idle: IdleWatch | null = null;
  /** The response has been read to its end. */
  private answered = false;
  private done = false;

  constructor(
    context: InboundContext,
    agent: ForwardAgent,
    messages: { request: IncomingMessage; response: ServerResponse },
    target: ForwardTarget,
  ) {
    this.context = context;
    this.agent = agent;
    this.request = messages.request;
    this.response = messages.response;
    this.target = target;
  }

  async run(flow: Flow): Promise<void> {
    this.flow = flow;
    this.response.sendDate = false;
    this.response.on('close', () => this.clientDone());
    this.request.on('error', () => this.response.destroy());
    this.idle = watchIdle(flow.counter, this.context.timeouts.idle, () => this.end('idle'));
    const { socket } = this.request;
    if (socket.readableEnded) this.clientEnded();
    else socket.once('end', this.clientEnded);
    try {
      const { key } = await flow.route();
      if (!this.done) this.send(flow, key, true);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Ends both sides. */
  abort(reason: CloseReason): void {
    this.end(reason);
  }

  private send(flow: Flow, routeKey: string, mayRetry: boolean): void {
    const { method, rawHeaders } = this.request;
    const { host, port, path } = this.target;
    const options: ForwardRequestArgs = { agent: this.agent, method, host, port, path, flow, routeKey };
    const upstream = requestHttp({ ...options, setHost: false, headers: this.upstreamHeaders(rawHeaders) });
    this.upstream = upstream;
    upstream.on('socket', (socket) => this.takeSocket(flow, socket));
    upstream.on('continue', () => this.mayInform() && this.response.writeContinue());
    upstream.on('information', ({ statusCode, rawHeaders: raw }) => {
      const links = pairs(raw).flatMap(([name, value]) => (name.toLowerCase() === 'link' ? [value] : []));
      if (statusCode === EARLY_HINTS && links.length > 0 && this.mayInform()) this.hint(links);
    });
    upstream.on('response', (message) => this.answer(flow, message));
    upstream.on('upgrade', (_message, socket) => {
      socket.destroy();
      this.fail(new DialError('relay', 'protocol_error', 'the origin switched protocols without being asked'));
    });
    upstream.on('error', (error) => {
      if (this.upstream !== upstream || this.done) return;
      // Only the bytes after the answer were invalid.
      if (this.message?.complete) return;
      // The origin closed a kept connection meanwhile; a safe request may be repeated (RFC 9112 9.3.1).
      if (mayRetry && upstream.reusedSocket && !this.response.headersSent && this.isRepeatable()) {
        this.send(flow, routeKey, false);
      } else this.fail(error);
    });
    if (hasBody(this.request)) this.request.pipe(upstream);
    else upstream.end();
  }

  private upstreamHeaders(raw: readonly string[]): string[] {
    const headers = endToEndHeaders(raw, ['host']);
    headers.unshift('Host', this.target.authority);
    if (this.request.headers['transfer-encoding']) headers.push('Transfer-Encoding', 'chunked');
    else if (!hasBody(this.request) && !this.isRepeatable() && !('content-length' in this.request.headers)) {
      headers.push('Content-Length', '0');
    }
    return headers;
  }

  private takeSocket(flow: Flow, socket: unknown): void {
    if (!(socket instanceof ByteStreamDuplex)) return;
    socket.counter = flow.counter;
    socket.pacer = () => flow.throttle;
    flow.opened(socket.remoteAddress);
  }

  private answer(flow: Flow, message: IncomingMessage): void {
    const { response } = this;
    this.message = message;
    flow.setHttpStatus(finalStatus(message.statusCode));
    writeStatusLine(response, message.statusCode, message.statusMessage, endToEndHeaders(message.rawHeaders));
    message.on('error', (error) => this.fail(error));
    message.on('end', () => {
      if (!message.complete) return;
      this.answered = true;
      if (message.rawTrailers.length > 0 && response.chunkedEncoding) response.addTrailers(pairs(message.rawTrailers));
      response.end();
    });
    message.pipe(response, { end: false });
  }

  /** HTTP/1.0 has no interim answers (RFC 9110 15.2). */
  private mayInform(): boolean {
    return !this.response.headersSent && this.request.httpVersion !== '1.0';
  }

  private hint(link: string[]): void {
    try {
      this.response.writeEarlyHints({ link });
    } catch {
      // Node refuses malformed ones; the final answer follows in any case.
    }
  }

  private fail(error: unknown): void {
    if (this.done) return;
    const { response, flow } = this;
    if (error instanceof RejectedError && error.drop) {
      this.finish('error', error);
      // The client gets no answer; it leaves, or this timer closes the connection.
      setFlowTimeout(null, () => response.destroy(), this.context.timeouts.drop).unref();
      return;
    }
    if (response.headersSent) this.breakOff();
    else {
      const status = statusOf(error);
      flow?.setHttpStatus(status);
      answerPlainly(response, status, publicReason(error));
    }
    this.finish('error', error);
  }

  /** Sends what has arrived of an incomplete answer, then breaks the connection so that the client notices. */
  private breakOff(): void {
    const { message, response } = this;
    message?.unpipe(response);
    for (let rest: unknown = message?.read(); rest; rest = message?.read()) response.write(rest);
    // Written data reaches the socket at the end of this turn.
    setImmediate(guarded(response, () => response.socket?.destroySoon()));
  }

  /** The client has ended its side: it may still wait for the answer, or has left. */
  private readonly clientEnded = (): void => {
    const { flow, context } = this;
    this.idle?.stop();
    if (!flow || this.done) return;
    this.idle = watchIdle(flow.counter, context.timeouts.halfClosed, () => this.end('client_closed'));
  };

  private clientDone(): void {
    this.finish(this.response.writableFinished ? 'remote_closed' : 'client_closed');
  }

  private end(reason: CloseReason): void {
    this.finish(reason);
    this.response.destroy();
  }

  private finish(closeReason: CloseReason, error?: unknown): void {
    if (this.done) return;
    this.done = true;
    this.idle?.stop();
    this.request.socket.off('end', this.clientEnded);
    const { upstream } = this;
    const socket = upstream?.socket;
    if (socket instanceof ByteStreamDuplex && socket.counter === this.flow?.counter) {
      socket.counter = null;
      socket.pacer = null;
    }
    // The connection of an incomplete request cannot carry another one.
    if (upstream && !(upstream.writableFinished && this.answered)) upstream.destroy();
    this.flow?.finish({ closeReason, error });
  }

  private isRepeatable(): boolean {
    return !hasBody(this.request) && ['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(this.request.method ?? '');
  }
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** A short text answer, after which the client's connection closes. */
export function answerPlainly(response: ServerResponse, status: number, message: string, headers: string[] = []): void {
  if (response.destroyed) return;
  const all = [...headers, 'Content-Type', 'text/plain; charset=utf-8', 'Connection', 'close'];
  response.writeHead(status, all);
  response.end(`${message}\n`);
}

function pairs(flat: readonly string[]): [string, string][] {
  const result: [string, string][] = [];
  for (let index = 0; index < flat.length; index += 2) result.push([flat[index] ?? '', flat[index + 1] ?? '']);
  return result;
}
