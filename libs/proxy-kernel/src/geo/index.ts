export { openGeositeFile, type GeositeFile } from './geosite.js';
export {
  GeoDatabaseError,
  openAsnDatabase,
  openCountryDatabase,
  type AsnDatabase,
  type AutonomousSystem,
  type CountryDatabase,
  type GeoDatabaseMetadata,
} from '@gatehouse/geo';
