import { openAsnDatabase, openCountryDatabase, openGeositeFile } from '@gatehouse/proxy-kernel';
import { GEO_DATABASE_NAMES } from '@gatehouse/contracts';
import type { GeoDatabaseName } from '@gatehouse/contracts';

/** What a file says of itself once it has been opened. */
export interface GeoFacts {
  format: 'mmdb' | 'dat';
  databaseType: string | null;
  buildTime: Date | null;
  entries: number;
}

interface GeoSource {
  setting: 'geo.country_url' | 'geo.asn_url' | 'geo.geosite_url' | 'geo.geoip_url';
  file: string;
  /** Opens it whole, as those do that use it. @throws GeoDatabaseError for anything else. */
  inspect(content: Buffer): GeoFacts;
}

/** `geoip`, where somebody has set its address, stands in for `country` in the rules of the kernel. */
export const GEO_SOURCES: Readonly<Record<GeoDatabaseName, GeoSource>> = {
  country: {
    setting: 'geo.country_url',
    file: 'country.mmdb',
    inspect: (content) => tree(openCountryDatabase(content)),
  },
  asn: { setting: 'geo.asn_url', file: 'asn.mmdb', inspect: (content) => tree(openAsnDatabase(content)) },
  geosite: {
    setting: 'geo.geosite_url',
    file: 'geosite.dat',
    inspect: (content) => ({
      format: 'dat',
      databaseType: 'GeoSiteList',
      buildTime: null,
      entries: openGeositeFile(content).codes.length,
    }),
  },
  geoip: { setting: 'geo.geoip_url', file: 'geoip.mmdb', inspect: (content) => tree(openCountryDatabase(content)) },
};

export { GEO_DATABASE_NAMES };

function tree(database: ReturnType<typeof openCountryDatabase> | ReturnType<typeof openAsnDatabase>): GeoFacts {
  const { databaseType, builtAt } = database.metadata;
  return {
    format: 'mmdb',
    databaseType: databaseType.replaceAll('\0', '').slice(0, 200).toWellFormed(),
    buildTime: builtAt === null || !Number.isFinite(new Date(builtAt).getTime()) ? null : new Date(builtAt),
    entries: database.nodeCount,
  };
}
