import { Jobs } from '@gatehouse/jobs';
import { JsonLogger, MetricsRegistry } from '@gatehouse/platform';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { WebhookSlots } from './webhook-slots.js';
import { WebhookSender, type SendOutcome } from './webhook-sender.js';
import { WEBHOOK_SETUP, type WebhookSetup, type WebhookTables } from './webhook-setup.js';

/** Waits before the second attempt, the third and so on; after the last one a delivery is given up. */
const WAITS_S = [5, 30, 120, 600, 1_800, 7_200, 21_600];
export const MAX_ATTEMPTS = WAITS_S.length + 1;

interface Claimed {
  id: number;
  webhookId: number;
  attempts: number;
  url: string;
  sealedSecret: string;
  body: string;
  /** The webhook and its owner are enabled. */
  enabled: boolean;
  /** The owner is an administrator. */
  allowPrivate: boolean;
}

type Statements = ReturnType<typeof statementsFor>;

function statementsFor({ webhooks, deliveries, attempts, owner, ownerId, enabled, allowPrivate }: WebhookTables) {
  const due = `d.status = 'pending' AND d.next_attempt_at <= now() + interval '1 second'`;
  // Claims a delivery for the longest duration of an attempt.
  const claimWhere = (which: string): string => `
    UPDATE ${deliveries} d
    SET attempts = d.attempts + 1, next_attempt_at = now() + interval '1 minute'
    FROM ${webhooks} w ${owner}
    WHERE ${which} AND w.id = d.webhook_id AND d.status = 'pending'
    RETURNING d.id, d.webhook_id AS "webhookId", d.attempts, d.body, w.url, w.sealed_secret AS "sealedSecret",
      ${enabled} AS enabled, ${allowPrivate} AS "allowPrivate"`;
  return {
    claim: claimWhere('d.id = $1'),
    claimNext: claimWhere(`d.id = (
      SELECT d.id FROM ${deliveries} d
      WHERE d.webhook_id = $1 AND ${due} ORDER BY d.next_attempt_at, d.id LIMIT 1 FOR UPDATE SKIP LOCKED)
      AND ${due}`),
    finish: `
      UPDATE ${deliveries}
      SET status = $2, response_status = $3, error = $4, next_attempt_at = NULL, finished_at = now() WHERE id = $1`,
    retry: `
      UPDATE ${deliveries}
      SET response_status = $2, error = $3, next_attempt_at = now() + make_interval(secs => $4) WHERE id = $1`,
    webhookOf: `
      SELECT w.id AS "webhookId", ${ownerId} AS "ownerId"
      FROM ${deliveries} d JOIN ${webhooks} w ON w.id = d.webhook_id ${owner} WHERE d.id = $1`,
    failing: `
      UPDATE ${webhooks} SET failing_since = CASE WHEN $2 THEN NULL ELSE coalesce(failing_since, now()) END,
        status = CASE WHEN $3 THEN 0 ELSE status END WHERE id = $1`,
    note:
      attempts === undefined
        ? undefined
        : `INSERT INTO ${attempts} (delivery_id, duration_ms, response_status, response_excerpt, error)
           SELECT id, $2::integer, $3::integer, $4, $5 FROM ${deliveries} WHERE id = $1`,
  };
}

