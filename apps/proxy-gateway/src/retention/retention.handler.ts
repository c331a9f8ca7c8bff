import type { RetentionPayload } from '@gatehouse/contracts';
import { JobHandler } from '@gatehouse/jobs';
import type { HandlesJobs } from '@gatehouse/jobs';
import { TrafficRetention } from '../traffic/traffic-retention.js';
import type { RetentionReport } from '../traffic/traffic-retention.js';

/** Forgets what is old enough, as the settings say at that moment. Sweeping twice does no harm. */
@JobHandler('retention')
export class RetentionHandler implements HandlesJobs<'retention'> {
  constructor(private readonly traffic: TrafficRetention) {}

  handle(_payload: RetentionPayload): Promise<RetentionReport> {
    return this.traffic.sweep(Date.now());
  }
}
