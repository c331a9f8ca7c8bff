import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type ByteStream,
  failFlow,
  NextTurn,
  type RequestTurn,
  resetStream,
  setFlowTimeout,
  writeStatusLine,
} from '@gatehouse/net';
import type { Socket } from 'node:net';
import { LINGER_MS, type Reply, type ReplyHead, type ReplyOwner } from './reply.js';
import { announcesBody } from './request-body.js';

/** The connection of an answer, which may have to wait for earlier ones. */
export interface ReplyOrder {
  /** The request is next. */
  serve(request: IncomingMessage, reply: Http1Reply): void;
  /** Nothing more of this answer will be written. */
  answered(reply: Http1Reply): void;
  /** Whatever follows on this connection must be ignored. */
  poison(): void;
}

/** An answer in HTTP/1. */
export class Http1Reply implements Reply, RequestTurn {
  owner: ReplyOwner | null = null;
  private readonly order: ReplyOrder;
  private readonly request: IncomingMessage;
  private readonly response: ServerResponse;
  private readonly socket: Socket;
  private wrote = false;
  private continued = false;
  private isGone = false;
  /** A writer waits for `drained`. */
  private full = false;

  constructor(request: IncomingMessage, response: ServerResponse, order: ReplyOrder) {
    this.order = order;
    this.request = request;
    this.response = response;
    this.socket = request.socket;
    response.on('close', () => this.gone());
  }

  start(): void {
    this.order.serve(this.request, this);
  }

  inform(status: number, fields: readonly string[]): void {
    if (status === 100) {
      this.continued = true;
      return this.response.writeContinue();
    }
    const headers: Record<string, string[]> = {};
    for (let at = 0; at + 1 < fields.length; at += 2) (headers[fields[at] ?? ''] ??= []).push(fields[at + 1] ?? '');
    this.response.writeInformation(status, headers);
  }

  begin({ status, statusText, fields, trailer }: ReplyHead): void {
    const { response, request } = this;
    if (trailer !== null && request.httpVersion === '1.1') fields.push('Trailer', trailer);
    // The visitor got no `100 Continue`, so it may or may not send the body.
    if (request.headers.expect !== undefined && !this.continued) response.shouldKeepAlive = false;
    writeStatusLine(response, status, statusText, fields);
    process.nextTick(sendHead, this);
  }

  /** Sends the head without waiting for a slow body. */
  sendHead(): void {
    const { response } = this;
    if (!this.wrote && !response.writableEnded && !response.destroyed) response.flushHeaders();
  }

  write(chunk: Buffer): boolean {
    this.wrote = true;
    if (this.response.write(chunk)) return true;
    if (!this.full) this.response.once('drain', () => this.drained());
    this.full = true;
    return false;
  }

  end(trailers: readonly string[], last: Buffer | null = null): void {
    const { response, request } = this;
    if (trailers.length > 0 && response.chunkedEncoding) response.addTrailers(inPairs(trailers));
    if (last && !this.wrote) endSoon(response, last);
    else if (last) response.end(last);
    else response.end();
    this.wrote = true;
    if (!request.complete && announcesBody(request.headers)) this.linger();
  }

  abort(): void {
    resetStream(this.socket);
  }

  close(): void {
    this.order.poison();
    this.response.shouldKeepAlive = false;
  }

  takeOver(protocol: string, fields: readonly string[]): ByteStream | null {
    if (this.isGone || this.socket.destroyed) return null;
    let head = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n`;
    for (let at = 0; at + 1 < fields.length; at += 2) head += `${fields[at]}: ${fields[at + 1]}\r\n`;
    this.owner = null;
    this.response.detachSocket(this.socket);
    this.socket.write(`${head}\r\n`, 'latin1');
    return this.socket;
  }

  /** The answer was sent, or its connection has ended. */
  gone(): void {
    if (this.isGone) return;
    this.isGone = true;
    // The slot is free before the next request starts.
    this.owner?.gone();
    this.order.answered(this);
  }

  /** The rest of a request may not continue for ever once its answer was sent. */
  private linger(): void {
    const { request, socket } = this;
    request.resume();
    const timer = setFlowTimeout(socket, () => socket.destroy(), LINGER_MS);
    const done = (): void => clearTimeout(timer);
    request.once('end', done).once('close', done);
  }

  private drained(): void {
    this.full = false;
    this.owner?.drained();
  }
}

function sendHead(reply: Http1Reply): void {
  reply.sendHead();
}

function inPairs(fields: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) pairs.push([fields[at] ?? '', fields[at + 1] ?? '']);
  return pairs;
}

const answers: { response: ServerResponse; body: Buffer }[] = [];
const ending = new NextTurn(null, endAll);

/**
 * Small answers of one turn of the event loop are sent together, so that a client that waits for several is woken once.
 */
function endSoon(response: ServerResponse, body: Buffer): void {
  answers.push({ response, body });
  ending.schedule();
}

function endAll(): void {
  for (const { response, body } of answers.splice(0)) {
    try {
      response.end(body);
    } catch (error) {
      failFlow(response, 'the end of an answer', error);
    }
  }
}