/** Attempts deliveries. The table guarantees that each one arrives at least once, not the jobs. */
@Injectable()
export class WebhookAttempts {
  private readonly slots = new WebhookSlots();
  private readonly results;
  private readonly sql: Statements;

  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: Jobs,
    private readonly sender: WebhookSender,
    private readonly logger: JsonLogger,
    metrics: MetricsRegistry,
    @Inject(WEBHOOK_SETUP) { tables, metric }: WebhookSetup,
  ) {
    this.sql = statementsFor(tables);
    const help = 'Attempts to deliver events to webhooks, by result';
    this.results = metrics.counter(metric, help, ['result']);
  }

  /** Attempts everything that is due for the delivery's webhook, including this delivery. */
  async attempt(deliveryId: number): Promise<void> {
    const webhook = await this.webhookOf(deliveryId);
    if (webhook === null) return;
    const done = await this.slots.run(webhook, (webhookId, until) => this.drain(webhookId, until));
    if (!done) await this.later(deliveryId, 0, `turn-${Date.now()}`);
  }

  /** Attempts once, without retries: only for a delivery that is not due yet, and therefore not claimed. */
  async attemptOnce(deliveryId: number): Promise<void> {
    const claimed = await this.claim(this.sql.claim, deliveryId);
    if (claimed) await this.finish(claimed, await this.outcome(claimed));
  }

  /** False: its turn is over, and something may be left. */
  private async drain(webhookId: number, until: number): Promise<boolean> {
    for (let claimed = await this.claim(this.sql.claimNext, webhookId); claimed;) {
      await this.settle(claimed, await this.outcome(claimed));
      if (performance.now() > until) return false;
      claimed = await this.claim(this.sql.claimNext, webhookId);
    }
    return true;
  }

  private async webhookOf(deliveryId: number): Promise<{ webhookId: number; ownerId: number } | null> {
    const [row] = (await this.dataSource.query(this.sql.webhookOf, [deliveryId])) as {
      webhookId: number;
      ownerId: number;
    }[];
    return row ?? null;
  }

  private async claim(sql: string, id: number): Promise<Claimed | undefined> {
    const [rows] = (await this.dataSource.query(sql, [id])) as [Claimed[], number];
    return rows[0];
  }

  private async outcome(claimed: Claimed): Promise<SendOutcome> {
    const outcome = await this.send(claimed);
    const { durationMs, status, excerpt, error } = outcome;
    if (this.sql.note !== undefined) {
      await this.dataSource.query(this.sql.note, [claimed.id, durationMs, status, excerpt, error]);
    }
    return outcome;
  }

  private async send({ id, enabled, ...message }: Claimed): Promise<SendOutcome> {
    if (!enabled) return { ...notSent('the webhook is disabled'), gone: true };
    // Every attempt ended with its process, so this delivery may be the cause.
    if (message.attempts > MAX_ATTEMPTS) return notSent('no attempt came to an end');
    try {
      return await this.sender.send({ deliveryId: id, ...message });
    } catch (error) {
      // For example a secret that was sealed with another key. It counts as an attempt, or it would be retried for
      // ever.
      this.logger.error('a webhook message could not be sent', { delivery: id, error: String(error) }, 'Webhooks');
      return notSent('internal: see the log of the service');
    }
  }

  private async settle(claimed: Claimed, outcome: SendOutcome): Promise<void> {
    const waitS = WAITS_S[claimed.attempts - 1];
    if (outcome.delivered || outcome.gone || waitS === undefined) return this.finish(claimed, outcome);
    this.results.inc({ result: 'retried' });
    await this.dataSource.query(this.sql.retry, [claimed.id, outcome.status, outcome.error, waitS]);
    await this.later(claimed.id, waitS * 1_000, `${claimed.attempts}`);
  }

  private async finish({ id, webhookId, enabled }: Claimed, outcome: SendOutcome): Promise<void> {
    const { delivered, gone, status, error } = outcome;
    this.results.inc({ result: delivered ? 'delivered' : 'given_up' });
    await this.dataSource.query(this.sql.finish, [id, delivered ? 'delivered' : 'dead', status, error]);
    // The person who disabled it knows.
    if (!enabled) return;
    await this.dataSource.query(this.sql.failing, [webhookId, delivered, gone]);
  }

  private async later(deliveryId: number, delay: number, why: string): Promise<void> {
    const jobId = `delivery-${deliveryId}-${why}`;
    await this.jobs.add('webhook-delivery', { deliveryId }, { jobId, delay, attempts: 1 });
  }
}

function notSent(error: string): SendOutcome {
  return { delivered: false, gone: false, status: null, error, excerpt: null, durationMs: 0 };
}
