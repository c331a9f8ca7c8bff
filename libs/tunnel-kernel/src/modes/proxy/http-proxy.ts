import { STATUS_CODES, type ClientRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  type ByteStream,
  ByteStreamDuplex,
  createHttpServer,
  guardPromise,
  requestHttp,
  resetStream,
  serveInTurn,
  setFlowTimeout,
  writeStatusLine,
} from '@gatehouse/net';
import type { GatewayAnswer } from '../../access/visitor-verifier.js';
import type { HostAndPort } from '../../environment.js';
import { TargetError, TunnelError } from '../../errors.js';
import type { Flow } from '../../flow-ledger.js';
import { relayFlow } from '../../relay-flow.js';
import { badRequestAnswer, targetFailureAnswer } from '../../vhost/answers.js';
import { asHeaders, without } from '../../vhost/request-fields.js';
import { readRequest, type RequestHead } from '../../vhost/request-rules.js';
import { headBytes, readResponseFields } from '../../vhost/response-fields.js';
import type { AdmittedSocket } from '../admission.js';
import type { ModeContext } from '../mode.js';
import { parseDestination } from './destination.js';
import { reachDestination } from './reach-destination.js';

const MAX_HEADER_BYTES = 64 * 1024;
const KEEP_ALIVE_MS = 65_000;
/** Time limit for the head of a request: the first, and each following one after an idle period. */
const HEAD_MS = 15_000;
/** From the end of a request to the head of its answer. */
const ANSWER_MS = 60_000;

interface Known {
  visitor: AdmittedSocket;
  heads: HeadWatch;
  /** Whether its address is admitted. */
  allowed: boolean;
}

/** A request that may be forwarded. */
interface Asked {
  request: IncomingMessage;
  response: ServerResponse;
  visitor: AdmittedSocket;
  head: RequestHead;
  destination: HostAndPort;
}

/**
 * An HTTP proxy for visitors (RFC 9110 section 3.7): CONNECT, and requests in absolute form. The agent makes the
 * outgoing connections.
 */
export class HttpProxy {
  private readonly context: ModeContext;
  private readonly server: Server;
  private readonly visitors = new WeakMap<object, Known>();

  constructor(context: ModeContext) {
    this.context = context;
    const options = { maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS };
    this.server = createHttpServer(options);
    // Without this, Node would treat a visitor's half-close as its leaving, although it may still read.
    Object.assign(this.server, { httpAllowHalfOpen: true });
    serveInTurn(
      this.server,
      {
        request: (request, response) => guardPromise(response, this.answer(request, response)),
        connect: (request, socket, head) => guardPromise(socket, this.connect(request, socket, head)),
        clientError: (_, socket) => void socket.destroy(),
      },
      { onIdle: (socket) => this.visitors.get(socket)?.heads.begin(KEEP_ALIVE_MS + HEAD_MS) },
    );
  }

  /** The socket must be paused and unread. */
  serve(visitor: AdmittedSocket): void {
    const { socket } = visitor;
    const heads = watchHeads(socket);
    this.visitors.set(socket, { visitor, heads, allowed: false });
    socket.on('close', heads.stop);
    this.server.emit('connection', socket);
    socket.resume();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const known = this.visitors.get(request.socket);
    if (!known) return void response.destroy();
    const { visitor, heads } = known;
    heads.stop();
    const { method = '', httpVersion: version, url: target = '', rawHeaders: fields } = request;
    const head = readRequest({ method, version, target, authority: null, fields });
    if ('error' in head) return send(response, badRequestAnswer(head.status, head.error));
    const isProxied = /^http:\/\//i.test(target);
    const destination = isProxied ? parseDestination(head.authority, 80) : null;
    if (!destination) return send(response, badRequestAnswer(400, 'not_proxied'));
    const refusal = await this.verify(request, known, destination.host);
    if (refusal) return send(response, refusal);
    await this.forward({ request, response, visitor, head, destination });
  }

  /** Null: the visitor is allowed. */
  private async verify(request: IncomingMessage, known: Known, host: string): Promise<GatewayAnswer | null> {
    try {
      return await this.refusalOf(request, known, host);
    } catch (error) {
      this.context.logger.error('a visitor could not be verified', { error: String(error) });
      return badRequestAnswer(503, 'verification');
    }
  }

  private async refusalOf(request: IncomingMessage, known: Known, host: string): Promise<GatewayAnswer | null> {
    const { verifier } = this.context;
    const { resource, clientId, visitor } = known.visitor;
    // Checked once per connection: when the proof is no longer valid, the connection is reset.
    known.allowed ||= !verifier.guards(resource, clientId) || (await verifier.allows(resource, clientId, visitor));
    if (known.allowed) return null;
    const verdict = await verifier.verify({
      resource,
      clientId,
      visitor,
      scheme: 'http',
      method: request.method ?? '',
      host,
      target: request.url ?? '',
      headers: asHeaders(request.rawHeaders),
      readBody: () => Promise.reject(new TunnelError('overloaded', 'a proxy reads no bodies')),
    });
    return verdict.allowed ? null : verdict.answer;
  }

