import type { KernelState } from './system.js';

/** `select`: a person chooses; the others choose by measured health. */
export type OutboundGroupType = 'select' | 'url-test' | 'fallback' | 'load-balance';

/** A choice inside a group: a node, another group or a built-in. */
export interface GroupMemberView {
  /** What people call it. Two nodes may share a name; `proxy` is always exact. */
  name: string;
  /** What `PUT /outbound/groups/{name}` takes to choose exactly this member: `n12`, a group's name, `DIRECT`. */
  proxy: string;
  node_id: number | null;
  type: string;
  country: string | null;
  /** As last measured with the group's address, of a group what it uses; null: not measured, or nothing to measure. */
  alive: boolean | null;
  delay_ms: number | null;
}

export const GROUP_STRATEGIES = ['round-robin', 'consistent-hashing', 'sticky-sessions'] as const;
export type GroupStrategy = (typeof GROUP_STRATEGIES)[number];

/** Which nodes a group takes in: those that fulfil every part that is given. `{}` takes all of them. */
export interface GroupFilter {
  /** Regular expression somewhere in the name, case ignored; runs in linear time, so without look-around and back references. */
  name?: string;
  /** ISO 3166-1 alpha-2; `ZZ` stands for not known. */
  countries?: string[];
  types?: string[];
  subscription_ids?: number[];
  /** One of them is enough. */
  tags?: string[];
}

export interface GroupSwitchView {
  at: string;
  from: string | null;
  to: string;
  /** `manual`, `selected_gone`, `faster`, `dead`, `recovered`. */
  reason: string;
}

export interface OutboundGroupView {
  name: string;
  type: OutboundGroupType;
  /** Name of the member that carries new connections; null when the group is empty and rejects. */
  now: string | null;
  now_proxy: string | null;
  /** True when a person chose `now`. */
  fixed: boolean;
  /** Names of `members`. */
  all: string[];
  members: GroupMemberView[];
  /** How many there are, whatever part `members` shows. */
  members_total: number;
  /** Members that were named one by one, as `proxy` values. */
  listed: string[];
  /** Null: no nodes but the listed ones. */
  filter: GroupFilter | null;
  /** What `filter` found and this finds too is left out. */
  exclude: GroupFilter | null;
  /** The automatic groups of countries are members. */
  include_countries: boolean;
  /** Of an automatic group. */
  country: string | null;
  /** Made and removed by the service as nodes of its country come and go. */
  automatic: boolean;
  /** Address, statuses, and seconds between measurements in force; null for `select` groups that set none. */
  test_url: string | null;
  expected_status: string | null;
  interval_sec: number | null;
  /** `url-test`: how much faster another member must be. */
  tolerance_ms: number | null;
  /** Measured only while it is in use. */
  lazy: boolean;
  /** `load-balance`. */
  strategy: GroupStrategy | null;
  /** The member in use carries UDP. */
  udp: boolean;
  /** Not meant to be shown to people. */
  hidden: boolean;
  icon: string | null;
  /** What carries connections while the group has no member. */
  empty_fallback: string;
  active_connections: number;
  /** Bytes ever carried through the group, open connections included. */
  upload_total: number;
  download_total: number;
  last_switch: GroupSwitchView | null;
}

/** One entry of `GET /outbound/groups/{name}/history`. */
export interface GroupSwitchRecord {
  id: number;
  at: string;
  from: string | null;
  from_proxy: string | null;
  to: string;
  /** Null for `REJECT` of an empty group. */
  to_proxy: string | null;
  reason: string;
  /** Connections that were ended because of it; null where nobody counted. */
  closed_connections: number | null;
}

export interface GroupDeleted {
  name: string;
  deleted: true;
}

export interface OutboundOverview {
  mode: 'rule' | 'global' | 'direct';
  default_policy: string;
  /** Group names and built-ins that `default_policy` takes; a node's `n<id>` or unique name works too. */
  policies: string[];
  kernel: { type: 'embedded' | 'mihomo'; version: string; state: KernelState };
  groups: OutboundGroupView[];
  builtin: string[];
}

export interface GroupSwitchResult {
  name: string;
  type: OutboundGroupType;
  /** Null for a group without members. */
  now: string | null;
  now_proxy: string | null;
  /** True when `now` is what a person chose. A choice that is dead does not carry a `url-test` or `fallback` group. */
  fixed: boolean;
  previous: string | null;
  closed_connections: number;
}

export interface DefaultPolicyResult {
  default_policy: string;
  /** The policy as its `n<id>`, group name or built-in. */
  proxy: string;
  previous: string;
}
