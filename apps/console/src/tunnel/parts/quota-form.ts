import type { QuotaPeriod, TrafficQuotaView } from '@gatehouse/contracts';

const GIB = 1024 ** 3;

/** A traffic quota in a form. The names are those of the API, so that refusals find their fields. */
export interface QuotaForm {
  /** GiB; empty: no quota. */
  traffic_quota: string;
  quota_period: QuotaPeriod;
  /** Begin the count again. */
  period_traffic: boolean;
}

export function quotaFormOf(view: TrafficQuotaView | null): QuotaForm {
  const bytes = view?.traffic_quota ?? 0;
  return {
    traffic_quota: bytes === 0 ? '' : String(Number((bytes / GIB).toFixed(3))),
    quota_period: view === null || bytes === 0 ? 'month' : view.quota_period,
    period_traffic: false,
  };
}

/** What is no number goes as it is: the service says what is wrong with it. Nothing is said of a quota that is not there. */
export function quotaBody({ traffic_quota: quota, quota_period: period, period_traffic: again }: QuotaForm): {
  traffic_quota: number | string;
  quota_period?: QuotaPeriod;
  period_traffic?: 0;
} {
  const trimmed = quota.trim();
  if (trimmed === '') return { traffic_quota: 0 };
  const bytes = /^\d+(?:\.\d+)?$/.test(trimmed) ? Math.round(Number(trimmed) * GIB) : trimmed;
  return { traffic_quota: bytes, quota_period: period, ...(again && { period_traffic: 0 }) };
}

/** What differs from the quota as it was read. */
export function quotaChanges(view: TrafficQuotaView, form: QuotaForm): Record<string, unknown> {
  const before: Record<string, unknown> = quotaBody(quotaFormOf(view));
  return Object.fromEntries(Object.entries(quotaBody(form)).filter(([name, value]) => value !== before[name]));
}
