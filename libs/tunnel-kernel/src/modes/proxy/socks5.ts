import { isIP, isIPv6 } from 'node:net';
import { asHostName, formatIp, parseIp, type ByteReader, type ByteStream } from '@gatehouse/net';
import type { HostAndPort } from '../../environment.js';
import type { DialFailure } from '../../wire/messages.js';

/** First byte of a greeting (RFC 1928). */
export const SOCKS5_VERSION = 5;
const PASSWORD_VERSION = 1;
const NO_AUTHENTICATION = 0;
const USER_AND_PASSWORD = 2;
const NO_ACCEPTABLE_METHOD = 0xff;

export const SOCKS_COMMAND = { connect: 1, bind: 2, associate: 3 } as const;

/** Replies of RFC 1928 section 6. */
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

const REPLY_OF: Readonly<Record<DialFailure, SocksReply>> = {
  refused: SOCKS_REPLY.refused,
  timeout: SOCKS_REPLY.timeout,
  unreachable: SOCKS_REPLY.hostUnreachable,
  name: SOCKS_REPLY.hostUnreachable,
  forbidden: SOCKS_REPLY.notAllowed,
  unknown_tunnel: SOCKS_REPLY.failure,
  other: SOCKS_REPLY.failure,
};

export function replyTo(failure: DialFailure): SocksReply {
  return REPLY_OF[failure];
}

export interface SocksRequest {
  command: number;
  /** Null: an address of a type that is not known, or a name that is none. */
  destination: HostAndPort | null;
}

export type PasswordCheck = (user: string, password: string) => boolean | Promise<boolean>;

/**
 * Reads greeting and request. `check`: who must be asked for a password; null for a visitor that need not say one, which
 * may all the same. Null: what came is not SOCKS5, or the visitor was told that it may not.
 *
 * @throws ByteReaderError where the visitor leaves
 */
export async function readSocksRequest(
  reader: ByteReader,
  stream: ByteStream,
  check: PasswordCheck | null,
): Promise<SocksRequest | null> {
  const [version, count = 0] = await reader.read(2);
  if (version !== SOCKS5_VERSION) return null;
  const methods = await reader.read(count);
  const wanted = check === null && methods.includes(NO_AUTHENTICATION) ? NO_AUTHENTICATION : USER_AND_PASSWORD;
  if (!methods.includes(wanted)) {
    stream.write(Buffer.of(SOCKS5_VERSION, NO_ACCEPTABLE_METHOD));
    return null;
  }
  stream.write(Buffer.of(SOCKS5_VERSION, wanted));
  if (wanted === USER_AND_PASSWORD && !(await readPassword(reader, stream, check))) return null;
  return readRequest(reader);
}

/** RFC 1929. */
async function readPassword(reader: ByteReader, stream: ByteStream, check: PasswordCheck | null): Promise<boolean> {
  const [version, userLength = 0] = await reader.read(2);
  if (version !== PASSWORD_VERSION) return false;
  const user = (await reader.read(userLength)).toString('utf8');
  const [passwordLength = 0] = await reader.read(1);
  const password = (await reader.read(passwordLength)).toString('utf8');
  const right = check === null || (await check(user, password));
  stream.write(Buffer.of(PASSWORD_VERSION, right ? 0 : 1));
  return right;
}

async function readRequest(reader: ByteReader): Promise<SocksRequest | null> {
  const [version, command = 0, , type = 0] = await reader.read(4);
  if (version !== SOCKS5_VERSION) return null;
  const host = await readHost(reader, type);
  if (host === undefined) return { command, destination: null };
  const port = (await reader.read(2)).readUInt16BE(0);
  return { command, destination: host === null ? null : { host, port } };
}

/** Undefined: of a type whose length is not known, so that nothing after it can be read. */
async function readHost(reader: ByteReader, type: number): Promise<string | null | undefined> {
  if (type === 1) return formatAddress(await reader.read(4));
  if (type === 4) return formatAddress(await reader.read(16));
  if (type !== 3) return undefined;
  const [length = 0] = await reader.read(1);
  const name = (await reader.read(length)).toString('latin1');
  return isIP(name) === 0 ? asHostName(name) : name;
}

/** A reply; `bound` is where the server's end is, all zeros where that says nothing. */
export function encodeReply(reply: SocksReply, bound: HostAndPort = { host: '0.0.0.0', port: 0 }): Buffer {
  return Buffer.concat([Buffer.of(SOCKS5_VERSION, reply, 0), encodeAddress(bound)]);
}

export interface SocksDatagram {
  destination: HostAndPort;
  payload: Buffer;
}

/** A datagram of a UDP association (section 7); null for fragments and for what cannot be read. */
export function decodeDatagram(datagram: Buffer): SocksDatagram | null {
  if (datagram.length < 4 || datagram[2] !== 0) return null;
  const type = datagram[3];
  const length = type === 1 ? 4 : type === 4 ? 16 : type === 3 ? (datagram[4] ?? 0) : -1;
  const at = type === 3 ? 5 : 4;
  if (length < 0 || datagram.length < at + length + 2) return null;
  const raw = datagram.subarray(at, at + length);
  const name = raw.toString('latin1');
  const host = type !== 3 ? formatAddress(raw) : isIP(name) === 0 ? asHostName(name) : name;
  const port = datagram.readUInt16BE(at + length);
  return host && port > 0 ? { destination: { host, port }, payload: datagram.subarray(at + length + 2) } : null;
}

export function encodeDatagram(source: HostAndPort, payload: Uint8Array): Buffer {
  return Buffer.concat([Buffer.alloc(3), encodeAddress(source), payload]);
}

function encodeAddress({ host, port }: HostAndPort): Buffer {
  const address = parseIp(host);
  const tail = Buffer.of(port >> 8, port & 0xff);
  if (!address) {
    const name = Buffer.from(host, 'latin1').subarray(0, 255);
    return Buffer.concat([Buffer.of(3, name.length), name, tail]);
  }
  const bytes = Buffer.alloc(address.words.length * 4);
  address.words.forEach((word, index) => bytes.writeUInt32BE(word, index * 4));
  return Buffer.concat([Buffer.of(isIPv6(host) && address.family === 6 ? 4 : 1), bytes, tail]);
}

function formatAddress(bytes: Buffer): string {
  const words = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32BE(index * 4));
  return formatIp({ family: words.length === 1 ? 4 : 6, words });
}
