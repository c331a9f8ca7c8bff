import { readFileSync } from 'node:fs';
import { readBundledCountryFile } from '@gatehouse/geo';
import { LAN_PREFIXES, openAsnDatabase, openCountryDatabase } from '@gatehouse/proxy-kernel';
import type { AsnDatabase, CountryDatabase, KernelLogger } from '@gatehouse/proxy-kernel';
import { formatCidr } from '@gatehouse/net';

/** Paths of databases; null: the bundled one for countries, none for autonomous systems. */
export interface GeoFilePaths {
  country: string | null;
  asn: string | null;
}

type Countries = Pick<CountryDatabase, 'lookup' | 'prefixes'>;
type Systems = Pick<AsnDatabase, 'lookup' | 'prefixes'>;

const NO_SYSTEMS: Systems = { lookup: () => null, prefixes: () => [] };

/** The databases that the kernel's rules use. They can be replaced while flows are being routed. */
export class KernelGeo {
  readonly #logger: KernelLogger;
  readonly #listeners = new Set<() => void>();
  #countries: Countries;
  #systems = NO_SYSTEMS;

  constructor(logger: KernelLogger) {
    this.#logger = logger;
    this.#countries = this.#bundled();
  }

  readonly country = (ip: string): string | null => this.#countries.lookup(ip);
  readonly asn = (ip: string): number | null => this.#systems.lookup(ip);

  /** For a kernel that takes prefixes instead of databases. */
  readonly prefixes = {
    country: (code: string): string[] =>
      code === 'LAN' ? LAN_PREFIXES.map(formatCidr) : this.#countries.prefixes(code),
    asn: (number: number): string[] => this.#systems.prefixes(number),
  };

  /** Calls back after databases were replaced. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Replaces both or none. @throws GeoDatabaseError, or the error of the file system; the open ones stay in use. */
  reload(paths: GeoFilePaths): void {
    const countries = paths.country === null ? null : openCountryDatabase(readFileSync(paths.country));
    const systems = paths.asn === null ? null : openAsnDatabase(readFileSync(paths.asn));
    if (countries !== null) this.#countries = countries;
    if (systems !== null) this.#systems = systems;
    this.#logger.info('Geo databases loaded', { country: countries !== null, asn: systems !== null });
    for (const listener of this.#listeners) listener();
  }

  /** Without this file GEOIP rules match nothing; everything else works. */
  #bundled(): Countries {
    try {
      return openCountryDatabase(readBundledCountryFile());
    } catch (error) {
      this.#logger.warn('The country database cannot be read; GEOIP rules match nothing', { error: String(error) });
      return { lookup: () => null, prefixes: () => [] };
    }
  }
}
