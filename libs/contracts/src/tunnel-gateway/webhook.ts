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
   * Since a delivery was given up; null after one arrived.
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

/** One event for one webhook. */
export interface WebhookDeliveryView {
  /**
   * `webhook-id` of the request is made of it: the same at every attempt.
   * @asType integer
   */
  id: number;
  /** @asType integer */
  webhook_id: number;
  /** Null: a test. */
  event_id: number | null;
  type: string;
  status: 'pending' | 'delivered' | 'dead';
  /** @asType integer */
  attempts: number;
  /** @format date-time */
  next_attempt_at: string | null;
  /** Of the last answer. */
  response_status: number | null;
  error: string | null;
  /** @format date-time */
  created_at: string;
  /** @format date-time */
  finished_at: string | null;
}

export type WebhookDeliveryPage = CursorPage<WebhookDeliveryView>;
