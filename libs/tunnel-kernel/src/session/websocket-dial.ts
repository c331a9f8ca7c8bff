import { isIP, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { ByteReader, connectTls, setFlowTimeout } from '@gatehouse/net';
import type { AgentDialer } from '../environment.js';
import { TunnelError } from '../errors.js';
import { taggedProtocols } from '../wire/route-tag.js';
import {
  checkUpgradeAnswer,
  MAX_HANDSHAKE_BYTES,
  upgradeRequest,
  type WebSocketAddress,
} from '../websocket/handshake.js';
import { WebSocketTransport } from '../websocket/websocket-transport.js';

const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * Connects, over TLS if the address says so, and opens the WebSocket. The certificate is not verified: the server
 * proves itself inside with its pinned key, and the purpose is to get through networks that insert their own
 * certificate. @throws TunnelError `timeout`, `connection`, `protocol`, `misdirected`.
 */
export async function dialWebSocket(
  dialer: Pick<AgentDialer, 'server'>,
  address: WebSocketAddress,
  timeoutMs: number,
): Promise<WebSocketTransport> {
  const socket = await dialer.server(address, timeoutMs);
  let stream: Socket = socket;
  const late = new TunnelError('timeout', `no WebSocket within ${timeoutMs} ms`);
  const timer = setFlowTimeout(stream, () => stream.destroy(late), timeoutMs);
  try {
    if (address.secure) {
      stream = secure(socket, address);
      await secured(stream as TLSSocket);
    }
    return await upgrade(stream, address);
  } catch (error) {
    stream.destroy();
    if (error instanceof TunnelError) throw error;
    throw new TunnelError('connection', error instanceof Error ? error.message : String(error), { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

function secure(socket: Socket, { host, routeTag }: WebSocketAddress): TLSSocket {
  return connectTls({
    socket,
    rejectUnauthorized: false,
    ALPNProtocols: taggedProtocols('http/1.1', routeTag),
    ...(isIP(host) === 0 && { servername: host }),
  });
}

function secured(stream: TLSSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.on('error', reject);
    stream.once('close', () => reject(new TunnelError('connection', 'the server closed the connection')));
    stream.once('secureConnect', () => {
      stream.pause();
      resolve();
    });
  });
}

async function upgrade(stream: Socket, address: WebSocketAddress): Promise<WebSocketTransport> {
  const { head, key } = upgradeRequest(address);
  const reader = new ByteReader(stream, MAX_HANDSHAKE_BYTES);
  stream.write(head);
  const answer = await reader.readThrough(HEAD_END);
  checkUpgradeAnswer(answer.toString('latin1'), key);
  reader.restore();
  return new WebSocketTransport(stream, true);
}
