import { formatIp, parseIp } from './cidr.js';

/**
 * The network that rate limits count as one client: an IPv4 address, or an IPv6 /64, which is what one customer usually
 * has. Text that is not an address gives `unknown`.
 */
export function networkOf(address: string): string {
  const ip = parseIp(address);
  if (ip === null) return 'unknown';
  if (ip.family === 4) return formatIp(ip);
  const groups = ip.words.slice(0, 2).flatMap((word) => [(word >>> 16).toString(16), (word & 0xffff).toString(16)]);
  return `${groups.join(':')}::/64`;
}
