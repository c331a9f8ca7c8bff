/**
 * `starting`: its ports are not open yet. `draining`: it accepts nobody new, and its connections end. `drained`: as
 * `draining`, but its agents have left; it stays so until an administrator resumes it.
 */
export type TunnelEdgeState = 'starting' | 'serving' | 'draining' | 'drained';

/** A process of an edge: the only one, or a worker. */
export interface TunnelEdgeProcess {
  /** @format uuid */
  id: string;
  /**
   * Number of the worker, from 0.
   * @asType integer
   */
  worker: number;
  /** @asType integer */
  pid: number;
  state: TunnelEdgeState;
  /** @format date-time */
  started_at: string;
  /**
   * Revision of the configuration in force.
   * @asType integer
   */
  revision: number;
  /** @asType integer */
  agents: number;
  /**
   * Open connections of visitors.
   * @asType integer
   */
  connections: number;
  /** Load of its event loop, from 0 to 1. */
  load: number;
}

/** Where agents and visitors reach one edge in particular, `host:port`. */
export interface TunnelEdgeAddresses {
  agents: string;
  http: string;
  https: string;
}

/** A data plane that shares the database of this gateway. */
export interface TunnelEdgeView {
  /**
   * It stays the same after a restart.
   * @format uuid
   */
  id: string;
  name: string;
  version: string;
  state: TunnelEdgeState;
  /** Whether an administrator drained it. */
  drain: boolean;
  /** Null if `TUNNEL_EDGE_PUBLIC_HOST` is not set there. */
  public_addresses: TunnelEdgeAddresses | null;
  /**
   * Revision of the configuration that all its processes have in force.
   * @asType integer
   */
  revision: number;
  /** Whether that is the newest revision. */
  up_to_date: boolean;
  /** @asType integer */
  agents: number;
  /**
   * Open connections of visitors.
   * @asType integer
   */
  connections: number;
  /** Load of its busiest process, from 0 to 1. */
  load: number;
  /** @format date-time */
  started_at: string;
  processes: TunnelEdgeProcess[];
}

/** All edges whose lease is valid, as they reported a few seconds ago at most. */
export interface TunnelEdgeList {
  /**
   * The newest revision of the configuration. Each change of clients, tunnels, hosts, rules or policies makes a new one.
   * @asType integer
   */
  revision: number;
  items: TunnelEdgeView[];
}
