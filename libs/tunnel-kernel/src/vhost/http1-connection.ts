import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { endpoint } from '../modes/endpoint.js';
import { Http1Reply, type ReplyOrder } from './http1-reply.js';
import type { IncomingRequest } from './incoming-request.js';
import type { ListenerContext } from './listener-context.js';
import { refuseUnread } from './refusal.js';
import { announcesBody } from './request-body.js';
import type { Arrival } from './visitor-origin.js';

/** Requests that wait for the answer to one before them. */
const MAX_PIPELINED = 64;

interface Turn {
  request: IncomingMessage;
  reply: Http1Reply;
}

/** A connection that speaks HTTP/1, with the requests that came by it. */
export class Http1Connection implements ReplyOrder {
  private readonly context: ListenerContext;
  private readonly socket: Socket;
  /** What it is, found out once. */
  private readonly arrival: Arrival;
  private readonly covers: (host: string) => boolean;
  /** Requests that are not answered yet, in their order. Only the first is at work (RFC 9112 9.3.2: only safe ones could be done beside it). */
  private readonly turns: Turn[] = [];
  /** A request came that was not understood: what follows it on this connection is nobody's. */
  private poisoned = false;
  /** The last request that began to come. */
  private newest: IncomingMessage | null = null;
  /** What cannot be read came after whole requests: it is answered when they are. */
  private unread: NodeJS.ErrnoException | null = null;

  /** `covers`: see `IncomingRequest`. */
  constructor(context: ListenerContext, socket: Socket, covers: (host: string) => boolean) {
    const peer = endpoint(socket.remoteAddress, socket.remotePort);
    this.context = context;
    this.socket = socket;
    this.covers = covers;
    this.arrival = {
      peer,
      entrance: endpoint(socket.localAddress, socket.localPort),
      secure: 'encrypted' in socket,
      trusted: context.proxies.has(peer.address),
    };
    // Answers that wait for their turn have no socket that they would be closed with.
    socket.on('close', () => {
      for (const { reply } of this.turns.splice(0)) reply.gone();
    });
  }

  /** Between the bytes of another answer one that does not wait for its turn would be read as a part of it. */
  get isBusy(): boolean {
    return this.turns.length > 0;
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    if (this.poisoned) return void request.resume();
    const { context } = this;
    // A proxy's next request may be for a name of another process, which only a new connection leads to.
    if (context.draining() || (context.shared && this.arrival.trusted)) response.shouldKeepAlive = false;
    this.newest = request;
    const turn = { request, reply: new Http1Reply(request, response, this) };
    const waiting = this.turns.push(turn) - 1;
    if (waiting === 0) this.serve(turn);
    else if (waiting > MAX_PIPELINED) this.socket.destroy();
  }

  /** The connection is to lead to another protocol; `response` writes what is said until then. */
  upgrade(request: IncomingMessage, response: ServerResponse): void {
    this.hand(request, new Http1Reply(request, response, this));
  }

  answered(reply: Http1Reply): void {
    if (this.turns[0]?.reply !== reply) return;
    this.turns.shift();
    const [next] = this.turns;
    if (next) this.serve(next);
    else if (this.unread) refuseUnread(this.unread, this.socket);
    else if (this.context.draining()) this.socket.destroySoon();
  }

  poison(): void {
    this.poisoned = true;
  }

  /** The parser did not understand what came. */
  unreadable(error: NodeJS.ErrnoException): void {
    if (!this.isBusy) return refuseUnread(error, this.socket);
    // Of the request that is still being read nothing can be known any more; those before it are whole.
    if (error.code === 'ECONNRESET' || !this.newest?.complete) return void this.socket.destroy();
    this.unread ??= error;
  }

  private serve({ request, reply }: Turn): void {
    if (this.poisoned || this.socket.destroyed) request.resume();
    else this.hand(request, reply);
  }

  private hand(request: IncomingMessage, reply: Http1Reply): void {
    const { arrival, covers } = this;
    const { method = '', url = '', httpVersion, rawHeaders } = request;
    this.context.door.receive({
      raw: { method, version: httpVersion, target: url, authority: null, fields: rawHeaders },
      arrival,
      covers,
      body: announcesBody(request.headers) ? request : null,
      reply,
    } satisfies IncomingRequest);
  }
}
