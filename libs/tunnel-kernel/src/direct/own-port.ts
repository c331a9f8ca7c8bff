import { lookup } from 'node:dns/promises';
import { isIPv6, type Server, type Socket } from 'node:net';
import { connectTcp, createTcpServer, setFlowTimeout } from '@gatehouse/net';
import { KEEP_ALIVE_MS } from '../dial.js';
import type { HostAndPort } from '../environment.js';
import { asTunnelError, TunnelError } from '../errors.js';

/** Connections that wait before TLS; later ones wait in the system's queue, or try again. */
const BACKLOG = 8;

/** Returns addresses of one family only: to a NAT, the same port number of another family is a different port. */
export async function resolveServer({ host, port }: HostAndPort): Promise<HostAndPort> {
  const { address } = await lookup(host);
  return { host: address, port };
}

/**
 * A TCP connection from a chosen local port, 0 for any. The port is bound with reuse, so that several connections can
 * share it: to a NAT they come from the same place. @throws TunnelError
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

/** Listens on a port that outgoing connections use. @throws TunnelError if the system refuses. */
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
