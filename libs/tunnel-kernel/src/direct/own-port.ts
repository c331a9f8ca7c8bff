import { lookup } from 'node:dns/promises';
import { isIPv6, type Server, type Socket } from 'node:net';
import { connectTcp, createTcpServer, setFlowTimeout } from '@gatehouse/net';
import { KEEP_ALIVE_MS } from '../dial.js';
import type { HostAndPort } from '../environment.js';
import { asTunnelError, TunnelError } from '../errors.js';

/** Who has connected before TLS; those who come later wait in the system's queue, or try again. */
const BACKLOG = 8;

/** For addresses of one family only: a port of the other one would be another one for a NAT. */
export async function resolveServer({ host, port }: HostAndPort): Promise<HostAndPort> {
  const { address } = await lookup(host);
  return { host: address, port };
}

/**
 * A TCP connection from a port of one's own, 0 for any free one. The port is bound before the connection is made, so that
 * it may be used again beside it: several connections from one port look alike to a NAT. @throws TunnelError
 */
export function connectFrom(localPort: number, { host, port }: HostAndPort, timeoutMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const localAddress = isIPv6(host) ? '::' : '0.0.0.0';
    const socket = connectTcp({ host, port, localAddress, localPort, allowHalfOpen: true, noDelay: true });
    socket.pause();
    const timer = setFlowTimeout(
      socket,
      () => socket.destroy(new TunnelError('timeout', 'no connection in time')),
      timeoutMs,
    );
    const fail = (error: Error): void => reject(asTunnelError(error));
    socket.once('error', fail);
    socket.once('close', () => clearTimeout(timer));
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', fail).on('error', () => undefined);
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      resolve(socket);
    });
  });
}

/** Takes connections at a port that connections were made from. @throws TunnelError where the system does not let it. */
export function listenAt(port: number, host: string, accepted: (socket: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const options = { allowHalfOpen: true, pauseOnConnect: true, noDelay: true, keepAlive: true };
    const server = createTcpServer({ ...options, keepAliveInitialDelay: KEEP_ALIVE_MS }, (socket) => {
      socket.on('error', () => undefined);
      accepted(socket);
    });
    server.once('error', (error) => reject(asTunnelError(error)));
    server.listen({ port, host: isIPv6(host) ? '::' : '0.0.0.0', backlog: BACKLOG }, () => {
      server.removeAllListeners('error').on('error', () => undefined);
      resolve(server);
    });
  });
}
