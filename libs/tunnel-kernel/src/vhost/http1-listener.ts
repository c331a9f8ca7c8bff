import { Server, ServerResponse, type IncomingMessage, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Server as TlsServer } from 'node:tls';
import { farEnd } from '../base/endpoint.js';
import { AGENT_PATH } from '../websocket/handshake.js';
import { Http1Connection } from './http1-connection.js';
import { KEEP_ALIVE_MS, MAX_HEAD_BYTES, type ListenerContext } from './listener-context.js';
import { refuse, refuseUnread } from './refusal.js';
import { announcesBody } from './request-body.js';

const UPGRADABLE = /^(?!h2c?$|http\/|tls\/)/i;

/** Whether the certificate of a TLS connection is valid for a name. */
export type Covers = (socket: Socket, host: string) => boolean;

/** Options of `node:http`: strict where its defaults are lenient. */
export function http1Options({ headMs }: ListenerContext): ServerOptions {
  return {
    insecureHTTPParser: false,
    // `readRequest` checks it, and answers in the gateway's own form.
    requireHostHeader: false,
    // Skips the body events of requests that announce no body.
    optimizeEmptyRequests: true,
    maxHeaderSize: MAX_HEAD_BYTES,
    headersTimeout: headMs,
    // Uploads may take as long as they need.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(headMs, 5000),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 15_000,
    shouldUpgradeCallback: mayUpgrade,
  };
}

/** Other requests are handled normally; the field is not passed on. */
function mayUpgrade(request: IncomingMessage): boolean {
  const { method, headers, httpVersion } = request;
  return (
    method === 'GET' && httpVersion === '1.1' && !announcesBody(headers) && UPGRADABLE.test(headers.upgrade ?? 'h2c')
  );
}

/** Requests of HTTP/1 connections, plain or in TLS. */
export class Http1Listener {
  private readonly context: ListenerContext;
  private readonly connections = new WeakMap<Duplex, Http1Connection>();
  /** All sockets: Node counts one that has not sent a request yet as busy. */
  private readonly sockets = new Set<Socket>();

  constructor(context: ListenerContext) {
    this.context = context;
  }

  attach(server: Server, covers: Covers): void {
    server.timeout = 0;
    server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => this.opened(socket));
    // Node would silently drop fields beyond a limit; `readRequest` counts them instead.
    server.maxHeadersCount = 0;
    const take = (request: IncomingMessage, response: ServerResponse): void => {
      this.connectionOf(request.socket, covers).take(request, response);
    };
    server.on('request', take);
    server.on('checkContinue', take);
    server.on('checkExpectation', take);
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.upgrade(request, socket as Socket, head, covers);
    });
    server.on('connect', (_: IncomingMessage, socket: Duplex) => {
      if (this.isBusy(socket)) socket.destroy();
      else refuse(socket, '405 Method Not Allowed', 'method');
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
      const connection = this.connections.get(socket);
      if (connection) connection.unreadable(error);
      else refuseUnread(error, socket);
    });
  }

  /** Connections that have not sent a request yet. */
  get fresh(): number {
    let count = 0;
    for (const socket of this.sockets) if (!this.connections.has(socket)) count += 1;
    return count;
  }

  /** Closes idle connections; others close after their answer. */
  drain(): void {
    for (const socket of this.sockets) if (!this.isBusy(socket)) socket.destroySoon();
  }

  private opened(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    // Node remembers the address once it was read.
    if (!farEnd(socket)) socket.destroy();
  }

  private isBusy(socket: Duplex): boolean {
    return this.connections.get(socket)?.isBusy ?? false;
  }

  private upgrade(request: IncomingMessage, socket: Socket, head: Buffer, covers: Covers): void {
    // An upgraded socket ends with its own protocol or its answer, so it no longer counts as idle.
    this.sockets.delete(socket);
    socket.on('error', () => undefined);
    // An upgrade is only valid when all earlier requests have been answered.
    if (this.isBusy(socket)) return void socket.destroy();
    if (head.length > 0) socket.unshift(head);
    if (request.url?.split('?')[0] === AGENT_PATH) {
      socket.pause();
      return this.context.agentUpgrade(request, socket);
    }
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.on('finish', () => {
      response.detachSocket(socket);
      socket.destroySoon();
    });
    this.connectionOf(socket, covers).upgrade(request, response);
  }

  private connectionOf(socket: Socket, covers: Covers): Http1Connection {
    const known = this.connections.get(socket);
    if (known) return known;
    const connection = new Http1Connection(this.context, socket, (host) => covers(socket, host));
    this.connections.set(socket, connection);
    return connection;
  }
}
