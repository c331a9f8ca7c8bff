import type { CountrySource } from './node.js';

/** A country in `GET /countries`. The row for nodes without a known country has a null code and comes last. */
export interface CountryView {
  code: string | null;
  name: string;
  flag: string | null;
  node_count: number;
  enabled_count: number;
  alive_count: number;
  untested_count: number;
  manual_count: number;
  subscription_count: number;
  /** Over its living nodes. */
  avg_delay_ms: number | null;
  min_delay_ms: number | null;
  best_node: { id: number; name: string; delay_ms: number } | null;
  /** Total bytes of its nodes. */
  upload_total: number;
  download_total: number;
}

/** `POST /proxies/rebuild-countries`. */
export interface CountryRebuildResult {
  total: number;
  /** Nodes whose country changed. */
  changed: number;
  unchanged: number;
  /** Nodes without a country after the run. */
  unknown: number;
  by_source: Record<Exclude<CountrySource, 'none'>, number>;
  duration_ms: number;
  job_id: string;
}
