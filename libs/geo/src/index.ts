export { openAsnDatabase, openAsnLookup, type AsnDatabase, type AsnLookup, type AutonomousSystem } from './asn.js';
export { readBundledCountryFile } from './bundled-country-file.js';
export { openCountryDatabase, type CountryDatabase, type CountryLookup } from './country.js';
export { GeoDatabaseError } from './geo-database-error.js';
export type { GeoDatabaseMetadata } from './metadata.js';
