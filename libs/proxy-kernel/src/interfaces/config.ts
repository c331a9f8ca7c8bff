/**
 * A kernel's configuration: one immutable value, applied as a whole or not at all.
 * Tags are the kernel's own names: a node is `n<id>`, a group is its name, and `DIRECT`, `REJECT`, `REJECT-DROP` and
 * `PASS` are built in. Two nodes may have the same name, so names identify nothing here.
 */
import type { ProxyNode } from '@gatehouse/contracts';

export type KernelMode = 'rule' | 'global' | 'direct';

export interface ProxyUserConfig {
  username: string;
  password: string;
  /** Absent: none. */
  limits?: UserLimits;
}

/** A limit that is absent does not exist. They hold for all listeners and connections of the user together. */
export interface UserLimits {
  /** Milliseconds since the epoch. Open connections end then, too. */
  expiresAt?: number;
  /** Addresses, and networks in CIDR form, that the user may connect from. */
  allowedAddresses?: string[];
  maxConnections?: number;
  /** Bytes per second, both directions together. */
  rateLimit?: number;
  /** Bytes that may still be carried, both directions together, from the moment this configuration is applied. */
  trafficLeft?: number;
}

export interface ListenerConfig {
  /** Shown as `inbound_name`; unique. */
  name: string;
  type: 'mixed' | 'http' | 'socks';
  /** Address to bind, e.g. `127.0.0.1`. */
  address: string;
  /** 0 lets the system choose. */
  port: number;
  /** Absent or empty: no login is needed. A user has the same limits at every listener. */
  users?: ProxyUserConfig[];
  /** Everything that comes in here leaves by this group, as if each login asked for it. */
  group?: string;
}

export interface OutboundConfig {
  tag: string;
  node: ProxyNode;
  /** Tag of the outbound or group that connects to this node's server. Absent: directly. */
  dialer?: string;
  /** By which users may ask for it in a login. Other nodes may have the same. */
  names?: string[];
  /** ISO code in lower case. */
  country?: string;
}

export const GROUP_TYPES = ['select', 'url-test', 'fallback', 'load-balance'] as const;
export type GroupType = (typeof GROUP_TYPES)[number];
export type LoadBalanceStrategy = 'round-robin' | 'consistent-hashing' | 'sticky-sessions';

export interface GroupConfig {
  name: string;
  type: GroupType;
  /** Tags of outbounds, groups or built-ins, in order of preference. Empty: the group rejects. */
  members: string[];
  /**
   * Tag of the member that a user chose. `select`: absent or no longer a member means the first. `url-test` and
   * `fallback`: used while it is alive, otherwise the group's own rule decides. `load-balance` has none.
   */
  selected?: string;
  /** The group decides by measurements with this address. Absent: by the general ones. */
  testUrl?: string;
  /** `url-test`: another member must be faster by this many milliseconds, and by a fifth, before the group leaves a living one. Default 100. */
  toleranceMs?: number;
  /** `load-balance`. Default `consistent-hashing`. */
  strategy?: LoadBalanceStrategy;
}

/** `SRC-…` forms of the address types are the same types with `src`. */
export type RuleType =
  | 'DOMAIN'
  | 'DOMAIN-SUFFIX'
  | 'DOMAIN-KEYWORD'
  | 'DOMAIN-WILDCARD'
  | 'DOMAIN-REGEX'
  | 'GEOSITE'
  | 'IP-CIDR'
  | 'IP-CIDR6'
  | 'IP-SUFFIX'
  | 'IP-ASN'
  | 'GEOIP'
  | 'DST-PORT'
  | 'SRC-PORT'
  | 'IN-PORT'
  | 'IN-TYPE'
  | 'IN-USER'
  | 'IN-NAME'
  | 'NETWORK'
  | 'RULE-SET'
  | 'AND'
  | 'OR'
  | 'NOT'
  | 'MATCH';

export interface RuleConfig {
  /** Database id; null for rules of the system. */
  id: number | null;
  source: 'manual' | 'subscription' | 'system' | 'ruleset';
  type: RuleType;
  /**
   * The text behind the type in Clash syntax: `example.com`, `10.0.0.0/8`, `80/443/8000-9000`, `CN`, `udp`. Empty for
   * MATCH.
   */
  payload: string;
  /** Tag of a group, an outbound or a built-in. A rule whose target does not exist is skipped. */
  target: string;
  /** IP rules only: do not resolve a domain for this rule. */
  noResolve?: boolean;
  /** IP rules only: match the client's address instead of the target's. */
  src?: boolean;
}

export const RULE_SET_BEHAVIORS = ['domain', 'ipcidr', 'classical'] as const;
export type RuleSetBehavior = (typeof RULE_SET_BEHAVIORS)[number];

/** The entries behind `RULE-SET,<name>` and `GEOSITE,<name>`. */
export interface RuleSetConfig {
  name: string;
  behavior: RuleSetBehavior;
  /**
   * `domain`: Clash wildcards (`+.x` x and all below, `.x` below only, `*` one label). `ipcidr`: prefixes.
   * `classical`: rule lines without a target (`DOMAIN-SUFFIX,example.com`).
   */
  entries: readonly string[];
}

/** How names are resolved. Absent: by the operating system. */
export interface DnsConfig {
  /**
   * `system`, `1.1.1.1`, `udp://1.1.1.1:53`, `tcp://8.8.8.8`, `https://dns.example/dns-query`. Tried in order; the
   * first that answers wins.
   */
  nameservers: string[];
  /** Used to resolve the host names of `nameservers`; plain addresses only. Absent: `system`. */
  bootstrap?: string[];
  /** Domain in Clash wildcards to name servers; the most specific wins. */
  policy?: Record<string, string[]>;
  /** Fixed answers, by domain in Clash wildcards. */
  hosts?: Record<string, string[]>;
  /**
   * Answers with addresses outside the real network that stand for names: an IPv4 range in CIDR form, and names (Clash
   * wildcards) that keep their real addresses. Absent: off.
   */
  fakeIp?: { range: string; filter?: string[] };
  /** The address of a name server for others, over UDP and TCP. Absent: none. */
  listen?: DnsListenConfig;
}

export interface DnsListenConfig {
  /** Address to bind. */
  address: string;
  /** 0 lets the system choose. */
  port: number;
}

/** If a client asks for an address on one of `ports`, its first bytes are searched for a host name to route by. */
export interface SniffingConfig {
  ports: number[];
  /**
   * How long to wait for the first bytes. The client has its answer by then, so a failed dial can no longer be reported
   * to it.
   */
  timeoutMs: number;
}

/** A host of `*` is every address of this machine. */
export interface Endpoint {
  host: string;
  port: number;
}

/** Addresses that cannot be reached through `DIRECT` unless a rule names them. */
export interface GuardConfig {
  /** The platform's own services, its database and Redis. */
  own: Endpoint[];
  /** Refuses all addresses that are not public, including metadata services of clouds. */
  refusePrivate: boolean;
}

export interface KernelConfig {
  /** Absent: every address can be reached. */
  guard?: GuardConfig;
  /** Absent: ports 80 and 443, 100 ms. */
  sniffing?: SniffingConfig | false;
  mode: KernelMode;
  listeners: ListenerConfig[];
  outbounds: OutboundConfig[];
  groups: GroupConfig[];
  /** Absent: none. */
  ruleSets?: RuleSetConfig[];
  dns?: DnsConfig;
  /** First match wins, in this order. */
  rules: RuleConfig[];
  /** The target of flows that no rule matched (and of all flows in `global` mode). */
  defaultPolicy: string;
}
