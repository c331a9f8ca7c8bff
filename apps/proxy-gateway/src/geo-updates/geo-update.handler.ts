import type { GeoUpdatePayload, GeoUpdateResult } from '@gatehouse/contracts';
import { JobHandler, PermanentJobError } from '@gatehouse/jobs';
import type { HandlesJobs } from '@gatehouse/jobs';
import { UpdateGeo } from './update-geo.js';

/** Two at a time, so that a second update fails at once while the first one runs. */
@JobHandler('geo-update', { concurrency: 2 })
export class GeoUpdateHandler implements HandlesJobs<'geo-update'> {
  constructor(private readonly update: UpdateGeo) {}

  async handle({ trigger, force }: GeoUpdatePayload): Promise<GeoUpdateResult | null> {
    const result = await this.update.run(force ?? false);
    if (result === null && trigger === 'manual') {
      throw new PermanentJobError('The geo databases are already being updated', { code: 'GEO_UPDATE_RUNNING' });
    }
    return result;
  }
}
