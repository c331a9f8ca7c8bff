import { asHostName } from './host-name.js';

/** What the first bytes of a stream say. `incomplete`: more bytes are needed; `no`: it is something else. */
export type SniffResult = { state: 'found'; host: string | null } | { state: 'incomplete' } | { state: 'no' };

const NO: SniffResult = { state: 'no' };
const INCOMPLETE: SniffResult = { state: 'incomplete' };
/** A ClientHello longer than this is refused; post-quantum key shares reach about 2 KiB. */
const MAX_HELLO_BYTES = 16 * 1024;
const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
/** Type and length of a handshake message. */
const HEAD_BYTES = 4;
const SERVER_NAME_EXTENSION = 0;
const PROTOCOLS_EXTENSION = 16;
const MAX_HTTP_HEAD_BYTES = 16 * 1024;
const METHODS = ['GET ', 'POST ', 'HEAD ', 'PUT ', 'DELETE ', 'OPTIONS ', 'PATCH ', 'TRACE ', 'CONNECT '];

/**
 * Server name of a TLS ClientHello (RFC 8446 4.1.2, RFC 6066 3), also when it is spread over several records.
 * `found` with a null host: a ClientHello without a server name. Pure; reads at most 16 KiB.
 */
export function sniffTlsServerName(bytes: Buffer): SniffResult {
  const hello = collectHandshake(bytes);
  if (!Buffer.isBuffer(hello)) return hello;
  const extensions = findExtensions(hello);
  if (extensions === null) return NO;
  const names = findExtension(extensions, SERVER_NAME_EXTENSION);
  return { state: 'found', host: names && hostNameIn(names) };
}

/** Protocols that a whole ClientHello offers (ALPN, RFC 7301 3.1); empty if it offers none, or is cut off. */
export function tlsProtocols(bytes: Buffer): string[] {
  const hello = collectHandshake(bytes);
  const extensions = Buffer.isBuffer(hello) ? findExtensions(hello) : null;
  const list = extensions && findExtension(extensions, PROTOCOLS_EXTENSION);
  const protocols: string[] = [];
  if (list === null) return protocols;
  // list length 2, then names with a length of 1 each
  for (let at = 2; at < list.length; at += 1 + (list[at] ?? 0)) {
    protocols.push(list.toString('latin1', at + 1, at + 1 + (list[at] ?? 0)));
  }
  return protocols;
}

/** The ClientHello's body, its records joined. */
function collectHandshake(bytes: Buffer): Buffer | SniffResult {
  const parts: Buffer[] = [];
  const head = Buffer.alloc(HEAD_BYTES);
  let collected = 0;
  let needed = HEAD_BYTES;
  for (let at = 0; ;) {
    if (bytes.length > at && bytes[at] !== HANDSHAKE_RECORD) return NO;
    if (bytes.length > at + 1 && bytes[at + 1] !== 3) return NO;
    if (bytes.length < at + 5) return INCOMPLETE;
    const size = bytes.readUInt16BE(at + 3);
    if (size === 0 || size > MAX_HELLO_BYTES) return NO;
    const part = bytes.subarray(at + 5, at + 5 + size);
    parts.push(part);
    if (collected < HEAD_BYTES) part.copy(head, collected);
    collected += part.length;
    if (collected >= 1 && head[0] !== CLIENT_HELLO) return NO;
    if (collected >= HEAD_BYTES) needed = HEAD_BYTES + head.readUIntBE(1, 3);
    if (needed > MAX_HELLO_BYTES) return NO;
    // Joined once, so that records of one byte each cost no more than long ones.
    if (collected >= needed) return joined(parts).subarray(HEAD_BYTES, needed);
    if (part.length < size) return INCOMPLETE;
    at += 5 + size;
  }
}

function joined(parts: readonly Buffer[]): Buffer {
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
}

function findExtensions(hello: Buffer): Buffer | null {
  // version 2, random 32, then three length-prefixed vectors before the extensions
  let at = 34;
  for (const lengthBytes of [1, 2, 1]) {
    if (hello.length < at + lengthBytes) return null;
    at += lengthBytes + hello.readUIntBE(at, lengthBytes);
  }
  if (at === hello.length) return Buffer.alloc(0);
  if (hello.length < at + 2) return null;
  const size = hello.readUInt16BE(at);
  return hello.length < at + 2 + size ? null : hello.subarray(at + 2, at + 2 + size);
}

function findExtension(extensions: Buffer, wanted: number): Buffer | null {
  let at = 0;
  while (at + 4 <= extensions.length) {
    const type = extensions.readUInt16BE(at);
    const size = extensions.readUInt16BE(at + 2);
    const body = extensions.subarray(at + 4, at + 4 + size);
    if (body.length < size) return null;
    if (type === wanted) return body;
    at += 4 + size;
  }
  return null;
}

function hostNameIn(list: Buffer): string | null {
  // list length 2, name type 1 (0: host name), name length 2
  if (list.length < 5 || list[2] !== 0) return null;
  const size = list.readUInt16BE(3);
  if (list.length < 5 + size) return null;
  return asHostName(list.toString('latin1', 5, 5 + size));
}

/** Host of a plain HTTP/1 request's `Host` header, without its port. Pure; reads at most 16 KiB. */
export function sniffHttpHost(bytes: Buffer): SniffResult {
  const head = bytes.toString('latin1', 0, Math.min(bytes.length, MAX_HTTP_HEAD_BYTES));
  if (!METHODS.some((method) => head.startsWith(method) || method.startsWith(head))) return { state: 'no' };
  const end = head.indexOf('\r\n\r\n');
  const host = hostField(end < 0 ? head : head.slice(0, end + 2));
  if (host !== undefined) return { state: 'found', host: withoutPort(host) };
  if (end >= 0) return { state: 'found', host: null };
  return bytes.length >= MAX_HTTP_HEAD_BYTES ? { state: 'no' } : { state: 'incomplete' };
}

function withoutPort(authority: string): string | null {
  return asHostName(authority.replace(/:\d+$/, ''));
}

/**
 * The first complete `Host` field of a head, as it was sent. It is found line by line, because a stranger could make a regular
 * expression backtrack.
 */
export function hostField(head: string): string | undefined {
  let at = head.indexOf('\r\n');
  for (let end = head.indexOf('\r\n', at + 2); at >= 0 && end >= 0; end = head.indexOf('\r\n', at + 2)) {
    const line = head.slice(at + 2, end);
    if (/^host:/i.test(line)) return line.slice('host:'.length).trim();
    at = end;
  }
  return undefined;
}
