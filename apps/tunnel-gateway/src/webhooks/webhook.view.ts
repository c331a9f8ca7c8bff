import type { WebhookDeliveryView, WebhookView } from '@gatehouse/contracts';
import { flag, instant } from '../wire/view-parts.js';
import { readerText } from '../reader-text.js';
import type { Webhook, WebhookDelivery } from '../data/webhook.entity.js';

export function toWebhookView(webhook: Webhook): WebhookView {
  return {
    id: webhook.id,
    owner_user_id: webhook.ownerUserId,
    name: webhook.name,
    url: webhook.url,
    event_types: webhook.eventTypes,
    status: flag(webhook.status),
    failing_since: instant(webhook.failingSince),
    created_at: webhook.createdAt.toISOString(),
    updated_at: webhook.updatedAt.toISOString(),
  };
}

export function toDeliveryView(delivery: WebhookDelivery): WebhookDeliveryView {
  return {
    id: delivery.id,
    webhook_id: delivery.webhookId,
    event_id: delivery.eventId,
    type: delivery.type,
    status: delivery.status,
    attempts: delivery.attempts,
    next_attempt_at: instant(delivery.nextAttemptAt),
    response_status: delivery.responseStatus,
    error: delivery.error === null ? null : readerText(delivery.error),
    created_at: delivery.createdAt.toISOString(),
    finished_at: instant(delivery.finishedAt),
  };
}
