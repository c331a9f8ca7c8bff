import type { CursorPage } from './cursor-page.js';
import type { EventType } from './event.js';

/** An address that receives events. */
export interface WebhookView {
  /** @asType integer */
  id: number;
  /** @asType integer */
  owner_user_id: number;
  name: string;
  url: string;
  /** Empty: all events that the owner may see. */
  event_types: EventType[];
  /** 1 enabled, 0 disabled. */
  status: 0 | 1;
  /**
   * Since when deliveries fail; null after one arrived.
   * @format date-time
   */
  failing_since: string | null;
  /** @format date-time */
  created_at: string;
  /** @format date-time */
  updated_at: string;
}

/** The secret for checking signatures; shown once. */
export interface WebhookSecretView {
  /** `whsec_` and 32 bytes in base64, as in Standard Webhooks. */
  secret: string;
}

export interface NewWebhookView extends WebhookView, WebhookSecretView {}

export type WebhookPage = CursorPage<WebhookView>;

/** The delivery of one event to one webhook. */
export interface WebhookDeliveryView {
  /**
   * The `webhook-id` of the request contains it and is the same at every attempt.
   * @asType integer
   */
  id: number;
  /** @asType integer */
  webhook_id: number;
  /** Null for a test. */
  event_id: number | null;
  type: string;
  status: 'pending' | 'delivered' | 'dead';
  /** @asType integer */
  attempts: number;
  /** @format date-time */
  next_attempt_at: string | null;
  /** HTTP status of the last answer. */
  response_status: number | null;
  error: string | null;
  /** @format date-time */
  created_at: string;
  /** @format date-time */
  finished_at: string | null;
}

export type WebhookDeliveryPage = CursorPage<WebhookDeliveryView>;
