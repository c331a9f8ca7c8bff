import type { QuotaPeriod } from '@gatehouse/contracts';

export type QuotaResource = 'user' | 'client' | 'tunnel';

/** A traffic quota as the database has it. */
export interface StoredQuota {
  kind: QuotaResource;
  id: number;
  bytes: number;
  period: QuotaPeriod;
  used: number;
  /** Milliseconds since the epoch; null: never. */
  resetsAt: number | null;
}

/**
 * Quotas with what counts now, with `traffic_quotas` as `q`: nothing is used at the beginning of a period, though no
 * batch has said so yet.
 */
export const READ_QUOTAS = `
  SELECT q.resource_type AS kind, q.resource_id AS id, q.bytes, q.period,
    CASE WHEN tunnel_gateway_ops.quota_period_start(q.period, now()) > q.counted_at THEN 0 ELSE q.used END AS used,
    (extract(epoch FROM tunnel_gateway_ops.quota_period_end(q.period, now())) * 1000)::float8 AS "resetsAt"
  FROM tunnel_gateway_ops.traffic_quotas q`;
