import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A server on a free loopback port. */
export interface RunningServer extends AsyncDisposable {
  host: string;
  port: number;
  /** Ends open connections too. */
  close(): Promise<void>;
}

export interface TcpEcho extends RunningServer {
  /** Connections accepted so far. */
  accepted(): number;
  /** Connections open now. */
  open(): number;
}

export interface ServerPlace {
  host?: string;
  port?: number;
}

/** Sends back what it gets, half-closes when the client does. */
export async function startTcpEcho(place: ServerPlace = {}): Promise<TcpEcho> {
  let accepted = 0;
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    accepted += 1;
    track(sockets, socket);
    socket.pipe(socket);
  });
  const running = await listen(server, place, sockets);
  return { ...running, accepted: () => accepted, open: () => sockets.size };
}

/** One request as the origin saw it. */
export interface RecordedRequest {
  method: string;
  /** Path with query. */
  url: string;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: Buffer;
  remotePort: number;
}

export interface HttpOrigin extends RunningServer {
  url: string;
  /** Requests in order of arrival, each recorded when its body has ended. */
  requests: RecordedRequest[];
}

const CHUNK = Buffer.alloc(64 * 1024, 'gatehouse ');

/**
 * An HTTP/1.1 origin: `/bytes/<n>` streams n bytes, `/status/<code>` answers with that code, `/echo` sends the body
 * back, `/hang` never answers, everything else says `ok`.
 */
export async function startHttpOrigin(place: ServerPlace = {}): Promise<HttpOrigin> {
  const requests: RecordedRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createHttpServer((request, response) => {
    const parts: Buffer[] = [];
    const url = request.url ?? '/';
    request.on('error', () => undefined).on('data', (part: Buffer) => parts.push(part));
    response.on('error', () => undefined);
    request.on('end', () => {
      const body = Buffer.concat(parts);
      const { method = '', headers, rawHeaders } = request;
      requests.push({ method, url, headers, rawHeaders, body, remotePort: request.socket.remotePort ?? 0 });
      const [, verb, argument] = new URL(url, 'http://origin').pathname.split('/');
      if (verb === 'hang') return;
      if (verb === 'bytes') void streamBytes(response, Number(argument));
      else if (verb === 'status') response.writeHead(Number(argument)).end();
      else if (verb === 'echo') response.end(body);
      else response.end('ok');
    });
  });
  server.on('connection', (socket) => track(sockets, socket));
  const running = await listen(server, place, sockets);
  return { ...running, requests, url: `http://${running.host}:${running.port}` };
}

async function streamBytes(response: ServerResponse, count: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': count });
  // Clients abort downloads on purpose.
  await pipeline(Readable.from(chunks(count)), response).catch(() => undefined);
}

function* chunks(count: number): Generator<Buffer> {
  for (let left = count; left > 0; left -= CHUNK.length) yield left < CHUNK.length ? CHUNK.subarray(0, left) : CHUNK;
}

function track(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket);
  // Tests abort connections on purpose; the reset shows on the client.
  socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
}

async function listen(server: Server, place: ServerPlace, sockets: Set<Socket>): Promise<RunningServer> {
  const host = place.host ?? '127.0.0.1';
  server.listen(place.port ?? 0, host);
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return { host, port: (server.address() as AddressInfo).port, close, [Symbol.asyncDispose]: close };
}
