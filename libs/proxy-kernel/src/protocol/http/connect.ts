import type { Socket } from 'node:net';
import { ByteReaderError, type ByteReader } from '@gatehouse/net';
import type { InboundContext } from '../../interfaces/index.js';
import { endGently } from '../client-socket.js';
import { serveStream } from '../stream-session.js';
import {
  CONNECT_ACCEPTED,
  HttpRequestError,
  formatAnswer,
  parseBasic,
  parseConnectHead,
  publicReason,
  statusOf,
  type ConnectHead,
} from './codec.js';

const END_OF_HEAD = Buffer.from('\r\n\r\n');

/** Serves a client whose request begins with `CONNECT`, without `node:http`. @throws ByteReaderError when it leaves. */
export async function serveConnect(
  context: InboundContext,
  socket: Socket,
  reader: ByteReader,
  onHandshake: () => void,
): Promise<void> {
  const head = await readHead(socket, reader);
  onHandshake();
  if (head) await openTunnel(context, socket, reader, head);
}

/** Checks who asks, then dials. */
export async function openTunnel(
  context: InboundContext,
  socket: Socket,
  reader: ByteReader,
  head: ConnectHead,
): Promise<void> {
  const user = proxyUser(context, head.headers.get('proxy-authorization'));
  if (user === false) {
    reader.detach();
    return endGently(socket, formatAnswer(407, 'proxy authentication required'));
  }
  return serveStream(context, {
    socket,
    reader,
    type: 'HTTPS',
    user,
    host: head.host,
    port: head.port,
    accepted: CONNECT_ACCEPTED,
    refused: (error) => formatAnswer(statusOf(error), publicReason(error)),
    statusOf,
  });
}

/** Name of the user, null on an open listener, false for credentials that are missing or wrong. */
export function proxyUser(context: InboundContext, authorization: string | undefined): string | null | false {
  if (!context.requiresAuth) return null;
  const given = parseBasic(authorization);
  return (given && context.authenticate(given.username, given.password)) ?? false;
}

async function readHead(socket: Socket, reader: ByteReader): Promise<ConnectHead | null> {
  try {
    return parseConnectHead((await reader.readThrough(END_OF_HEAD)).toString('latin1'));
  } catch (error) {
    const tooLong = error instanceof ByteReaderError && error.code === 'too_long';
    if (!tooLong && !(error instanceof HttpRequestError)) throw error;
    reader.detach();
    endGently(socket, tooLong ? formatAnswer(431, 'the request head is too long') : formatAnswer(400, error.message));
    return null;
  }
}
