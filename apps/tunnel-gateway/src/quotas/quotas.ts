import type { TrafficQuotaView } from '@gatehouse/contracts';
import type { EntityManager } from 'typeorm';
import { READ_QUOTAS, type QuotaResource, type StoredQuota } from '../common/quota-rows.js';
import { TrafficQuotaRow } from '../data/traffic-quota.entity.js';
import { fieldError } from '../wire/field-error.js';
import type { QuotaFields } from './quota.dto.js';

export const NO_QUOTA: TrafficQuotaView = {
  traffic_quota: 0,
  quota_period: 'total',
  period_traffic: 0,
  quota_used_up: false,
  quota_resets_at: null,
};

const OF_ROWS = `${READ_QUOTAS} WHERE q.resource_type = $1 AND q.resource_id = ANY ($2::bigint[])`;
const OF_RESOURCES = `${READ_QUOTAS}
  JOIN unnest($1::text[], $2::bigint[]) AS r (kind, id) ON q.resource_type = r.kind AND q.resource_id = r.id`;

/** Batches of counters lock rows in the order clients, tunnels, quotas; whoever calls this has locked what it is about. */
const RESET = `
  UPDATE tunnel_gateway_ops.traffic_quotas SET used = 0, counted_at = now()
  WHERE resource_type = $1 AND resource_id = $2`;

/** The quotas of rows that were found before; what has none has one of 0 bytes. */
export async function readQuotas(
  manager: Pick<EntityManager, 'query'>,
  kind: QuotaResource,
  ids: readonly number[],
): Promise<(id: number) => TrafficQuotaView> {
  const found = ids.length === 0 ? [] : ((await manager.query(OF_ROWS, [kind, ids])) as StoredQuota[]);
  const views = new Map(found.map((row) => [row.id, toView(row)]));
  return (id) => views.get(id) ?? NO_QUOTA;
}

/** Which of these, one of each kind, have used up their quota. */
export async function usedUpQuotas(
  manager: Pick<EntityManager, 'query'>,
  resources: readonly [QuotaResource, number][],
): Promise<Set<QuotaResource>> {
  const columns = [resources.map(([kind]) => kind), resources.map(([, id]) => id)];
  const found = (await manager.query(OF_RESOURCES, columns)) as StoredQuota[];
  return new Set(found.filter(isUsedUp).map(({ kind }) => kind));
}

/** What was stored before a change; null: there is no quota. */
export async function storedQuota(tx: EntityManager, kind: QuotaResource, id: number): Promise<TrafficQuotaRow | null> {
  return tx.findOneBy(TrafficQuotaRow, { resourceType: kind, resourceId: id });
}

/** Writes what the body says. @throws AppError VALIDATION_FAILED for a period without a quota */
export async function saveQuota(
  tx: EntityManager,
  kind: QuotaResource,
  id: number,
  { traffic_quota: bytes, quota_period: period, period_traffic: used }: QuotaFields,
): Promise<void> {
  if (bytes === undefined && period === undefined && used === undefined) return;
  const key = { resourceType: kind, resourceId: id };
  if (bytes === 0) return void (await tx.delete(TrafficQuotaRow, key));
  const fields = { ...(bytes !== undefined && { bytes }), ...(period !== undefined && { period }) };
  if (await storedQuota(tx, kind, id)) {
    if (Object.keys(fields).length > 0) await tx.update(TrafficQuotaRow, key, fields);
  } else if (bytes !== undefined) {
    await tx.insert(TrafficQuotaRow, { ...key, ...fields });
  } else if (period !== undefined && period !== 'total') {
    throw fieldError('quota_period', 'needs traffic_quota');
  }
  if (used === 0) await tx.query(RESET, [kind, id]);
}

function isUsedUp({ used, bytes }: StoredQuota): boolean {
  return used >= bytes;
}

function toView(row: StoredQuota): TrafficQuotaView {
  const { bytes, period, used, resetsAt } = row;
  return {
    traffic_quota: bytes,
    quota_period: period,
    period_traffic: used,
    quota_used_up: isUsedUp(row),
    quota_resets_at: resetsAt === null ? null : new Date(resetsAt).toISOString(),
  };
}
