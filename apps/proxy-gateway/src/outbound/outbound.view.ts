import type { GroupMemberView, OutboundGroupView, OutboundOverview } from '@gatehouse/contracts';
import type { GroupConfig } from '@gatehouse/proxy-kernel';
import type { OutboundGroupEntity } from './outbound-group.entity.js';

/** What can be said of a node inside a group. */
export interface NodeCardRow {
  id: number;
  name: string;
  type: string;
  country: string | null;
}

export const BUILT_IN = ['DIRECT', 'REJECT', 'REJECT-DROP'] as const;

export interface OverviewFacts {
  groups: readonly { row: OutboundGroupEntity; config: GroupConfig }[];
  /** By kernel tag. */
  nodes: ReadonlyMap<string, NodeCardRow>;
  defaultPolicy: string;
  kernel: OutboundOverview['kernel'];
}

export function toOutboundOverview({ groups, nodes, defaultPolicy, kernel }: OverviewFacts): OutboundOverview {
  const types = new Map(groups.map(({ config }) => [config.name, config.type]));
  const member = (tag: string): GroupMemberView => toMember(tag, nodes, types);
  return {
    mode: 'rule',
    default_policy: nodes.get(defaultPolicy)?.name ?? defaultPolicy,
    policies: [...types.keys(), ...BUILT_IN],
    kernel,
    groups: groups.map(({ row, config }) => toGroup(row, config, member)),
    builtin: [...BUILT_IN],
  };
}

function toGroup(
  row: OutboundGroupEntity,
  config: GroupConfig,
  member: (tag: string) => GroupMemberView,
): OutboundGroupView {
  const members = config.members.map(member);
  const nowTag = config.selected ?? config.members[0] ?? null;
  const now = members.find(({ proxy }) => proxy === nowTag) ?? null;
  return {
    name: row.name,
    type: row.type,
    now: now?.name ?? null,
    now_proxy: nowTag,
    fixed: config.selected !== undefined,
    all: members.map(({ name }) => name),
    members,
    last_switch: row.lastSwitch,
  };
}

function toMember(
  tag: string,
  nodes: ReadonlyMap<string, NodeCardRow>,
  groups: ReadonlyMap<string, string>,
): GroupMemberView {
  const node = nodes.get(tag);
  if (node) return { name: node.name, proxy: tag, node_id: node.id, type: node.type, country: node.country };
  return { name: tag, proxy: tag, node_id: null, type: groups.get(tag) ?? tag.toLowerCase(), country: null };
}
