import { isIP } from 'node:net';
import type { CountrySource } from '@gatehouse/contracts';
import type { AsnLookup, CountryLookup } from '@gatehouse/proxy-kernel';
import { countryInName } from '../nodes/country-in-name.js';

/** The fields of a node that decide its country. */
export interface PlacedNode {
  id: number;
  name: string;
  server: string;
  country: string | null;
  countrySource: CountrySource;
  exitIp: string | null;
  exitCountry: string | null;
}

/** The result of a lookup through a node; null if it was not looked up. */
export interface ExitFinding {
  ip: string;
  country: string | null;
  asn: number | null;
}

export interface DecidedCountry {
  country: string | null;
  source: CountrySource;
}

/**
 * A manual choice, otherwise the country of the exit address, otherwise that of the server, otherwise the one in the
 * name.
 */
export function decideCountry(
  node: PlacedNode,
  exitCountry: string | null,
  serverIp: string | null,
  lookup: CountryLookup,
): DecidedCountry {
  if (node.countrySource === 'manual') return { country: node.country, source: 'manual' };
  if (exitCountry !== null) return { country: exitCountry, source: 'exit_ip' };
  const byServer = serverIp === null ? null : lookup(serverIp);
  if (byServer !== null) return { country: byServer, source: 'server_ip' };
  const byName = countryInName(node.name);
  return byName === null ? { country: null, source: 'none' } : { country: byName, source: 'name' };
}

/** The address database takes precedence over the lookup service, which may return anything. */
export function completeExit(
  { ip, country }: { ip: string; country: string | null },
  lookup: CountryLookup,
  asn: AsnLookup,
): ExitFinding {
  return { ip, country: lookup(ip) ?? country, asn: asn(ip) };
}

/** The server's name to resolve; null for an address. */
export function serverName({ server }: PlacedNode): string | null {
  return isIP(server) === 0 ? server : null;
}
