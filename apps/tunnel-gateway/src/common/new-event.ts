import type { EventType } from '@gatehouse/contracts';

/** What an event may refer to. */
export const EVENT_RESOURCES = ['user', 'client', 'tunnel', 'host', 'webhook'] as const;
export type EventResourceKind = (typeof EVENT_RESOURCES)[number];

export interface NewEvent {
  type: EventType;
  resource: { kind: EventResourceKind; id: number } | null;
  /** The user who may see it, besides administrators. */
  ownerUserId: number | null;
  /** One line for people. */
  message: string;
  /** Facts for programs; never a secret. */
  data?: Record<string, unknown>;
  /** Default: the time of writing. */
  at?: Date;
}

const MAX_MESSAGE = 500;
/** Longer facts are dropped. */
const MAX_DATA_BYTES = 8_192;

/**
 * Writes an online or offline event of a client, and one of a target, only if it differs from the last one: when an edge
 * takes over from another, and where several check a target, all report the same. A target that was never down is not up
 * again.
 */
const INSERT = `
  INSERT INTO tunnel_gateway_ops.events (type, resource_type, resource_id, owner_user_id, message, data, created_at)
  SELECT type, resource_type, resource_id, owner_user_id, message, data, coalesce(created_at, now())
  FROM jsonb_to_recordset($1::jsonb) AS e (
    place integer, type text, resource_type text, resource_id bigint, owner_user_id bigint, message text, data jsonb,
    created_at timestamptz, changes boolean)
  WHERE NOT e.changes OR CASE e.resource_type
    WHEN 'client' THEN e.type IS DISTINCT FROM (
      SELECT p.type FROM tunnel_gateway_ops.events p
      WHERE p.resource_type = 'client' AND p.resource_id = e.resource_id
        AND p.type IN ('client.online', 'client.offline')
      ORDER BY p.entry DESC LIMIT 1)
    ELSE e.type <> coalesce((
      SELECT p.type FROM tunnel_gateway_ops.events p
      WHERE p.resource_type = 'host' AND p.resource_id = e.resource_id
        AND p.type IN ('host.target_down', 'host.target_up') AND p.data ->> 'target' = e.data ->> 'target'
      ORDER BY p.entry DESC LIMIT 1), 'host.target_up')
    END
  ORDER BY place`;

/** The statement that writes events, with its values. It uses no framework, so that the edge can run it. */
export function insertOf(events: readonly NewEvent[]): { text: string; values: unknown[] } {
  const compared = new Set<string>();
  const rows = events.map((event, place) => {
    const subject = subjectOf(event);
    // Only the first of these compares with the table, because later ones cannot see each other there.
    const changes = subject !== null && !compared.has(subject);
    if (changes) compared.add(subject);
    return { ...toRow(event), place, changes };
  });
  return { text: INSERT, values: [JSON.stringify(rows)] };
}

/** What has a state that the event changes; null: it is not about a state. */
function subjectOf({ type, resource, data }: NewEvent): string | null {
  if (resource === null) return null;
  if (type === 'client.online' || type === 'client.offline') return `client ${resource.id}`;
  if (type === 'host.target_down' || type === 'host.target_up')
    return `host ${resource.id} ${String(data?.['target'])}`;
  return null;
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

/** Texts also come from visitors and agents; PostgreSQL accepts neither NUL nor lone surrogates. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
