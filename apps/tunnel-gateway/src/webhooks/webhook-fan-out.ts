import type { EventType } from '@gatehouse/contracts';
import { Jobs } from '@gatehouse/jobs';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { EventRow } from '../data/event.entity.js';
import { toEventView } from '../events/event.view.js';

/** Events per transaction. */
const EVENTS = 200;
/** Waiting deliveries of one webhook; further ones are given up at once. */
const MAX_WAITING = 1_000;
const RELAYED = 500;

interface Receiver {
  id: number;
  ownerUserId: number;
  /** Sees everything. */
  all: boolean;
  eventTypes: EventType[];
  createdAt: Date;
  waiting: number;
}

interface NewDelivery {
  webhook_id: number;
  event_id: number;
  type: string;
  body: string;
  status: 'pending' | 'dead';
  error: string | null;
}

const RECEIVERS = `
  SELECT w.id, w.owner_user_id AS "ownerUserId", u.role = 'admin' AS "all", w.event_types AS "eventTypes",
    w.created_at AS "createdAt",
    (SELECT count(*)::int FROM tunnel_gateway_ops.webhook_deliveries d
      WHERE d.webhook_id = w.id AND d.status = 'pending') AS waiting
  FROM tunnel_gateway_ops.webhooks w JOIN tunnel_gateway.users u ON u.id = w.owner_user_id
  WHERE w.status = 1 AND u.status = 1`;

const INSERT = `
  INSERT INTO tunnel_gateway_ops.webhook_deliveries
    (webhook_id, event_id, type, body, status, error, next_attempt_at, finished_at)
  SELECT webhook_id, event_id, type, body, status, error,
    CASE status WHEN 'pending' THEN now() END, CASE status WHEN 'dead' THEN now() END
  FROM jsonb_to_recordset($1::jsonb) AS d (
    webhook_id bigint, event_id bigint, type text, body text, status text, error text)
  ON CONFLICT (webhook_id, event_id) DO NOTHING
  RETURNING id, status`;

/** Overdue deliveries, whose job was lost. Attempting one attempts all of its webhook. */
const FORGOTTEN = `
  SELECT DISTINCT ON (webhook_id) id FROM tunnel_gateway_ops.webhook_deliveries
  WHERE status = 'pending' AND next_attempt_at < now() - interval '10 seconds'
  ORDER BY webhook_id, next_attempt_at LIMIT ${RELAYED}`;

/** Creates deliveries for events, once for each webhook, and makes sure that every waiting one has a job. */
@Injectable()
export class WebhookFanOut {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly jobs: Jobs,
  ) {}

  /** Continues until nothing is left; resolves to the number of new deliveries. */
  async run(signal?: AbortSignal): Promise<number> {
    let made = 0;
    for (let events = EVENTS; events === EVENTS && !signal?.aborted;) {
      const step = await this.unitOfWork.run((tx) => this.step(tx));
      await this.queue(step.waiting);
      made += step.waiting.length;
      events = step.events;
    }
    const forgotten = await this.unitOfWork.run((tx): Promise<{ id: number }[]> => tx.query(FORGOTTEN));
    await this.queue(forgotten.map(({ id }) => id));
    return made;
  }

  private async step(tx: EntityManager): Promise<{ events: number; waiting: number[] }> {
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
    if (!last) return { events: 0, waiting: [] };
    const deliveries = deliveriesOf(events, await tx.query(RECEIVERS));
    const made = (await tx.query(INSERT, [JSON.stringify(deliveries)])) as { id: number; status: string }[];
    await tx.query('UPDATE tunnel_gateway_ops.webhook_progress SET last_event_id = $1 WHERE id = 1', [last.id]);
    return { events: events.length, waiting: made.filter(({ status }) => status === 'pending').map(({ id }) => id) };
  }

  private async queue(ids: readonly number[]): Promise<void> {
    for (const deliveryId of ids) {
      await this.jobs.add('webhook-delivery', { deliveryId }, { jobId: `delivery-${deliveryId}`, attempts: 1 });
    }
  }
}

function deliveriesOf(events: readonly EventRow[], receivers: readonly Receiver[]): NewDelivery[] {
  const waiting = new Map(receivers.map((receiver) => [receiver.id, receiver.waiting]));
  return events.flatMap((event) =>
    receivers
      .filter((receiver) => wants(receiver, event))
      .map(({ id }) => {
        const before = waiting.get(id) ?? 0;
        waiting.set(id, before + 1);
        return deliveryOf(event, id, before < MAX_WAITING);
      }),
  );
}

function wants({ all, ownerUserId, eventTypes, createdAt }: Receiver, event: EventRow): boolean {
  const seen = all || event.ownerUserId === ownerUserId;
  return seen && event.createdAt >= createdAt && (eventTypes.length === 0 || eventTypes.includes(event.type));
}

function deliveryOf(event: EventRow, webhookId: number, hasRoom: boolean): NewDelivery {
  return {
    webhook_id: webhookId,
    event_id: event.id,
    type: event.type,
    body: messageBody(event.type, event.createdAt, toEventView(event)),
    status: hasRoom ? 'pending' : 'dead',
    error: hasRoom ? null : 'too many others wait',
  };
}

/** The form that Standard Webhooks proposes. */
export function messageBody(type: string, time: Date, data: object): string {
  return JSON.stringify({ type, timestamp: time.toISOString(), data });
}
