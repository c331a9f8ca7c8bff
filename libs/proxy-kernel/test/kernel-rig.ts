import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { expect } from 'vitest';
import { ByteReader, onFlowFailure, type FlowFailure } from '@gatehouse/net';
import {
  createProxyKernel,
  type ConnectionRecord,
  type KernelConfig,
  type KernelTimeouts,
  type ListenerConfig,
} from '../src/index.js';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
/** Run after each test: `afterEach(cleanUp)`. */
export const cleanups: (() => unknown)[] = [];

/** Exceptions that only the boundary of a flow kept from ending the process; each is a defect. */
const failures: FlowFailure[] = [];

export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  expect(failures.splice(0)).toEqual([]);
}

export interface Setup {
  type?: ListenerConfig['type'];
  users?: ListenerConfig['users'];
  timeouts?: Partial<KernelTimeouts>;
  config?: Partial<KernelConfig>;
  now?: () => number;
}

export async function startKernel({
  type = 'mixed',
  users = [],
  timeouts = {},
  config = {},
  now = Date.now,
}: Setup = {}) {
  const records: ConnectionRecord[] = [];
  const kernel = createProxyKernel({
    now,
    logger: quiet,
    country: () => null,
    timeouts,
    resolver: { resolve: (host) => Promise.resolve(host === 'none.test' ? [] : ['127.0.0.1']) },
  });
  kernel.on('closed', (record) => records.push(record));
  cleanups.push(onFlowFailure((failure) => failures.push(failure)));
  cleanups.push(() => kernel.close());
  const { listeners } = await kernel.apply({
    mode: 'rule',
    listeners: [{ name: 'in', type, address: '127.0.0.1', port: 0, users }],
    outbounds: [],
    groups: [],
    rules: [],
    defaultPolicy: 'DIRECT',
    ...config,
  });
  return { kernel, records, port: listeners[0]?.port ?? 0 };
}

export async function portOf(server: Server): Promise<number> {
  server.on('connection', (socket: Socket) => socket.on('error', () => undefined));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

export async function closedPort(): Promise<number> {
  const port = await portOf(createServer());
  await cleanups.pop()?.();
  return port;
}

export interface Seen {
  method: string | undefined;
  url: string | undefined;
  headers: string[];
  body: string;
  peer: number | undefined;
}

/** An origin that records its requests and answers `name`. */
export async function startOrigin(name: string, answer: (request: IncomingMessage) => string[] = () => []) {
  const seen: Seen[] = [];
  const server = createHttpServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      const { method, url, rawHeaders, socket } = request;
      seen.push({ method, url, headers: rawHeaders, body, peer: socket.remotePort });
      response.writeHead(200, [...answer(request), 'X-Origin', name]);
      response.end(name);
    });
  });
  cleanups.push(() => server.closeAllConnections());
  return { seen, port: await portOf(server) };
}

export function client(port: number): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.setMaxListeners(0);
  socket.on('error', () => undefined);
  cleanups.push(() => socket.destroy());
  return socket;
}

/** Sends text and reads one response with a length. */
export async function exchange(
  socket: Socket,
  request: string,
): Promise<{ status: number; head: string; body: string }> {
  socket.write(request);
  return readResponse(socket);
}

export async function readResponse(socket: Socket): Promise<{ status: number; head: string; body: string }> {
  const reader = new ByteReader(socket, 256 * 1024);
  const head = (await reader.readThrough(Buffer.from('\r\n\r\n'))).toString('latin1');
  let body = '';
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
  if (length > 0) body = (await reader.read(length)).toString();
  else if (/transfer-encoding: chunked/i.test(head))
    body = (await reader.readThrough(Buffer.from('0\r\n\r\n'))).toString();
  reader.restore();
  return { status: Number(head.slice(9, 12)), head, body };
}

export async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.resume();
  await Promise.race([once(socket, 'end'), once(socket, 'close')]);
  return Buffer.concat(chunks).toString();
}

export const until = (condition: () => boolean) => expect.poll(condition, { timeout: 5000 }).toBe(true);
