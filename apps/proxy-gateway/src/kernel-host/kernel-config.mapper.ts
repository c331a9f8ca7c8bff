import type { ProxyNode } from '@gatehouse/contracts';
import type { GroupConfig, KernelConfig, ListenerConfig, RuleConfig } from '@gatehouse/proxy-kernel';

/** An enabled node, opened. */
export interface ConfigNode {
  id: number;
  name: string;
  country: string | null;
  node: ProxyNode;
  /** Why the embedded kernel cannot dial it; null where it can. */
  unsupportedReason: string | null;
}

export interface ConfigGroup {
  id: number;
  name: string;
  type: GroupConfig['type'];
  includeNodes: boolean;
  members: string[];
  selectedTag: string | null;
  selectedName: string | null;
}

/** The rows that make a configuration. */
export interface KernelConfigRows {
  nodes: readonly ConfigNode[];
  groups: readonly ConfigGroup[];
  rules: readonly RuleConfig[];
  defaultPolicy: string;
  listeners: readonly ListenerConfig[];
}

/** A selection that no longer holds, and where its group went. */
export interface LostSelection {
  groupId: number;
  group: string;
  lostTag: string;
  lostName: string | null;
  /** Null: the group is empty now and rejects. */
  to: string | null;
  toName: string | null;
}

export interface MappedConfig {
  config: KernelConfig;
  leftOut: { node_id: number; name: string; reason: string }[];
  lostSelections: LostSelection[];
  /** The stored default policy when nothing of that name is left. */
  lostDefaultPolicy: string | null;
}

/** Takes over when the default policy is gone: the group that exists from the first start, else no way out. */
const DEFAULT_GROUP = 'PROXY';
const BUILT_IN = new Set(['DIRECT', 'REJECT', 'REJECT-DROP']);

/** The kernel's name for a node. */
export function nodeTag(id: number): string {
  return `n${id}`;
}

/** Rows to configuration. Pure: what could not be taken over is in the answer. */
export function mapKernelConfig(rows: KernelConfigRows): MappedConfig {
  const usable = rows.nodes.filter(({ unsupportedReason }) => unsupportedReason === null);
  const names = new Map(usable.map(({ id, name }) => [nodeTag(id), name]));
  const groupNames = new Set(rows.groups.map(({ name }) => name));
  const exists = (tag: string): boolean => names.has(tag) || groupNames.has(tag) || BUILT_IN.has(tag);
  const groups = rows.groups.map((group) => toGroupConfig(group, [...names.keys()], exists));
  const defaultPolicy = exists(rows.defaultPolicy) ? rows.defaultPolicy : fallbackPolicy(groupNames);
  return {
    config: {
      mode: 'rule',
      listeners: [...rows.listeners],
      outbounds: usable.map(({ id, node }) => ({ tag: nodeTag(id), node })),
      groups,
      rules: [...rows.rules],
      defaultPolicy,
    },
    leftOut: rows.nodes.flatMap(({ id, name, unsupportedReason }) =>
      unsupportedReason === null ? [] : [{ node_id: id, name, reason: unsupportedReason }],
    ),
    lostSelections: rows.groups.flatMap((group, index) => lostSelection(group, groups[index]!, names)),
    lostDefaultPolicy: defaultPolicy === rows.defaultPolicy ? null : rows.defaultPolicy,
  };
}

function fallbackPolicy(groupNames: ReadonlySet<string>): string {
  return groupNames.has(DEFAULT_GROUP) ? DEFAULT_GROUP : 'REJECT';
}

function toGroupConfig(group: ConfigGroup, nodeTags: string[], exists: (tag: string) => boolean): GroupConfig {
  const further = group.members.filter((tag) => exists(tag) && tag !== group.name);
  const members = [...new Set([...(group.includeNodes ? nodeTags : []), ...further])];
  const { name, type, selectedTag } = group;
  if (selectedTag === null || !members.includes(selectedTag)) return { name, type, members };
  return { name, type, members, selected: selectedTag };
}

function lostSelection(group: ConfigGroup, config: GroupConfig, names: ReadonlyMap<string, string>): LostSelection[] {
  if (group.selectedTag === null || config.selected !== undefined) return [];
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
