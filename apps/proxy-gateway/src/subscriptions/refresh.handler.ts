import type { RefreshResult, SubscriptionRefreshPayload } from '@gatehouse/contracts';
import { JobHandler, PermanentJobError } from '@gatehouse/jobs';
import type { HandlesJobs } from '@gatehouse/jobs';
import { AppError } from '@gatehouse/platform';
import { RefreshSubscription } from './refresh-subscription.js';

/** Refreshes as the queue asks. Running twice does no harm: the second finds nothing to change. */
@JobHandler('subscription-refresh', { concurrency: 4 })
export class RefreshHandler implements HandlesJobs<'subscription-refresh'> {
  constructor(private readonly refresh: RefreshSubscription) {}

  async handle({ subscriptionId, force }: SubscriptionRefreshPayload): Promise<RefreshResult> {
    try {
      return await this.refresh.run(subscriptionId, force);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error;
      // Deleted since it was queued.
      throw new PermanentJobError(error.message, { code: error.code, cause: error });
    }
  }
}
