import { randomBytes, timingSafeEqual } from 'node:crypto';
import { formatAuthority, hasToken, readHeaderLine, switchesTo, webSocketAccept } from '@gatehouse/net';
import { protocolError, TunnelError } from '../errors.js';

/** Where a gateway takes WebSockets of agents. */
export const AGENT_PATH = '/__gw/agent';
/** Name of what is spoken inside (Sec-WebSocket-Protocol). */
export const SUBPROTOCOL = 'gatehouse-tunnel.1';
/** Longest head of a request or of an answer. */
export const MAX_HANDSHAKE_BYTES = 16 * 1024;

/** A name in letters of the network, or an address. */
const HOST = /^(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]+\])$/i;
const VERSION = '13';
const KEY_BYTES = 16;

/** A header field by its name in small letters, as `IncomingMessage.headers` has them. */
export type FieldReader = (name: string) => string | undefined;

/** A server as an agent finds it behind HTTP. */
export interface WebSocketAddress {
  /** Whether in TLS. */
  secure: boolean;
  host: string;
  port: number;
  /** With the query, as it is sent. */
  path: string;
  /** Said in TLS as well: see `route-tag.ts`. */
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

/** A client's first words, and the key that the answer must go with. */
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

/** @throws TunnelError `protocol` for an answer that is not the upgrade that was asked for, `misdirected` for a 421. */
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
  // An extension that was not asked for would change the frames.
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

/** The server's answer to a request for a WebSocket: 101, or what is wrong with it. */
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

/** An answer without a body, after which the connection ends. */
export function refusalHead(status: string, fields: readonly string[] = []): string {
  return [`HTTP/1.1 ${status}`, 'Content-Length: 0', 'Connection: close', ...fields, '', ''].join('\r\n');
}

/** Of a field that stands there twice, the values in one list. */
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
