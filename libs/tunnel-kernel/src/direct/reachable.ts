import { networkInterfaces } from 'node:os';
import { cidrContains, formatIp, isPublicAddress, parseCidr, parseIp, specialPurposeRanges } from '@gatehouse/net';

/** Ranges where no peer can be: they hold a machine's own services, and exist in every network. */
const NOBODY = specialPurposeRanges('unspecified', 'loopback', 'link-local', 'multicast', 'broadcast', 'metadata');

type Interfaces = ReturnType<typeof networkInterfaces>;

/**
 * Whether a direct path may be tried to an address that another party named: a public one, or one of a network in which
 * `own`, an address of this machine, is too. This way nobody can make this machine connect to arbitrary addresses.
 */
export function mayKnock(address: string, own: string): boolean {
  return isPublicAddress(address) || isNeighbour(address, own);
}

/**
 * Whether an address that an agent reported inside a network may be tried: it must be another machine in a network of
 * `own`. A hostile agent must not reach addresses of this machine, or those that every network has.
 */
export function mayMeetNearby(address: string, own: string, interfaces: Interfaces = networkInterfaces()): boolean {
  const theirs = parseIp(address);
  if (!theirs || NOBODY.some((range) => cidrContains(range, theirs))) return false;
  const isOwn = Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .some((one) => sameAddress(one.address, address));
  return !isOwn && isNeighbour(address, own, interfaces);
}

function sameAddress(left: string, right: string): boolean {
  const [a, b] = [parseIp(left), parseIp(right)];
  return a !== null && b !== null && formatIp(a) === formatIp(b);
}

/** Whether two addresses are in one network of this machine, according to its interfaces. */
function isNeighbour(address: string, own: string, interfaces: Interfaces = networkInterfaces()): boolean {
  const [theirs, ours] = [parseIp(address), parseIp(own)];
  if (!theirs || !ours) return false;
  return Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .flatMap(({ cidr }) => parseCidr(cidr ?? '') ?? [])
    .some((network) => cidrContains(network, ours) && cidrContains(network, theirs));
}
