import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { RequestTurns } from '@gatehouse/net';
import { endpoint } from '../base/endpoint.js';
import { Http1Reply, type ReplyOrder } from './http1-reply.js';
import type { IncomingRequest } from './incoming-request.js';
import type { ListenerContext } from './listener-context.js';
import { refuseUnread } from './refusal.js';
import { announcesBody } from './request-body.js';
import type { Arrival } from './visitor-origin.js';

/** A connection that speaks HTTP/1, with its requests. */
export class Http1Connection implements ReplyOrder {
  private readonly context: ListenerContext;
  private readonly socket: Socket;
  /** Determined once. */
  private readonly arrival: Arrival;
  private readonly covers: (host: string) => boolean;
  private readonly turns: RequestTurns;
  /** A malformed request came: nothing that follows on this connection can be trusted. */
  private poisoned = false;

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
    this.turns = new RequestTurns(socket, {
      onIdle: () => {
        if (context.draining()) socket.destroySoon();
      },
    });
  }

  /** An error response that is written while another answer is being sent would be read as part of it. */
  get isBusy(): boolean {
    return this.turns.isBusy;
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    if (this.poisoned) return void request.resume();
    const { context } = this;
    // The proxy's next request may be for a name of another process, which it reaches only over a new connection.
    if (context.draining() || (context.shared && this.arrival.trusted)) response.shouldKeepAlive = false;
    this.turns.take(request, new Http1Reply(request, response, this));
  }

  /** The connection switches to another protocol; `response` is used until then. */
  upgrade(request: IncomingMessage, response: ServerResponse): void {
    const reply = new Http1Reply(request, response, this);
    // Node tracks responses of its own server only; this one may already have released its socket.
    this.socket.on('close', () => reply.gone());
    this.hand(request, reply);
  }

  serve(request: IncomingMessage, reply: Http1Reply): void {
    if (this.poisoned || this.socket.destroyed) request.resume();
    else this.hand(request, reply);
  }

  answered(reply: Http1Reply): void {
    this.turns.done(reply);
  }

  poison(): void {
    this.poisoned = true;
  }

  /** The parser could not read the request. */
  unreadable(error: NodeJS.ErrnoException): void {
    this.turns.unreadable(error, () => refuseUnread(error, this.socket));
  }

  private hand(request: IncomingMessage, reply: Http1Reply): void {
    const { arrival, covers } = this;
    const { method = '', url = '', httpVersion, rawHeaders } = request;
    this.context.dispatcher.receive({
      raw: { method, version: httpVersion, target: url, authority: null, fields: rawHeaders },
      arrival,
      covers,
      body: announcesBody(request.headers) ? request : null,
      reply,
    } satisfies IncomingRequest);
  }
}
