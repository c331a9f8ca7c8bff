import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ByteReader } from '@gatehouse/net';
import type { ConnectionMetadata, InboundContext } from '../../interfaces/index.js';
import { endGently, plainAddress } from '../client-socket.js';
import { targetFields } from '../stream-session.js';
import { formatAnswer, parseAuthority, publicReason, statusOf } from './codec.js';
import { isRefused, openTunnel, proxyUser } from './connect.js';
import { HttpExchange, answerPlainly } from './exchange.js';
import { ForwardAgent } from './forward-agent.js';
import { checkFraming, parseAbsoluteForm, type ForwardTarget } from './target.js';
import { serveUpgrade } from './upgrade.js';

const MAX_HEAD_BYTES = 16 * 1024;
const KEEP_ALIVE_MS = 60_000;

/** Plain HTTP proxying: requests in absolute form, each to its own origin, on one kept client connection. */
export class HttpForwarder {
  private readonly context: InboundContext;
  private readonly server: Server;
  /** Upstream connections of each client. */
  private readonly agents = new WeakMap<Duplex, ForwardAgent>();

  constructor(context: InboundContext) {
    this.context = context;
    this.server = createServer({
      maxHeaderSize: MAX_HEAD_BYTES,
      headersTimeout: context.timeouts.handshake,
      requestTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.min(1000, context.timeouts.handshake),
    });
    this.server.on('request', (request, response) => this.forward(request, response));
    this.server.on('checkContinue', (request, response) => this.forward(request, response));
    this.server.on('connect', (request, socket, head) => this.connect(request, socket as Socket, head));
    this.server.on('upgrade', (request, socket, head) => this.upgrade(request, socket as Socket, head));
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.refuse(error, socket as Socket));
    // It never listens; this starts its check of clients that send their heads too slowly.
    this.server.emit('listening');
  }

  /** Takes a client over with what was read of its first request. */
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
    const user = proxyUser(this.context, request.socket, request.headers['proxy-authorization']);
    if (isRefused(user)) return answerPlainly(response, user.status, user.message, user.header);
    try {
      checkFraming(request);
      const target = parseAbsoluteForm(request.url ?? '');
      const exchange = new HttpExchange(this.context, agent, { request, response }, target);
      const metadata = this.metadata(request, target, user);
      void exchange.run(this.context.dispatcher.begin(metadata, (reason) => exchange.abort(reason)));
    } catch (error) {
      answerPlainly(response, statusOf(error), publicReason(error));
    }
  }

  private metadata(request: IncomingMessage, target: ForwardTarget, user: string | null): ConnectionMetadata {
    return {
      network: 'tcp',
      type: 'HTTP',
      sourceIp: plainAddress(request.socket.remoteAddress),
      sourcePort: request.socket.remotePort ?? 0,
      inboundName: this.context.config.name,
      inboundPort: request.socket.localPort ?? 0,
      inboundUser: user,
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
      void openTunnel(this.context, socket, reader, { ...authority, headers });
    } catch (error) {
      endGently(socket, formatAnswer(statusOf(error), publicReason(error)));
    }
  }

  private upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const user = proxyUser(this.context, socket, request.headers['proxy-authorization']);
    if (isRefused(user)) return endGently(socket, formatAnswer(user.status, user.message, user.header));
    try {
      checkFraming(request);
      const target = parseAbsoluteForm(request.url ?? '');
      void serveUpgrade(this.context, {
        request,
        socket,
        head,
        target,
        metadata: this.metadata(request, target, user),
      });
    } catch (error) {
      endGently(socket, formatAnswer(statusOf(error), publicReason(error)));
    }
  }

  private refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    // Bytes already on their way back would be mixed up with the answer.
    if (!socket.writable || error.code === 'ECONNRESET' || socket.bytesWritten > 0) return void socket.destroy();
    if (error.code === 'HPE_HEADER_OVERFLOW')
      return endGently(socket, formatAnswer(431, 'the request head is too long'));
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
      return endGently(socket, formatAnswer(408, 'the request came too slowly'));
    endGently(socket, formatAnswer(400, 'malformed request'));
  }
}
