import { addCounts, MAX_COUNT } from '@gatehouse/net';
import type { Queries } from '../common/edge-database.js';
import type { StoredQuota } from '../common/quota-rows.js';
import type { FlowBatch, FlowShare, VisitorShare } from './flow-batch.js';

type CountedKind = 'global' | 'user' | 'client' | 'tunnel' | 'host';

interface Total {
  kind: CountedKind;
  id: number;
  inlet: number;
  export: number;
}

export interface Hits {
  kind: CountedKind;
  id: number;
  ip: string;
  hits: number;
  lastSeen: number;
}

/** Stops at the largest number that every client can read; a larger one is reduced to it. */
function sum(present: string, more: string): string {
  return `least(least(coalesce(${present}, 0), ${MAX_COUNT}) + ${more}, ${MAX_COUNT})`;
}

/**
 * One statement is one transaction and one round trip: the batch is in the table and in all totals, or in none. A batch
 * that is there already changes nothing. Whoever uses up a quota also writes the event, so there is one. Rows are locked in the order in which a request that removes a client or a tunnel
 * takes them, before anything about them is written: neither has to give way to the other. Totals of what is gone
 * stay; addresses of its visitors went with it, and a batch that comes late does not bring them back.
 */
const APPLY = `
  WITH batch AS (
    INSERT INTO tunnel_gateway_ops.flow_batches (id, taken_at, flows, visitors)
    VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING RETURNING id
  ), part AS (
    SELECT p.kind, p.id FROM unnest($5::text[], $6::bigint[]) AS p (kind, id)
    UNION SELECT p.kind, p.id FROM unnest($9::text[], $10::bigint[]) AS p (kind, id)
  ), held_clients AS (
    SELECT r.id FROM tunnel_gateway.clients r WHERE r.id IN (SELECT id FROM part WHERE kind = 'client')
    ORDER BY r.id FOR NO KEY UPDATE
  ), held_tunnels AS (
    SELECT r.id FROM tunnel_gateway.tunnels r WHERE r.id IN (SELECT id FROM part WHERE kind = 'tunnel')
      AND (SELECT count(*) FROM held_clients) >= 0
    ORDER BY r.id FOR NO KEY UPDATE
  ), held AS (
    SELECT r.id FROM tunnel_gateway.hosts r WHERE r.id IN (SELECT id FROM part WHERE kind = 'host')
      AND (SELECT count(*) FROM held_tunnels) >= 0
    ORDER BY r.id FOR NO KEY UPDATE
  ), held_quotas AS (
    SELECT q.resource_type, q.resource_id FROM tunnel_gateway_ops.traffic_quotas q
      JOIN part ON part.kind = q.resource_type AND part.id = q.resource_id
    WHERE (SELECT count(*) FROM held) >= 0
    ORDER BY q.resource_type, q.resource_id FOR NO KEY UPDATE OF q
  ), flow AS (
    SELECT f.* FROM batch, unnest($5::text[], $6::bigint[], $7::bigint[], $8::bigint[]) AS f (kind, id, inlet, export)
    WHERE (SELECT count(*) FROM held_quotas) >= 0
  ), visitor AS (
    SELECT v.* FROM batch, unnest($9::text[], $10::bigint[], $11::text[], $12::bigint[], $13::timestamptz[])
      AS v (kind, id, ip, hits, seen)
    WHERE (SELECT count(*) FROM held) >= 0
  ), present AS (
    SELECT 'client' AS kind, id FROM held_clients
    UNION ALL SELECT 'tunnel', id FROM held_tunnels
    UNION ALL SELECT 'host', id FROM held
    UNION ALL SELECT 'user', u.id FROM tunnel_gateway.users u WHERE u.id IN (SELECT id FROM part WHERE kind = 'user')
    UNION ALL SELECT 'global', 0
  ), stats AS (
    INSERT INTO tunnel_gateway.flow_stats AS s (resource_type, resource_id, inlet_bytes, export_bytes, updated_at)
    SELECT kind, id, inlet, export, now() FROM flow ORDER BY kind, id
    ON CONFLICT (resource_type, resource_id) DO UPDATE SET
      inlet_bytes = ${sum('s.inlet_bytes', 'EXCLUDED.inlet_bytes')},
      export_bytes = ${sum('s.export_bytes', 'EXCLUDED.export_bytes')}, updated_at = EXCLUDED.updated_at
  ), of_clients AS (
    UPDATE tunnel_gateway.clients r SET inlet_flow = ${sum('r.inlet_flow', 'flow.inlet')},
      export_flow = ${sum('r.export_flow', 'flow.export')}
    FROM flow WHERE flow.kind = 'client' AND r.id = flow.id
  ), of_tunnels AS (
    UPDATE tunnel_gateway.tunnels r SET inlet_flow = ${sum('r.inlet_flow', 'flow.inlet')},
      export_flow = ${sum('r.export_flow', 'flow.export')}
    FROM flow WHERE flow.kind = 'tunnel' AND r.id = flow.id
  ), of_hosts AS (
    UPDATE tunnel_gateway.hosts r SET inlet_flow = ${sum('r.inlet_flow', 'flow.inlet')},
      export_flow = ${sum('r.export_flow', 'flow.export')}
    FROM flow WHERE flow.kind = 'host' AND r.id = flow.id
  ), quotas AS (
    UPDATE tunnel_gateway_ops.traffic_quotas q SET counted_at = greatest(q.counted_at, $2),
      used = CASE
        WHEN tunnel_gateway_ops.quota_period_start(q.period, $2) > q.counted_at THEN ${sum('0', 'flow.inlet + flow.export')}
        WHEN tunnel_gateway_ops.quota_period_start(q.period, q.counted_at) > $2 THEN q.used
        ELSE ${sum('q.used', 'flow.inlet + flow.export')} END
    FROM flow WHERE q.resource_type = flow.kind AND q.resource_id = flow.id
    RETURNING q.resource_type AS kind, q.resource_id AS id, q.bytes, q.period, q.used,
      tunnel_gateway_ops.quota_period_end(q.period, q.counted_at) AS resets_at,
      q.used >= q.bytes AND q.used - flow.inlet - flow.export < q.bytes
        AND tunnel_gateway_ops.quota_period_start(q.period, q.counted_at) <= $2 AS just_used_up
  ), used_up AS (
    INSERT INTO tunnel_gateway_ops.events (type, resource_type, resource_id, owner_user_id, message, data, created_at)
    SELECT 'limit.traffic', q.kind, q.id, CASE q.kind WHEN 'user' THEN q.id ELSE (
        SELECT c.owner_user_id FROM tunnel_gateway.clients c LEFT JOIN tunnel_gateway.tunnels t ON t.client_id = c.id
        WHERE CASE q.kind WHEN 'client' THEN c.id ELSE t.id END = q.id LIMIT 1) END,
      format('The traffic quota is used up: %s of %s bytes', q.used, q.bytes),
      jsonb_build_object('bytes', q.bytes, 'used', q.used, 'period', q.period), now()
    FROM quotas q WHERE q.just_used_up
  ), addresses AS (
    INSERT INTO tunnel_gateway.request_ips AS a (resource_type, resource_id, ip, hit_count, last_seen_at)
    SELECT kind, id, ip, hits, seen FROM visitor JOIN present USING (kind, id) ORDER BY kind, id, ip
    ON CONFLICT (resource_type, resource_id, ip) DO UPDATE SET
      hit_count = ${sum('a.hit_count', 'EXCLUDED.hit_count')},
      last_seen_at = greatest(a.last_seen_at, EXCLUDED.last_seen_at)
  )
  SELECT (SELECT count(*) FROM batch) > 0 AS added, coalesce((SELECT json_agg(json_build_object(
    'kind', kind, 'id', id, 'bytes', bytes, 'period', period, 'used', used,
    'resetsAt', (extract(epoch FROM resets_at) * 1000)::float8)) FROM quotas), '[]') AS quotas`;

