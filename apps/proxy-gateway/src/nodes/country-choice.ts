import { Jobs } from '@gatehouse/jobs';
import { AppError } from '@gatehouse/platform';
import { Injectable, Logger } from '@nestjs/common';
import { CountryDatabase } from './country-database.js';
import { detectCountry } from './guess-country.js';
import type { NodeEntity } from '../data/node.entity.js';
import { readCountryCode } from './node-labels.js';

/** What people say of a node's country. */
@Injectable()
export class CountryChoice {
  private readonly logger = new Logger('Countries');

  constructor(
    private readonly countries: CountryDatabase,
    private readonly jobs: Jobs,
  ) {}

  /** Null goes back to what is known without them. @throws AppError INVALID_ARGUMENT for a code of no country. */
  make(row: NodeEntity, country: string | null): void {
    if (country === null) {
      const detected = detectCountry(row, this.countries.lookup);
      Object.assign(row, { country: detected.country, countrySource: detected.source });
      return;
    }
    if (readCountryCode(country) === null) {
      const details = [{ field: 'country', message: 'is no country' }];
      throw new AppError('INVALID_ARGUMENT', `country: ${country} is no country`, { details });
    }
    Object.assign(row, { country, countrySource: 'manual' });
  }

  /** Has everything asked that takes time: the exit address, and that of a server with a name. Never fails. */
  async detectSoon(id: number): Promise<void> {
    try {
      await this.jobs.add('country-detection', { nodeIds: [id] }, { jobId: `node-${id}`, attempts: 1 });
    } catch (error) {
      this.logger.warn(`The country of node ${id} could not be asked for; rebuilding the countries does it`, error);
    }
  }
}
