import type { RetentionPayload } from '@gatehouse/contracts';
import { JobHandler, type HandlesJobs, type JobContext } from '@gatehouse/jobs';
import { Retention, type RetentionReport } from './retention.js';

@JobHandler('retention')
export class RetentionHandler implements HandlesJobs<'retention'> {
  constructor(private readonly retention: Retention) {}

  handle(_payload: RetentionPayload, { signal }: JobContext): Promise<RetentionReport> {
    return this.retention.sweep(signal);
  }
}
