import { request as sendRequest, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { ByteStreamDuplex, watchIdle, type IdleWatch } from '@gatehouse/net';
import { RejectedError, type CloseReason, type Flow, type InboundContext } from '../../interfaces/index.js';
import { endToEndHeaders, publicReason, statusOf } from './codec.js';
import type { ForwardAgent, ForwardRequestArgs } from './forward-agent.js';
import type { ForwardTarget } from './target.js';

/** One plain HTTP request on its way to its origin and its response on the way back: one flow. */
export class HttpExchange {
  private readonly context: InboundContext;
  private readonly agent: ForwardAgent;
  private readonly request: IncomingMessage;
  private readonly response: ServerResponse;
  private readonly target: ForwardTarget;
  private flow: Flow | null = null;
  private upstream: ClientRequest | null = null;
  private idle: IdleWatch | null = null;
  /** The response was read to its end. */
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
    const upstream = sendRequest({ ...options, setHost: false, headers: this.upstreamHeaders(rawHeaders) });
    this.upstream = upstream;
    upstream.on('socket', (socket) => this.takeSocket(flow, socket));
    upstream.on('continue', () => this.response.writeContinue());
    upstream.on('response', (message) => this.answer(flow, message));
    upstream.on('error', (error) => {
      if (this.upstream !== upstream || this.done) return;
      // The origin closed a kept connection while this was on its way (RFC 9112 9.3.1); it has seen nothing of it.
      if (mayRetry && upstream.reusedSocket && !this.response.headersSent && this.isRepeatable()) {
        this.send(flow, routeKey, false);
      } else this.fail(error);
    });
    if (this.hasBody()) this.request.pipe(upstream);
    else upstream.end();
  }

  private upstreamHeaders(raw: readonly string[]): string[] {
    const headers = endToEndHeaders(raw, ['host']);
    headers.unshift('Host', this.target.authority);
    if (this.request.headers['transfer-encoding']) headers.push('Transfer-Encoding', 'chunked');
    else if (!this.hasBody() && !this.isRepeatable() && !('content-length' in this.request.headers)) {
      headers.push('Content-Length', '0');
    }
    return headers;
  }

  private takeSocket(flow: Flow, socket: unknown): void {
    if (!(socket instanceof ByteStreamDuplex)) return;
    socket.counter = flow.counter;
    flow.opened(socket.remoteAddress);
  }

  private answer(flow: Flow, message: IncomingMessage): void {
    const { response } = this;
    const status = message.statusCode ?? 502;
    flow.setHttpStatus(status);
    response.writeHead(status, message.statusMessage ?? '', endToEndHeaders(message.rawHeaders));
    message.on('error', (error) => this.fail(error));
    message.on('end', () => {
      if (!message.complete) return;
      this.answered = true;
      if (message.rawTrailers.length > 0 && response.chunkedEncoding) response.addTrailers(pairs(message.rawTrailers));
      response.end();
    });
    message.pipe(response, { end: false });
  }

  private fail(error: unknown): void {
    if (this.done) return;
    const { response, flow } = this;
    if (error instanceof RejectedError && error.drop) {
      this.finish('error', error);
      // No answer; the client's own end or this closes it.
      setTimeout(() => response.destroy(), this.context.timeouts.drop).unref();
      return;
    }
    if (response.headersSent) response.destroy();
    else {
      const status = statusOf(error);
      flow?.setHttpStatus(status);
      answerPlainly(response, status, publicReason(error));
    }
    this.finish('error', error);
  }

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
    const { upstream } = this;
    const socket = upstream?.socket;
    if (socket instanceof ByteStreamDuplex && socket.counter === this.flow?.counter) socket.counter = null;
    // A request that is not complete both ways leaves its connection in no state for another.
    if (upstream && !(upstream.writableFinished && this.answered)) upstream.destroy();
    this.flow?.finish({ closeReason, error });
  }

  private hasBody(): boolean {
    const { headers } = this.request;
    return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  }

  private isRepeatable(): boolean {
    return !this.hasBody() && ['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(this.request.method ?? '');
  }
}

/** A short text answer after which the client's connection closes. */
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
