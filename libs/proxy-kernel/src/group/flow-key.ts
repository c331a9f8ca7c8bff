import { getDomain } from 'tldts';
import type { ConnectionMetadata } from '../interfaces/connection.js';

/** What all flows to one site share: the registrable domain (public suffix list), the name itself, or the address. */
export function siteOf({ host, destinationIp }: ConnectionMetadata): string {
  if (host === null) return destinationIp ?? '';
  // `a.github.io` and `b.github.io` belong to different people.
  return getDomain(host, { allowPrivateDomains: true }) ?? host.toLowerCase();
}
