import { openCountryDatabase } from '@gatehouse/proxy-kernel';
import type { CountryLookup } from '@gatehouse/proxy-kernel';
import { Injectable, Logger } from '@nestjs/common';
import { readBundledCountryFile } from '../bundled-country-file.js';

/** Countries of addresses. The file is opened at the first question: most processes never ask. */
@Injectable()
export class CountryDatabase {
  private readonly logger = new Logger('Geo');
  private opened: CountryLookup | null = null;

  readonly lookup: CountryLookup = (ip) => {
    this.opened ??= this.open();
    return this.opened(ip);
  };

  private open(): CountryLookup {
    try {
      return openCountryDatabase(readBundledCountryFile()).lookup;
    } catch (error) {
      this.logger.warn('The country database cannot be read; countries come from names only', error);
      return () => null;
    }
  }
}
