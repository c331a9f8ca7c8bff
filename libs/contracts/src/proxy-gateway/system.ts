import type { GeoDatabaseView } from './geo.js';

export type KernelState = 'starting' | 'running' | 'reloading' | 'degraded' | 'stopped';

export interface KernelListenerView {
  name: string;
  type: string;
  address: string;
  port: number;
  state: 'listening' | 'failed';
  error: string | null;
}

export interface KernelStatusView {
  type: 'embedded' | 'mihomo';
  version: string;
  state: KernelState;
  pid: number | null;
  /** How often it was restarted since this service started. */
  restarts: number;
  generation: number;
  config_hash: string | null;
  last_reload_at: string | null;
  last_reload_ms: number | null;
  last_error: string | null;
  uptime_sec: number | null;
  rss_bytes: number | null;
  listeners: KernelListenerView[];
  /** Nodes that the configuration leaves out, with the reason; at most 100. */
  left_out: { node_id: number; name: string; reason: string }[];
  left_out_total: number;
}

/** `GET /system/geo` has the rest. */
export interface GeoSummary {
  auto_update: boolean;
  updating: boolean;
  next_update_at: string | null;
  databases: Pick<GeoDatabaseView, 'name' | 'status' | 'build_time' | 'updated_at'>[];
}

export interface SystemStatus {
  version: string;
  /** Null if the program was built without it. */
  commit: string | null;
  build_time: string | null;
  node_version: string;
  started_at: string;
  uptime_sec: number;
  hostname: string;
  os: string;
  arch: string;
  cpu: { percent: number; cores: number; load1: number; load5: number; load15: number };
  memory: { rss_bytes: number; heap_used_bytes: number; total_bytes: number; free_bytes: number };
  event_loop: { lag_p99_ms: number };
  disk: { free_bytes: number | null };
  kernel: KernelStatusView;
  /** Connections through the kernel; null while it is down. */
  connections: number | null;
  database: { ok: boolean; latency_ms: number | null; version: string | null };
  queue: { ok: boolean; waiting: number | null; active: number | null; failed: number | null };
  geo: GeoSummary;
  counts: { nodes: number; subscriptions: number; rules: number };
}

/** What one of several kernels did with a reload. */
export interface KernelReloadView {
  name: string;
  /** False: it cannot be reached. It keeps its last configuration and gets the newest one when it is back. */
  applied: boolean;
  generation: number | null;
}

export interface ReloadResult {
  ok: true;
  generation: number;
  previous_generation: number;
  config_hash: string;
  changed: { nodes: number; groups: number; rules: number; listeners: number };
  dropped_connections: number;
  duration_ms: number;
  warnings: string[];
  /** With several kernels: which of them have the configuration. The fields above are of the first one. */
  kernels?: KernelReloadView[];
}
