import { networkOf } from '@gatehouse/net';
import type { Request } from 'express';

export interface ClientAddress {
  /** Like request.ip; empty once the connection is closed. */
  readonly ip: string;
  /** The key under which limits count one client. */
  readonly key: string;
}

/**
 * Sets the address of a request, if it is known better than from its connection and its headers. Must be called before
 * `request.ip` or `clientAddress` is read.
 */
export function assignClientAddress(request: Request, ip: string): void {
  Object.defineProperty(request, 'ip', { value: ip, configurable: true });
  const connection = request.socket as Connection;
  connection[LAST] = { ip, key: networkOf(ip), forwarded: request.headers['x-forwarded-for'] };
}

const LAST = Symbol('client address');

interface Forwarded extends ClientAddress {
  /** X-Forwarded-For of the request. */
  readonly forwarded: unknown;
}

interface Connection {
  [LAST]?: Forwarded;
}

/**
 * The address of a request's sender, according to trusted proxies. Computed once for values that a connection repeats.
 */
export function clientAddress(request: Request): ClientAddress {
  const connection = request.socket as Connection;
  const forwarded = request.headers['x-forwarded-for'];
  const last = connection[LAST];
  if (last !== undefined && last.forwarded === forwarded) return last;
  const { ip } = request;
  if (ip === undefined) return { ip: '', key: networkOf('') };
  const found: Forwarded = { ip, key: networkOf(ip), forwarded };
  connection[LAST] = found;
  return found;
}
