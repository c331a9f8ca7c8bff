import type { KernelState } from './system.js';

/** `select`: the user chooses; the other types choose by measured health. */
export type OutboundGroupType = 'select' | 'url-test' | 'fallback' | 'load-balance';

/** A member of a group: a node, another group or a built-in. */
export interface GroupMemberView {
  /** The name that users see. Two nodes may share a name; `proxy` is always exact. */
  name: string;
  /** The value for `PUT /outbound/groups/{name}` that chooses exactly this member: `n12`, a group's name, `DIRECT`. */
  proxy: string;
  node_id: number | null;
  type: string;
  country: string | null;
  /** The first subscription that contains the node. */
  subscription_name: string | null;
  /**
   * Result of the last measurement with the group's address; for a group that of the member it uses; null: not
   * measured.
   */
  alive: boolean | null;
  delay_ms: number | null;
}

export const GROUP_STRATEGIES = ['round-robin', 'consistent-hashing', 'sticky-sessions'] as const;
export type GroupStrategy = (typeof GROUP_STRATEGIES)[number];

/** The nodes that a group includes: those that match every field given. `{}` matches all nodes. */
export interface GroupFilter {
  /**
   * A regular expression that matches anywhere in the name, ignoring case. It runs in linear time, so look-around and
   * back references are not supported.
   */
  name?: string;
  /** ISO 3166-1 alpha-2; `ZZ` stands for unknown. */
  countries?: string[];
  types?: string[];
  subscription_ids?: number[];
  /** One matching tag is enough. */
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
  /** Name of the member that carries new connections; null if the group is empty and rejects. */
  now: string | null;
  now_proxy: string | null;
  /** True if a user chose `now`. */
  fixed: boolean;
  /** The names of `members`. */
  all: string[];
  members: GroupMemberView[];
  /** The number of all members, whatever part `members` shows. */
  members_total: number;
  /** Members that were named individually, as `proxy` values. */
  listed: string[];
  /** Null: only the listed nodes. */
  filter: GroupFilter | null;
  /** Nodes that match `filter` and this as well are left out. */
  exclude: GroupFilter | null;
  /** The automatic country groups are members. */
  include_countries: boolean;
  /** The country of an automatic group. */
  country: string | null;
  /** Created and removed by the service as nodes of its country come and go. */
  automatic: boolean;
  /** The subscription whose profile has the group; null for all other groups. */
  subscription_id: number | null;
  /** The group's name in that profile. */
  profile_name: string | null;
  /** The effective address, statuses, and seconds between measurements; null for `select` groups without their own. */
  test_url: string | null;
  expected_status: string | null;
  interval_sec: number | null;
  /** `url-test`: by how much another member must be faster. */
  tolerance_ms: number | null;
  /** Measured only while it is used. */
  lazy: boolean;
  /** `load-balance`. */
  strategy: GroupStrategy | null;
  /** The member in use carries UDP. */
  udp: boolean;
  /** Should not be shown to users. */
  hidden: boolean;
  icon: string | null;
  /** The target of connections while the group has no members. */
  empty_fallback: string;
  active_connections: number;
  /** Total bytes through the group, including open connections. */
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
  /** Null for the `REJECT` of an empty group. */
  to_proxy: string | null;
  reason: string;
  /** Connections that were closed by the switch; null if unknown. */
  closed_connections: number | null;
}

export interface GroupDeleted {
  name: string;
  deleted: true;
}

export interface OutboundOverview {
  mode: 'rule' | 'global' | 'direct';
  default_policy: string;
  /** Groups and built-ins that `default_policy` accepts; the `n<id>` or unique name of a node works, too. */
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
  /** True if `now` is a user's choice. A dead choice is not used by a `url-test` or `fallback` group. */
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
