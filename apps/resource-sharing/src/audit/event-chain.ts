import { AuditStore, systemEntry, type AuditActor, type AuditEntry } from '@gatehouse/audit';
import type { AuditChange } from '@gatehouse/contracts';
import { JsonLogger } from '@gatehouse/platform';
import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

const EVERY_MS = 2_000;
const BATCH = 200;

/** Skips events that another process is taking at this moment. */
const TAKE = `
  DELETE FROM unchained_events WHERE event_id IN
    (SELECT event_id FROM unchained_events ORDER BY event_id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
  RETURNING event_id`;
const EVENTS = `
  SELECT e.id, e.type, e.user_id, e.actor_id, e.application_id, e.credential_id, e.grant_id, e.ip, e.details, e.created_at,
    coalesce(c.username, u.username) AS actor, a.name AS application
  FROM audit_events e LEFT JOIN site_accounts u ON u.id = e.user_id LEFT JOIN site_accounts c ON c.id = e.actor_id
    LEFT JOIN applications a ON a.id = e.application_id
  WHERE e.id = ANY ($1::bigint[])`;

interface EventRow {
  id: number;
  type: string;
  user_id: number | null;
  actor_id: number | null;
  application_id: number | null;
  credential_id: number | null;
  grant_id: number | null;
  ip: string | null;
  details: Record<string, unknown>;
  created_at: Date;
  actor: string | null;
  application: string | null;
}

/** Adds the events of the trail to the chain of the audit log, soon after their commit. */
@Injectable()
export class EventChain implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<unknown> | null = null;

  constructor(
    private readonly store: AuditStore,
    private readonly logger: JsonLogger,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void (this.running ??= this.run().finally(() => (this.running = null))), EVERY_MS);
    this.timer.unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  /** Adds all waiting events to the chain; returns their number. */
  async takeAll(): Promise<number> {
    let all = 0;
    for (let taken = BATCH; taken === BATCH; all += taken) taken = await this.store.appendTaken(takeEvents);
    return all;
  }

  private async run(): Promise<void> {
    try {
      await this.takeAll();
    } catch (error) {
      this.logger.warn(
        'events could not be put into the audit log; they are tried again',
        { error: String(error) },
        'Audit',
      );
    }
  }
}

/** In the order of their ids. If an event disappeared before it was chained, a row records that. */
async function takeEvents(tx: EntityManager): Promise<AuditEntry[]> {
  const [taken]: [{ event_id: number }[], number] = await tx.query(TAKE);
  const ids = taken.map(({ event_id: id }) => id).sort((a, b) => a - b);
  if (ids.length === 0) return [];
  const rows: EventRow[] = await tx.query(EVENTS, [ids]);
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const event = found.get(id);
    const about = { resourceType: 'event', resourceId: String(id) };
    return event ? { ...entryOf(event), ...about } : { ...systemEntry('event.missing'), ...about, success: false };
  });
}

function entryOf(event: EventRow): AuditEntry {
  return {
    ...systemEntry(event.type),
    at: event.created_at,
    actor: actorOf(event),
    ip: event.ip,
    resourceName: event.application,
    changes: changesOf(event),
  };
}

function actorOf({ actor_id: actorId, user_id: userId, actor }: EventRow): AuditActor {
  const id = actorId ?? userId;
  return id === null ? { type: 'system', id: null, name: 'system' } : { type: 'session', id, name: actor };
}

function changesOf({ user_id, application_id, credential_id, grant_id, details }: EventRow): AuditChange[] {
  const facts = { ...details, user_id, application_id, credential_id, grant_id };
  return Object.entries(facts)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([field, value]) => ({ field, before: null, after: plain(value) }));
}

function plain(value: unknown): AuditChange['after'] {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return JSON.stringify(value);
}
