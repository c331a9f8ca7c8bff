import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import { connect, type Socket } from 'node:net';
import tls from 'node:tls';

export interface Place {
  host: string;
  port: number;
}

const PATIENCE_MS = 60_000;
const TEXT = 'x'.repeat(2_000);
const DATAGRAM_TRIES = 5;
const DATAGRAM_MS = 2_000;

/** Whether something accepts connections there. */
export async function accepts({ host, port }: Place): Promise<boolean> {
  const socket = connect(port, host);
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(PATIENCE_MS) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Visits the first of several places that does not refuse, as a client does whose name has several addresses. */
export async function atFirst<T>(places: readonly Place[], visit: (place: Place) => Promise<T>): Promise<T> {
  let refusal: unknown = new Error('there is no place to visit');
  for (const place of places) {
    try {
      return await visit(place);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refusal = error;
    }
  }
  throw refusal;
}

const isRefusal = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';

export async function dial({ host, port }: Place): Promise<Socket> {
  const socket = connect(port, host);
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(PATIENCE_MS) });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** A connection to an address of this machine through a proxy. @throws Error with its answer if it refuses. */
export async function dialThrough(proxy: Place, target: Place): Promise<Socket> {
  const request = http.request({ ...proxy, method: 'CONNECT', path: `${target.host}:${target.port}`, agent: false });
  request.end();
  const [response, socket] = (await once(request, 'connect', { signal: AbortSignal.timeout(PATIENCE_MS) })) as [
    http.IncomingMessage,
    Socket,
  ];
  if (response.statusCode === 200) return socket;
  socket.destroy();
  throw new Error(`the proxy answered ${response.statusCode}`);
}

/** Says something on a connection to an echo, hears it back and leaves. @throws Error if it is cut before. */
export async function chat(socket: Socket): Promise<void> {
  const flow = new Flow('', socket);
  const isAnswered = await flow.answers();
  await flow.end();
  if (!isAnswered) throw new Error('the connection was cut');
}

/** A connection to an echo that stays open. */
export class Flow {
  private received = 0;
  private sent = 0;
  private isOver = false;
  private wake = (): void => undefined;

  constructor(
    readonly name: string,
    private readonly socket: Socket,
  ) {
    socket.on('data', (part: Buffer) => {
      this.received += part.length;
      this.wake();
    });
    for (const event of ['close', 'end']) {
      socket.on(event, () => {
        this.isOver = true;
        this.wake();
      });
    }
    socket.on('error', () => undefined);
  }

  /** Whether it still carries bytes there and back. */
  async answers(): Promise<boolean> {
    const end = performance.now() + PATIENCE_MS;
    this.sent += TEXT.length;
    this.socket.write(TEXT);
    while (!this.isOver && this.received < this.sent && performance.now() < end) await this.news();
    return this.received === this.sent;
  }

  /** Leaves in order. */
  async end(): Promise<void> {
    this.socket.end();
    if (!this.socket.closed) {
      await once(this.socket, 'close', { signal: AbortSignal.timeout(PATIENCE_MS) }).catch(() => this.socket.destroy());
    }
  }

  private async news(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, 1_000);
    this.wake = resolve;
    await promise;
    clearTimeout(timer);
  }
}

/** A web page that visitors ask for. */
export interface Page {
  /** The host's name. */
  name: string;
  path: string;
  bytes: number;
}

/** @throws Error unless the page is answered with 200 and all of its bytes. */
export async function visitPage(place: Place, { name, path, bytes }: Page): Promise<void> {
  const request = http.get({ ...place, path, headers: { host: name }, agent: false });
  const [response] = (await once(request, 'response', { signal: AbortSignal.timeout(PATIENCE_MS) })) as [
    http.IncomingMessage,
  ];
  requireWhole(response.statusCode, await count(response), bytes);
}

/** The same by HTTP/2 over TLS. `authority`: the certificate that is believed, PEM. */
export async function visitByHttp2(place: Place, { name, path, bytes }: Page, authority: string): Promise<void> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const socket = tls.connect({ ...place, servername: name, ca: authority, ALPNProtocols: ['h2'] });
  try {
    await once(socket, 'secureConnect', { signal });
    const session = http2.connect(`https://${name}`, { createConnection: () => socket });
    session.on('error', () => undefined);
    const stream = session.request({ ':path': path });
    const [headers] = (await once(stream, 'response', { signal })) as [http2.IncomingHttpHeaders];
    requireWhole(Number(headers[':status']), await count(stream), bytes);
    session.close();
  } finally {
    socket.destroy();
  }
}

/** A WebSocket of a host, as the connection that it was opened on. @throws Error if the host does not open it. */
export async function dialWebSocket(place: Place, name: string): Promise<Socket> {
  const key = randomBytes(16).toString('base64');
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
  const headers = { host: name, ...upgrade, 'sec-websocket-key': key };
  const request = http.get({ ...place, path: '/echo', headers, agent: false });
  request.on('response', (response) => request.destroy(new Error(`the host answered ${response.statusCode}`)));
  const [, socket] = (await once(request, 'upgrade', { signal: AbortSignal.timeout(PATIENCE_MS) })) as [
    http.IncomingMessage,
    Socket,
  ];
  return socket;
}

async function count(body: AsyncIterable<unknown>): Promise<number> {
  let received = 0;
  for await (const part of body) received += (part as Buffer).length;
  return received;
}

function requireWhole(status: number | undefined, received: number, bytes: number): void {
  if (status !== 200 || received !== bytes) throw new Error(`the answer was ${status} with ${received} bytes`);
}

/** Datagrams may be lost: a program sends them again, to where `next` says. @throws Error if none is answered. */
export async function visitUdp(next: () => Place): Promise<void> {
  const socket = createSocket('udp4');
  try {
    const answered = once(socket, 'message').then(() => true);
    socket.on('error', () => undefined);
    for (let tries = 0; tries < DATAGRAM_TRIES; tries += 1) {
      const { host, port } = next();
      socket.send('hello', port, host);
      const { promise, resolve } = Promise.withResolvers<false>();
      const timer = setTimeout(resolve, DATAGRAM_MS, false);
      const isAnswered = await Promise.race([answered, promise]);
      clearTimeout(timer);
      if (isAnswered) return;
    }
    throw new Error('no datagram was answered');
  } finally {
    socket.close();
  }
}
