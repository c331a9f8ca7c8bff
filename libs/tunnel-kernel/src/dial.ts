import { DialedSocket } from '@gatehouse/net';
import type { AgentDialer, HostAndPort } from './environment.js';
import { TunnelError } from './errors.js';

/** Silence of the network after which a connection is probed. */
export const KEEP_ALIVE_MS = 15_000;

/** Connects directly, names resolved by the operating system. */
export const systemDialer: AgentDialer = { server: connectTcp, target: connectTcp };

function connectTcp({ host, port }: HostAndPort, timeoutMs: number): Promise<DialedSocket> {
  const socket = new DialedSocket();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => socket.destroy(new TunnelError('timeout', `no connection within ${timeoutMs} ms`)),
      timeoutMs,
    );
    socket.once('error', reject);
    socket.once('close', () => clearTimeout(timer));
    socket.once('connect', () => {
      clearTimeout(timer);
      // An error between now and the next owner's listener must not end the process.
      socket.off('error', reject).on('error', () => undefined);
      socket.setNoDelay(true);
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      resolve(socket);
    });
    socket.pause();
    socket.connect({ host, port });
  });
}
