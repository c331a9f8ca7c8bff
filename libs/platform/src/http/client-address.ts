import { networkOf } from '@gatehouse/net';
import type { Request } from 'express';

export interface ClientAddress {
  /** As request.ip; empty once the connection is gone. */
  readonly ip: string;
  /** What limits count as one client. */
  readonly key: string;
}

/**
 * Says where a request comes from, for those who know better than its connection and its headers. Before anybody asks
 * `request.ip` or `clientAddress`.
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
 * The address that a request comes from, by the word of trusted proxies. Worked out once for what a connection says
 * again and again.
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
