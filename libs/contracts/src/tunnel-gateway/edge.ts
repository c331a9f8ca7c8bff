/**
 * `starting`: its ports are not open yet. `draining`: nobody new is accepted, and connections end. `drained`: as
 * `draining`, with agents gone, until it is let serve again.
 */
export type TunnelEdgeState = 'starting' | 'serving' | 'draining' | 'drained';

/** A process of an edge: the only one, or a worker. */
export interface TunnelEdgeProcess {
  /** @format uuid */
  id: string;
  /**
   * Which worker of the edge it is, from 0.
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
   * Of visitors.
   * @asType integer
   */
  connections: number;
  /** How busy its event loop is, from 0 to 1. */
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
   * The same after a restart.
   * @format uuid
   */
  id: string;
  name: string;
  version: string;
  state: TunnelEdgeState;
  /** Whether an administrator has it drained. */
  drain: boolean;
  /** Null: `TUNNEL_EDGE_PUBLIC_HOST` is not set there. */
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
   * Of visitors.
   * @asType integer
   */
  connections: number;
  /** How busy its busiest process is, from 0 to 1. */
  load: number;
  /** @format date-time */
  started_at: string;
  processes: TunnelEdgeProcess[];
}

/** All edges whose lease is valid, as of their last renewal, at most a few seconds ago. */
export interface TunnelEdgeList {
  /**
   * The newest revision of the configuration: each change of clients, tunnels, hosts, rules or policies has one.
   * @asType integer
   */
  revision: number;
  items: TunnelEdgeView[];
}
