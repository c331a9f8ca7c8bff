import { openAsnDatabase, openCountryDatabase, openGeositeFile } from '@gatehouse/proxy-kernel';
import { GEO_DATABASE_NAMES } from '@gatehouse/contracts';
import type { GeoDatabaseName } from '@gatehouse/contracts';

/** The metadata inside a database file. */
export interface GeoFacts {
  format: 'mmdb' | 'dat';
  databaseType: string | null;
  buildTime: Date | null;
  entries: number;
}

interface GeoSource {
  setting: 'geo.country_url' | 'geo.asn_url' | 'geo.geosite_url' | 'geo.geoip_url';
  file: string;
  /** Opens the whole file in the same way as its users. @throws GeoDatabaseError if that fails. */
  inspect(content: Buffer): GeoFacts;
}

/** `geoip`, if its address is set, replaces `country` in the kernel's rules. */
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
