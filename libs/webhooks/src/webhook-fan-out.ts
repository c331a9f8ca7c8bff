import { Jobs } from '@gatehouse/jobs';
import { UnitOfWork } from '@gatehouse/persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { WEBHOOK_SETUP, type WebhookSetup } from './webhook-setup.js';
import { WebhookSource, type NewDelivery } from './webhook-source.js';

/** Waiting deliveries of one webhook; further ones are given up at once. */
const MAX_WAITING = 1_000;
const RELAYED = 500;

/** Creates deliveries for events, once for each webhook, and makes sure that every waiting one has a job. */
@Injectable()
export class WebhookFanOut {
  private readonly waiting: string;
  private readonly insert: string;
  private readonly forgotten: string;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly jobs: Jobs,
    private readonly source: WebhookSource,
    @Inject(WEBHOOK_SETUP) { tables: { deliveries } }: WebhookSetup,
  ) {
    this.waiting = `
      SELECT webhook_id AS id, count(*)::int AS waiting FROM ${deliveries}
      WHERE webhook_id = ANY ($1) AND status = 'pending' GROUP BY webhook_id`;
    this.insert = `
      INSERT INTO ${deliveries} (webhook_id, event_id, type, body, status, error, next_attempt_at, finished_at)
      SELECT webhook_id, event_id, type, body, status, error,
        CASE status WHEN 'pending' THEN now() END, CASE status WHEN 'dead' THEN now() END
      FROM jsonb_to_recordset($1::jsonb) AS d (
        webhook_id bigint, event_id bigint, type text, body text, status text, error text)
      ON CONFLICT (webhook_id, event_id) DO NOTHING
      RETURNING id, status`;
    // Overdue deliveries, whose job was lost. Attempting one attempts all of its webhook.
    this.forgotten = `
      SELECT DISTINCT ON (webhook_id) id FROM ${deliveries}
      WHERE status = 'pending' AND next_attempt_at < now() - interval '10 seconds'
      ORDER BY webhook_id, next_attempt_at LIMIT ${RELAYED}`;
  }

  /** Continues until nothing is left; resolves to the number of new deliveries. */
  async run(signal?: AbortSignal): Promise<number> {
    let made = 0;
    for (let more = true; more && !signal?.aborted;) {
      const step = await this.unitOfWork.run((tx) => this.step(tx));
      await this.queue(step.waiting);
      made += step.waiting.length;
      more = step.more;
    }
    const forgotten = await this.unitOfWork.run((tx): Promise<{ id: number }[]> => tx.query(this.forgotten));
    await this.queue(forgotten.map(({ id }) => id));
    return made;
  }

  private async step(tx: EntityManager): Promise<{ more: boolean; waiting: number[] }> {
    const { deliveries, more } = await this.source.take(tx);
    if (deliveries.length === 0) return { more, waiting: [] };
    const ids = [...new Set(deliveries.map(({ webhookId }) => webhookId))];
    const counted = (await tx.query(this.waiting, [ids])) as { id: number; waiting: number }[];
    const rows = rowsFor(deliveries, new Map(counted.map(({ id, waiting }) => [id, waiting])));
    const made = (await tx.query(this.insert, [JSON.stringify(rows)])) as { id: number; status: string }[];
    return { more, waiting: made.filter(({ status }) => status === 'pending').map(({ id }) => id) };
  }

  private async queue(ids: readonly number[]): Promise<void> {
    for (const deliveryId of ids) {
      await this.jobs.add('webhook-delivery', { deliveryId }, { jobId: `delivery-${deliveryId}`, attempts: 1 });
    }
  }
}

/** `waiting`: deliveries of each webhook that wait already. */
function rowsFor(deliveries: readonly NewDelivery[], waiting: Map<number, number>): object[] {
  return deliveries.map(({ webhookId, eventId, type, body }) => {
    const before = waiting.get(webhookId) ?? 0;
    waiting.set(webhookId, before + 1);
    const hasRoom = before < MAX_WAITING;
    const state = hasRoom ? { status: 'pending', error: null } : { status: 'dead', error: 'too many others wait' };
    return { webhook_id: webhookId, event_id: eventId, type, body, ...state };
  });
}
