import { isIP } from 'node:net';
import {
  asHostName,
  decodeSocksDatagram,
  readSocksAddress,
  SOCKS5_VERSION,
  SOCKS_METHOD,
  SOCKS_PASSWORD_VERSION,
  SOCKS_REPLY,
  SocksError,
  type ByteReader,
  type ByteStream,
  type SocksDatagram,
  type SocksReply,
} from '@gatehouse/net';
import type { HostAndPort } from '../../environment.js';
import type { DialFailure } from '../../wire/messages.js';

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
  /** Null: the type of the address is unknown, or the name is invalid. */
  destination: HostAndPort | null;
}

export type PasswordCheck = (user: string, password: string) => boolean | Promise<boolean>;

/**
 * Reads greeting and request. Returns null for anything but SOCKS5, and for a visitor that was refused.
 *
 * @param check checks user and password; null if none are needed, although a visitor may send them
 * @throws ByteReaderError when the visitor leaves
 */
export async function readSocksRequest(
  reader: ByteReader,
  stream: ByteStream,
  check: PasswordCheck | null,
): Promise<SocksRequest | null> {
  const [version, count = 0] = await reader.read(2);
  if (version !== SOCKS5_VERSION) return null;
  const methods = await reader.read(count);
  const wanted = check === null && methods.includes(SOCKS_METHOD.none) ? SOCKS_METHOD.none : SOCKS_METHOD.password;
  if (!methods.includes(wanted)) {
    stream.write(Buffer.of(SOCKS5_VERSION, SOCKS_METHOD.unacceptable));
    return null;
  }
  stream.write(Buffer.of(SOCKS5_VERSION, wanted));
  if (wanted === SOCKS_METHOD.password && !(await readPassword(reader, stream, check))) return null;
  return readRequest(reader);
}

/** RFC 1929. */
async function readPassword(reader: ByteReader, stream: ByteStream, check: PasswordCheck | null): Promise<boolean> {
  const [version, userLength = 0] = await reader.read(2);
  if (version !== SOCKS_PASSWORD_VERSION) return false;
  const user = (await reader.read(userLength)).toString('utf8');
  const [passwordLength = 0] = await reader.read(1);
  const password = (await reader.read(passwordLength)).toString('utf8');
  const right = check === null || (await check(user, password));
  stream.write(Buffer.of(SOCKS_PASSWORD_VERSION, right ? 0 : 1));
  return right;
}

async function readRequest(reader: ByteReader): Promise<SocksRequest | null> {
  const [version, command = 0] = await reader.read(3);
  if (version !== SOCKS5_VERSION) return null;
  return { command, destination: await readDestination(reader) };
}

async function readDestination(reader: ByteReader): Promise<HostAndPort | null> {
  try {
    return await readSocksAddress(reader, readName);
  } catch (error) {
    if (error instanceof SocksError) return null;
    throw error;
  }
}

/** A datagram of a UDP association. Null for a fragment, an unreadable datagram, and one without a port. */
export function decodeDatagram(bytes: Buffer): SocksDatagram | null {
  const datagram = decodeSocksDatagram(bytes, readName);
  return datagram && datagram.target.port > 0 ? datagram : null;
}

function readName(name: string): string | null {
  return isIP(name) === 0 ? asHostName(name) : name;
}
