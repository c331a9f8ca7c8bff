import { openCountryDatabase } from '@gatehouse/proxy-kernel';
import type { AsnLookup, CountryLookup } from '@gatehouse/proxy-kernel';
import { Injectable, Logger, Optional } from '@nestjs/common';
import { readBundledCountryFile } from '@gatehouse/geo';
import { GeoLibrary } from '../geo/geo-library.js';

/** Looks up the countries of addresses. The file is opened on first use, since most processes never need it. */
@Injectable()
export class CountryDatabase {
  private readonly logger = new Logger('Geo');
  private bundled: CountryLookup | null = null;

  /** Without a library only the bundled database is used. */
  constructor(@Optional() private readonly library?: GeoLibrary) {}

  readonly lookup: CountryLookup = (ip) => {
    if (this.library) return this.library.country(ip);
    this.bundled ??= this.open();
    return this.bundled(ip);
  };

  readonly asn: AsnLookup = (ip) => this.library?.asn(ip) ?? null;

  private open(): CountryLookup {
    try {
      return openCountryDatabase(readBundledCountryFile()).lookup;
    } catch (error) {
      this.logger.warn('The country database cannot be read; countries come from names only', error);
      return () => null;
    }
  }
}
