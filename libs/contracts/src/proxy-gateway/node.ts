import type { ProxyNodeType } from '../proxy-node.js';

export const NODE_SOURCES = ['manual', 'subscription'] as const;
export type NodeSource = (typeof NODE_SOURCES)[number];

/** The source of a node's country; `none` goes with a null country. */
export type CountrySource = 'manual' | 'exit_ip' | 'server_ip' | 'name' | 'none';

/** `external`: stored, listed and exported, but only dialled by an external kernel. */
export type KernelSupport = 'embedded' | 'external' | 'unsupported';

export interface NodeSourceView {
  subscription_id: number;
  /** The node's name in that subscription. */
  name: string;
}

/** An entry of `delay_history`. */
export interface NodeDelayView {
  time: string;
  /** Null: no answer. */
  delay_ms: number | null;
}

/** Values of `sort` in `GET /proxies`; a leading minus sign reverses the order. */
export const NODE_SORT_FIELDS = ['id', 'name', 'delay', 'country', 'type', 'subscription', 'status'] as const;
export type NodeSortField = (typeof NODE_SORT_FIELDS)[number];

/** A node as the API shows it. Times are RFC 3339 in UTC; null means unknown. */
export interface NodeView {
  id: number;
  name: string;
  original_name: string;
  type: ProxyNodeType;
  source: NodeSource;
  /** The first subscription that contains it. */
  subscription_id: number | null;
  subscription_name: string | null;
  sources: NodeSourceView[];
  server: string;
  port: number;
  /** `tcp`, `ws`, `grpc`, `h2`, `httpupgrade`, `xhttp`, `quic`, `kcp`. */
  network: string;
  tls: 'none' | 'tls' | 'reality';
  udp: boolean;
  sni: string | null;
  cipher: string | null;
  /** The node as a JSON object; secrets are `***` for read-only credentials. */
  raw_config: string;
  /** Null for types without links, and for read-only credentials. */
  share_link: string | null;
  /** In hex; identifies what the node connects to, independently of its name. */
  fingerprint: string;
  enabled: boolean;
  kernel_support: KernelSupport;
  unsupported_reason: string | null;
  country: string | null;
  country_name: string | null;
  flag: string | null;
  country_source: CountrySource;
  tags: string[];
  /** The address that destinations saw at the last lookup. */
  exit_ip: string | null;
  /** Number of the autonomous system of `exit_ip`. */
  exit_asn: number | null;
  /** Result of the last test with the general address; null: never tested. */
  alive: boolean | null;
  delay_ms: number | null;
  /** The last ten results; the newest is last. */
  delay_history: NodeDelayView[];
  last_tested_at: string | null;
  last_error: { code: string; message: string } | null;
  /** Failed tests since the last success. */
  failure_count: number;
  /** Since when the kernel has failed to connect through the node. */
  circuit_open_since: string | null;
  /** 0 to 1, over all tests; null without any. */
  success_rate: number | null;
  /** Null while the kernel is down. Up to a second old. */
  active_connections: number | null;
  /** Total bytes. */
  upload_total: number;
  download_total: number;
  created_at: string;
  updated_at: string;
  first_seen_at: string;
  /** The last refresh of a subscription that contains it; null if none does. */
  last_seen_at: string | null;
}

/** `DELETE /proxies/{id}`. A node that a subscription contains as well stays as that subscription's node. */
export interface NodeDeletedResponse {
  id: number;
  deleted: true;
}
