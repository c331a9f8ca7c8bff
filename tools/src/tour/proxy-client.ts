import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';

export interface ProxyAddress {
  host: string;
  port: number;
}

export interface Fetched {
  status: number;
  /** Bytes of the body. */
  bytes: number;
  text: string;
}

export type Entry = 'http' | 'connect' | 'socks5';

const TIMEOUT_MS = 30_000;
/** Longest body that is kept as text; longer ones are only counted. */
const TEXT_LIMIT = 4096;

/**
 * Fetches `http://host:port/path` through a proxy by one of its entries. Every call opens its own connection.
 * @throws Error when the proxy refuses or nothing moves for 30 seconds.
 */
export async function fetchThrough(entry: Entry, proxy: ProxyAddress, target: URL, method = 'GET'): Promise<Fetched> {
  if (entry === 'http') {
    const headers = { host: target.host, connection: 'close' };
    return await collect(http.request({ ...proxy, method, path: target.href, headers, agent: false }));
  }
  const port = Number(target.port || 80);
  const open = entry === 'connect' ? openConnect : openSocks5;
  const socket = await open(proxy, target.hostname, port);
  const path = target.pathname + target.search;
  const headers = { host: target.host, connection: 'close' };
  return await collect(http.request({ method, path, headers, createConnection: () => socket }));
}

async function collect(request: http.ClientRequest): Promise<Fetched> {
  request.setTimeout(TIMEOUT_MS, () => request.destroy(new Error('no answer within 30 s')));
  request.end();
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  let bytes = 0;
  let text = '';
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (text.length < TEXT_LIMIT) text += chunk.toString('latin1');
  }
  return { status: response.statusCode ?? 0, bytes, text };
}

/** HTTP CONNECT (RFC 9110 section 9.3.6). */
async function openConnect(proxy: ProxyAddress, host: string, port: number): Promise<net.Socket> {
  const authority = `${host}:${port}`;
  const request = http.request({ ...proxy, method: 'CONNECT', path: authority, headers: { host: authority } });
  request.setTimeout(TIMEOUT_MS, () => request.destroy(new Error('no answer to CONNECT within 30 s')));
  request.end();
  const [response, socket] = (await once(request, 'connect')) as [http.IncomingMessage, net.Socket];
  if (response.statusCode !== 200) {
    socket.destroy();
    throw new Error(`the proxy answered CONNECT ${authority} with ${response.statusCode}`);
  }
  return socket;
}

/** SOCKS5 without authentication, target by name (RFC 1928). */
export async function openSocks5(proxy: ProxyAddress, host: string, port: number): Promise<net.Socket> {
  const socket = net.connect(proxy);
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('no SOCKS reply within 30 s')));
  socket.on('error', () => {}); // reported by whoever awaits; this keeps a late one from ending the process
  await once(socket, 'connect');
  socket.write(Buffer.from([5, 1, 0]));
  const greeting = await readBytes(socket, 2);
  if (greeting[1] !== 0) throw new Error('the proxy wants a SOCKS password');
  const name = Buffer.from(host);
  const portBytes = Buffer.from([port >> 8, port & 0xff]);
  socket.write(Buffer.concat([Buffer.from([5, 1, 0, 3, name.length]), name, portBytes]));
  const head = await readBytes(socket, 4);
  if (head[1] !== 0) {
    socket.destroy();
    throw new Error(`the proxy answered SOCKS reply code ${head[1]}`);
  }
  const addressLength = head[3] === 1 ? 4 : head[3] === 4 ? 16 : (await readBytes(socket, 1))[0]!;
  await readBytes(socket, addressLength + 2);
  socket.setTimeout(0);
  return socket;
}

async function readBytes(socket: net.Socket, count: number): Promise<Buffer> {
  for (;;) {
    const chunk = socket.read(count) as Buffer | null;
    if (chunk) return chunk;
    if (socket.destroyed || socket.readableEnded)
      throw new Error('the proxy closed the connection during the handshake');
    await Promise.race([once(socket, 'readable'), once(socket, 'end'), once(socket, 'close')]);
  }
}