/** Adds a batch to the totals, once. Returns the quotas that it counts for. Null: it had been added before. */
export async function applyBatch(queries: Queries, batch: FlowBatch): Promise<StoredQuota[] | null> {
  const totals = totalsOf(batch.flows).filter((total) => total.inlet > 0 || total.export > 0);
  const hits = hitsOf(batch.visitors);
  const { rows } = await queries.query<{ added: boolean; quotas: StoredQuota[] }>(APPLY, [
    batch.id,
    new Date(batch.takenAt),
    JSON.stringify(batch.flows),
    JSON.stringify(batch.visitors),
    totals.map(({ kind }) => kind),
    totals.map(({ id }) => id),
    totals.map(({ inlet }) => inlet),
    totals.map((total) => total.export),
    hits.map(({ kind }) => kind),
    hits.map(({ id }) => id),
    hits.map(({ ip }) => ip),
    hits.map((hit) => hit.hits),
    hits.map(({ lastSeen }) => new Date(lastSeen)),
  ]);
  return rows[0]?.added === true ? rows[0].quotas : null;
}

/** What a resource carried also counts for its client, that client's owner, and the whole gateway. */
function levelsOf({ kind, id, clientId, userId }: FlowShare | VisitorShare): { kind: CountedKind; id: number }[] {
  return [
    { kind, id },
    { kind: 'client', id: clientId },
    ...(userId > 0 ? [{ kind: 'user' as const, id: userId }] : []),
    { kind: 'global', id: 0 },
  ];
}

function totalsOf(flows: readonly FlowShare[]): Total[] {
  const totals = new Map<string, Total>();
  for (const flow of flows) {
    for (const { kind, id } of levelsOf(flow)) {
      const key = `${kind} ${id}`;
      const total = totals.get(key) ?? { kind, id, inlet: 0, export: 0 };
      totals.set(key, total);
      total.inlet = addCounts(total.inlet, flow.inlet);
      total.export = addCounts(total.export, flow.export);
    }
  }
  return [...totals.values()];
}

function hitsOf(visitors: readonly VisitorShare[]): Hits[] {
  const all = new Map<string, Hits>();
  for (const visitor of visitors) {
    for (const { kind, id } of levelsOf(visitor)) {
      const key = `${kind} ${id} ${visitor.ip}`;
      const hits = all.get(key) ?? { kind, id, ip: visitor.ip, hits: 0, lastSeen: 0 };
      all.set(key, hits);
      hits.hits = addCounts(hits.hits, visitor.hits);
      hits.lastSeen = Math.max(hits.lastSeen, visitor.lastSeen);
    }
  }
  return [...all.values()];
}
