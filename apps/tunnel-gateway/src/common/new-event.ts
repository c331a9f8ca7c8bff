import type { EventType } from '@gatehouse/contracts';

/** What events are about. */
export const EVENT_RESOURCES = ['user', 'client', 'tunnel', 'host', 'webhook'] as const;
export type EventResourceKind = (typeof EVENT_RESOURCES)[number];

export interface NewEvent {
  type: EventType;
  resource: { kind: EventResourceKind; id: number } | null;
  /** Who may see it besides administrators. */
  ownerUserId: number | null;
  /** One line for people. */
  message: string;
  /** Facts for programs; never a secret. */
  data?: Record<string, unknown>;
  /** Default: when it is written. */
  at?: Date;
}

const MAX_MESSAGE = 500;
/** A fact that is longer is none that somebody reads. */
const MAX_DATA_BYTES = 8_192;

/**
 * A client is online or offline until the other is said: of two edges that say the same, as when one takes over from the
 * other, one is written.
 */
const INSERT = `
  INSERT INTO tunnel_gateway_ops.events (type, resource_type, resource_id, owner_user_id, message, data, created_at)
  SELECT type, resource_type, resource_id, owner_user_id, message, data, coalesce(created_at, now())
  FROM jsonb_to_recordset($1::jsonb) AS e (
    place integer, type text, resource_type text, resource_id bigint, owner_user_id bigint, message text, data jsonb,
    created_at timestamptz, changes boolean)
  WHERE NOT e.changes OR e.type IS DISTINCT FROM (
    SELECT p.type FROM tunnel_gateway_ops.events p
    WHERE p.resource_type = 'client' AND p.resource_id = e.resource_id
      AND p.type IN ('client.online', 'client.offline')
    ORDER BY p.entry DESC LIMIT 1)
  ORDER BY place`;

/** The statement that writes events, and its values; this file knows no framework, so that the edge can use it. */
export function insertOf(events: readonly NewEvent[]): { text: string; values: unknown[] } {
  const presence = new Set<number>();
  const rows = events.map((event, place) => {
    const { type, resource } = event;
    const isPresence = type === 'client.online' || type === 'client.offline';
    // Only the first of these looks at the table: those after it cannot see each other there.
    const changes = isPresence && resource !== null && !presence.has(resource.id);
    if (changes) presence.add(resource.id);
    return { ...toRow(event), place, changes };
  });
  return { text: INSERT, values: [JSON.stringify(rows)] };
}

function toRow({ type, resource, ownerUserId, message, data = {}, at }: NewEvent): object {
  return {
    type,
    resource_type: resource?.kind ?? null,
    resource_id: resource?.id ?? null,
    owner_user_id: ownerUserId,
    message: storable(message).slice(0, MAX_MESSAGE).toWellFormed(),
    data: bounded(data),
    created_at: at?.toISOString() ?? null,
  };
}

function bounded(data: Record<string, unknown>): unknown {
  const text = JSON.stringify(data, (_key, value: unknown) => (typeof value === 'string' ? storable(value) : value));
  return Buffer.byteLength(text) > MAX_DATA_BYTES ? { too_long: true } : JSON.parse(text);
}

/** Texts come from visitors and agents too; PostgreSQL takes no NUL and no half characters. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
