import { isIP } from 'node:net';
import { cidrContains, parseCidr, parseIp } from '@gatehouse/net';

/** Networks that only administrators may have asked: what is inside is not everybody's to reach. */
const INNER = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
  '::/127',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
].flatMap((text) => parseCidr(text) ?? []);

/**
 * The address of who is asked about visitors. Names are looked at again when they are asked: only then it is known where
 * they lead. @throws RangeError
 */
export function parseCallbackUrl(text: string, mayReachInside: boolean): string {
  const url = URL.parse(text.trim());
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.username !== '' || url.password !== '') {
    throw new RangeError('must be an https address without user and password');
  }
  if (mayReachInside) return url.href;
  if (url.protocol !== 'https:') throw new RangeError('must begin with https://');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const address = isIP(host) === 0 ? null : parseIp(host);
  const inside = address
    ? INNER.some((cidr) => cidrContains(cidr, address))
    : /(^|\.)(localhost|local|internal)\.?$/.test(host);
  if (inside) throw new RangeError('must not lead into the network of the gateway');
  return url.href;
}
