import type { GroupStrategy, ProxyNode } from '@gatehouse/contracts';
import type {
  DnsConfig,
  GroupConfig,
  GuardConfig,
  KernelConfig,
  KernelMode,
  ListenerConfig,
  OutboundConfig,
  RuleConfig,
  RuleSetConfig,
  SniffingConfig,
} from '@gatehouse/proxy-kernel';
import { resolveDialers } from './resolve-dialers.js';
import { resolveMembers } from './group-members.js';
import type { GroupShape, ResolvedMembers } from './group-members.js';

/** An enabled node with its opened definition. */
export interface ConfigNode {
  id: number;
  name: string;
  country: string | null;
  node: ProxyNode;
  subscriptionIds: readonly number[];
  tags: readonly string[];
  /** The last result with the general test address; null before the first. */
  alive: boolean | null;
  /** Tag of the outbound that connects to the node's server; absent: direct. */
  dialer?: string;
  /** Why the embedded kernel cannot dial it; null if it can. */
  unsupportedReason: string | null;
}

export interface ConfigGroup extends GroupShape {
  id: number;
  type: GroupConfig['type'];
  country: string | null;
  testUrl: string | null;
  /** Null: from the settings; the same for the interval. */
  expectedStatus: string | null;
  intervalSec: number | null;
  lazy: boolean;
  /** Applies to `url-test`. */
  toleranceMs: number | null;
  strategy: GroupStrategy | null;
  selectedTag: string | null;
  selectedName: string | null;
}

/** The rows that a configuration is made of. */
export interface KernelConfigRows {
  nodes: readonly ConfigNode[];
  groups: readonly ConfigGroup[];
  rules: readonly RuleConfig[];
  ruleSets?: readonly RuleSetConfig[];
  dns?: DnsConfig;
  sniffing?: SniffingConfig;
  guard?: GuardConfig;
  /** Absent: routing by rules. */
  mode?: KernelMode;
  defaultPolicy: string;
  listeners: readonly ListenerConfig[];
  /** See `MappedConfig`. */
  quotas?: string;
}

/** A selection that is no longer valid, and the member that replaces it. */
export interface LostSelection {
  groupId: number;
  group: string;
  lostTag: string;
  lostName: string | null;
  /** Null: the group is now empty and rejects. */
  to: string | null;
  toName: string | null;
}

export interface MappedConfig {
  config: KernelConfig;
  leftOut: { node_id: number; name: string; reason: string }[];
  lostSelections: LostSelection[];
  /** Names quotas of users and their periods. Unlike the traffic that is left, a change of these has to be applied. */
  quotas: string;
  /** The stored default policy, if nothing has that name any longer. */
  lostDefaultPolicy: string | null;
}

/** Replaces a default policy that is gone: the group that exists from the first start, otherwise REJECT. */
const DEFAULT_GROUP = 'PROXY';
const BUILT_IN = new Set(['DIRECT', 'REJECT', 'REJECT-DROP']);

/** The kernel's name for a node. */
export function nodeTag(id: number): string {
  return `n${id}`;
}

/** Maps rows to a configuration. Pure: the result says what could not be used. */
export function mapKernelConfig(rows: KernelConfigRows): MappedConfig {
  const { usable, leftOut } = usableNodes(rows);
  const names = new Map(usable.map(({ id, name }) => [nodeTag(id), name]));
  const groupNames = new Set(rows.groups.map(({ name }) => name));
  const exists = (tag: string): boolean => names.has(tag) || groupNames.has(tag) || BUILT_IN.has(tag);
  const members = resolveMembers(rows.groups, usable.map(toTaggedNode));
  const groups = rows.groups.map((group) => toGroupConfig(group, members.get(group.name)!));
  const hasUsers = rows.listeners.some(({ users = [] }) => users.length > 0);
  const defaultPolicy = exists(rows.defaultPolicy) ? rows.defaultPolicy : fallbackPolicy(groupNames);
  return {
    config: {
      mode: rows.mode ?? 'rule',
      listeners: [...rows.listeners],
      outbounds: usable.map((node) => toOutbound(node, hasUsers)),
      groups,
      rules: [...rows.rules],
      ...(rows.ruleSets && { ruleSets: [...rows.ruleSets] }),
      ...(rows.dns && { dns: rows.dns }),
      ...(rows.sniffing && { sniffing: rows.sniffing }),
      ...(rows.guard && { guard: rows.guard }),
      defaultPolicy,
    },
    leftOut,
    quotas: rows.quotas ?? '',
    lostSelections: rows.groups.flatMap((group, index) => {
      const isCandidate = members.get(group.name)!.candidates.has(group.selectedTag ?? '');
      return isCandidate ? [] : lostSelection(group, groups[index]!, names);
    }),
    lostDefaultPolicy: defaultPolicy === rows.defaultPolicy ? null : rows.defaultPolicy,
  };
}

