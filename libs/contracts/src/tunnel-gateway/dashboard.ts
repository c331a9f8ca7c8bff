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
    | 'country_rules_without_database'
    | 'asn_rules_without_database'
    | 'list_rules_without_list';
  /** A sentence for people. */
  message: string;
  /** The resource that it concerns; null: the gateway itself. */
  resource: DashboardResource | null;
  /**
   * Null if unknown.
   * @format date-time
   */
  since: string | null;
}

export interface DashboardResource {
  kind: string;
  /** @asType integer */
  id: number;
}

/** Numbers of resources that the caller may see. */
export interface DashboardTotals {
  /** Null unless the caller is an administrator. */
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
     * Tunnels whose agent is not connected.
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
   * Total bytes from visitors.
   * @asType integer
   */
  inlet_bytes: number;
  /**
   * Total bytes to visitors.
   * @asType integer
   */
  export_bytes: number;
}

/** Current activity. */
export interface DashboardLive {
  /**
   * Open connections of visitors; null: the data plane does not answer.
   */
  connections: number | null;
  /** Averages over the last seconds. */
  inlet_bytes_per_second: number;
  export_bytes_per_second: number;
  new_connections_per_second: number;
  /**
   * The number of seconds over which the rates are averaged.
   * @asType integer
   */
  window_seconds: number;
}

/** A resource with the most traffic today and yesterday (UTC). */
export interface TopResource {
  /** @asType integer */
  id: number;
  /** @asType integer */
  client_id: number;
  /** For a tunnel its name, or mode and port; for a host its name and location. */
  name: string;
  /** @asType integer */
  inlet_bytes: number;
  /** @asType integer */
  export_bytes: number;
  /** @asType integer */
  connections: number;
}

/** An address with the most visits to all resources that the caller may see. */
export interface TopVisitor {
  ip: string;
  /** @asType integer */
  hit_count: number;
  /** @format date-time */
  last_seen_at: string | null;
}

/** One point per interval, with zeros for intervals without traffic. */
export interface DashboardSeries {
  /** The last day. */
  minute: FlowPoint[];
  /** The last month. */
  hour: FlowPoint[];
  /** The last year. */
  day: FlowPoint[];
}

/** An overview of everything that the caller may see. */
export interface TunnelDashboard {
  totals: DashboardTotals;
  live: DashboardLive;
  top_tunnels: TopResource[];
  top_hosts: TopResource[];
  top_visitors: TopVisitor[];
  series: DashboardSeries;
  /** Newest first. */
  recent_events: EventView[];
  warnings: TunnelWarning[];
  /** @format date-time */
  generated_at: string;
}
