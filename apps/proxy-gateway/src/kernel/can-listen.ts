import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import type { ListenerState } from '@gatehouse/proxy-kernel';
import type { ListenPlace, RefusedListener } from '../common/kernel-figures.js';

/**
 * Finds the first address that this machine refuses to listen on; null: none. Nothing stays open. A port that the kernel
 * already listens on is free for it, since a new configuration takes it over.
 * @param shared other kernels try the same addresses at the same time.
 */
export async function findRefused(
  wanted: readonly ListenPlace[],
  open: readonly ListenerState[],
  shared = false,
): Promise<RefusedListener | null> {
  const own = new Set(open.filter(({ state }) => state === 'listening').map(({ port }) => port));
  for (const place of wanted) {
    if (place.port === 0 || own.has(place.port)) continue;
    const reason = (await refusalOfTcp(place, shared)) ?? (place.udp ? await refusalOfUdp(place, shared) : null);
    if (reason !== null) return { ...place, reason };
  }
  return null;
}

function refusalOfTcp({ address: host, port }: ListenPlace, reusePort: boolean): Promise<string | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error) => resolve(reasonOf(error)));
    server.listen({ host, port, reusePort }, () => server.close(() => resolve(null)));
  });
}

function refusalOfUdp({ address, port }: ListenPlace, reusePort: boolean): Promise<string | null> {
  const socket = createSocket({ type: address.includes(':') ? 'udp6' : 'udp4', reusePort });
  return new Promise((resolve) => {
    socket.once('error', (error) => {
      socket.close();
      resolve(reasonOf(error));
    });
    socket.bind({ address, port }, () => socket.close(() => resolve(null)));
  });
}

function reasonOf(error: NodeJS.ErrnoException): string {
  const { code = 'unknown error' } = error;
  if (code === 'EADDRINUSE') return 'is in use';
  return code === 'EACCES' ? 'is not allowed' : `cannot be bound (${code})`;
}
