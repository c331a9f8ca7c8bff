import { parseIp } from '@gatehouse/net';
import type { CountryLookup } from '../interfaces/route.js';
import { DataSection, type DataValue } from './data-section.js';
import { GeoDatabaseError } from './geo-database-error.js';
import { type GeoDatabaseMetadata, readMetadata } from './metadata.js';
import { SearchTree } from './search-tree.js';

export { GeoDatabaseError } from './geo-database-error.js';
export type { GeoDatabaseMetadata } from './metadata.js';

export interface CountryDatabase {
  lookup: CountryLookup;
  readonly metadata: GeoDatabaseMetadata;
  readonly nodeCount: number;
}

/** Larger than any country database; a download that is longer is something else. */
const MAX_FILE = 256 * 1024 * 1024;
/** Values of all records together. A country database has a few hundred records; this takes a fraction of a second to use up. */
const BUDGET = 1_000_000;

/**
 * Opens a country database in MaxMind DB format: GeoLite2 (`{country: {iso_code}}`), ip-location-db (`{country_code}`),
 * sing-geoip (text) and Meta-geoip0 (text or texts). The whole file is checked here, in time bounded by its size, so that
 * `lookup` cannot fail later. The buffer is kept and must not change.
 * @throws GeoDatabaseError
 */
export function openCountryDatabase(file: Buffer): CountryDatabase {
  if (file.length > MAX_FILE) throw new GeoDatabaseError('larger than any country database');
  const { metadata, dataEnd } = readMetadata(file);
  const tree = new SearchTree(file, metadata, dataEnd);
  const countries = readCountries(tree, file.subarray(tree.length, dataEnd));
  const lookup: CountryLookup = (text) => {
    const address = parseIp(text);
    return address === null ? null : (countries.get(tree.find(address)) ?? null);
  };
  return { lookup, metadata, nodeCount: metadata.nodeCount };
}

/** The country of each record of the file, decoded once. */
function readCountries(tree: SearchTree, data: Buffer): Map<number, string | null> {
  const section = new DataSection(data, BUDGET);
  const countries = new Map<number, string | null>();
  for (const offset of tree.dataOffsets(data.length)) {
    if (!countries.has(offset)) countries.set(offset, countryOf(section.read(offset)));
  }
  if (![...countries.values()].some((country) => country !== null))
    throw new GeoDatabaseError('no country in any record');
  return countries;
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
