import { keepAnswer, type Actor } from '@gatehouse/auth';
import type {
  NewWebhookView,
  WebhookDeliveryPage,
  WebhookDeliveryView,
  WebhookPage,
  WebhookSecretView,
  WebhookView,
} from '@gatehouse/contracts';
import { readOutboundUrl } from '@gatehouse/net';
import { takeRowId, UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { messageBody, WebhookAttempts, WebhookSecrets } from '@gatehouse/webhooks';
import { Injectable } from '@nestjs/common';
import { isAdministrator, OwnedRows } from '../data/owned-rows.js';
import type { Condition } from '../data/owned-table.js';
import { readField } from '../wire/field-error.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import { WEBHOOKS_TABLE } from './webhook-setup.js';
import type { DeliveryQuery, NewWebhookBody, WebhookChanges, WebhookQuery } from './webhook.dto.js';
import { WebhookDelivery, type Webhook } from '../data/webhook.entity.js';
import { toDeliveryView, toWebhookView } from './webhook.view.js';

/** For one user: each webhook costs a request per event. */
const MAX_WEBHOOKS = 20;

/** If the process ends meanwhile, another one sends the message then. */
const TEST_MS = 60_000;

/** Receivers of events. */
@Injectable()
export class WebhooksService {
  constructor(
    private readonly owned: OwnedRows,
    private readonly unitOfWork: UnitOfWork,
    private readonly secrets: WebhookSecrets,
    private readonly attempts: WebhookAttempts,
  ) {}

  async list(query: WebhookQuery, actor: Actor): Promise<WebhookPage> {
    const { items, next_cursor } = await this.owned.webhooks(actor).page(query, conditionsOf(query));
    return { items: items.map(toWebhookView), next_cursor };
  }

  async get(id: number, actor: Actor): Promise<WebhookView> {
    return toWebhookView(await this.owned.webhooks(actor).one(id));
  }

  /** The answer contains the secret, which is not shown again. */
  async create(body: NewWebhookBody, actor: Actor): Promise<NewWebhookView> {
    const ownerUserId = actor.userId ?? 0;
    return this.unitOfWork.run(async (tx) => {
      await tx.query('SELECT 1 FROM tunnel_gateway.users WHERE id = $1 FOR UPDATE', [ownerUserId]);
      const webhooks = this.owned.webhooks(actor, tx);
      const own = await webhooks.some([{ sql: 'row.owner_user_id = :owner', parameters: { owner: ownerUserId } }]);
      if (own.length >= MAX_WEBHOOKS) throw new AppError('CONFLICT', `You have ${MAX_WEBHOOKS} webhooks already`);
      const id = await takeRowId(tx, `tunnel_gateway_ops.${WEBHOOKS_TABLE}`);
      const created = this.secrets.create(id);
      const values = { id, ...columnsOf(body, actor), ownerUserId, sealedSecret: created.sealed };
      return keepAnswer(tx, { ...toWebhookView(await webhooks.add(values)), secret: created.secret });
    });
  }

  async update(id: number, body: WebhookChanges, actor: Actor, expected: ExpectedVersion | null): Promise<WebhookView> {
    const webhook = await this.unitOfWork.run((tx) =>
      this.owned.webhooks(actor, tx).change(id, columnsOf(body, actor), expected),
    );
    return toWebhookView(webhook);
  }

  async remove(id: number, actor: Actor, expected: ExpectedVersion | null): Promise<void> {
    await this.unitOfWork.run((tx) => this.owned.webhooks(actor, tx).remove(id, expected));
  }

  /** The new secret also signs further attempts of earlier deliveries. */
  async rotateSecret(id: number, actor: Actor): Promise<WebhookSecretView> {
    const { secret, sealed } = this.secrets.create(id);
    return this.unitOfWork.run(async (tx) => {
      await this.owned.webhooks(actor, tx).change(id, { sealedSecret: sealed });
      return keepAnswer(tx, { secret });
    });
  }

  /** Newest first. */
  async deliveries(id: number, query: DeliveryQuery, actor: Actor): Promise<WebhookDeliveryPage> {
    await this.owned.webhooks(actor).one(id);
    const { limit, cursor, status } = query;
    const { items, next_cursor } = await this.owned
      .webhookDeliveries(actor)
      .page({ limit, sort: '-id', ...(cursor !== undefined && { cursor }) }, [
        { sql: 'row.webhook_id = :webhook', parameters: { webhook: id } },
        ...(status === undefined ? [] : [{ sql: 'row.status = :status', parameters: { status } }]),
      ]);
    return { items: items.map(toDeliveryView), next_cursor };
  }

  /** Sends a message of type `webhook.test` once, and returns the result. */
  async test(id: number, actor: Actor): Promise<WebhookDeliveryView> {
    const webhook = await this.owned.webhooks(actor).one(id);
    if (webhook.status !== 1) throw new AppError('CONFLICT', 'The webhook is disabled');
    const now = new Date();
    const body = messageBody('webhook.test', now, { webhook_id: id });
    const { identifiers } = await this.owned.options.insert(WebhookDelivery, {
      webhookId: id,
      type: 'webhook.test',
      body,
      nextAttemptAt: new Date(now.getTime() + TEST_MS),
    });
    const deliveryId = (identifiers[0] as { id: number }).id;
    await this.attempts.attemptOnce(deliveryId);
    return toDeliveryView(await this.owned.webhookDeliveries(actor).one(deliveryId));
  }
}

/** Contains only what the body sets. */
function columnsOf(body: WebhookChanges, actor: Actor): Partial<Webhook> {
  const { name, url, event_types: eventTypes, status } = body;
  return {
    ...(name !== undefined && { name }),
    ...(url !== undefined && { url: readField('url', () => readOutboundUrl(url, isAdministrator(actor))) }),
    ...(eventTypes !== undefined && { eventTypes }),
    ...(status !== undefined && { status, ...(status === 1 && { failingSince: null }) }),
  };
}

function conditionsOf({ status, owner_user_id: owner }: WebhookQuery): Condition[] {
  return [
    ...(status === undefined ? [] : [{ sql: 'row.status = :status', parameters: { status } }]),
    ...(owner === undefined ? [] : [{ sql: 'row.owner_user_id = :owner', parameters: { owner } }]),
  ];
}
