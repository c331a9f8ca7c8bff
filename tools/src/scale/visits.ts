import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import http from 'node:http';
import { connect, type Socket } from 'node:net';

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
  if (!(await flow.answers())) throw new Error('the connection was cut');
  await flow.end();
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

/** @throws Error unless the host answers 200 with a body of that length. */
export async function visitHost(place: Place, name: string, bytes: number): Promise<void> {
  const request = http.get({ ...place, path: `/bytes/${bytes}`, headers: { host: name }, agent: false });
  const [response] = (await once(request, 'response', { signal: AbortSignal.timeout(PATIENCE_MS) })) as [
    http.IncomingMessage,
  ];
  let received = 0;
  for await (const part of response) received += (part as Buffer).length;
  if (response.statusCode === 200 && received === bytes) return;
  throw new Error(`the host answered ${response.statusCode} with ${received} bytes`);
}

/** Datagrams may be lost: a program sends them again. @throws Error if none is answered. */
export async function visitUdp({ host, port }: Place): Promise<void> {
  const socket = createSocket('udp4');
  try {
    const answered = once(socket, 'message').then(() => true);
    socket.on('error', () => undefined);
    for (let tries = 0; tries < DATAGRAM_TRIES; tries += 1) {
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