/** @param hasUsers only users ask for nodes by name or country; without them, renaming a node needs no reload. */
function toOutbound({ id, name, country, node, dialer }: ConfigNode, hasUsers: boolean): OutboundConfig {
  return {
    tag: nodeTag(id),
    node,
    ...(dialer && { dialer }),
    ...(hasUsers && { names: [name, String(id)], ...(country !== null && { country: country.toLowerCase() }) }),
  };
}

/** The nodes that the kernel dials, each with its dialer. */
function usableNodes({ nodes, groups }: KernelConfigRows): { usable: ConfigNode[]; leftOut: MappedConfig['leftOut'] } {
  const supported = nodes.filter(({ unsupportedReason }) => unsupportedReason === null);
  const isChained = supported.some(({ node }) => node.dialerProxy);
  const members = isChained ? resolveMembers(groups, supported.map(toTaggedNode)) : [];
  const dialers = resolveDialers(supported, new Map([...members].map(([name, group]) => [name, group.members])));
  const usable: ConfigNode[] = [];
  const leftOut: MappedConfig['leftOut'] = [];
  for (const node of nodes) {
    const resolved = dialers.get(node.id) ?? { dialer: null };
    const reason = node.unsupportedReason ?? ('reason' in resolved ? resolved.reason : null);
    if (reason !== null) leftOut.push({ node_id: node.id, name: node.name, reason });
    else if ('dialer' in resolved) usable.push({ ...node, ...(resolved.dialer && { dialer: resolved.dialer }) });
  }
  return { usable, leftOut };
}

function toTaggedNode({ id, name, country, node, subscriptionIds, tags }: ConfigNode) {
  return { tag: nodeTag(id), name, originalName: node.name, country, type: node.type, subscriptionIds, tags };
}

function fallbackPolicy(groupNames: ReadonlySet<string>): string {
  return groupNames.has(DEFAULT_GROUP) ? DEFAULT_GROUP : 'REJECT';
}

/** A copy of the group with another selection, or with none if the tag is no member. */
export function withSelection({ selected: _before, ...group }: GroupConfig, tag: string | null): GroupConfig {
  const holds = tag !== null && group.type !== 'load-balance' && group.members.includes(tag);
  return holds ? { ...group, selected: tag } : group;
}

function toGroupConfig(group: ConfigGroup, { members }: ResolvedMembers): GroupConfig {
  const { name, type, selectedTag, testUrl, toleranceMs, strategy } = group;
  return {
    ...withSelection({ name, type, members }, selectedTag),
    ...(testUrl !== null && type !== 'select' && { testUrl }),
    ...(toleranceMs !== null && type === 'url-test' && { toleranceMs }),
    ...(strategy !== null && type === 'load-balance' && { strategy }),
  };
}

/** Only a selection that cannot come back: a chosen group that is merely empty stays selected. */
function lostSelection(group: ConfigGroup, config: GroupConfig, names: ReadonlyMap<string, string>): LostSelection[] {
  if (group.selectedTag === null) return [];
  const to = config.members[0] ?? null;
  return [
    {
      groupId: group.id,
      group: group.name,
      lostTag: group.selectedTag,
      lostName: group.selectedName,
      to,
      toName: to === null ? null : (names.get(to) ?? to),
    },
  ];
}
