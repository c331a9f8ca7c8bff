import type { RefreshResult, SubscriptionRefreshPayload } from '@gatehouse/contracts';
import { JobHandler, PermanentJobError } from '@gatehouse/jobs';
import type { HandlesJobs } from '@gatehouse/jobs';
import { AppError } from '@gatehouse/platform';
import { RefreshSubscription } from './refresh-subscription.js';

/** Refreshes a subscription for a job. A repeated job finds nothing to change. */
@JobHandler('subscription-refresh', { concurrency: 4 })
export class RefreshHandler implements HandlesJobs<'subscription-refresh'> {
  constructor(private readonly refresh: RefreshSubscription) {}

  async handle({ subscriptionId, force }: SubscriptionRefreshPayload): Promise<RefreshResult> {
    try {
      return await this.refresh.run(subscriptionId, force);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error;
      // The subscription was deleted after the job was queued.
      throw new PermanentJobError(error.message, { code: error.code, cause: error });
    }
  }
}
