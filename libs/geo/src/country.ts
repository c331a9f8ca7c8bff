import { parseIp } from '@gatehouse/net';
import type { DataValue } from './data-section.js';
import { GeoDatabaseError } from './geo-database-error.js';
import type { GeoDatabaseMetadata } from './metadata.js';
import { openRecords } from './records.js';

/** Country of an address, ISO 3166-1 alpha-2 upper case; null when not known or no database is loaded. */
export type CountryLookup = (ip: string) => string | null;

export interface CountryDatabase {
  lookup: CountryLookup;
  /** Every prefix of a country in the file, in the order of addresses. It reads the whole file. */
  prefixes: (country: string) => string[];
  readonly metadata: GeoDatabaseMetadata;
  readonly nodeCount: number;
}

/** Values of all records together. A country database has a few hundred records; this takes a fraction of a second to use up. */
const BUDGET = 1_000_000;

/**
 * Opens a country database in MaxMind DB format: GeoLite2 (`{country: {iso_code}}`), ip-location-db (`{country_code}`),
 * sing-geoip (text) and Meta-geoip0 (text or texts). The whole file is checked here, in time bounded by its size, so that
 * `lookup` cannot fail later. The buffer is kept and must not change.
 * @throws GeoDatabaseError
 */
export function openCountryDatabase(file: Buffer): CountryDatabase {
  const { metadata, find, records, prefixes } = openRecords(file, BUDGET, countryOf);
  if (![...records.values()].some((country) => country !== null))
    throw new GeoDatabaseError('no country in any record');
  const lookup: CountryLookup = (text) => {
    const address = parseIp(text);
    return address === null ? null : (records.get(find(address)) ?? null);
  };
  const prefixesOf = (country: string): string[] => prefixes((record) => record === country);
  return { lookup, prefixes: prefixesOf, metadata, nodeCount: metadata.nodeCount };
}

function countryOf(record: DataValue): string | null {
  if (record instanceof Map) {
    const country = record.get('country') ?? record.get('country_code') ?? null;
    return countryOf(country instanceof Map ? (country.get('iso_code') ?? null) : country);
  }
  if (Array.isArray(record)) {
    for (const item of record) if (typeof item === 'string' && isCode(item)) return item.toUpperCase();
    return null;
  }
  return typeof record === 'string' && isCode(record) ? record.toUpperCase() : null;
}

/** Lists of services (`telegram`, `private`) stand among the countries of some files. */
function isCode(text: string): boolean {
  return /^[A-Za-z]{2}$/.test(text);
}
