import type { WebhookDeliveryPayload, WebhookFanOutPayload } from '@gatehouse/contracts';
import { JobHandler, type HandlesJobs, type JobContext } from '@gatehouse/jobs';
import { WebhookAttempts } from './webhook-attempts.js';
import { WebhookFanOut } from './webhook-fan-out.js';

/** The database has what is due: a job that runs twice has nothing to do the second time. */
@JobHandler('webhook-fan-out')
export class WebhookFanOutHandler implements HandlesJobs<'webhook-fan-out'> {
  constructor(private readonly fanOut: WebhookFanOut) {}

  async handle(_payload: WebhookFanOutPayload, { signal }: JobContext): Promise<{ deliveries: number }> {
    return { deliveries: await this.fanOut.run(signal) };
  }
}

@JobHandler('webhook-delivery', { concurrency: 16 })
export class WebhookDeliveryHandler implements HandlesJobs<'webhook-delivery'> {
  constructor(private readonly attempts: WebhookAttempts) {}

  async handle({ deliveryId }: WebhookDeliveryPayload): Promise<void> {
    await this.attempts.attempt(deliveryId);
  }
}
