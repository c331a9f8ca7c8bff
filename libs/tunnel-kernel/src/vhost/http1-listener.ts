import { Server, ServerResponse, type IncomingMessage, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Server as TlsServer } from 'node:tls';
import { endpoint, farEnd } from '../modes/endpoint.js';
import type { TunnelLogger } from '../environment.js';
import { AGENT_PATH } from '../websocket/handshake.js';
import type { FrontDoor, IncomingRequest } from './front-door.js';
import { Http1Reply } from './http1-reply.js';
import type { Arrival, TrustedProxies } from './visitor-origin.js';

/** Longest head of a request. */
export const MAX_HEAD_BYTES = 64 * 1024;
/** More than the 60 s of what may stand in front of this: the one in front is to let go first. */
export const KEEP_ALIVE_MS = 65_000;
/** Requests that wait for the answer to one before them. */
const MAX_PIPELINED = 64;
const UPGRADABLE = /^(?!h2c?$|http\/|tls\/)/i;

export interface ListenerContext {
  door: FrontDoor;
  proxies: TrustedProxies;
  logger: TunnelLogger;
  /** From the first byte of a head to its last, milliseconds. */
  headMs: number;
  draining(): boolean;
  /** Other processes serve other names. */
  shared: boolean;
  /** A WebSocket of an agent (`AGENT_PATH`): paused, with what came after the request put back. */
  agentUpgrade(request: IncomingMessage, socket: Socket): void;
}

/** What a connection is, found out once. */
interface Connection {
  arrival: Arrival;
  covers: (host: string) => boolean;
  /** A request came that was not understood: what follows it on this connection is nobody's. */
  poisoned: boolean;
  /** Requests that are not answered yet; only the first of them is at work. */
  open: number;
  /** Those that were sent before the one at work was answered (RFC 9112 9.3.2: only safe ones could be done beside it). */
  waiting: (() => void)[];
  /** The last one that began to come. */
  newest: IncomingMessage | null;
  /** What cannot be read came after whole requests: it is answered when they are. */
  unread: NodeJS.ErrnoException | null;
}

/** Options of `node:http`: what it would forgive is refused. */
export function http1Options({ headMs }: ListenerContext): ServerOptions {
  return {
    insecureHTTPParser: false,
    // Looked at in `readRequest`, with an answer of this gateway.
    requireHostHeader: false,
    maxHeaderSize: MAX_HEAD_BYTES,
    headersTimeout: headMs,
    // Uploads take as long as they take.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(headMs, 5000),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 15_000,
    shouldUpgradeCallback: mayUpgrade,
  };
}

/** Others are requests like any other: the field does not go further. */
function mayUpgrade(request: IncomingMessage): boolean {
  const { method, headers, httpVersion } = request;
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
  return method === 'GET' && httpVersion === '1.1' && !hasBody && UPGRADABLE.test(headers.upgrade ?? 'h2c');
}

/** Requests of HTTP/1 connections, plain or in TLS. */
export class Http1Listener {
  private readonly context: ListenerContext;
  private readonly connections = new WeakMap<Duplex, Connection>();
  /** All of them: Node takes one that has not asked for anything yet for one that is at work. */
  private readonly sockets = new Set<Socket>();

  constructor(context: ListenerContext) {
    this.context = context;
  }

