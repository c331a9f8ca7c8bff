import type { Socket } from 'node:net';
import {
  encodeSocksReply,
  readSocksAddress,
  SOCKS5_VERSION,
  SOCKS_COMMAND,
  SOCKS_METHOD,
  SOCKS_PASSWORD_VERSION,
  SOCKS_REPLY,
  SocksError,
  type ByteReader,
  type SocksAddress,
} from '@gatehouse/net';
import { DialError, RejectedError, type InboundContext, type Login } from '../../interfaces/index.js';
import { endGently, plainAddress } from '../client-socket.js';
import { normalHost } from '../../transport/normal-host.js';
import { serveStream } from '../stream-session.js';
import { encodeReply4 } from './codec.js';
import { serveUdpAssociation } from './udp-association.js';

/** Serves one SOCKS client from its first byte on. @throws ByteReaderError, SocksError for a bad handshake. */
export async function serveSocks(
  context: InboundContext,
  socket: Socket,
  reader: ByteReader,
  onHandshake: () => void,
): Promise<void> {
  const version = (await reader.read(1))[0];
  const serve = version === SOCKS5_VERSION ? serveSocks5 : serveSocks4;
  return serve(context, socket, reader, onHandshake);
}

async function serveSocks5(
  context: InboundContext,
  socket: Socket,
  reader: ByteReader,
  onHandshake: () => void,
): Promise<void> {
  const login = await authenticate(context, socket, reader);
  if (!login) return;
  const [, command = 0] = await reader.read(3);
  const target = await readTarget(socket, reader);
  onHandshake();
  if (command === SOCKS_COMMAND.connect) {
    return serveStream(context, {
      socket,
      reader,
      type: 'Socks5',
      login,
      ...target,
      accepted: encodeSocksReply(SOCKS_REPLY.succeeded),
      refused: (error) => encodeSocksReply(replyCode(error)),
    });
  }
  if (command === SOCKS_COMMAND.associate) return serveUdpAssociation(context, { socket, reader, login });
  endGently(socket, encodeSocksReply(SOCKS_REPLY.commandNotSupported));
}

/** Null if the client was refused. */
async function authenticate(context: InboundContext, socket: Socket, reader: ByteReader): Promise<Login | null> {
  const count = (await reader.read(1))[0] ?? 0;
  const methods = count === 0 ? Buffer.alloc(0) : await reader.read(count);
  const wanted = context.requiresAuth ? SOCKS_METHOD.password : SOCKS_METHOD.none;
  if (!methods.includes(wanted)) {
    endGently(socket, Buffer.from([SOCKS5_VERSION, SOCKS_METHOD.unacceptable]));
    return null;
  }
  socket.write(Buffer.from([SOCKS5_VERSION, wanted]));
  if (wanted === SOCKS_METHOD.none) return { user: null };
  const version = (await reader.read(1))[0];
  const username = await readString(reader);
  const password = await readString(reader);
  const address = plainAddress(socket.remoteAddress);
  const isKnown = version === SOCKS_PASSWORD_VERSION;
  const login = isKnown ? context.authenticate(username, password, address).login : null;
  if (!login) {
    endGently(socket, Buffer.from([SOCKS_PASSWORD_VERSION, 1]));
    return null;
  }
  socket.write(Buffer.from([SOCKS_PASSWORD_VERSION, 0]));
  return login;
}

async function readString(reader: ByteReader): Promise<string> {
  const length = (await reader.read(1))[0] ?? 0;
  return length === 0 ? '' : (await reader.read(length)).toString();
}

async function readTarget(socket: Socket, reader: ByteReader): Promise<SocksAddress> {
  try {
    return await readSocksAddress(reader, normalHost);
  } catch (error) {
    if (error instanceof SocksError) endGently(socket, encodeSocksReply(SOCKS_REPLY.addressTypeNotSupported));
    throw error;
  }
}

/** RFC 1928 section 6. */
function replyCode(error: unknown): number {
  if (error instanceof RejectedError) return SOCKS_REPLY.notAllowed;
  const kind = error instanceof DialError ? error.kind : 'other';
  if (kind === 'connection_refused') return SOCKS_REPLY.refused;
  if (kind === 'unreachable' || kind === 'dns_error') return SOCKS_REPLY.hostUnreachable;
  return kind === 'timeout' ? SOCKS_REPLY.timeout : SOCKS_REPLY.failure;
}

const NUL = Buffer.from([0]);

/** SOCKS4 and 4a. There is no password, so a listener with users refuses these clients. */
async function serveSocks4(
  context: InboundContext,
  socket: Socket,
  reader: ByteReader,
  onHandshake: () => void,
): Promise<void> {
  const head = await reader.read(7);
  // The user id proves nothing without a password.
  await reader.readThrough(NUL);
  // 0.0.0.x with x other than 0: the name follows (4a).
  const named = head.readUInt32BE(3) > 0 && head.readUInt32BE(3) < 256;
  const host = normalHost(
    named ? (await reader.readThrough(NUL)).subarray(0, -1).toString() : head.subarray(3).join('.'),
  );
  onHandshake();
  if (context.requiresAuth || head[0] !== SOCKS_COMMAND.connect || host === null) {
    return endGently(socket, encodeReply4(false));
  }
  return serveStream(context, {
    socket,
    reader,
    type: 'Socks4',
    login: { user: null },
    host,
    port: head.readUInt16BE(1),
    accepted: encodeReply4(true),
    refused: () => encodeReply4(false),
  });
}
