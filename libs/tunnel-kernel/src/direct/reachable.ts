import { networkInterfaces } from 'node:os';
import { cidrContains, isPublicAddress, parseCidr, parseIp } from '@gatehouse/net';

/**
 * Whether an address that somebody else named may be connected to for a direct path: one of the Internet, or one of a
 * network that `own`, an address of this machine, is in as well. Nobody can make this machine knock elsewhere.
 */
export function mayKnock(address: string, own: string): boolean {
  return isPublicAddress(address) || isNeighbour(address, own);
}

/** Whether two addresses are in one network of this machine, as its interfaces say. */
export function isNeighbour(address: string, own: string): boolean {
  const [theirs, ours] = [parseIp(address), parseIp(own)];
  if (!theirs || !ours) return false;
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .flatMap(({ cidr }) => parseCidr(cidr ?? '') ?? [])
    .some((network) => cidrContains(network, ours) && cidrContains(network, theirs));
}
