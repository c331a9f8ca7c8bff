import type { WebhookEvent } from './event-types.js';

/** A receiver of an application's events. */
export interface Webhook {
  readonly id: number;
  readonly name: string;
  readonly url: string;
  /** Empty: all. */
  readonly eventTypes: readonly WebhookEvent[];
  /** Whether it is sent what test calls do, too. */
  readonly testEvents: boolean;
  readonly enabled: boolean;
  /** Time of the first delivery that was given up; null after a successful one. */
  readonly failingSince: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One event for one webhook. */
export interface Delivery {
  readonly id: number;
  /** Null: a test. */
  readonly eventId: number | null;
  readonly type: string;
  readonly status: DeliveryState;
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
  readonly responseStatus: number | null;
  readonly error: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

/** One request to a webhook, and its answer. */
export interface Attempt {
  readonly at: Date;
  readonly durationMs: number;
  readonly responseStatus: number | null;
  readonly responseExcerpt: string | null;
  readonly error: string | null;
}

/** A delivery with its message and its newest attempts, newest first. */
export interface DeliveryDetails extends Delivery {
  readonly body: string;
  readonly made: readonly Attempt[];
}

export const WEBHOOK_COLUMNS = `w.id, w.name, w.url, w.event_types AS "eventTypes", w.test_events AS "testEvents", w.status = 1 AS enabled,
  w.failing_since AS "failingSince", w.created_at AS "createdAt", w.updated_at AS "updatedAt"`;

export const DELIVERY_COLUMNS = `d.id, d.event_id AS "eventId", d.type, d.status, d.attempts,
  d.next_attempt_at AS "nextAttemptAt", d.response_status AS "responseStatus", d.error, d.created_at AS "createdAt",
  d.finished_at AS "finishedAt"`;
