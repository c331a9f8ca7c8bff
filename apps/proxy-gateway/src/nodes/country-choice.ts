import { Jobs } from '@gatehouse/jobs';
import { AppError } from '@gatehouse/platform';
import { Injectable, Logger } from '@nestjs/common';
import { CountryDatabase } from './country-database.js';
import { detectCountry } from './guess-country.js';
import type { NodeEntity } from '../data/node.entity.js';
import { readCountryCode } from './node-labels.js';

/** Applies a user's choice of a node's country. */
@Injectable()
export class CountryChoice {
  private readonly logger = new Logger('Countries');

  constructor(
    private readonly countries: CountryDatabase,
    private readonly jobs: Jobs,
  ) {}

  /** Null goes back to the detected country. @throws AppError INVALID_ARGUMENT for an unknown code. */
  make(row: NodeEntity, country: string | null): void {
    if (country === null) {
      const detected = detectCountry(row, this.countries.lookup);
      Object.assign(row, { country: detected.country, countrySource: detected.source });
      return;
    }
    if (readCountryCode(country) === null) {
      const details = [{ field: 'country', message: 'is not a country code' }];
      throw new AppError('INVALID_ARGUMENT', `country: ${country} is not a country code`, { details });
    }
    Object.assign(row, { country, countrySource: 'manual' });
  }

  /** Requests a detection, which asks the exit and resolves the server's name. Never rejects. */
  async detectSoon(id: number): Promise<void> {
    try {
      await this.jobs.add('country-detection', { nodeIds: [id] }, { jobId: `node-${id}`, attempts: 1 });
    } catch (error) {
      this.logger.warn(`The country of node ${id} could not be detected; rebuild the countries to detect it`, error);
    }
  }
}
