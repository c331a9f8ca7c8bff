import type { ConnectionView } from './connection.js';

export type TrafficLogStatus = 'ok' | 'failed' | 'rejected';

/** A finished flow. Null means unknown. */
export interface TrafficLogView {
  id: number;
  started_at: string;
  ended_at: string;
  duration_ms: number;
  client_ip: string;
  client_port: number;
  inbound: string;
  inbound_user: string | null;
  network: ConnectionView['network'];
  /** HTTP method; null for tunnels. */
  method: string | null;
  host: string | null;
  target_port: number;
  destination_ip: string | null;
  /** Plain HTTP only, without its query. */
  url: string | null;
  rule_id: number | null;
  rule_type: string | null;
  rule_payload: string | null;
  chains: string[];
  node_id: number | null;
  node_name: string | null;
  node_country: string | null;
  exit_ip: string | null;
  /** Payload bytes. */
  upload: number;
  download: number;
  status: TrafficLogStatus;
  http_status: number | null;
  error_stage: string | null;
  error_kind: string | null;
  error_errno: string | null;
  error_message: string | null;
  close_reason: string | null;
  /** The name of the kernel that had it; null while there was only one. */
  kernel: string | null;
}

/** `GET /traffic-logs`, newest first. */
export interface TrafficLogListResponse {
  items: TrafficLogView[];
  /**
   * The number of matching rows. With a keyword the count stops at 10 000, or after the newest 100 000 rows; see
   * `total_exact`.
   */
  total: number;
  /** False: there are at least `total` matching rows. */
  total_exact: boolean;
  limit: number;
  offset: number;
  /** Pass as `cursor` for the following rows, at the same cost at any depth; null on the last page. */
  next_cursor: string | null;
}
