import { ApiProperty } from '@nestjs/swagger';
import { WEBHOOK_EVENTS, type WebhookEvent } from './event-types.js';
import {
  DELIVERY_STATES,
  type Attempt,
  type Delivery,
  type DeliveryDetails,
  type DeliveryState,
  type Webhook,
} from './webhook-rows.js';

export class WebhookView {
  @ApiProperty({ type: 'integer' })
  id: number;
  @ApiProperty({ type: String })
  name: string;
  @ApiProperty({ type: String })
  url: string;
  @ApiProperty({ enum: WEBHOOK_EVENTS, isArray: true, description: 'Empty: all' })
  event_types: readonly WebhookEvent[];
  @ApiProperty({ type: Boolean, description: 'Also what calls with test keys do' })
  test_events: boolean;
  @ApiProperty({ type: Boolean })
  enabled: boolean;
  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'Null after a delivery arrived' })
  failing_since: string | null;
  @ApiProperty({ type: String, format: 'date-time' })
  created_at: string;
  @ApiProperty({ type: String, format: 'date-time' })
  updated_at: string;
}

export class WebhookSecretView {
  @ApiProperty({ type: String, description: '`whsec_` and 32 bytes in base64; shown only once' })
  secret: string;
}

export class NewWebhookView extends WebhookView {
  @ApiProperty({ type: String, description: '`whsec_` and 32 bytes in base64; shown only once' })
  secret: string;
}

export class DeliveryView {
  @ApiProperty({ type: 'integer', description: 'The header `webhook-id` of every attempt is `whd_` and this number' })
  id: number;
  @ApiProperty({ type: 'integer', nullable: true, description: 'Null for a test' })
  event_id: number | null;
  @ApiProperty({ type: String })
  type: string;
  @ApiProperty({ enum: DELIVERY_STATES })
  status: DeliveryState;
  @ApiProperty({ type: 'integer', description: 'Since the message was made or sent again' })
  attempts: number;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  next_attempt_at: string | null;
  @ApiProperty({ type: 'integer', nullable: true, description: 'Of the last answer' })
  response_status: number | null;
  @ApiProperty({ type: String, nullable: true })
  error: string | null;
  @ApiProperty({ type: String, format: 'date-time' })
  created_at: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  finished_at: string | null;
}

export class DeliveryAttemptView {
  @ApiProperty({ type: String, format: 'date-time' })
  attempted_at: string;
  @ApiProperty({ type: 'integer' })
  duration_ms: number;
  @ApiProperty({ type: 'integer', nullable: true })
  response_status: number | null;
  @ApiProperty({ type: String, nullable: true, description: 'The first 1,000 characters of the answer' })
  response_excerpt: string | null;
  @ApiProperty({ type: String, nullable: true })
  error: string | null;
}

export class DeliveryDetailsView extends DeliveryView {
  @ApiProperty({ type: String, description: 'The body of every attempt' })
  body: string;
  @ApiProperty({ type: [DeliveryAttemptView], description: 'The newest 50, newest first' })
  log: DeliveryAttemptView[];
}

export class ReplayedView {
  @ApiProperty({ type: 'integer', minimum: 0 })
  replayed: number;
}

export function toWebhookView(webhook: Webhook): WebhookView {
  return {
    id: webhook.id,
    name: webhook.name,
    url: webhook.url,
    event_types: webhook.eventTypes,
    test_events: webhook.testEvents,
    enabled: webhook.enabled,
    failing_since: webhook.failingSince?.toISOString() ?? null,
    created_at: webhook.createdAt.toISOString(),
    updated_at: webhook.updatedAt.toISOString(),
  };
}

export function toDeliveryView(delivery: Delivery): DeliveryView {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    type: delivery.type,
    status: delivery.status,
    attempts: delivery.attempts,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    response_status: delivery.responseStatus,
    error: delivery.error,
    created_at: delivery.createdAt.toISOString(),
    finished_at: delivery.finishedAt?.toISOString() ?? null,
  };
}

export function toDeliveryDetailsView(delivery: DeliveryDetails): DeliveryDetailsView {
  return Object.assign(toDeliveryView(delivery), { body: delivery.body, log: delivery.made.map(toAttemptView) });
}

function toAttemptView(attempt: Attempt): DeliveryAttemptView {
  return {
    attempted_at: attempt.at.toISOString(),
    duration_ms: attempt.durationMs,
    response_status: attempt.responseStatus,
    response_excerpt: attempt.responseExcerpt,
    error: attempt.error,
  };
}
