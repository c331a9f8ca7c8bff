import { messageBody, WebhookSource, type NewDelivery, type TakenEvents } from '@gatehouse/webhooks';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { rowsOf } from '../data/rows-of.js';
import { QuotaWarnings } from './quota-warnings.js';

/** Events per transaction. */
const EVENTS = 200;
const QUOTAS_EVERY_MS = 10_000;

interface EventRow {
  readonly id: number;
  readonly applicationId: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
  /** Of a call with a test key. */
  readonly isTest: boolean;
}

interface Receiver {
  readonly id: number;
  readonly applicationId: number;
  readonly clientId: string;
  /** Empty: all. */
  readonly eventTypes: readonly string[];
  readonly testEvents: boolean;
  readonly createdAt: Date;
}

/** Skips events that another process is taking at this moment. */
const TAKE = `
  DELETE FROM application_events WHERE id IN (
    SELECT id FROM application_events ORDER BY id LIMIT ${EVENTS} FOR UPDATE SKIP LOCKED)
  RETURNING id, application_id AS "applicationId", type, data, created_at AS "createdAt", is_test AS "isTest"`;

const RECEIVERS = `
  SELECT w.id, a.id AS "applicationId", a.client_id AS "clientId", w.event_types AS "eventTypes", w.test_events AS "testEvents",
    w.created_at AS "createdAt"
  FROM webhooks w JOIN applications a ON a.id = w.application_id
  WHERE w.status = 1 AND w.application_id = ANY ($1::bigint[])`;

/** What happened to applications and their users, each once, for the webhooks of these applications alone. */
@Injectable()
export class ApplicationEvents extends WebhookSource {
  private quotasAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly quotas: QuotaWarnings) {
    super();
  }

  async take(tx: EntityManager): Promise<TakenEvents> {
    if (performance.now() - this.quotasAt >= QUOTAS_EVERY_MS) {
      this.quotasAt = performance.now();
      await this.quotas.note(tx);
    }
    const events = await rowsOf<EventRow>(tx, TAKE);
    if (events.length === 0) return { deliveries: [], more: false };
    const ids = [...new Set(events.map(({ applicationId }) => applicationId))];
    const receivers = await rowsOf<Receiver>(tx, RECEIVERS, [ids]);
    const inOrder = events.toSorted((a, b) => a.id - b.id);
    return {
      deliveries: inOrder.flatMap((event) => deliveriesOf(event, receivers)),
      more: events.length === EVENTS,
    };
  }
}

function deliveriesOf(event: EventRow, receivers: readonly Receiver[]): NewDelivery[] {
  const { id: eventId, type, createdAt, isTest, data } = event;
  return receivers
    .filter((receiver) => wants(receiver, event))
    .map(({ id: webhookId, clientId }) => {
      const body = messageBody(type, createdAt, {
        event_id: eventId,
        client_id: clientId,
        ...data,
        ...(isTest && { test: true }),
      });
      return { webhookId, eventId, type, body };
    });
}

function wants({ applicationId, eventTypes, testEvents, createdAt }: Receiver, event: EventRow): boolean {
  if (event.isTest && !testEvents) return false;
  if (applicationId !== event.applicationId || event.createdAt < createdAt) return false;
  return eventTypes.length === 0 || eventTypes.includes(event.type);
}
