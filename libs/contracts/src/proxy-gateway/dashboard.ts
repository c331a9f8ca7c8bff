import type { KernelState } from './system.js';
/** A page of one of the lists. `total` counts all entries. */
export interface DashboardPage<T> {
  items: T[];
  total: number;
  limit: number;
  offset: number;
}

export interface DashboardSeriesPoint {
  /** Start of the interval. */
  t: string;
  /** Bytes in that interval. */
  up: number;
  down: number;
}

export interface DashboardTraffic {
  /** Bytes per second over the last second. */
  upload_speed: number;
  download_speed: number;
  /** Total bytes, across restarts. */
  upload_total: number;
  download_total: number;
  /** One point per hour over `period`, including hours without traffic. */
  series: DashboardSeriesPoint[];
  /** The last 60 minutes, one point per minute, since this process started. */
  minutes: DashboardSeriesPoint[];
  /** The last 60 seconds, one point per second. */
  seconds: DashboardSeriesPoint[];
}

export interface DashboardNodeCounts {
  total: number;
  enabled: number;
  alive: number;
  dead: number;
  untested: number;
  unsupported: number;
  by_type: Record<string, number>;
  /** The number of different countries of nodes. */
  countries: number;
}

export interface LiveDomain {
  domain: string;
  connections: number;
  upload: number;
  download: number;
  upload_speed: number;
  download_speed: number;
  node_count: number;
}

export interface LiveNode {
  /** Null for a built-in such as DIRECT. */
  node_id: number | null;
  name: string;
  country: string | null;
  connections: number;
  upload: number;
  download: number;
  upload_speed: number;
  download_speed: number;
}

/** A user of the proxy with open connections. */
export interface LiveUser {
  user: string;
  connections: number;
  upload: number;
  download: number;
  upload_speed: number;
  download_speed: number;
  node_count: number;
}

/** The traffic of one user of the proxy in the period, including open flows. */
export interface PeriodUser {
  user: string;
  requests: number;
  errors: number;
  upload: number;
  download: number;
  last_seen_at: string;
}

/** Finished flows to one domain or address in the period. */
export interface PeriodDomain {
  domain: string;
  requests: number;
  errors: number;
  upload: number;
  download: number;
  last_seen_at: string;
}

/** The traffic of one node in the period, including open flows. */
export interface PeriodNode {
  /** Null for a built-in such as DIRECT. */
  node_id: number | null;
  name: string;
  country: string | null;
  requests: number;
  errors: number;
  /** 0 to 1; null without requests. */
  success_rate: number | null;
  avg_delay_ms: number | null;
  upload: number;
  download: number;
}

/** `GET /dashboard`. */
export interface DashboardResponse {
  generated_at: string;
  traffic: DashboardTraffic;
  connections: { active: number; opened_total: number; failed_total: number };
  nodes: DashboardNodeCounts;
  subscriptions: { total: number; enabled: number; failing: number; expiring_soon: number };
  rules: { total: number; manual: number; hits: number };
  kernel: { state: KernelState; version: string | null; uptime_sec: number | null; memory_bytes: number | null };
  live_domains: DashboardPage<LiveDomain>;
  live_nodes: DashboardPage<LiveNode>;
  period: { from: string; to: string };
  period_domains: DashboardPage<PeriodDomain>;
  period_nodes: DashboardPage<PeriodNode>;
  live_users: DashboardPage<LiveUser>;
  period_users: DashboardPage<PeriodUser>;
}
