import type { CountryView, ItemList } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { countryName, flagOf } from '../data/country-names.js';

type Row = Omit<CountryView, 'name' | 'flag' | 'best_node'> & {
  best_id: number | null;
};

/** The best node is the fastest one that is enabled and alive. */
const SELECT = `
  SELECT node.country AS code, count(*) AS node_count,
    count(*) FILTER (WHERE node.enabled) AS enabled_count,
    count(*) FILTER (WHERE health.alive) AS alive_count,
    count(*) FILTER (WHERE health.alive IS NULL) AS untested_count,
    count(*) FILTER (WHERE node.source = 'manual') AS manual_count,
    count(*) FILTER (WHERE node.source = 'subscription') AS subscription_count,
    round(avg(health.delay_ms) FILTER (WHERE health.alive))::integer AS avg_delay_ms,
    min(health.delay_ms) FILTER (WHERE health.alive) AS min_delay_ms,
    (array_agg(node.id ORDER BY health.delay_ms, node.id) FILTER (WHERE health.alive AND node.enabled))[1] AS best_id,
    coalesce(sum(total.upload), 0)::bigint AS upload_total, coalesce(sum(total.download), 0)::bigint AS download_total
  FROM nodes node
  LEFT JOIN node_health health ON health.node_id = node.id AND health.test_url = ''
  LEFT JOIN traffic_totals total ON total.outbound = 'n' || node.id
  GROUP BY node.country
  ORDER BY node.country IS NULL, count(*) DESC, node.country`;

/** Counts nodes by country. Countries with the most nodes come first, nodes without a known country last. */
@Injectable()
export class CountriesQuery {
  constructor(private readonly dataSource: DataSource) {}

  async list(): Promise<ItemList<CountryView>> {
    const rows: Row[] = await this.dataSource.query(SELECT);
    const ids = rows.flatMap(({ best_id }) => (best_id === null ? [] : [best_id]));
    const best: { id: number; name: string; delay_ms: number }[] = await this.dataSource.query(
      `SELECT node.id, coalesce(node.custom_name, node.original_name) AS name, health.delay_ms
       FROM nodes node JOIN node_health health ON health.node_id = node.id AND health.test_url = ''
       WHERE node.id = ANY($1::bigint[])`,
      [ids],
    );
    const byId = new Map(best.map((node) => [node.id, node]));
    const items = rows.map(({ best_id, code, ...counts }) => ({
      code,
      name: code === null ? 'Unknown' : (countryName(code) ?? code),
      flag: code === null ? null : flagOf(code),
      ...counts,
      best_node: best_id === null ? null : (byId.get(best_id) ?? null),
    }));
    return { items, total: items.length };
  }
}
