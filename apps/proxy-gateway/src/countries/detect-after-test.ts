import { Jobs } from '@gatehouse/jobs';
import { Injectable, Logger } from '@nestjs/common';
import { Preferences } from '../preferences/preferences.service.js';
import { CountryStore } from './country.store.js';

/** Exit addresses rarely change, and the lookup service belongs to others. */
const MAX_AGE_HOURS = 7 * 24;
const AT_MOST = 500;

/** Requests a country detection for living nodes that were never looked up, or not for a long time. */
@Injectable()
export class DetectAfterTest {
  private readonly logger = new Logger('Countries');

  constructor(
    private readonly store: CountryStore,
    private readonly jobs: Jobs,
    private readonly preferences: Preferences,
  ) {}

  /** Never rejects: the test that came before has succeeded. */
  async run(): Promise<void> {
    if (this.preferences.get('country.exit_url') === '') return;
    try {
      const nodeIds = await this.store.due(MAX_AGE_HOURS, AT_MOST);
      if (nodeIds.length > 0) await this.jobs.add('country-detection', { nodeIds }, { jobId: 'due', attempts: 1 });
    } catch (error) {
      this.logger.warn('The countries of tested nodes could not be looked up', error);
    }
  }
}
