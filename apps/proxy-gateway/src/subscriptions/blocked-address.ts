import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * Ranges of the IANA special-purpose registries (RFC 6890) that a subscription has no business in, and the IPv6 ranges
 * that carry an IPv4 address inside: those are refused whole, because the address inside may be any of the first.
 */
const SPECIAL_IPV4: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

const SPECIAL_IPV6: readonly [string, number][] = [
  ['::', 96], // unspecified, loopback, IPv4-compatible
  ['::ffff:0:0', 96], // IPv4-mapped: judged by the IPv4 address inside instead, below
  ['::ffff:0:0:0', 96], // IPv4-translated
  ['64:ff9b::', 96], // NAT64
  ['64:ff9b:1::', 48], // NAT64, local use
  ['100::', 64], // discard
  ['2001::', 23], // Teredo, ORCHID, benchmarking
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4
  ['3fff::', 20], // documentation
  ['5f00::', 16], // segment routing
  ['fc00::', 7], // unique local
  ['fe80::', 10], // link local
  ['fec0::', 10], // site local
  ['ff00::', 8], // multicast
];

/** Cloud metadata services outside the ranges above. */
const METADATA: readonly string[] = ['168.63.129.16'];

const blocked4 = new BlockList();
for (const [network, prefix] of SPECIAL_IPV4) blocked4.addSubnet(network, prefix, 'ipv4');
for (const address of METADATA) blocked4.addAddress(address, 'ipv4');

const blocked6 = new BlockList();
for (const [network, prefix] of SPECIAL_IPV6) blocked6.addSubnet(network, prefix, 'ipv6');

/** The IPv4 address inside an IPv4-mapped one, in either of its spellings. */
function mappedIpv4(address: string): string | null {
  const tail = /^::ffff:([0-9a-f.:]+)$/i.exec(new URL(`http://[${address}]`).hostname.slice(1, -1))?.[1];
  const groups = tail?.split(':');
  if (groups?.length !== 2) return null;
  const bits = (parseInt(groups[0]!, 16) << 16) | parseInt(groups[1]!, 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.');
}

/** Whether a resolved address is one that only this machine or its own network should reach. Not an address: blocked. */
export function isBlockedAddress(address: string): boolean {
  const bare = address.replace(/%.*$/, '');
  if (isIPv4(bare)) return blocked4.check(bare, 'ipv4');
  if (!isIPv6(bare)) return true;
  const inside = mappedIpv4(bare);
  return inside === null ? blocked6.check(bare, 'ipv6') : blocked4.check(inside, 'ipv4');
}
