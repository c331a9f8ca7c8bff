/** SOCKS5 on the wire (RFC 1928, RFC 1929). Pure: bytes in, values out. */
import { isUtf8 } from 'node:buffer';
import type { ByteReader } from '../byte-reader.js';
import { formatIp, parseIp } from '../cidr.js';

export const SOCKS5_VERSION = 5;
/** Version of the exchange of user and password (RFC 1929). */
export const SOCKS_PASSWORD_VERSION = 1;

export const SOCKS_METHOD = { none: 0, password: 2, unacceptable: 0xff } as const;
export const SOCKS_COMMAND = { connect: 1, bind: 2, associate: 3 } as const;

/** RFC 1928 section 6. */
export const SOCKS_REPLY = {
  succeeded: 0,
  failure: 1,
  notAllowed: 2,
  networkUnreachable: 3,
  hostUnreachable: 4,
  refused: 5,
  timeout: 6,
  commandNotSupported: 7,
  addressTypeNotSupported: 8,
} as const;
export type SocksReply = (typeof SOCKS_REPLY)[keyof typeof SOCKS_REPLY];

const TYPE_IPV4 = 1;
const TYPE_DOMAIN = 3;
const TYPE_IPV6 = 4;
const MAX_NAME_BYTES = 255;
/** Bytes before the address: version, command or reply, reserved; of a datagram: reserved, fragment. */
const HEAD_BYTES = 3;

export class SocksError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SocksError';
  }
}

export interface SocksAddress {
  /** An IP address, or a name. */
  host: string;
  port: number;
}

/** Converts a name in an address to the caller's own form. Null: the caller does not accept it. */
export type SocksNameReader = (name: string) => string | null;

/** `type ‖ address ‖ port`. @throws SocksError for a name that is empty or over 255 bytes. */
export function encodeSocksAddress(address: SocksAddress): Buffer {
  return withAddress(0, address, 0).bytes;
}

/** `version ‖ command ‖ 0 ‖ address`. @throws SocksError as `encodeSocksAddress`. */
export function encodeSocksRequest(command: number, target: SocksAddress): Buffer {
  return encodeMessage(command, target);
}

/** `version ‖ reply ‖ 0 ‖ bound address`; without one, all zeros. @throws SocksError as `encodeSocksAddress`. */
export function encodeSocksReply(reply: number, bound: SocksAddress = { host: '0.0.0.0', port: 0 }): Buffer {
  return encodeMessage(reply, bound);
}

function encodeMessage(code: number, address: SocksAddress): Buffer {
  const { bytes } = withAddress(HEAD_BYTES, address, 0);
  bytes[0] = SOCKS5_VERSION;
  bytes[1] = code;
  bytes[2] = 0;
  return bytes;
}

/** RFC 1929. @throws SocksError for a user or password over 255 bytes. */
export function encodeSocksPassword(username: string, password: string): Buffer {
  const user = Buffer.from(username);
  const secret = Buffer.from(password);
  if (user.length > 255 || secret.length > 255) throw new SocksError('user and password have at most 255 bytes');
  return Buffer.concat([Buffer.of(SOCKS_PASSWORD_VERSION, user.length), user, Buffer.of(secret.length), secret]);
}

/** Encodes an address with space before and after it; `end` is where it ends. */
function withAddress(before: number, { host, port }: SocksAddress, after: number): { bytes: Buffer; end: number } {
  const ip = parseIp(host);
  const name = ip ? null : encodeName(host);
  const start = before + (name ? 2 : 1);
  const end = start + (ip ? ip.words.length * 4 : (name?.length ?? 0)) + 2;
  const bytes = Buffer.allocUnsafe(end + after);
  if (ip) {
    bytes[before] = ip.family === 4 ? TYPE_IPV4 : TYPE_IPV6;
    for (let index = 0; index < ip.words.length; index++) {
      bytes.writeUInt32BE((ip.words[index] ?? 0) >>> 0, start + index * 4);
    }
  } else if (name) {
    bytes[before] = TYPE_DOMAIN;
    bytes[before + 1] = name.length;
    name.copy(bytes, start);
  }
  bytes.writeUInt16BE(port, end - 2);
  return { bytes, end };
}

