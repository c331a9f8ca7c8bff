import { networkInterfaces } from 'node:os';
import { cidrContains, formatIp, isPublicAddress, parseCidr, parseIp, specialPurposeRanges } from '@gatehouse/net';

/** Services of a machine for itself are there, and what every network has: nobody is met there. */
const NOBODY = specialPurposeRanges('unspecified', 'loopback', 'link-local', 'multicast', 'broadcast', 'metadata');

type Interfaces = ReturnType<typeof networkInterfaces>;

/**
 * Whether an address that somebody else named may be connected to for a direct path: one of the Internet, or one of a
 * network that `own`, an address of this machine, is in as well. Nobody can make this machine knock elsewhere.
 */
export function mayKnock(address: string, own: string): boolean {
  return isPublicAddress(address) || isNeighbour(address, own);
}

/**
 * Whether an address that an agent gave as its own, inside a network, may be connected to: another machine of a network
 * that `own` is in. The agent may be hostile: no address of this machine is tried, and none that every network has.
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

/** Whether two addresses are in one network of this machine, as its interfaces say. */
function isNeighbour(address: string, own: string, interfaces: Interfaces = networkInterfaces()): boolean {
  const [theirs, ours] = [parseIp(address), parseIp(own)];
  if (!theirs || !ours) return false;
  return Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .flatMap(({ cidr }) => parseCidr(cidr ?? '') ?? [])
    .some((network) => cidrContains(network, ours) && cidrContains(network, theirs));
}