  private async connect(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    const known = this.visitors.get(client);
    if (!known) return void client.destroy();
    known.heads.stop();
    const { visitor } = known;
    const { socket } = visitor;
    const destination = parseDestination(request.url ?? '');
    const refusal = destination
      ? await this.verify(request, known, destination.host)
      : badRequestAnswer(400, 'destination');
    if (refusal || !destination) return refuseConnect(socket, refusal ?? badRequestAnswer(400, 'destination'));
    try {
      const stream = await reachDestination(this.context, visitor, destination);
      if (socket.destroyed) return resetStream(stream);
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      relayFlow(this.context.ledger, visitor, [socket, stream], { head, throttle: visitor.throttle() });
    } catch (error) {
      refuseConnect(socket, failureOf(error));
    }
  }

  private async forward(asked: Asked): Promise<void> {
    const { request, response, visitor, head, destination } = asked;
    const { ledger } = this.context;
    const flow = ledger.open(visitor.resource, visitor.clientId, visitor.visitor);
    flow.counter.upload += head.bytes;
    flow.handle = { stop: () => resetStream(visitor.socket) };
    try {
      const stream = await reachDestination(this.context, visitor, destination);
      if (response.destroyed) {
        resetStream(stream);
        throw new Error('the visitor is gone');
      }
      await this.exchange(asked, flow, stream);
      ledger.close(flow, { reason: 'remote_closed' });
    } catch (error) {
      ledger.close(flow, { reason: response.destroyed ? 'client_error' : 'remote_error' });
      if (response.headersSent) response.destroy();
      else send(response, failureOf(error));
    } finally {
      // The unread rest must not be parsed as the next request.
      if (!request.complete) visitor.socket.destroySoon();
    }
  }

  private async exchange({ request, response, head, visitor }: Asked, flow: Flow, stream: ByteStream): Promise<void> {
    const connection = new ByteStreamDuplex(stream);
    const sent = requestHttp({
      createConnection: () => connection,
      method: head.method,
      path: head.target.forward,
      setHost: false,
      headers: requestFields(head),
    });
    response.on('close', () => connection.destroy());
    const { counter } = flow;
    const upload = pipeline(
      request,
      metered(visitor, (bytes) => (counter.upload += bytes)),
      sent,
    );
    const answer = await answerTo(sent, upload);
    const { fields } = readResponseFields(answer.rawHeaders, answer.statusCode);
    counter.download += headBytes(answer.statusMessage ?? '', fields);
    writeStatusLine(response, answer.statusCode, answer.statusMessage, fields);
    const download = pipeline(
      answer,
      metered(visitor, (bytes) => (counter.download += bytes)),
      response,
    );
    await Promise.all([download, upload]);
  }
}

/** @throws Error of the connection, or TargetError `timeout` */
async function answerTo(sent: ClientRequest, upload: Promise<void>): Promise<IncomingMessage> {
  const answered = Promise.withResolvers<IncomingMessage>();
  sent.on('response', answered.resolve);
  sent.on('error', answered.reject);
  // No upgrade was requested.
  sent.on('upgrade', (_answer, socket) => {
    socket.destroy();
    answered.reject(new Error('the answer is 101'));
  });
  sent.on('close', () => answered.reject(new Error('the connection was closed before an answer')));
  upload.catch(answered.reject);
  const late = (): void => {
    answered.reject(new TargetError('timeout'));
    sent.destroy();
  };
  const timer = setFlowTimeout(sent, late, ANSWER_MS);
  try {
    return await answered.promise;
  } finally {
    clearTimeout(timer);
  }
}

/** Counts the bytes, at the speed that the client's rate limit allows. */
function metered(visitor: AdmittedSocket, count: (bytes: number) => void): Transform {
  return new Transform({
    transform: (part: Buffer, _encoding, done) => {
      count(part.length);
      const pass = (): void => done(null, part);
      if (visitor.throttle()?.pass(part.length, pass) ?? true) pass();
    },
  });
}

/** Each request has a connection to the target of its own, which ends with the answer. */
function requestFields({ authority, fields, hasBody }: RequestHead): string[] {
  const sent = ['Host', authority, ...without(fields.kept, (name) => name === 'connection'), 'Connection', 'close'];
  if (hasBody && fields.contentLength !== null) sent.push('Content-Length', fields.contentLength);
  else if (hasBody) sent.push('Transfer-Encoding', 'chunked');
  return sent;
}

/** Closes idle connections: a server that does not listen has no such timer of its own. */
interface HeadWatch {
  begin: (withinMs: number) => void;
  stop: () => void;
}

function watchHeads(socket: Socket): HeadWatch {
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => clearTimeout(timer);
  const begin = (withinMs: number): void => {
    stop();
    if (!socket.destroyed) timer = setFlowTimeout(socket, () => socket.destroy(), withinMs);
  };
  begin(HEAD_MS);
  return { begin, stop };
}

function failureOf(error: unknown): GatewayAnswer {
  if (error instanceof TargetError && error.reason === 'forbidden')
    return badRequestAnswer(403, 'destination_forbidden');
  return targetFailureAnswer(error instanceof Error ? error : new Error(String(error)), null);
}

function send(response: ServerResponse, { status, headers, body }: GatewayAnswer): void {
  // An unread body must not be parsed as the next request.
  response.shouldKeepAlive = false;
  response.writeHead(status, headers.flat());
  response.end(body);
}

function refuseConnect(socket: Socket, { status, headers, body }: GatewayAnswer): void {
  const fields = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${fields}Connection: close\r\n\r\n${String(body)}`);
  socket.destroySoon();
}
