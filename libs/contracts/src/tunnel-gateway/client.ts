import type { CursorPage } from './cursor-page.js';
import type { TrafficQuotaView } from './traffic-quota.js';

/** An agent that is connected. */
export interface AgentView {
  /** The name of the edge that it is connected to; null: there is only one. */
  edge: string | null;
  address: string;
  /** Name and version of the agent. */
  software: string;
  /** @format date-time */
  connected_at: string;
  /** Round-trip time of the last heartbeat; null before the first. */
  round_trip_ms: number | null;
  /** Whether it authenticated with the previous key. */
  uses_previous_key: boolean;
}

/** A machine, or part of one, whose services an agent makes reachable. */
export interface TunnelClientView extends TrafficQuotaView {
  /** @asType integer */
  id: number;
  name: string;
  /** @asType integer */
  owner_user_id: number;
  /**
   * KiB per second, for both directions and all tunnels and hosts together; 0: no limit.
   * @asType integer
   */
  rate_limit: number;
  /** @asType integer */
  rate_limit_bytes_per_second: number;
  /**
   * Maximum number of simultaneous connections; 0: no limit.
   * @asType integer
   */
  max_conn: number;
  /**
   * After this time the client counts as disabled.
   * @format date-time
   */
  expire_at: string | null;
  expired: boolean;
  /** 1 enabled, 0 disabled. */
  status: 0 | 1;
  /** Whether data channels between gateway and agent are encrypted. */
  encrypt: boolean;
  /**
   * The previous key is accepted until this time; null: only the current key is accepted.
   * @format date-time
   */
  previous_key_until: string | null;
  /** Null: the data plane does not answer, or one of several edges does not. */
  online: boolean | null;
  /** The agent that connected last. */
  agent: AgentView | null;
  /** All connected agents at all edges, newest first. */
  agents: AgentView[];
  /**
   * Bytes from visitors.
   * @asType integer
   */
  inlet_flow: number;
  /**
   * Bytes to visitors.
   * @asType integer
   */
  export_flow: number;
  /** @format date-time */
  created_at: string | null;
  /** @format date-time */
  updated_at: string | null;
}

/** The key of an agent; shown once. */
export interface ClientKeyView {
  key: string;
  /** The command that starts the agent. */
  command: string;
}

export interface RotatedClientKeyView extends ClientKeyView {
  /**
   * The old key is accepted until this time; null: it stopped working at once.
   * @format date-time
   */
  previous_key_until: string | null;
}

export interface NewTunnelClientView extends TunnelClientView, ClientKeyView {}

export type TunnelClientPage = CursorPage<TunnelClientView>;

/** A connected visitor. */
export interface TunnelConnectionView {
  /** The name of the edge that the visitor is connected to; null: there is only one. */
  edge: string | null;
  resource_type: 'tunnel' | 'host';
  /** @asType integer */
  resource_id: number;
  visitor_ip: string;
  /** @asType integer */
  visitor_port: number;
  /** @format date-time */
  started_at: string;
  /** @asType integer */
  inlet_bytes: number;
  /** @asType integer */
  export_bytes: number;
}

export interface TunnelConnectionList {
  items: TunnelConnectionView[];
  /**
   * The number of all connections of the client, including those that are not listed.
   * @asType integer
   */
  total: number;
  /** Names of edges that did not answer; their connections are missing. */
  silent_edges: string[];
}