  /** `covers` answers for a connection in TLS whether its certificate is good for a name. */
  attach(server: Server, covers: (socket: Socket, host: string) => boolean): void {
    server.timeout = 0;
    server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      // Asked now, the address stays known.
      if (!farEnd(socket)) socket.destroy();
    });
    // Beyond them fields would be passed over in silence; `readRequest` counts.
    server.maxHeadersCount = 0;
    const take = (request: IncomingMessage, response: ServerResponse): void => this.take(request, response, covers);
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
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => this.unreadable(error, socket));
  }

  private unreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
    const connection = this.connections.get(socket);
    if (!connection || connection.open === 0) return refuseUnread(error, socket);
    // Of the request that is still being read nothing can be known any more; those before it are whole.
    if (error.code === 'ECONNRESET' || !connection.newest?.complete) return void socket.destroy();
    connection.unread ??= error;
  }

  /** Connections that wait for a request end; others after their answer. */
  drain(): void {
    for (const socket of this.sockets) this.endIfIdle(socket);
  }

  private endIfIdle(socket: Socket): void {
    if (!this.isBusy(socket)) socket.destroySoon();
  }

  /** Between the bytes of another answer one that does not wait for its turn would be read as a part of it. */
  private isBusy(socket: Duplex): boolean {
    return (this.connections.get(socket)?.open ?? 0) > 0;
  }

  private take(
    request: IncomingMessage,
    response: ServerResponse,
    covers: (socket: Socket, host: string) => boolean,
  ): void {
    const { socket } = request;
    const connection = this.connectionOf(socket, covers);
    if (connection.poisoned) return void request.resume();
    // A proxy's next request may be for a name of another process, which only a new connection leads to.
    if (this.context.draining() || (this.context.shared && connection.arrival.trusted))
      response.shouldKeepAlive = false;
    connection.open += 1;
    connection.newest = request;
    const reply = new Http1Reply(request, response, () => this.answered(connection, socket));
    const close = reply.close.bind(reply);
    reply.close = () => {
      connection.poisoned = true;
      close();
    };
    const serve = (): void => {
      if (connection.poisoned || socket.destroyed) request.resume();
      else this.context.door.receive(incoming(request, connection, reply));
    };
    if (connection.open === 1) serve();
    else if (connection.waiting.push(serve) > MAX_PIPELINED) socket.destroy();
  }

  private answered(connection: Connection, socket: Socket): void {
    connection.open -= 1;
    connection.waiting.shift()?.();
    if (connection.unread && connection.open === 0) refuseUnread(connection.unread, socket);
    else if (this.context.draining()) this.endIfIdle(socket);
  }

  private upgrade(
    request: IncomingMessage,
    socket: Socket,
    head: Buffer,
    covers: (socket: Socket, host: string) => boolean,
  ): void {
    // It ends with its own protocol, or with its answer; not with those that wait for a request.
    this.sockets.delete(socket);
    socket.on('error', () => undefined);
    // Nobody asks for another protocol before there are answers to the requests of this one.
    if (this.isBusy(socket)) return void socket.destroy();
    if (head.length > 0) socket.unshift(head);
    if (request.url?.split('?')[0] === AGENT_PATH) {
      // Not a visitor's any more: it does not end with them.
      this.sockets.delete(socket);
      socket.pause();
      return this.context.agentUpgrade(request, socket);
    }
    const connection = this.connectionOf(socket, covers);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.on('finish', () => {
      response.detachSocket(socket);
      socket.destroySoon();
    });
    this.context.door.receive(incoming(request, connection, new Http1Reply(request, response, () => undefined)));
  }

  private connectionOf(socket: Socket, covers: (socket: Socket, host: string) => boolean): Connection {
    const known = this.connections.get(socket);
    if (known) return known;
    const peer = endpoint(socket.remoteAddress, socket.remotePort);
    const connection: Connection = {
      arrival: {
        peer,
        entrance: endpoint(socket.localAddress, socket.localPort),
        secure: 'encrypted' in socket,
        trusted: this.context.proxies.has(peer.address),
      },
      covers: (host) => covers(socket, host),
      poisoned: false,
      open: 0,
      waiting: [],
      newest: null,
      unread: null,
    };
    this.connections.set(socket, connection);
    return connection;
  }
}

function incoming(request: IncomingMessage, connection: Connection, reply: Http1Reply): IncomingRequest {
  const { method = '', url = '', httpVersion, rawHeaders, headers } = request;
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
  return {
    raw: { method, version: httpVersion, target: url, authority: null, fields: rawHeaders },
    arrival: connection.arrival,
    covers: connection.covers,
    body: hasBody ? request : null,
    reply,
  };
}

/** What the parser did not understand. */
function refuseUnread(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    refuse(socket, '431 Request Header Fields Too Large', 'too_large');
  } else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') refuse(socket, '408 Request Timeout', 'timeout');
  else refuse(socket, '400 Bad Request', 'syntax');
}

function refuse(socket: Duplex, status: string, error: string): void {
  socket.on('error', () => undefined);
  socket.end(`HTTP/1.1 ${status}\r\nX-Gw-Error: ${error}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  // Whoever goes on sending is not waited for.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), 1000);
  socket.once('close', () => clearTimeout(timer));
}
