import type { Socket } from 'node:net';
import { ByteReaderError, type ByteReader } from '@gatehouse/net';
import type { InboundContext, Login } from '../../interfaces/index.js';
import { endGently, plainAddress } from '../client-socket.js';
import { serveStream } from '../stream-session.js';
import {
  CHALLENGE,
  CHALLENGE_HEADER,
  CONNECT_ACCEPTED,
  HttpRequestError,
  formatAnswer,
  parseBasic,
  parseConnectHead,
  publicReason,
  statusOf,
  wantsPublicTargets,
  type ConnectHead,
} from './codec.js';

const END_OF_HEAD = Buffer.from('\r\n\r\n');

/**
 * Serves a client whose request begins with `CONNECT`, without `node:http`. @throws ByteReaderError when the client
 * leaves.
 */
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

/** Authenticates the client, then dials. */
export async function openTunnel(
  context: InboundContext,
  socket: Socket,
  reader: ByteReader,
  head: ConnectHead,
): Promise<void> {
  const login = proxyLogin(context, socket, head.headers.get('proxy-authorization'));
  if (isRefused(login)) {
    reader.detach();
    return endGently(socket, formatAnswer(login.status, login.message, login.header));
  }
  return serveStream(context, {
    socket,
    reader,
    type: 'HTTPS',
    login,
    host: head.host,
    port: head.port,
    publicOnly: wantsPublicTargets(head.headers),
    accepted: CONNECT_ACCEPTED,
    refused: (error) => formatAnswer(statusOf(error), publicReason(error)),
    statusOf,
  });
}

/** The answer to a client that is not authenticated. */
export interface Refused {
  status: number;
  message: string;
  /** Name and value. */
  header: [string, string];
}

const UNPROVEN: Refused = {
  status: 407,
  message: 'proxy authentication required',
  header: [CHALLENGE_HEADER, CHALLENGE],
};

/** Who the client is, or the answer for credentials that are missing, wrong or not checked. */
export function proxyLogin(
  context: InboundContext,
  { remoteAddress }: Socket,
  authorization: string | undefined,
): Login | Refused {
  if (!context.requiresAuth) return { user: null };
  const given = parseBasic(authorization);
  if (!given) return UNPROVEN;
  const verdict = context.authenticate(given.username, given.password, plainAddress(remoteAddress));
  const { login, problem, retryAfterSec } = verdict;
  if (retryAfterSec > 0) {
    const message = 'too many wrong passwords; try again later';
    return { status: 429, message, header: ['Retry-After', String(retryAfterSec)] };
  }
  return login ?? (problem === undefined ? UNPROVEN : { ...UNPROVEN, message: `in the user name, ${problem}` });
}

export function isRefused(login: Login | Refused): login is Refused {
  return 'status' in login;
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
