import type { QuotaPeriod } from '../proxy-gateway/proxy-user.js';

/** How much traffic something may have, and what it has had. */
export interface TrafficQuotaView {
  /**
   * Bytes in both directions together, until which its visitors are served; 0: no quota.
   * @asType integer
   */
  traffic_quota: number;
  /** When the count begins again, at 00:00 UTC. */
  quota_period: QuotaPeriod;
  /**
   * Bytes that count for the quota.
   * @asType integer
   */
  period_traffic: number;
  /** Visitors are cut off and refused. */
  quota_used_up: boolean;
  /**
   * When the count begins again; null: never.
   * @format date-time
   */
  quota_resets_at: string | null;
}
