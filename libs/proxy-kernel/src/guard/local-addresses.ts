import { networkInterfaces } from 'node:os';
import { cidrContains, formatIp, parseIp, specialPurposeRanges, type IpAddress } from '@gatehouse/net';

const KEPT_MS = 2_000;
/** What reaches this machine whatever its interfaces are; Linux takes all of 0.0.0.0/8 but connects to 0.0.0.0 only. */
const ALWAYS_LOCAL = specialPurposeRanges('loopback', 'unspecified');

/** Whether an address is one of this machine. Interfaces come and go: they are looked at again after two seconds. */
export class LocalAddresses {
  private known = new Set<string>();
  private readAt = -Infinity;

  has(ip: IpAddress): boolean {
    if (ALWAYS_LOCAL.some((range) => cidrContains(range, ip))) return true;
    const now = performance.now();
    if (now - this.readAt > KEPT_MS) {
      this.known = readInterfaces();
      this.readAt = now;
    }
    return this.known.has(formatIp(ip));
  }
}

function readInterfaces(): Set<string> {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return new Set(all.flatMap(({ address }) => parseIp(address) ?? []).map((ip) => formatIp(ip)));
}
