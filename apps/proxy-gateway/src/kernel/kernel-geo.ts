import { readFileSync } from 'node:fs';
import { openAsnDatabase, openCountryDatabase } from '@gatehouse/proxy-kernel';
import type { AsnLookup, CountryLookup, KernelLogger } from '@gatehouse/proxy-kernel';
import { readBundledCountryFile } from '@gatehouse/geo';

/** Paths of databases; null: the bundled one for countries, none for autonomous systems. */
export interface GeoFilePaths {
  country: string | null;
  asn: string | null;
}

/** The databases that the kernel's rules use. They can be replaced while flows are being routed. */
export class KernelGeo {
  readonly #logger: KernelLogger;
  #country: CountryLookup;
  #asn: AsnLookup = () => null;

  constructor(logger: KernelLogger) {
    this.#logger = logger;
    this.#country = this.#bundled();
  }

  readonly country: CountryLookup = (ip) => this.#country(ip);
  readonly asn: AsnLookup = (ip) => this.#asn(ip);

  /** Replaces both or none. @throws GeoDatabaseError, or the error of the file system; the open ones stay in use. */
  reload(paths: GeoFilePaths): void {
    const country = paths.country === null ? null : openCountryDatabase(readFileSync(paths.country)).lookup;
    const asn = paths.asn === null ? null : openAsnDatabase(readFileSync(paths.asn)).lookup;
    if (country !== null) this.#country = country;
    if (asn !== null) this.#asn = asn;
    this.#logger.info('Geo databases loaded', { country: country !== null, asn: asn !== null });
  }

  /** Without this file GEOIP rules match nothing; everything else works. */
  #bundled(): CountryLookup {
    try {
      return openCountryDatabase(readBundledCountryFile()).lookup;
    } catch (error) {
      this.#logger.warn('The country database cannot be read; GEOIP rules match nothing', { error: String(error) });
      return () => null;
    }
  }
}
