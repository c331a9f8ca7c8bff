import { BlockList, isIPv6 } from 'node:net';
import type { Request } from 'express';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Headers by which a proxy on this machine gives away that the request is somebody else's. */
const FORWARDING = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via'];

/**
 * True for a request that a program on this machine makes for itself. The address is the socket's, since TRUSTED_PROXIES
 * would let a header choose it.
 */
export function isLocalRequest({ socket, headers }: Pick<Request, 'socket' | 'headers'>): boolean {
  const address = socket.remoteAddress;
  if (address === undefined || FORWARDING.some((name) => headers[name] !== undefined)) return false;
  return LOOPBACK.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
