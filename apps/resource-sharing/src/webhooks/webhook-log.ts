import { AppError } from '@gatehouse/platform';
import { messageBody, WebhookAttempts, WebhookReplays } from '@gatehouse/webhooks';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { oneRow, rowsOf } from '../data/rows-of.js';
import { TEST_EVENT } from './event-types.js';
import {
  DELIVERY_COLUMNS,
  type Attempt,
  type Delivery,
  type DeliveryDetails,
  type DeliveryState,
} from './webhook-rows.js';
import { ownWebhook, type WebhookPlace } from './webhooks.service.js';

export interface DeliverySelection {
  readonly status?: DeliveryState | undefined;
  /** Id of the last delivery that was read. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Of one delivery; each replay may add eight. */
const SHOWN_ATTEMPTS = 50;

/** If the process ends meanwhile, another one sends the message then. */
const TEST_SECONDS = 60;

/** The deliveries of a webhook: what was sent, what came back, and sending it again. */
@Injectable()
export class WebhookLog {
  constructor(
    private readonly dataSource: DataSource,
    private readonly attempts: WebhookAttempts,
    private readonly replays: WebhookReplays,
  ) {}

  /** Newest first. @throws NOT_FOUND */
  async list(place: WebhookPlace, id: number, { status, before, limit }: DeliverySelection): Promise<Delivery[]> {
    await ownWebhook(this.dataSource, place, id);
    return rowsOf<Delivery>(
      this.dataSource,
      `SELECT ${DELIVERY_COLUMNS} FROM webhook_deliveries d
       WHERE d.webhook_id = $1 AND ($2::text IS NULL OR d.status = $2) AND ($3::bigint IS NULL OR d.id < $3)
       ORDER BY d.id DESC LIMIT $4`,
      [id, status ?? null, before ?? null, limit],
    );
  }

  /** @throws NOT_FOUND, also for a delivery of another webhook. */
  async one(place: WebhookPlace, id: number, deliveryId: number): Promise<DeliveryDetails> {
    await ownWebhook(this.dataSource, place, id);
    const [delivery] = await rowsOf<Omit<DeliveryDetails, 'made'>>(
      this.dataSource,
      `SELECT ${DELIVERY_COLUMNS}, d.body FROM webhook_deliveries d WHERE d.id = $1 AND d.webhook_id = $2`,
      [deliveryId, id],
    );
    if (delivery === undefined) throw new AppError('NOT_FOUND', `There is no delivery ${deliveryId}`);
    const made = await rowsOf<Attempt>(
      this.dataSource,
      `SELECT attempted_at AS at, duration_ms AS "durationMs", response_status AS "responseStatus",
         response_excerpt AS "responseExcerpt", error
       FROM webhook_attempts WHERE delivery_id = $1 ORDER BY id DESC LIMIT ${SHOWN_ATTEMPTS}`,
      [deliveryId],
    );
    return { ...delivery, made };
  }

  /** Sends a message of its own once, and returns the result. @throws NOT_FOUND, CONFLICT if the webhook is disabled */
  async test(place: WebhookPlace, id: number): Promise<DeliveryDetails> {
    await this.requireEnabled(place, id);
    const body = messageBody(TEST_EVENT, new Date(), { client_id: place.clientId, webhook_id: id });
    const { id: deliveryId } = await oneRow<{ id: number }>(
      this.dataSource,
      `INSERT INTO webhook_deliveries (webhook_id, type, body, next_attempt_at)
       VALUES ($1, $2, $3, now() + make_interval(secs => $4)) RETURNING id`,
      [id, TEST_EVENT, body, TEST_SECONDS],
    );
    await this.attempts.attemptOnce(deliveryId);
    return this.one(place, id, deliveryId);
  }

  /** Sends a message again, with the same id and all attempts. @throws NOT_FOUND, CONFLICT while it waits to be sent */
  async replay(place: WebhookPlace, id: number, deliveryId: number): Promise<DeliveryDetails> {
    await this.requireEnabled(place, id);
    await this.one(place, id, deliveryId);
    if (!(await this.replays.one(id, deliveryId))) {
      throw new AppError('CONFLICT', 'This delivery is waiting to be sent already');
    }
    return this.one(place, id, deliveryId);
  }

  /** Sends all again that were given up, 500 at most; resolves to their number. @throws NOT_FOUND, CONFLICT */
  async replayGivenUp(place: WebhookPlace, id: number): Promise<number> {
    await this.requireEnabled(place, id);
    return this.replays.givenUp(id);
  }

  private async requireEnabled(place: WebhookPlace, id: number): Promise<void> {
    const { webhook } = await ownWebhook(this.dataSource, place, id);
    if (!webhook.enabled) throw new AppError('CONFLICT', 'The webhook is disabled');
  }
}
