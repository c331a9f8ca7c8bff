import { isIP } from 'node:net';
import type { CountrySource } from '@gatehouse/contracts';
import type { CountryLookup } from '@gatehouse/proxy-kernel';
import { countryInName } from './country-in-name.js';

export interface CountryGuess {
  country: string | null;
  source: Extract<CountrySource, 'server_ip' | 'name' | 'none'>;
}

/** The country of a node by its server's address, otherwise by its name. A server with a host name is not resolved. */
export function guessCountry(name: string, server: string, lookup: CountryLookup): CountryGuess {
  const byAddress = isIP(server) === 0 ? null : lookup(server);
  if (byAddress !== null) return { country: byAddress, source: 'server_ip' };
  const byName = countryInName(name);
  return byName === null ? { country: null, source: 'none' } : { country: byName, source: 'name' };
}

/** The country of a node: that of its exit address if it was measured, otherwise as `guessCountry` finds it. */
export function detectCountry(
  node: { originalName: string; server: string; exitCountry: string | null },
  lookup: CountryLookup,
): { country: string | null; source: CountrySource } {
  if (node.exitCountry !== null) return { country: node.exitCountry, source: 'exit_ip' };
  return guessCountry(node.originalName, node.server, lookup);
}
