import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** IP ranges to countries, CC0: services use it until an operator configures a newer file. */
const PACKAGE_FILE = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb';

/** About 8 MB; each process that needs it holds its own. */
export function readBundledCountryFile(): Buffer {
  return readFileSync(createRequire(import.meta.url).resolve(PACKAGE_FILE));
}
