import type { DashboardNodeCounts, DashboardResponse } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** A quota that ends within this time is about to. */
const EXPIRING_DAYS = 7;

/** Counts what there is. */
@Injectable()
export class Inventory {
  constructor(private readonly dataSource: DataSource) {}

  async nodes(): Promise<DashboardNodeCounts> {
    const [counts]: { total: number; enabled: number; countries: number }[] = await this.dataSource.query(
      `SELECT count(*) AS total, count(*) FILTER (WHERE enabled) AS enabled,
         count(DISTINCT country) AS countries FROM nodes`,
    );
    const types: { type: string; total: number }[] = await this.dataSource.query(
      'SELECT type, count(*) AS total FROM nodes GROUP BY type ORDER BY total DESC, type',
    );
    const { total = 0, enabled = 0, countries = 0 } = counts ?? {};
    const byType = Object.fromEntries(types.map((row) => [row.type, row.total]));
    // Nodes are not tested yet: none is known to be alive or dead.
    return { total, enabled, alive: 0, dead: 0, untested: total, unsupported: 0, by_type: byType, countries };
  }

  async subscriptions(now: number): Promise<DashboardResponse['subscriptions']> {
    const [counts]: DashboardResponse['subscriptions'][] = await this.dataSource.query(
      `SELECT count(*) AS total, count(*) FILTER (WHERE enabled) AS enabled,
         count(*) FILTER (WHERE enabled AND status = 'error') AS failing,
         count(*) FILTER (WHERE traffic ->> 'expire_at' BETWEEN $1 AND $2) AS expiring_soon FROM subscriptions`,
      // RFC 3339 in UTC compares as text.
      [new Date(now).toISOString(), new Date(now + EXPIRING_DAYS * 86_400_000).toISOString()],
    );
    return counts ?? { total: 0, enabled: 0, failing: 0, expiring_soon: 0 };
  }

  async rules(): Promise<DashboardResponse['rules']> {
    const [counts]: DashboardResponse['rules'][] = await this.dataSource.query(
      `SELECT count(*) AS total, count(*) FILTER (WHERE source = 'manual') AS manual,
         coalesce(sum(hit_count), 0)::bigint AS hits FROM rules`,
    );
    return counts ?? { total: 0, manual: 0, hits: 0 };
  }
}
