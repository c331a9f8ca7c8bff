import type { Actor } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';
import { isAdministrator } from '../data/owned-rows.js';
import type { Client } from '../data/client.entity.js';
import type { TrafficQuotaRow } from '../data/traffic-quota.entity.js';
import type { QuotaFields } from '../quotas/quota.dto.js';

type Limits = Pick<Client, 'rateLimit' | 'maxConn' | 'expireAt'>;

/**
 * A client's limits protect the gateway from its owner: users who are not administrators may only tighten them. @throws
 * AppError FORBIDDEN naming the field
 */
export function refuseLooserLimits(actor: Actor, before: Limits, changes: Partial<Limits>): void {
  if (isAdministrator(actor)) return;
  const looser = [
    ...(isLooser(before.rateLimit, changes.rateLimit) ? ['rate_limit'] : []),
    ...(isLooser(before.maxConn, changes.maxConn) ? ['max_conn'] : []),
    ...(isLater(before.expireAt, changes.expireAt) ? ['expire_at'] : []),
  ];
  refuse(looser);
}

/** The same for its traffic quota; null: it has none. Another period is never only stricter. */
export function refuseLooserQuota(
  actor: Actor,
  before: Pick<TrafficQuotaRow, 'bytes' | 'period'> | null,
  { traffic_quota: bytes, quota_period: period, period_traffic: used }: QuotaFields,
): void {
  if (isAdministrator(actor) || before === null) return;
  refuse([
    ...(isLooser(before.bytes, bytes) ? ['traffic_quota'] : []),
    ...(period !== undefined && period !== before.period ? ['quota_period'] : []),
    ...(used === undefined ? [] : ['period_traffic']),
  ]);
}

function refuse(looser: readonly string[]): void {
  if (looser.length === 0) return;
  throw new AppError('FORBIDDEN', `${looser.join(', ')}: only administrators can raise limits`);
}

/** 0 means no limit. */
function isLooser(before: number | null, after: number | null | undefined): boolean {
  if (after === undefined || before === null || before === 0) return false;
  return after === null || after === 0 || after > before;
}

/** Null means never. */
function isLater(before: Date | null, after: Date | null | undefined): boolean {
  if (after === undefined || before === null) return false;
  return after === null || after > before;
}
