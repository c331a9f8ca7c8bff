import type { Socket } from 'node:net';
import type { ByteReader } from '@gatehouse/net';
import { DialError, RejectedError, type InboundContext } from '../../interfaces/index.js';
import { endGently, plainAddress } from '../client-socket.js';
import { normalHost } from '../../transport/normal-host.js';
import { serveStream } from '../stream-session.js';
import * as codec from './codec.js';
import { serveUdpAssociation } from './udp-association.js';

/** Serves one SOCKS client whose first byte is at the reader. @throws ByteReaderError, SocksError for a bad handshake. */
export async function serveSocks(
  context: InboundContext,
  socket: Socket,
  reader: ByteReader,
  onHandshake: () => void,
): Promise<void> {
  const version = (await reader.read(1))[0];
  const serve = version === codec.SOCKS5 ? serveSocks5 : serveSocks4;
  return serve(context, socket, reader, onHandshake);
}

async function serveSocks5(
  context: InboundContext,
  socket: Socket,
  reader: ByteReader,
  onHandshake: () => void,
): Promise<void> {
  const user = await authenticate(context, socket, reader);
  if (user === false) return;
  const [, command = 0] = await reader.read(3);
  const target = await readTarget(socket, reader);
  onHandshake();
  if (command === codec.COMMAND_CONNECT) {
    return serveStream(context, {
      socket,
      reader,
      type: 'Socks5',
      user,
      ...target,
      accepted: codec.encodeReply(codec.REPLY.succeeded),
      refused: (error) => codec.encodeReply(replyCode(error)),
    });
  }
  if (command === codec.COMMAND_UDP_ASSOCIATE) return serveUdpAssociation(context, { socket, reader, user });
  endGently(socket, codec.encodeReply(codec.REPLY.commandNotSupported));
}

/** Name of the user, null for an open listener, false when the client was sent away. */
async function authenticate(
  context: InboundContext,
  socket: Socket,
  reader: ByteReader,
): Promise<string | null | false> {
  const count = (await reader.read(1))[0] ?? 0;
  const methods = count === 0 ? Buffer.alloc(0) : await reader.read(count);
  const wanted = context.requiresAuth ? codec.AUTH_PASSWORD : codec.AUTH_NONE;
  if (!methods.includes(wanted)) {
    endGently(socket, Buffer.from([codec.SOCKS5, codec.AUTH_UNACCEPTABLE]));
    return false;
  }
  socket.write(Buffer.from([codec.SOCKS5, wanted]));
  if (wanted === codec.AUTH_NONE) return null;
  const version = (await reader.read(1))[0];
  const username = await readString(reader);
  const password = await readString(reader);
  const address = plainAddress(socket.remoteAddress);
  const user = version === 1 ? context.authenticate(username, password, address).user : null;
  if (user === null) {
    endGently(socket, Buffer.from([1, 1]));
    return false;
  }
  socket.write(Buffer.from([1, 0]));
  return user;
}

async function readString(reader: ByteReader): Promise<string> {
  const length = (await reader.read(1))[0] ?? 0;
  return length === 0 ? '' : (await reader.read(length)).toString();
}

async function readTarget(socket: Socket, reader: ByteReader): Promise<{ host: string; port: number }> {
  const start = await reader.peek(2);
  try {
    const bytes = await reader.read(codec.addressLength(start[0], start[1]));
    const address = codec.decodeAddress(bytes);
    if (!address) throw new codec.SocksError('the address is cut off');
    return { host: address.target.host, port: address.target.port };
  } catch (error) {
    if (error instanceof codec.SocksError) endGently(socket, codec.encodeReply(codec.REPLY.addressTypeNotSupported));
    throw error;
  }
}

/** RFC 1928 section 6. */
function replyCode(error: unknown): number {
  if (error instanceof RejectedError) return codec.REPLY.notAllowed;
  const kind = error instanceof DialError ? error.kind : 'other';
  if (kind === 'connection_refused') return codec.REPLY.connectionRefused;
  if (kind === 'unreachable' || kind === 'dns_error') return codec.REPLY.hostUnreachable;
  return kind === 'timeout' ? codec.REPLY.ttlExpired : codec.REPLY.generalFailure;
}

const NUL = Buffer.from([0]);

/** SOCKS4 and 4a. There is no password: a listener with users takes none of them. */
async function serveSocks4(
  context: InboundContext,
  socket: Socket,
  reader: ByteReader,
  onHandshake: () => void,
): Promise<void> {
  const head = await reader.read(7);
  // Of a user id nobody knows whose it is: there is no password.
  await reader.readThrough(NUL);
  // 0.0.0.x with x other than 0: the name follows (4a)
  const named = head.readUInt32BE(3) > 0 && head.readUInt32BE(3) < 256;
  const host = normalHost(
    named ? (await reader.readThrough(NUL)).subarray(0, -1).toString() : head.subarray(3).join('.'),
  );
  onHandshake();
  if (context.requiresAuth || head[0] !== codec.COMMAND_CONNECT || host === null) {
    return endGently(socket, codec.encodeReply4(false));
  }
  return serveStream(context, {
    socket,
    reader,
    type: 'Socks4',
    user: null,
    host,
    port: head.readUInt16BE(1),
    accepted: codec.encodeReply4(true),
    refused: () => codec.encodeReply4(false),
  });
}
