import { Jobs } from '@gatehouse/jobs';
import { Injectable, Logger } from '@nestjs/common';
import { Preferences } from '../preferences/preferences.service.js';
import { CountryStore } from './country.store.js';

/** Exit addresses change seldom, and whoever tells them is not ours to bother. */
const MAX_AGE_HOURS = 7 * 24;
const AT_MOST = 500;

/** Has the countries of living nodes looked up that nobody has looked up yet, or for long. */
@Injectable()
export class DetectAfterTest {
  private readonly logger = new Logger('Countries');

  constructor(
    private readonly store: CountryStore,
    private readonly jobs: Jobs,
    private readonly preferences: Preferences,
  ) {}

  /** Never fails: the test that came before is done. */
  async run(): Promise<void> {
    if (this.preferences.get('country.exit_url') === '') return;
    try {
      const nodeIds = await this.store.due(MAX_AGE_HOURS, AT_MOST);
      if (nodeIds.length > 0) await this.jobs.add('country-detection', { nodeIds }, { jobId: 'due', attempts: 1 });
    } catch (error) {
      this.logger.warn('Countries of tested nodes could not be asked for', error);
    }
  }
}
