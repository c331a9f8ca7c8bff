import type { EventType } from '@gatehouse/contracts';
import { messageBody, WebhookSource, type NewDelivery, type TakenEvents } from '@gatehouse/webhooks';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { EventRow } from '../data/event.entity.js';
import { toEventView } from '../events/event.view.js';

/** Events per transaction. */
const EVENTS = 200;

interface Receiver {
  id: number;
  ownerUserId: number;
  /** Sees everything. */
  all: boolean;
  eventTypes: EventType[];
  createdAt: Date;
}

const RECEIVERS = `
  SELECT w.id, w.owner_user_id AS "ownerUserId", u.role = 'admin' AS "all", w.event_types AS "eventTypes",
    w.created_at AS "createdAt"
  FROM tunnel_gateway_ops.webhooks w JOIN tunnel_gateway.users u ON u.id = w.owner_user_id
  WHERE w.status = 1 AND u.status = 1`;

/** Events of the gateway in their order, each once. */
@Injectable()
export class EventSource extends WebhookSource {
  async take(tx: EntityManager): Promise<TakenEvents> {
    const [progress] = (await tx.query(
      'SELECT last_event_id AS last FROM tunnel_gateway_ops.webhook_progress WHERE id = 1 FOR UPDATE',
    )) as { last: number }[];
    const events = await tx
      .createQueryBuilder(EventRow, 'row')
      .where('row.id > :last', { last: progress?.last ?? 0 })
      .orderBy('row.id')
      .limit(EVENTS)
      .getMany();
    const last = events.at(-1);
    if (!last) return { deliveries: [], more: false };
    const receivers = (await tx.query(RECEIVERS)) as Receiver[];
    await tx.query('UPDATE tunnel_gateway_ops.webhook_progress SET last_event_id = $1 WHERE id = 1', [last.id]);
    const deliveries = events.flatMap((event) => deliveriesOf(event, receivers));
    return { deliveries, more: events.length === EVENTS };
  }
}

function deliveriesOf(event: EventRow, receivers: readonly Receiver[]): NewDelivery[] {
  const { id: eventId, type, createdAt } = event;
  const wanting = receivers.filter((receiver) => wants(receiver, event));
  if (wanting.length === 0) return [];
  const body = messageBody(type, createdAt, toEventView(event));
  return wanting.map(({ id }) => ({ webhookId: id, eventId, type, body }));
}

function wants({ all, ownerUserId, eventTypes, createdAt }: Receiver, event: EventRow): boolean {
  const seen = all || event.ownerUserId === ownerUserId;
  return seen && event.createdAt >= createdAt && (eventTypes.length === 0 || eventTypes.includes(event.type));
}
