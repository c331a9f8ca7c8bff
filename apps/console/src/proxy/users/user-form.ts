import type { ProxyUserView, QuotaPeriod } from '@gatehouse/contracts';
import { splitWords } from '../../shared/format/links.js';
import { fromLocalField, toLocalField } from '../../shared/format/times.js';

const KIB = 1024;
const GIB = 1024 ** 3;

/** A user of the proxy as a form. The names are those of the API, so that refusals find their fields. */
export interface UserForm {
  name: string;
  /** Empty: it stays, or a new user gets a random one. */
  password: string;
  note: string;
  enabled: boolean;
  expires_at: string;
  allowed_addresses: string;
  max_connections: string;
  /** KiB per second. */
  rate_limit: string;
  /** GiB. */
  traffic_quota: string;
  quota_period: QuotaPeriod;
}

export function formOf(user: ProxyUserView | null): UserForm {
  return {
    name: user?.name ?? '',
    password: '',
    note: user?.note ?? '',
    enabled: user?.enabled ?? true,
    expires_at: toLocalField(user?.expires_at ?? null),
    allowed_addresses: user?.allowed_addresses.join('\n') ?? '',
    max_connections: String(user?.max_connections ?? ''),
    rate_limit: inUnits(user?.rate_limit ?? null, KIB),
    traffic_quota: inUnits(user?.traffic_quota ?? null, GIB),
    quota_period: user?.quota_period ?? 'total',
  };
}

/** What is no number goes as it is: the service says what is wrong with it. */
export function toBody(form: UserForm): Record<string, unknown> {
  return {
    name: form.name.trim(),
    ...(form.password !== '' && { password: form.password }),
    note: form.note.trim(),
    enabled: form.enabled,
    expires_at: fromLocalField(form.expires_at),
    allowed_addresses: splitWords(form.allowed_addresses),
    max_connections: toAmount(form.max_connections, 1),
    rate_limit: toAmount(form.rate_limit, KIB),
    traffic_quota: toAmount(form.traffic_quota, GIB),
    quota_period: form.quota_period,
  };
}

/** What of a form differs from the user: amounts in larger units, and times without seconds, must not round the others. */
export function userChanges(user: ProxyUserView, form: UserForm): Record<string, unknown> {
  const before = toBody(formOf(user));
  const entries = Object.entries(toBody(form));
  return Object.fromEntries(entries.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])));
}

function inUnits(bytes: number | null, unit: number): string {
  return bytes === null ? '' : String(Number((bytes / unit).toFixed(3)));
}

function toAmount(text: string, unit: number): number | string | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  return /^\d+(?:\.\d+)?$/.test(trimmed) ? Math.round(Number(trimmed) * unit) : trimmed;
}
