import { randomBytes, timingSafeEqual } from 'node:crypto';
import { formatAuthority, hasToken, readHeaderLine, switchesTo, webSocketAccept } from '@gatehouse/net';
import { protocolError, TunnelError } from '../errors.js';

/** Path where a gateway accepts WebSockets of agents. */
export const AGENT_PATH = '/__gw/agent';
/** Name of the protocol inside the WebSocket (`Sec-WebSocket-Protocol`). */
export const SUBPROTOCOL = 'gatehouse-tunnel.1';
/** Longest head of a request or an answer. */
export const MAX_HANDSHAKE_BYTES = 16 * 1024;

/** An ASCII host name, or an address. */
const HOST = /^(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]+\])$/i;
const VERSION = '13';
const KEY_BYTES = 16;

/** Returns a header field by its name in lower case, as in `IncomingMessage.headers`. */
export type FieldReader = (name: string) => string | undefined;

/** Address of a server that is reached by a WebSocket. */
export interface WebSocketAddress {
  /** Whether TLS is used. */
  secure: boolean;
  host: string;
  port: number;
  /** With the query, as sent. */
  path: string;
  /** Also sent in TLS: see `route-tag.ts`. */
  routeTag?: string;
}

/** `wss://host[:port][/path]`, or `ws://`. Null for anything else. */
export function parseWebSocketAddress(text: string): WebSocketAddress | null {
  if (!/^wss?:\/\//i.test(text) || !URL.canParse(text)) return null;
  const { protocol, hostname, port, pathname, search, username, password, hash } = new URL(text);
  const secure = protocol === 'wss:';
  if (!HOST.test(hostname) || username !== '' || password !== '' || hash !== '' || port === '0') return null;
  const path = pathname === '/' ? AGENT_PATH : pathname;
  return {
    secure,
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    path: path + search,
  };
}

export function formatWebSocketAddress({ secure, host, port, path }: WebSocketAddress): string {
  return `${secure ? 'wss' : 'ws'}://${formatAuthority(host, port, secure)}${path}`;
}

/** The client's request, and its key, which `checkUpgradeAnswer` needs. */
export function upgradeRequest({ secure, host, port, path }: WebSocketAddress): { head: string; key: string } {
  const key = randomBytes(KEY_BYTES).toString('base64');
  const lines = [
    `GET ${path} HTTP/1.1`,
    `Host: ${formatAuthority(host, port, secure)}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${key}`,
    `Sec-WebSocket-Version: ${VERSION}`,
    `Sec-WebSocket-Protocol: ${SUBPROTOCOL}`,
  ];
  return { head: `${lines.join('\r\n')}\r\n\r\n`, key };
}

/** @throws TunnelError `protocol` unless the answer is the requested upgrade; `misdirected` for a 421. */
export function checkUpgradeAnswer(head: string, key: string): void {
  const status = /^HTTP\/1\.1 (\d{3})(?: |\r)/.exec(head)?.[1];
  if (status === '421') {
    throw new TunnelError('misdirected', 'the WebSocket came to a process of the gateway that serves others (421)');
  }
  if (status !== '101') throw protocolError(`no WebSocket: the answer is ${status ?? 'not HTTP'}`);
  const field = readFields(head);
  const accept = Buffer.from(field('sec-websocket-accept') ?? '');
  const expected = Buffer.from(webSocketAccept(key));
  if (accept.length !== expected.length || !timingSafeEqual(accept, expected)) {
    throw protocolError('an answer to another WebSocket request');
  }
  const isUpgrade = switchesTo('websocket', field);
  // An extension that was not requested would change the frames.
  if (!isUpgrade || field('sec-websocket-extensions') || field('sec-websocket-protocol') !== SUBPROTOCOL) {
    throw protocolError('not the WebSocket that was asked for');
  }
}

/** Method and target of a request, and its fields. @throws TunnelError `protocol`. */
export function readRequestHead(head: string): { method: string; target: string; field: FieldReader } {
  const [, method = '', target = ''] = /^([A-Z]{1,16}) (\S{1,2048}) HTTP\/1\.1\r\n/.exec(head) ?? [];
  if (method === '') throw protocolError('not a request of HTTP/1.1');
  return { method, target, field: readFields(head) };
}

/** The server's answer to a request for a WebSocket: 101, or a refusal. */
export function upgradeAnswer(field: FieldReader): { accepted: boolean; head: string } {
  const key = field('sec-websocket-key') ?? '';
  const isUpgrade = switchesTo('websocket', field);
  const isKey = /^[A-Za-z0-9+/]{22}==$/.test(key);
  if (!isUpgrade || field('sec-websocket-version') !== VERSION) {
    return {
      accepted: false,
      head: refusalHead('426 Upgrade Required', ['Upgrade: websocket', `Sec-WebSocket-Version: ${VERSION}`]),
    };
  }
  if (!isKey || !hasToken(field('sec-websocket-protocol'), SUBPROTOCOL)) {
    return { accepted: false, head: refusalHead('400 Bad Request') };
  }
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${webSocketAccept(key)}`,
    `Sec-WebSocket-Protocol: ${SUBPROTOCOL}`,
  ];
  return { accepted: true, head: `${lines.join('\r\n')}\r\n\r\n` };
}

/** Head of an answer without a body, which closes the connection. */
export function refusalHead(status: string, fields: readonly string[] = []): string {
  return [`HTTP/1.1 ${status}`, 'Content-Length: 0', 'Connection: close', ...fields, '', ''].join('\r\n');
}

/** Values of a repeated field are joined to one list. */
function readFields(head: string): FieldReader {
  const fields = new Map<string, string>();
  for (const line of head.split('\r\n').slice(1)) {
    if (line === '') continue;
    const field = readHeaderLine(line);
    if (!field) throw protocolError('a header that cannot be read');
    const { name, value } = field;
    const known = fields.get(name);
    fields.set(name, known === undefined ? value : `${known}, ${value}`);
  }
  return (name) => fields.get(name);
}
