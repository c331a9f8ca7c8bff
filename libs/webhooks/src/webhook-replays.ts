import { Jobs } from '@gatehouse/jobs';
import { UnitOfWork } from '@gatehouse/persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { WEBHOOK_SETUP, type WebhookSetup } from './webhook-setup.js';

/** At once; the others stay as they are. */
const MAX_REPLAYED = 500;

/** Sends messages again that were delivered or given up: the same bytes with the same id. */
@Injectable()
export class WebhookReplays {
  private readonly again: string;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly jobs: Jobs,
    @Inject(WEBHOOK_SETUP) { tables: { deliveries } }: WebhookSetup,
  ) {
    const start = `UPDATE ${deliveries} SET status = 'pending', attempts = 0, next_attempt_at = now(), finished_at = NULL,
      response_status = NULL, error = NULL`;
    this.again = `${start} WHERE id IN (
        SELECT id FROM ${deliveries} WHERE webhook_id = $1 AND status <> 'pending' AND
          CASE WHEN $2::bigint IS NULL THEN status = 'dead' ELSE id = $2 END
        ORDER BY id LIMIT ${MAX_REPLAYED} FOR UPDATE)
      RETURNING id`;
  }

  /** One delivery of a webhook; false if it waits already, or there is none. */
  async one(webhookId: number, deliveryId: number): Promise<boolean> {
    return (await this.replay(webhookId, deliveryId)) > 0;
  }

  /** What was given up, the oldest first; resolves to the number. */
  givenUp(webhookId: number): Promise<number> {
    return this.replay(webhookId, null);
  }

  private async replay(webhookId: number, deliveryId: number | null): Promise<number> {
    const ids = await this.unitOfWork.run(async (tx: EntityManager) => {
      const [rows] = (await tx.query(this.again, [webhookId, deliveryId])) as [{ id: number }[], number];
      return rows.map(({ id }) => id);
    });
    // One job attempts all of the webhook; the schedule finds what is left if this process ends here.
    const [first] = ids;
    if (first !== undefined) {
      const jobId = `delivery-${first}-replay-${Date.now()}`;
      await this.jobs.add('webhook-delivery', { deliveryId: first }, { jobId, attempts: 1 });
    }
    return ids.length;
  }
}
