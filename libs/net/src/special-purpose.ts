import { cidrContains, parseCidr, parseIp, type Cidr } from './cidr.js';

export type SpecialPurpose =
  | 'unspecified'
  | 'loopback'
  | 'private'
  | 'shared'
  | 'link-local'
  | 'multicast'
  | 'broadcast'
  | 'metadata'
  | 'documentation'
  | 'transition'
  | 'reserved';

/**
 * Addresses that are not hosts of the Internet: the IANA special-purpose registries (RFC 6890 and its updates), what IANA
 * has not allocated, and cloud metadata services. This is the only such list; callers select parts of it by purpose.
 * Ranges that carry an IPv4 address inside are `transition` as a whole, because the address inside may be any other.
 */
const RANGES: Readonly<Record<SpecialPurpose, readonly Cidr[]>> = {
  unspecified: cidrs('0.0.0.0/32', '::/128'),
  loopback: cidrs('127.0.0.0/8', '::1/128'),
  private: cidrs('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'),
  shared: cidrs('100.64.0.0/10'),
  'link-local': cidrs('169.254.0.0/16', 'fe80::/10'),
  multicast: cidrs('224.0.0.0/4', 'ff00::/8'),
  broadcast: cidrs('255.255.255.255/32'),
  // Azure, Alibaba, Oracle, Amazon and Google; 169.254.169.254 is link-local.
  metadata: cidrs('168.63.129.16/32', '100.100.100.200/32', '192.0.0.192/32', 'fd00:ec2::254/128', 'fd20:ce::254/128'),
  documentation: cidrs('192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'),
  // IPv4-compatible, IPv4-translated, NAT64 (two prefixes), Teredo, 6to4 and its relays.
  transition: cidrs(
    '::/96',
    '::ffff:0:0:0/96',
    '64:ff9b::/96',
    '64:ff9b:1::/48',
    '2001::/32',
    '2002::/16',
    '192.88.99.0/24',
  ),
  // "This network", IETF protocol assignments, benchmarking, class E; for IPv6, everything outside 2000::/3.
  reserved: cidrs(
    '0.0.0.0/8',
    '192.0.0.0/24',
    '198.18.0.0/15',
    '240.0.0.0/4',
    '2001::/23',
    '::/3',
    '4000::/2',
    '8000::/1',
  ),
};

const ALL = Object.values(RANGES).flat();

/** The prefixes of these purposes. Those of one purpose do not overlap. */
export function specialPurposeRanges(...purposes: SpecialPurpose[]): Cidr[] {
  return purposes.flatMap((purpose) => RANGES[purpose]);
}

/** Whether an address can be that of a host in the Internet. An IPv4-mapped one is treated as IPv4. False for text that is not an address. */
export function isPublicAddress(address: string): boolean {
  const ip = parseIp(address);
  return ip !== null && !ALL.some((cidr) => cidrContains(cidr, ip));
}

/** Whether an address leads to this machine only. An IPv4-mapped one is treated as IPv4. */
export function isLoopback(address: string): boolean {
  const ip = parseIp(address);
  return ip !== null && RANGES.loopback.some((cidr) => cidrContains(cidr, ip));
}

/**
 * Names that always belong to this machine or its network, or are not host names: RFC 6761 (`localhost`),
 * 6762 (`local`), 8375 and 3172 (`arpa`, `home.arpa`), the name that ICANN reserved for private use (`internal`), and
 * `localdomain`, which systems give to their own. With or without a dot at the end.
 */
export function isSpecialUseName(host: string): boolean {
  return /(?:^|\.)(?:localhost|localdomain|local|internal|arpa)\.?$/i.test(host);
}

function cidrs(...texts: string[]): Cidr[] {
  return texts.map((text) => {
    const cidr = parseCidr(text);
    if (!cidr) throw new Error(`${text} is not a prefix`);
    return cidr;
  });
}