function encodeName(host: string): Buffer {
  const name = Buffer.from(host);
  if (name.length === 0 || name.length > MAX_NAME_BYTES) throw new SocksError('a host name has 1 to 255 bytes');
  return name;
}

/** Reads an address at `offset`. Null: more bytes are needed. @throws SocksError. */
export function decodeSocksAddress(
  bytes: Buffer,
  readName: SocksNameReader,
  offset = 0,
): { target: SocksAddress; end: number } | null {
  if (bytes.length < offset + 2) return null;
  const end = offset + addressBytes(bytes[offset], bytes[offset + 1]);
  if (bytes.length < end) return null;
  return { target: { host: decodeHost(bytes, offset, end - 2, readName), port: bytes.readUInt16BE(end - 2) }, end };
}

/** Takes an address, and nothing after it, from the reader. @throws ByteReaderError, SocksError. */
export async function readSocksAddress(reader: ByteReader, readName: SocksNameReader): Promise<SocksAddress> {
  let [type, second] = await reader.peek(1);
  // A type that is not known is refused at once, whether or not a byte follows it.
  if (second === undefined && addressBytes(type, 0) > 0) [type, second] = await reader.peek(2);
  const address = decodeSocksAddress(await reader.read(addressBytes(type, second)), readName);
  if (!address) throw new SocksError('the address is cut off');
  return address.target;
}

function addressBytes(type: number | undefined, second: number | undefined): number {
  if (type === TYPE_IPV4) return 7;
  if (type === TYPE_IPV6) return 19;
  if (type === TYPE_DOMAIN) return 4 + (second ?? 0);
  throw new SocksError(`address type ${type} is not known`);
}

function decodeHost(bytes: Buffer, offset: number, end: number, readName: SocksNameReader): string {
  const type = bytes[offset];
  if (type === TYPE_IPV4) return formatIp({ family: 4, words: [bytes.readUInt32BE(offset + 1)] });
  if (type === TYPE_IPV6) {
    return formatIp({ family: 6, words: [1, 5, 9, 13].map((at) => bytes.readUInt32BE(offset + at)) });
  }
  const name = bytes.subarray(offset + 2, end);
  // Other bytes would be read as a longer name, which could not be written again.
  if (!isUtf8(name)) throw new SocksError('the host name is not UTF-8');
  const host = name.length === 0 ? null : readName(name.toString());
  if (host === null) throw new SocksError('the host name is not one');
  return host;
}

export interface SocksDatagram {
  target: SocksAddress;
  payload: Buffer;
}

/** A datagram of a UDP association (RFC 1928 section 7). Null for a fragment and for what cannot be read. */
export function decodeSocksDatagram(bytes: Buffer, readName: SocksNameReader): SocksDatagram | null {
  if (bytes.length <= HEAD_BYTES || bytes[2] !== 0) return null;
  try {
    const address = decodeSocksAddress(bytes, readName, HEAD_BYTES);
    return address && { target: address.target, payload: bytes.subarray(address.end) };
  } catch (error) {
    if (error instanceof SocksError) return null;
    throw error;
  }
}

/** Null where the name is empty or over 255 bytes: such a datagram has to be dropped. */
export function encodeSocksDatagram(address: SocksAddress, payload: Uint8Array): Buffer | null {
  try {
    const { bytes, end } = withAddress(HEAD_BYTES, address, payload.length);
    bytes.fill(0, 0, HEAD_BYTES);
    bytes.set(payload, end);
    return bytes;
  } catch (error) {
    if (error instanceof SocksError) return null;
    throw error;
  }
}
