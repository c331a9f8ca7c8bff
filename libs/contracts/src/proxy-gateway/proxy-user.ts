import type { DashboardSeriesPoint } from './dashboard.js';
import type { Page } from './page.js';

/** When the traffic of a quota starts again: never, each day or each month (UTC). */
export const QUOTA_PERIODS = ['total', 'day', 'month'] as const;
export type QuotaPeriod = (typeof QUOTA_PERIODS)[number];

/**
 * Whether the user can use the proxy. `used_up`: its traffic, until the next period. `not_in_mihomo`: mihomo runs, which
 * could not hold the limits of this user.
 */
export const PROXY_USER_STATUSES = ['active', 'disabled', 'expired', 'used_up', 'not_in_mihomo'] as const;
export type ProxyUserStatus = (typeof PROXY_USER_STATUSES)[number];

/** A user of the proxy's ports. */
export interface ProxyUserView {
  id: number;
  name: string;
  /** Null for callers that may only read, and if it does not open with the secret key. */
  password: string | null;
  enabled: boolean;
  status: ProxyUserStatus;
  note: string;
  /** Null: it never expires. */
  expires_at: string | null;
  /** Addresses and networks that the user may connect from; empty: all. */
  allowed_addresses: string[];
  /** At the same time; null: no limit of its own. */
  max_connections: number | null;
  /** Bytes per second, both directions of all connections together; null: no limit. */
  rate_limit: number | null;
  /** Bytes in a period, both directions together; null: no limit. */
  traffic_quota: number | null;
  quota_period: QuotaPeriod;
  /** Since when `period_traffic` is counted. */
  period_start: string;
  /** Bytes, both directions together. */
  period_traffic: number;
  /** Bytes since the user was created. */
  upload_total: number;
  download_total: number;
  /** Written with the traffic, a few seconds later. */
  last_used_at: string | null;
  /** Open now; null while no kernel answers, like the speeds. */
  connections: number | null;
  /** Bytes per second. */
  upload_speed: number | null;
  download_speed: number | null;
  created_at: string;
  updated_at: string;
}

/** `GET /proxy-users`. */
export type ProxyUserPage = Page<ProxyUserView>;

/** `DELETE /proxy-users/{id}`. */
export interface ProxyUserDeleted {
  id: number;
  deleted: true;
}

/** `GET /proxy-users/{id}/traffic`. */
export interface ProxyUserTraffic {
  period: { from: string; to: string };
  /** Connections that began, and those of them that failed. */
  requests: number;
  errors: number;
  upload: number;
  download: number;
  /** One point for each hour. */
  series: DashboardSeriesPoint[];
}
