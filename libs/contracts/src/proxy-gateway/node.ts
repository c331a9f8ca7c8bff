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
  created_at: string;
  updated_at: string;
  first_seen_at: string;
  /** When a subscription that carries it was last read; null for a node that none carries. */
  last_seen_at: string | null;
}
