import type { Provider, Type } from '@nestjs/common';
import type { WebhookSource } from './webhook-source.js';

/** Injects the WebhookSetup of the service. */
export const WEBHOOK_SETUP = Symbol('WEBHOOK_SETUP');

/** Where a service has its webhooks. Tables are named with their schemas; SQL sees the webhook as `w`. */
export interface WebhookTables {
  readonly webhooks: string;
  readonly deliveries: string;
  /** A row for each attempt, with its answer; absent: deliveries keep the status of the last answer, and that is all. */
  readonly attempts?: string;
  /** Joins of `webhooks w` that `ownerId`, `enabled` and `allowPrivate` need. */
  readonly owner: string;
  /** SQL: whoever has the webhook, and so a share of the attempts. */
  readonly ownerId: string;
  /** SQL: whether it gets messages. */
  readonly enabled: string;
  /** SQL: whether it may lead into the service's own network, and do without TLS. */
  readonly allowPrivate: string;
}

export interface WebhookSetup {
  readonly tables: WebhookTables;
  /** Secrets are sealed as those of a table of this name. */
  readonly sealedAs: string;
  readonly userAgent: string;
  /** Name of the counter of attempts: those of one service may be nobody's concern in another. */
  readonly metric: string;
}

/** What a service says to deliver its events. */
export interface WebhookOptions extends WebhookSetup {
  readonly source: Type<WebhookSource>;
  /** Providers that the source is made with. */
  readonly sourceNeeds?: readonly Provider[];
}
