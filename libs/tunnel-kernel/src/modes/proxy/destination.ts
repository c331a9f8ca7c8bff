import { isIP, isIPv6 } from 'node:net';
import { asHostName } from '@gatehouse/net';
import type { HostAndPort } from '../../environment.js';

/** `name:port`, `192.0.2.1:80`, `[2001:db8::1]:443`; null for anything else. `defaultPort` replaces a missing port. */
export function parseDestination(text: string, defaultPort?: number): HostAndPort | null {
  const [, bracketed, plain, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]@/\s]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const port = digits === undefined ? (defaultPort ?? 0) : Number(digits);
  if (port < 1 || port > 65_535) return null;
  if (bracketed !== undefined) return isIPv6(bracketed) ? { host: bracketed, port } : null;
  const host = plain === undefined || isIP(plain) !== 0 ? plain : asHostName(plain);
  return host ? { host, port } : null;
}
