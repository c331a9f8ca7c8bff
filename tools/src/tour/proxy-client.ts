import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';

export interface ProxyAddress {
  host: string;
  port: number;
  /** Where it asks for one. */
  user?: { username: string; password: string };
}

export interface Fetched {
  status: number;
  /** Bytes of the body. */
  bytes: number;
  text: string;
}

export type Entry = 'http' | 'connect' | 'socks5';

/** What a caller may want otherwise than by default. */
export interface FetchOptions {
  /** How long nothing may move. Default: 30 seconds. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 30_000;
/** Longest body that is kept as text; longer ones are only counted. */
const TEXT_LIMIT = 4096;

/**
 * Fetches `http://host:port/path` through a proxy by one of its entries. Every call opens its own connection.
 * @throws Error when the proxy refuses or nothing moves for `timeoutMs`.
 */
export async function fetchThrough(
  entry: Entry,
  proxy: ProxyAddress,
  target: URL,
  { timeoutMs = TIMEOUT_MS }: FetchOptions = {},
): Promise<Fetched> {
  if (entry === 'http') {
    const headers = { host: target.host, connection: 'close', ...authorization(proxy) };
    const { host, port } = proxy;
    return await collect(http.request({ host, port, path: target.href, headers, agent: false }), timeoutMs);
  }
  const port = Number(target.port || 80);
  const open = entry === 'connect' ? openConnect : openSocks5;
  const socket = await open(proxy, target.hostname, port);
  const path = target.pathname + target.search;
  const headers = { host: target.host, connection: 'close' };
  return await collect(http.request({ path, headers, createConnection: () => socket }), timeoutMs);
}

function authorization({ user }: ProxyAddress): { 'proxy-authorization'?: string } {
  if (!user) return {};
  return { 'proxy-authorization': `Basic ${Buffer.from(`${user.username}:${user.password}`).toString('base64')}` };
}

async function collect(request: http.ClientRequest, timeoutMs: number): Promise<Fetched> {
  request.setTimeout(timeoutMs, () => request.destroy(new Error(`no answer within ${timeoutMs / 1_000} s`)));
  // A caller that waits for the answer, or for its body, gets the error there; without a listener it would end the process.
  request.on('error', () => undefined);
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
  const request = http.request({
    host: proxy.host,
    port: proxy.port,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...authorization(proxy) },
  });
  request.setTimeout(TIMEOUT_MS, () => request.destroy(new Error('no answer to CONNECT within 30 s')));
  request.on('error', () => undefined); // the promise reports it; this keeps a late one from ending the process
  request.end();
  const [response, socket] = (await once(request, 'connect')) as [http.IncomingMessage, net.Socket];
  if (response.statusCode !== 200) {
    socket.destroy();
    throw new Error(`the proxy answered CONNECT ${authority} with ${response.statusCode}`);
  }
  socket.setTimeout(0);
  return socket;
}

/** SOCKS5, target by name (RFC 1928), with the proxy's user where there is one (RFC 1929). */
export async function openSocks5(proxy: ProxyAddress, host: string, port: number): Promise<net.Socket> {
  const socket = net.connect({ host: proxy.host, port: proxy.port });
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('no SOCKS reply within 30 s')));
  socket.on('error', () => {}); // the promise reports it; this keeps a late one from ending the process
  await once(socket, 'connect');
  await greetSocks5(socket, proxy);
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

async function greetSocks5(socket: net.Socket, { user }: ProxyAddress): Promise<void> {
  const method = user ? 2 : 0;
  socket.write(Buffer.from([5, 1, method]));
  const greeting = await readBytes(socket, 2);
  if (greeting[1] !== method) throw new Error(`the proxy ${user ? 'takes no' : 'wants a'} SOCKS password`);
  if (!user) return;
  const [name, password] = [Buffer.from(user.username), Buffer.from(user.password)];
  socket.write(Buffer.concat([Buffer.from([1, name.length]), name, Buffer.from([password.length]), password]));
  const verdict = await readBytes(socket, 2);
  if (verdict[1] !== 0) throw new Error('the proxy does not take the SOCKS password');
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
