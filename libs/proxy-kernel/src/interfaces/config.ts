/**
 * What a kernel is told to be: one immutable value, applied whole or not at all.
 *
 * Tags are the kernel's own names: a node is `n<id>`, a group is its name, and `DIRECT`, `REJECT`, `REJECT-DROP` and
 * `PASS` are built in. Labels that people give never reach the kernel as names, so two nodes may share one.
 */
import type { ProxyNode } from '@gatehouse/contracts';

export type KernelMode = 'rule' | 'global' | 'direct';

export interface ListenerConfig {
  /** Shown as `inbound_name`; unique. */
  name: string;
  type: 'mixed' | 'http' | 'socks';
  /** Address to bind, e.g. `127.0.0.1`. */
  address: string;
  /** 0 lets the system choose. */
  port: number;
  /** Absent or empty: open to whoever reaches the address. */
  users?: { username: string; password: string }[];
}

export interface OutboundConfig {
  tag: string;
  node: ProxyNode;
}

export interface GroupConfig {
  name: string;
  /** Later: `url-test`, `fallback`, `load-balance`. */
  type: 'select';
  /** Tags of outbounds, groups or built-ins, in order of preference. Empty: the group rejects. */
  members: string[];
  /** Tag of the chosen member. Absent or no longer a member: the first. */
  selected?: string;
}

export type RuleType =
  | 'DOMAIN'
  | 'DOMAIN-SUFFIX'
  | 'DOMAIN-KEYWORD'
  | 'DOMAIN-WILDCARD'
  | 'DOMAIN-REGEX'
  | 'IP-CIDR'
  | 'IP-CIDR6'
  | 'GEOIP'
  | 'DST-PORT'
  | 'NETWORK'
  | 'MATCH';

export interface RuleConfig {
  /** Database id; null for the system's own. */
  id: number | null;
  source: 'manual' | 'subscription' | 'system' | 'ruleset';
  type: RuleType;
  /** What follows the type in Clash syntax: `example.com`, `10.0.0.0/8`, `80/443/8000-9000`, `CN`, `udp`. Empty for MATCH. */
  payload: string;
  /** Tag of a group, an outbound or a built-in. A rule whose target does not exist is skipped. */
  target: string;
  /** IP rules only: do not resolve a domain for this rule's sake. */
  noResolve?: boolean;
  /** IP rules only: match the client's address instead of the target's. */
  src?: boolean;
}

/** When a client asks for an address on one of `ports`, its first bytes are looked at for a host name to route by. */
export interface SniffingConfig {
  ports: number[];
  /** How long to wait for the first bytes. The client has its answer by then: it cannot be told of a failed dial. */
  timeoutMs: number;
}

export interface KernelConfig {
  /** Absent: ports 80 and 443, 100 ms. */
  sniffing?: SniffingConfig | false;
  mode: KernelMode;
  listeners: ListenerConfig[];
  outbounds: OutboundConfig[];
  groups: GroupConfig[];
  /** First match wins, in this order. */
  rules: RuleConfig[];
  /** Tag that takes what no rule matched (and everything in `global` mode). */
  defaultPolicy: string;
}
