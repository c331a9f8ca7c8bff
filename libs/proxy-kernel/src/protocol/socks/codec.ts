/** SOCKS 4, 4a and 5 on the wire (RFC 1928, RFC 1929). Pure: bytes in, values out. */
import { isUtf8 } from 'node:buffer';
import { formatIp, parseIp } from '@gatehouse/net';
import type { Target } from '../../interfaces/index.js';
import { normalHost } from '../../transport/normal-host.js';

export const SOCKS4 = 4;
export const SOCKS5 = 5;
export const AUTH_NONE = 0;
export const AUTH_PASSWORD = 2;
export const AUTH_UNACCEPTABLE = 0xff;
export const COMMAND_CONNECT = 1;
export const COMMAND_UDP_ASSOCIATE = 3;

export const REPLY = {
  succeeded: 0,
  generalFailure: 1,
  notAllowed: 2,
  networkUnreachable: 3,
  hostUnreachable: 4,
  connectionRefused: 5,
  ttlExpired: 6,
  commandNotSupported: 7,
  addressTypeNotSupported: 8,
} as const;

const TYPE_IPV4 = 1;
const TYPE_DOMAIN = 3;
const TYPE_IPV6 = 4;

export class SocksError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SocksError';
  }
}

/** `type ‖ address ‖ port`, as SOCKS5 and Shadowsocks write it. @throws SocksError for a name over 255 bytes. */
export function encodeAddress({ host, port }: Target): Buffer {
  const ip = parseIp(host);
  if (ip) {
    const size = ip.family === 4 ? 4 : 16;
    const bytes = Buffer.allocUnsafe(3 + size);
    bytes[0] = ip.family === 4 ? TYPE_IPV4 : TYPE_IPV6;
    for (const [index, word] of ip.words.entries()) bytes.writeUInt32BE(word >>> 0, 1 + index * 4);
    bytes.writeUInt16BE(port, 1 + size);
    return bytes;
  }
  const name = Buffer.from(host);
  if (name.length === 0 || name.length > 255) throw new SocksError('a host name has 1 to 255 bytes');
  const bytes = Buffer.allocUnsafe(4 + name.length);
  bytes[0] = TYPE_DOMAIN;
  bytes[1] = name.length;
  name.copy(bytes, 2);
  bytes.writeUInt16BE(port, 2 + name.length);
  return bytes;
}

/** Bytes of an address whose first two bytes are given. @throws SocksError for a type that does not exist. */
export function addressLength(type: number | undefined, second: number | undefined): number {
  if (type === TYPE_IPV4) return 7;
  if (type === TYPE_IPV6) return 19;
  if (type === TYPE_DOMAIN) return 4 + (second ?? 0);
  throw new SocksError(`address type ${type} is not known`);
}

/** Reads an address at `offset`. Null: more bytes are needed. @throws SocksError. */
export function decodeAddress(bytes: Buffer, offset = 0): { target: Target; end: number } | null {
  if (bytes.length < offset + 2) return null;
  const end = offset + addressLength(bytes[offset], bytes[offset + 1]);
  if (bytes.length < end) return null;
  return { target: { host: decodeHost(bytes, offset, end - 2), port: bytes.readUInt16BE(end - 2) }, end };
}

function decodeHost(bytes: Buffer, offset: number, end: number): string {
  const type = bytes[offset];
  if (type === TYPE_IPV4) return bytes.subarray(offset + 1, end).join('.');
  if (type === TYPE_IPV6) {
    const words = [1, 5, 9, 13].map((at) => bytes.readUInt32BE(offset + at));
    return formatIp({ family: 6, words });
  }
  const name = bytes.subarray(offset + 2, end);
  // A name of other bytes would become a longer one, which nothing could write again.
  if (!isUtf8(name)) throw new SocksError('the host name is not UTF-8');
  return checkedName(name.toString());
}

function checkedName(name: string): string {
  const host = normalHost(name);
  if (host === null) throw new SocksError('the host name is not one');
  return host;
}

/** `ver ‖ reply ‖ 0 ‖ bound address`. */
export function encodeReply(reply: number, bound: Target = { host: '0.0.0.0', port: 0 }): Buffer {
  return Buffer.concat([Buffer.from([SOCKS5, reply, 0]), encodeAddress(bound)]);
}

/** SOCKS4's eight bytes: 90 granted, 91 refused. */
export function encodeReply4(granted: boolean): Buffer {
  return Buffer.from([0, granted ? 90 : 91, 0, 0, 0, 0, 0, 0]);
}

export interface UdpDatagram {
  target: Target;
  payload: Buffer;
}

/** A datagram of RFC 1928 section 7. Null for a fragment or for what is none. */
export function decodeUdp(bytes: Buffer): UdpDatagram | null {
  if (bytes.length < 4 || bytes[0] !== 0 || bytes[1] !== 0 || bytes[2] !== 0) return null;
  try {
    const address = decodeAddress(bytes, 3);
    return address && { target: address.target, payload: bytes.subarray(address.end) };
  } catch (error) {
    if (error instanceof SocksError) return null;
    throw error;
  }
}

export function encodeUdp(target: Target, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.alloc(3), encodeAddress(target), payload]);
}

/** RFC 1929. @throws SocksError for a name or password over 255 bytes. */
export function encodePasswordRequest(username: string, password: string): Buffer {
  const user = Buffer.from(username);
  const secret = Buffer.from(password);
  if (user.length > 255 || secret.length > 255) throw new SocksError('user and password have at most 255 bytes');
  return Buffer.concat([Buffer.from([1, user.length]), user, Buffer.from([secret.length]), secret]);
}
