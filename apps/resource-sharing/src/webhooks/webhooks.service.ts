import { takeRowId, UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { readWebhookUrl, WebhookSecrets } from '@gatehouse/webhooks';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ownApplication } from '../applications/applications.service.js';
import { recordEvent, type AuditEventType } from '../audit/record-event.js';
import { oneRow, rowsOf, type SqlSource } from '../data/rows-of.js';
import type { WebhookEvent } from './event-types.js';
import { WEBHOOK_COLUMNS, type Webhook } from './webhook-rows.js';

/** The developer who asks, and the application that it is about. */
export interface WebhookPlace {
  readonly ownerId: number;
  readonly clientId: string;
}

export interface NewWebhook {
  readonly name: string;
  readonly url: string;
  readonly eventTypes: readonly WebhookEvent[];
  readonly testEvents: boolean;
}

export interface WebhookChange extends Partial<Omit<NewWebhook, 'testEvents'>> {
  readonly testEvents?: boolean | undefined;
  readonly enabled?: boolean | undefined;
}

/** For one application: each webhook costs a request per event. */
const MAX_WEBHOOKS = 10;

/** Webhooks of applications. Every method sees those of the owner's application alone. */
@Injectable()
export class Webhooks {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly secrets: WebhookSecrets,
  ) {}

  /** Oldest first. @throws NOT_FOUND */
  async list({ ownerId, clientId }: WebhookPlace): Promise<Webhook[]> {
    const { id } = await ownApplication(this.dataSource, ownerId, clientId);
    const sql = `SELECT ${WEBHOOK_COLUMNS} FROM webhooks w WHERE w.application_id = $1 ORDER BY w.id`;
    return rowsOf<Webhook>(this.dataSource, sql, [id]);
  }

  /** @throws NOT_FOUND, also for a webhook of another application. */
  async one(place: WebhookPlace, id: number): Promise<Webhook> {
    return (await ownWebhook(this.dataSource, place, id)).webhook;
  }

  /** The secret is not shown again. @throws NOT_FOUND, CONFLICT above 10, INVALID_ARGUMENT */
  async create({ ownerId, clientId }: WebhookPlace, given: NewWebhook): Promise<{ webhook: Webhook; secret: string }> {
    return this.unitOfWork.run(async (tx) => {
      // Locked, so that webhooks that are made at the same time are counted one after another.
      const { id: applicationId } = await ownApplication(tx, ownerId, clientId, 'FOR NO KEY UPDATE OF a');
      const url = await readUrl(tx, ownerId, given.url);
      const counted = 'SELECT count(*)::integer AS n FROM webhooks WHERE application_id = $1';
      const { n } = await oneRow<{ n: number }>(tx, counted, [applicationId]);
      if (n >= MAX_WEBHOOKS) throw new AppError('CONFLICT', `An application may have ${MAX_WEBHOOKS} webhooks`);
      const id = await takeRowId(tx, 'resource_sharing.webhooks');
      const { secret, sealed } = this.secrets.create(id);
      const webhook = await oneRow<Webhook>(
        tx,
        `INSERT INTO webhooks AS w (id, application_id, name, url, event_types, test_events, sealed_secret)
         VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${WEBHOOK_COLUMNS}`,
        [id, applicationId, given.name, url, given.eventTypes, given.testEvents, sealed],
      );
      await note(tx, 'app.webhook.created', ownerId, applicationId, webhook);
      return { webhook, secret };
    });
  }

  /** @throws NOT_FOUND, INVALID_ARGUMENT */
  async update(place: WebhookPlace, id: number, change: WebhookChange): Promise<Webhook> {
    return this.unitOfWork.run(async (tx) => {
      const { applicationId } = await ownWebhook(tx, place, id, 'FOR NO KEY UPDATE OF w');
      const url = change.url === undefined ? null : await readUrl(tx, place.ownerId, change.url);
      const webhook = await oneRow<Webhook>(
        tx,
        `UPDATE webhooks AS w SET name = coalesce($2, name), url = coalesce($3, url),
           event_types = coalesce($4::text[], event_types), test_events = coalesce($6, test_events), updated_at = now(),
           status = CASE $5::boolean WHEN true THEN 1 WHEN false THEN 0 ELSE status END,
           failing_since = CASE WHEN $5 THEN NULL ELSE failing_since END
         WHERE id = $1 RETURNING ${WEBHOOK_COLUMNS}`,
        [id, change.name ?? null, url, change.eventTypes ?? null, change.enabled ?? null, change.testEvents ?? null],
      );
      await note(tx, 'app.webhook.updated', place.ownerId, applicationId, webhook);
      return webhook;
    });
  }

  /** With its deliveries. @throws NOT_FOUND */
  async remove(place: WebhookPlace, id: number): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const { applicationId, webhook } = await ownWebhook(tx, place, id, 'FOR UPDATE OF w');
      await tx.query('DELETE FROM webhooks WHERE id = $1', [id]);
      await note(tx, 'app.webhook.deleted', place.ownerId, applicationId, webhook);
    });
  }

  /** Also signs further attempts of earlier deliveries. @throws NOT_FOUND */
  async replaceSecret(place: WebhookPlace, id: number): Promise<string> {
    const { secret, sealed } = this.secrets.create(id);
    await this.unitOfWork.run(async (tx) => {
      const { applicationId, webhook } = await ownWebhook(tx, place, id, 'FOR NO KEY UPDATE OF w');
      await tx.query('UPDATE webhooks SET sealed_secret = $2, updated_at = now() WHERE id = $1', [id, sealed]);
      await note(tx, 'app.webhook.secret_replaced', place.ownerId, applicationId, webhook);
    });
    return secret;
  }
}

/** @throws NOT_FOUND, also for a webhook of another application or another owner. */
export async function ownWebhook(
  source: SqlSource,
  { ownerId, clientId }: WebhookPlace,
  id: number,
  lock = '',
): Promise<{ applicationId: number; webhook: Webhook }> {
  const { id: applicationId } = await ownApplication(source, ownerId, clientId);
  const sql = `SELECT ${WEBHOOK_COLUMNS} FROM webhooks w WHERE w.id = $1 AND w.application_id = $2 ${lock}`;
  const [webhook] = await rowsOf<Webhook>(source, sql, [id, applicationId]);
  if (webhook === undefined) throw new AppError('NOT_FOUND', `There is no webhook ${id}`);
  return { applicationId, webhook };
}

/** Administrators run this machine: theirs may lead into its network. @throws INVALID_ARGUMENT */
async function readUrl(tx: EntityManager, ownerId: number, text: string): Promise<string> {
  const sql = `SELECT role = 'administrator' AS "isAdministrator" FROM site_accounts WHERE id = $1`;
  const { isAdministrator } = await oneRow<{ isAdministrator: boolean }>(tx, sql, [ownerId]);
  try {
    return readWebhookUrl(text, isAdministrator);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const details = [{ field: 'url', message: error.message }];
    throw new AppError('INVALID_ARGUMENT', `url: ${error.message}`, { details });
  }
}

/** Without the address: many services put a secret into it. */
async function note(
  tx: EntityManager,
  type: AuditEventType,
  userId: number,
  applicationId: number,
  { id, name, enabled }: Webhook,
): Promise<void> {
  await recordEvent(tx, { type, userId, applicationId, details: { webhook_id: id, name, enabled } });
}
