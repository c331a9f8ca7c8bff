/** Fifty megabytes that a test sends one way and then the other, compared byte by byte on the way. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { request } from 'node:http';
import { once } from 'node:events';
import type { Socket as UdpSocket } from 'node:dgram';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex, Readable, Writable } from 'node:stream';

export const BULK = randomBytes(50_000_000);
const REPLY_TIMEOUT_MS = 100_000;

/** Resolves when all of BULK has come. @throws Error at the first byte that differs, and at an end before the last. */
export function receiveBulk(stream: Readable): Promise<void> {
  return new Promise((resolve, reject) => {
    let at = 0;
    const stop = (error?: Error): void => {
      stream.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', stop);
      if (error) reject(error);
      else resolve();
    };
    const onData = (part: Buffer): void => {
      if (BULK.compare(part, 0, part.length, at, Math.min(at + part.length, BULK.length)) !== 0) {
        return stop(new Error(`what came from byte ${at} on is not what was sent`));
      }
      at += part.length;
      if (at === BULK.length) stop();
    };
    const onEnd = (): void => stop(new Error(`the stream ended after ${at} of ${BULK.length} bytes`));
    stream.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', stop);
    stream.resume();
  });
}

export async function sendBulk(stream: Writable): Promise<void> {
  const piece = 65_536;
  for (let at = 0; at < BULK.length; at += piece) {
    if (!stream.write(BULK.subarray(at, at + piece))) await once(stream, 'drain');
  }
}

/** The far side of `bulkBothWays`: takes all, then sends all and ends. */
export function serveBulk(socket: Duplex): void {
  socket.on('error', () => undefined);
  receiveBulk(socket)
    .then(() => sendBulk(socket))
    .then(
      () => socket.end(),
      () => socket.destroy(),
    );
}

/** @throws Error where a byte is lost or changed on the way. */
export async function bulkBothWays(socket: Socket): Promise<void> {
  const failed = once(socket, 'error').then(([error]) => {
    throw error;
  });
  await Promise.race([exchangeBulk(socket), failed]);
  socket.destroy();
}

async function exchangeBulk(socket: Socket): Promise<void> {
  await sendBulk(socket);
  await receiveBulk(socket);
}

/** A web server that sends BULK, takes it, and lets WebSockets through to `serveBulk`. */
export async function startBulkOrigin(): Promise<{ port: number; close: () => void }> {
  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
    if (head.length > 0) socket.unshift(head);
    serveBulk(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, close };
}

async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  if (incoming.method !== 'GET') {
    await receiveBulk(incoming);
    response.end('all of it');
    return;
  }
  response.setHeader('content-length', BULK.length);
  await sendBulk(response);
  response.end();
}

export interface BulkRequest {
  port: number;
  method?: string;
  path: string;
  host?: string;
}

/** Sends BULK with a POST or PUT, or takes it with a GET. @throws Error where it is not all there. */
export async function bulkRequest({ port, method = 'GET', path, host = 'a.test' }: BulkRequest): Promise<number> {
  const outgoing = request({ host: '127.0.0.1', port, method, path, headers: { host }, agent: false });
  // A connection that breaks fails what waits for it below.
  outgoing.on('error', () => undefined);
  const answered = once(outgoing, 'response', { signal: AbortSignal.timeout(REPLY_TIMEOUT_MS) });
  if (method !== 'GET') {
    outgoing.setHeader('content-length', BULK.length);
    await Promise.race([sendBulk(outgoing), answered]);
  }
  outgoing.end();
  const [response] = (await answered) as [IncomingMessage];
  const status = response.statusCode ?? 0;
  if (method === 'GET' && status === 200) await receiveBulk(response);
  else response.resume();
  return status;
}

export interface DatagramPath {
  socket: Pick<UdpSocket, 'on' | 'off'>;
  /** Sends a datagram to an echo. */
  send: (bytes: Buffer) => void;
  /** Bytes before the payload of one that comes back. */
  headBytes: number;
}

const DATAGRAM_BYTES = 30_000;
const IN_FLIGHT = 8;
const RESEND_MS = 300;

/** Sends BULK in numbered datagrams to an echo and takes it back; what is lost is sent again, what differs is an error. */
export function bulkDatagrams({ socket, send, headBytes }: DatagramPath): Promise<void> {
  const count = Math.ceil(BULK.length / DATAGRAM_BYTES);
  const waiting = new Map<number, number>();
  const datagram = (index: number): Buffer => {
    const number = Buffer.alloc(4);
    number.writeUInt32BE(index);
    return Buffer.concat([number, BULK.subarray(index * DATAGRAM_BYTES, (index + 1) * DATAGRAM_BYTES)]);
  };
  let next = 0;
  const fill = (): void => {
    for (; waiting.size < IN_FLIGHT && next < count; next++) {
      waiting.set(next, Date.now());
      send(datagram(next));
    }
  };
  return new Promise((resolve, reject) => {
    const stop = (error?: Error): void => {
      clearInterval(timer);
      clearTimeout(deadline);
      socket.off('message', onMessage);
      if (error) reject(error);
      else resolve();
    };
    const onMessage = (bytes: Buffer): void => {
      const payload = bytes.subarray(headBytes);
      const index = payload.readUInt32BE(0);
      if (!waiting.has(index)) return;
      if (!payload.equals(datagram(index))) return stop(new Error(`datagram ${index} came back changed`));
      waiting.delete(index);
      fill();
      if (waiting.size === 0) stop();
    };
    const resend = (): void => {
      for (const [index, at] of waiting) {
        if (Date.now() - at < RESEND_MS) continue;
        waiting.set(index, Date.now());
        send(datagram(index));
      }
    };
    const timer = setInterval(resend, RESEND_MS / 3);
    const deadline = setTimeout(
      () => stop(new Error(`${next - waiting.size} of ${count} datagrams came back in time`)),
      REPLY_TIMEOUT_MS,
    );
    socket.on('message', onMessage);
    fill();
  });
}
