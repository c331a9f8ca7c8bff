import type { EventView } from './event.js';
import type { FlowPoint } from './traffic.js';

/** A problem that needs attention. */
export interface TunnelWarning {
  code:
    | 'certificate_expiring'
    | 'certificate_expired'
    | 'certificate_failed'
    | 'client_expiring'
    | 'client_expired'
    | 'tunnel_failed'
    | 'tunnel_open_proxy'
    | 'webhook_failing'
    | 'edge_unavailable'
    | 'country_rules_without_database';
  /** For people. */
  message: string;
  /** What it is about; null: the gateway itself. */
  resource: DashboardResource | null;
  /**
   * Null: unknown.
   * @format date-time
   */
  since: string | null;
}

export interface DashboardResource {
  kind: string;
  /** @asType integer */
  id: number;
}

/** How many there are that the caller may see. */
export interface DashboardTotals {
  /** Null: the caller is not an administrator. */
  users: number | null;
  clients: {
    /** @asType integer */
    total: number;
    /** @asType integer */
    enabled: number;
    /** Null: the data plane does not answer. */
    online: number | null;
  };
  tunnels: {
    /** @asType integer */
    total: number;
    /** @asType integer */
    running: number;
    /**
     * The agent is not connected.
     * @asType integer
     */
    waiting: number;
    /** @asType integer */
    failed: number;
    /** @asType integer */
    stopped: number;
  };
  hosts: {
    /** @asType integer */
    total: number;
    /** @asType integer */
    enabled: number;
  };
  /**
   * Bytes from visitors, ever.
   * @asType integer
   */
  inlet_bytes: number;
  /**
   * Bytes to visitors, ever.
   * @asType integer
   */
  export_bytes: number;
}

/** What happens right now. */
export interface DashboardLive {
  /**
   * Of visitors; null: the data plane does not answer.
   */
  connections: number | null;
  /** The mean of the last seconds. */
  inlet_bytes_per_second: number;
  export_bytes_per_second: number;
  new_connections_per_second: number;
  /**
   * The number of seconds over which the rates are averaged.
   * @asType integer
   */
  window_seconds: number;
}

/** What carried most today and yesterday (UTC). */
export interface TopResource {
  /** @asType integer */
  id: number;
  /** @asType integer */
  client_id: number;
  /** Of a tunnel its name, or mode and port; of a host its name and location. */
  name: string;
  /** @asType integer */
  inlet_bytes: number;
  /** @asType integer */
  export_bytes: number;
  /** @asType integer */
  connections: number;
}

/** Who came most often, to all that the caller may see together. */
export interface TopVisitor {
  ip: string;
  /** @asType integer */
  hit_count: number;
  /** @format date-time */
  last_seen_at: string | null;
}

/** Without gaps: where nothing was carried there are zeros. */
export interface DashboardSeries {
  /** The last day. */
  minute: FlowPoint[];
  /** The last month. */
  hour: FlowPoint[];
  /** The last year. */
  day: FlowPoint[];
}

/** All that the caller may see, at a glance. */
export interface TunnelDashboard {
  totals: DashboardTotals;
  live: DashboardLive;
  top_tunnels: TopResource[];
  top_hosts: TopResource[];
  top_visitors: TopVisitor[];
  series: DashboardSeries;
  /** The newest first. */
  recent_events: EventView[];
  warnings: TunnelWarning[];
  /** @format date-time */
  generated_at: string;
}
