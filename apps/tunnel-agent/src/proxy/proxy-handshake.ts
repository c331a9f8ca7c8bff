import {
  ByteReader,
  encodeSocksPassword,
  encodeSocksRequest,
  formatHostPort,
  readSocksAddress,
  SOCKS5_VERSION,
  SOCKS_COMMAND,
  SOCKS_METHOD,
  SOCKS_PASSWORD_VERSION,
  SOCKS_REPLY,
} from '@gatehouse/net';
import type { HostAndPort } from '@gatehouse/tunnel-kernel';
import type { Socket } from 'node:net';
import type { ProxyAddress } from './proxy-address.js';

const MAX_BYTES = 16 * 1024;
const MAX_INTERIM_ANSWERS = 8;
const END_OF_HEAD = Buffer.from('\r\n\r\n');
/** Bytes before the address of a SOCKS answer: version, reply, reserved. */
const REPLY_HEAD_BYTES = 3;

const SOCKS_REASONS: Readonly<Record<number, string>> = {
  [SOCKS_REPLY.notAllowed]: 'does not allow connections to',
  [SOCKS_REPLY.networkUnreachable]: 'has no route to',
  [SOCKS_REPLY.hostUnreachable]: 'does not reach',
  [SOCKS_REPLY.refused]: 'was refused by',
  [SOCKS_REPLY.timeout]: 'got no answer from',
};

/** Why a proxy did not connect; to be read after the proxy's name. */
export class ProxyRefusal extends Error {}

/** Has the proxy at the other end of `stream` connect to `target`. @throws ProxyRefusal, ByteReaderError, SocksError. */
export async function shakeHands(stream: Socket, proxy: ProxyAddress, target: HostAndPort): Promise<void> {
  const reader = new ByteReader(stream, MAX_BYTES);
  await (proxy.kind === 'socks5' ? socks : connect)(stream, reader, proxy.login, target);
  // The gateway waits for the agent's first bytes, so these are not from it.
  if (reader.detach().length > 0) throw new ProxyRefusal('sent more than an answer');
}

type Login = ProxyAddress['login'];

async function connect(stream: Socket, reader: ByteReader, login: Login, target: HostAndPort): Promise<void> {
  const place = formatHostPort(target.host, target.port);
  const credentials = login && Buffer.from(`${login.username}:${login.password}`).toString('base64');
  const field = credentials === null ? '' : `Proxy-Authorization: Basic ${credentials}\r\n`;
  stream.write(`CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n${field}\r\n`);
  for (let answers = 0; answers < MAX_INTERIM_ANSWERS; answers++) {
    const head = (await reader.readThrough(END_OF_HEAD)).toString('latin1');
    const status = Number(/^HTTP\/1\.[01] (\d{3})[ \r]/.exec(head)?.[1] ?? 0);
    if (status >= 200 && status < 300) return;
    // Answers from 100 to 199 come before the final one.
    if (status < 100 || status >= 200) throw refusal(status, login, place);
  }
  throw new ProxyRefusal('does not come to an answer');
}

function refusal(status: number, login: Login, place: string): ProxyRefusal {
  if (status === 0) return new ProxyRefusal('does not answer with HTTP');
  if (status === 407) return new ProxyRefusal(loginRefusal(login));
  return new ProxyRefusal(`answered ${status} to CONNECT ${place}`);
}

function loginRefusal(login: Login): string {
  return login ? 'does not accept the user or the password' : 'asks for a user and a password';
}

async function socks(stream: Socket, reader: ByteReader, login: Login, target: HostAndPort): Promise<void> {
  const methods = login ? [SOCKS_METHOD.none, SOCKS_METHOD.password] : [SOCKS_METHOD.none];
  stream.write(Buffer.of(SOCKS5_VERSION, methods.length, ...methods));
  const [version, method] = await reader.read(2);
  if (version !== SOCKS5_VERSION) throw new ProxyRefusal('does not answer with SOCKS5');
  if (method === SOCKS_METHOD.password && login) await showPassword(stream, reader, login);
  else if (method !== SOCKS_METHOD.none) throw new ProxyRefusal(loginRefusal(login));
  stream.write(encodeSocksRequest(SOCKS_COMMAND.connect, target));
  const [answered, reply = 0] = await reader.read(REPLY_HEAD_BYTES);
  if (answered !== SOCKS5_VERSION) throw new ProxyRefusal('does not answer with SOCKS5');
  if (reply !== SOCKS_REPLY.succeeded) {
    const place = formatHostPort(target.host, target.port);
    throw new ProxyRefusal(`${SOCKS_REASONS[reply] ?? `answered ${reply} for`} ${place}`);
  }
  // Whatever name a proxy may give its own side is of no use here.
  await readSocksAddress(reader, (name) => name);
}

async function showPassword(stream: Socket, reader: ByteReader, login: NonNullable<Login>): Promise<void> {
  stream.write(encodeSocksPassword(login.username, login.password));
  const [version, status] = await reader.read(2);
  if (version !== SOCKS_PASSWORD_VERSION || status !== 0) throw new ProxyRefusal(loginRefusal(login));
}
