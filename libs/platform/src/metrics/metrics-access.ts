import type { IncomingMessage } from 'node:http';
import { isLoopback } from '@gatehouse/net';

/** Headers by which a proxy on this machine shows that the request comes from another machine. */
const FORWARDING = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via'];

/**
 * True for a request that a program on this machine makes for itself. The address is that of the socket, because with
 * TRUSTED_PROXIES a header could choose it.
 */
export function isLocalRequest({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): boolean {
  return isLoopback(socket.remoteAddress ?? '') && !FORWARDING.some((name) => headers[name] !== undefined);
}
