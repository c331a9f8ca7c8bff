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
}

export interface GroupSwitchView {
  at: string;
  from: string | null;
  to: string;
  /** `manual`, `selected_gone`. */
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
  all: string[];
  members: GroupMemberView[];
  last_switch: GroupSwitchView | null;
}

export interface OutboundOverview {
  mode: 'rule' | 'global' | 'direct';
  default_policy: string;
  /** Group names and built-ins that `default_policy` takes; a node's `n<id>` or unique name works too. */
  policies: string[];
  kernel: { type: 'embedded'; version: string; state: KernelState };
  groups: OutboundGroupView[];
  builtin: string[];
}

export interface GroupSwitchResult {
  name: string;
  type: OutboundGroupType;
  now: string;
  now_proxy: string;
  previous: string | null;
  closed_connections: number;
}

export interface DefaultPolicyResult {
  default_policy: string;
  /** The policy as its `n<id>`, group name or built-in. */
  proxy: string;
  previous: string;
}
