import type { RefreshResult, SubscriptionRefreshPayload } from '@gatehouse/contracts';
import { JobHandler, PermanentJobError } from '@gatehouse/jobs';
import type { HandlesJobs } from '@gatehouse/jobs';
import { AppError, MetricsRegistry } from '@gatehouse/platform';
import { RefreshSubscription } from './refresh-subscription.js';

/** Refreshes a subscription for a job. A repeated job finds nothing to change. */
@JobHandler('subscription-refresh', { concurrency: 4 })
export class RefreshHandler implements HandlesJobs<'subscription-refresh'> {
  private readonly results;

  constructor(
    private readonly refresh: RefreshSubscription,
    metrics: MetricsRegistry,
  ) {
    const help = 'Refreshes of subscriptions, by result';
    this.results = metrics.counter('gatehouse_subscription_refreshes_total', help, ['result']);
  }

  async handle({ subscriptionId, force }: SubscriptionRefreshPayload): Promise<RefreshResult> {
    try {
      const result = await this.refresh.run(subscriptionId, force);
      this.results.inc({ result: result.status });
      return result;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error;
      // The subscription was deleted after the job was queued.
      throw new PermanentJobError(error.message, { code: error.code, cause: error });
    }
  }
}
