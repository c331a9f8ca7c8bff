import type { CursorPage } from './cursor-page.js';
import type { TrafficQuotaView } from './traffic-quota.js';

export type TunnelModeName = 'tcp' | 'udp' | 'http_proxy' | 'socks5' | 'mix_proxy' | 'secret' | 'p2p' | 'file';

/** A port that leads to a client's targets. */
export interface TunnelView extends TrafficQuotaView {
  /** @asType integer */
  id: number;
  /** @asType integer */
  client_id: number;
  name: string | null;
  mode: TunnelModeName;
  listen_ip: string;
  /**
   * The first port of a range. 0 in modes without a port.
   * @asType integer
   */
  listen_port: number;
  /**
   * How many ports it has, from `listen_port` on; 1: no range.
   * @asType integer
   */
  port_count: number;
  target_addr: string;
  /** The state that its owner chose: 1 enabled, 0 disabled. */
  status: 0 | 1;
  /** The actual state: 0 stopped, 1 running, 2 waiting for the agent, 3 failed. */
  run_status: 0 | 1 | 2 | 3;
  /** Why the tunnel failed. */
  error: string | null;
  /** Version of the PROXY protocol header that targets receive; 0: none. */
  proxy_protocol: 0 | 1 | 2;
  /** Whether visitors come through a proxy that sends a PROXY protocol header with their addresses. */
  accept_proxy_protocol: boolean;
  /**
   * KiB per second, for both directions together, beside the limit of its client; 0: no limit of its own.
   * @asType integer
   */
  rate_limit: number;
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

export interface NewTunnelView extends TunnelView {
  /** The key for visitors of a `secret` or `p2p` tunnel; shown once, null in other modes. */
  visitor_key: string | null;
}

export type TunnelPage = CursorPage<TunnelView>;
