import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface SeenRequest {
  method: string;
  path: string;
  host: string;
  bodyBytes: number;
}

/** RFC 6455, section 1.3. */
const WEBSOCKET = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/**
 * A web server that answers `/bytes/<n>` with n bytes and counts what it is sent. `hold()` makes replies stop half way
 * until `release()`, so that a caller can look at a connection while it is open. It accepts WebSockets, and returns what
 * comes on them, byte for byte.
 */
export class Origin {
  readonly seen: SeenRequest[] = [];
  readonly port: number;
  #server: Server;
  #sockets = new Set<Socket>();
  #gate: { promise: Promise<void>; open: () => void } | null = null;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(documents: Record<string, string> = {}, address = '127.0.0.1'): Promise<Origin> {
    const server = createServer();
    server.listen(0, address);
    await once(server, 'listening');
    const origin = new Origin(server);
    server.on('upgrade', echo);
    server.on('request', (request, response) => {
      origin.#answer(documents, request, response).catch(() => response.destroy());
    });
    return origin;
  }

  hold(): void {
    let open = (): void => {};
    const promise = new Promise<void>((resolve) => (open = resolve));
    this.#gate = { promise, open };
  }

  release(): void {
    this.#gate?.open();
    this.#gate = null;
  }

  async close(): Promise<void> {
    this.release();
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(documents: Record<string, string>, request: IncomingMessage, response: ServerResponse): Promise<void> {
    let bodyBytes = 0;
    for await (const chunk of request) bodyBytes += (chunk as Buffer).length;
    const path = request.url ?? '/';
    this.seen.push({ method: request.method ?? '', path, host: request.headers.host ?? '', bodyBytes });
    const document = documents[path];
    if (document !== undefined) {
      response.end(document);
      return;
    }
    const length = Number(/^\/bytes\/(\d{1,12})$/.exec(path)?.[1] ?? Number.NaN);
    if (Number.isNaN(length)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-length': length, 'content-type': 'application/octet-stream' });
    await pipeline(Readable.from(this.#blocks(length)), response);
  }

  async *#blocks(length: number): AsyncGenerator<Buffer> {
    const block = Buffer.alloc(64 * 1024, 0x67);
    const gate = this.#gate;
    for (let sent = 0; sent < length; sent += block.length) {
      if (gate && sent >= length / 2) await gate.promise;
      yield block.subarray(0, Math.min(block.length, length - sent));
    }
  }
}

function echo({ headers }: IncomingMessage, socket: Duplex): void {
  const key = headers['sec-websocket-key'] ?? '';
  const accept = createHash('sha1').update(`${key}${WEBSOCKET}`).digest('base64');
  const answer = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  socket.write([...answer, `Sec-WebSocket-Accept: ${accept}`, '', ''].join('\r\n'));
  socket.on('error', () => socket.destroy()).pipe(socket);
}
