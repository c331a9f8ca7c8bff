import type { DashboardNodeCounts, DashboardResponse } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** A quota that ends within this many days counts as expiring. */
const EXPIRING_DAYS = 7;

type NodeCounts = Omit<DashboardNodeCounts, 'by_type' | 'unsupported'>;

/** Counts nodes, subscriptions, groups and rules. */
@Injectable()
export class Inventory {
  constructor(private readonly dataSource: DataSource) {}

  /** @param unsupported enabled nodes that the kernel cannot dial, as of the configuration it applied last. */
  async nodes(unsupported: number): Promise<DashboardNodeCounts> {
    const [[counts], types]: [NodeCounts[], { type: string; total: number }[]] = await Promise.all([
      this.dataSource.query(
        `SELECT count(*) AS total, count(*) FILTER (WHERE node.enabled) AS enabled,
           count(*) FILTER (WHERE health.alive) AS alive, count(*) FILTER (WHERE NOT health.alive) AS dead,
           count(*) FILTER (WHERE health.alive IS NULL) AS untested, count(DISTINCT node.country) AS countries
         FROM nodes node LEFT JOIN node_health health ON health.node_id = node.id AND health.test_url = ''`,
      ),
      this.dataSource.query('SELECT type, count(*) AS total FROM nodes GROUP BY type ORDER BY total DESC, type'),
    ]);
    const nothing = { total: 0, enabled: 0, alive: 0, dead: 0, untested: 0, countries: 0 };
    const { countries, ...rest } = counts ?? nothing;
    return { ...rest, unsupported, by_type: Object.fromEntries(types.map((row) => [row.type, row.total])), countries };
  }

  async subscriptions(now: number): Promise<DashboardResponse['subscriptions']> {
    const [counts]: DashboardResponse['subscriptions'][] = await this.dataSource.query(
      `SELECT count(*) AS total, count(*) FILTER (WHERE enabled) AS enabled,
         count(*) FILTER (WHERE enabled AND status = 'error') AS failing,
         count(*) FILTER (WHERE traffic ->> 'expire_at' BETWEEN $1 AND $2) AS expiring_soon FROM subscriptions`,
      // RFC 3339 times in UTC can be compared as text.
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
