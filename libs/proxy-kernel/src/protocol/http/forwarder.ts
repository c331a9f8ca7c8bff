import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ByteReader, createHttpServer, guardPromise, serveInTurn } from '@gatehouse/net';
import type { ConnectionMetadata, InboundContext, Login } from '../../interfaces/index.js';
import { endGently, plainAddress } from '../client-socket.js';
import { loginFields, targetFields } from '../stream-session.js';
import { formatAnswer, parseAuthority, publicReason, statusOf } from './codec.js';
import { isRefused, openTunnel, proxyLogin } from './connect.js';
import { HttpExchange, answerPlainly, hasBody } from './exchange.js';
import { ForwardAgent } from './forward-agent.js';
import { checkFraming, parseAbsoluteForm, type ForwardTarget } from './target.js';
import { serveUpgrade } from './upgrade.js';

const MAX_HEAD_BYTES = 16 * 1024;
const KEEP_ALIVE_MS = 60_000;

/** A plain HTTP proxy: requests in absolute form on a kept client connection, each to its own origin. */
export class HttpForwarder {
  private readonly context: InboundContext;
  private readonly server: Server;
  /** The connections to origins of each client. */
  private readonly agents = new WeakMap<Duplex, ForwardAgent>();

  constructor(context: InboundContext) {
    this.context = context;
    this.server = createHttpServer({
      maxHeaderSize: MAX_HEAD_BYTES,
      headersTimeout: context.timeouts.handshake,
      requestTimeout: 0,
      // An upgrade would lose the body; such a request gets an ordinary answer (RFC 9110 7.8).
      shouldUpgradeCallback: (request) => !hasBody(request),
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.min(1000, context.timeouts.handshake),
    });
    // A client that has ended its side still gets its answer. Node's documentation does not mention this option.
    Object.assign(this.server, { httpAllowHalfOpen: true });
    serveInTurn(this.server, {
      request: (request, response) => this.forward(request, response),
      checkContinue: (request, response) => this.forward(request, response),
      connect: (request, socket, head) => this.connect(request, socket, head),
      upgrade: (request, socket, head) => this.upgrade(request, socket, head),
      clientError: (error, socket) => this.refuse(error, socket),
    });
    // The server never listens; the event starts its check for clients that send their heads too slowly.
    this.server.emit('listening');
  }

  /** Takes over a client, with the bytes read so far. */
  serve(socket: Socket, reader: ByteReader): void {
    const agent = new ForwardAgent();
    this.agents.set(socket, agent);
    socket.once('close', () => agent.destroy());
    reader.restore();
    this.server.emit('connection', socket);
    socket.resume();
  }

  close(): void {
    this.server.close(() => undefined);
  }

  private forward(request: IncomingMessage, response: ServerResponse): void {
    const agent = this.agents.get(request.socket);
    if (!agent) return void response.destroy();
    const login = proxyLogin(this.context, request.socket, request.headers['proxy-authorization']);
    if (isRefused(login)) return answerPlainly(response, login.status, login.message, login.header);
    try {
      checkFraming(request);
      const target = parseAbsoluteForm(request.url ?? '');
      const exchange = new HttpExchange(this.context, agent, { request, response }, target);
      const metadata = this.metadata(request, target, login);
      const flow = this.context.dispatcher.begin(metadata, (reason) => exchange.abort(reason));
      guardPromise(response, exchange.run(flow));
    } catch (error) {
      answerPlainly(response, statusOf(error), publicReason(error));
    }
  }

  private metadata(request: IncomingMessage, target: ForwardTarget, login: Login): ConnectionMetadata {
    return {
      network: 'tcp',
      type: 'HTTP',
      sourceIp: plainAddress(request.socket.remoteAddress),
      sourcePort: request.socket.remotePort ?? 0,
      inboundName: this.context.config.name,
      inboundPort: this.context.port,
      ...loginFields(login),
      ...targetFields(target.host),
      destinationPort: target.port,
      httpMethod: request.method ?? '',
      httpUrl: target.url,
    };
  }

  /** CONNECT on a connection that carried plain requests before. */
  private connect(request: IncomingMessage, socket: Socket, head: Buffer): void {
    try {
      const authority = parseAuthority(request.url ?? '');
      const headers = new Map(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      socket.pause();
      if (head.length > 0) socket.unshift(head);
      const reader = new ByteReader(socket, MAX_HEAD_BYTES);
      guardPromise(socket, openTunnel(this.context, socket, reader, { ...authority, headers }));
    } catch (error) {
      endGently(socket, formatAnswer(statusOf(error), publicReason(error)));
    }
  }

  private upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const login = proxyLogin(this.context, socket, request.headers['proxy-authorization']);
    if (isRefused(login)) return endGently(socket, formatAnswer(login.status, login.message, login.header));
    try {
      checkFraming(request);
      const target = parseAbsoluteForm(request.url ?? '');
      const metadata = this.metadata(request, target, login);
      guardPromise(socket, serveUpgrade(this.context, { request, socket, head, target, metadata }));
    } catch (error) {
      endGently(socket, formatAnswer(statusOf(error), publicReason(error)));
    }
  }

  private refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    if (error.code === 'HPE_HEADER_OVERFLOW')
      return endGently(socket, formatAnswer(431, 'the request head is too long'));
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
      return endGently(socket, formatAnswer(408, 'the request came too slowly'));
    endGently(socket, formatAnswer(400, 'malformed request'));
  }
}
