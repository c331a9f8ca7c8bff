import type { ProxyNodeType } from '../proxy-node.js';

export const NODE_SOURCES = ['manual', 'subscription'] as const;
export type NodeSource = (typeof NODE_SOURCES)[number];

/** Where a node's country comes from; `none` goes with a null country. */
export type CountrySource = 'manual' | 'exit_ip' | 'server_ip' | 'name' | 'none';

/** `external`: stored, listed and exported, and dialled only by an external kernel. */
export type KernelSupport = 'embedded' | 'external' | 'unsupported';

export interface NodeSourceView {
  subscription_id: number;
  /** What that subscription calls the node. */
  name: string;
}

/** One measurement of `delay_history`. */
export interface NodeDelayView {
  time: string;
  /** Null: it did not answer. */
  delay_ms: number | null;
}

/** What `sort` of `GET /proxies` may name; with a minus sign in front the order is turned around. */
export const NODE_SORT_FIELDS = ['id', 'name', 'delay', 'country'] as const;
export type NodeSortField = (typeof NODE_SORT_FIELDS)[number];

/** A node as the API shows it. Times RFC 3339 UTC; `null` is "not known". */
export interface NodeView {
  id: number;
  name: string;
  original_name: string;
  type: ProxyNodeType;
  source: NodeSource;
  /** First subscription that carries it. */
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
  /** The node as one JSON object; secrets read `***` for read-only credentials. */
  raw_config: string;
  /** Null where the type has no link form, and for read-only credentials. */
  share_link: string | null;
  /** Hex; what the node connects to, whatever its name. */
  fingerprint: string;
  enabled: boolean;
  kernel_support: KernelSupport;
  unsupported_reason: string | null;
  country: string | null;
  country_name: string | null;
  flag: string | null;
  country_source: CountrySource;
  tags: string[];
  /** Where the world sees its traffic come from, when that was asked last. */
  exit_ip: string | null;
  /** Number of the autonomous system of `exit_ip`. */
  exit_asn: number | null;
  /** What the last test with the general address said; null: never tested. */
  alive: boolean | null;
  delay_ms: number | null;
  /** The last ten, the newest last. */
  delay_history: NodeDelayView[];
  last_tested_at: string | null;
  last_error: { code: string; message: string } | null;
  /** Failed tests since the last success. */
  failure_count: number;
  /** Since when the kernel has been failing to connect through it. */
  circuit_open_since: string | null;
  /** 0 to 1, over all tests; null without any. */
  success_rate: number | null;
  /** Null while the kernel is down. May be a second old. */
  active_connections: number | null;
  /** Bytes ever carried. */
  upload_total: number;
  download_total: number;
  created_at: string;
  updated_at: string;
  first_seen_at: string;
  /** When a subscription that carries it was last read; null for a node that none carries. */
  last_seen_at: string | null;
}

/** `DELETE /proxies/{id}`. A node that a subscription carries too stays as the subscription's. */
export interface NodeDeletedResponse {
  id: number;
  deleted: true;
}
