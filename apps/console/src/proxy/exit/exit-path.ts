import type { OutboundOverview } from '@gatehouse/contracts';

/** The groups and nodes that new connections go through now. */
export interface ExitPath {
  mode: OutboundOverview['mode'];
  /** From the default policy to what it leads to: names of groups, and at the end of a node or a built-in. */
  names: string[];
  /** The node at the end; null for a built-in, a group that spreads its connections, or a default policy that is a node. */
  nodeId: number | null;
}

type Overview = Pick<OutboundOverview, 'mode' | 'default_policy' | 'groups'>;

/** Follows the default policy through the groups to what it uses now. */
export function exitPath({ mode, default_policy: first, groups }: Overview): ExitPath {
  if (mode === 'direct') return { mode, names: ['DIRECT'], nodeId: null };
  const byName = new Map(groups.map((group) => [group.name, group]));
  const names: string[] = [];
  let next: { name: string; proxy: string } | null = { name: first, proxy: first };
  let nodeId: number | null = null;
  // A chain is never longer than there are groups.
  while (next !== null && names.length <= groups.length) {
    names.push(next.name);
    const group = byName.get(next.proxy);
    if (group === undefined) nodeId = nodeIdOf(next.proxy);
    else if (group.now_proxy === null && group.type !== 'load-balance') names.push(group.empty_fallback);
    next = group?.now_proxy ? { name: group.now ?? group.now_proxy, proxy: group.now_proxy } : null;
  }
  return { mode, names, nodeId };
}

/**
 * The groups that use each node now, by the node's id: those on the way of new connections, and those that people choose
 * in. The groups of countries that nothing leads to are no use.
 */
export function nodesInUse(overview: Overview): ReadonlyMap<number, string[]> {
  const users = new Map<number, string[]>();
  const path = new Set(exitPath(overview).names);
  for (const { name, type, now_proxy: proxy } of overview.groups) {
    const id = proxy === null || (type !== 'select' && !path.has(name)) ? null : nodeIdOf(proxy);
    if (id !== null) users.set(id, [...(users.get(id) ?? []), name]);
  }
  return users;
}

function nodeIdOf(proxy: string): number | null {
  const digits = /^n(\d+)$/.exec(proxy)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** A group that can be made to use a node. */
export interface UseChoice {
  group: string;
  /** It decides by itself otherwise, so that the choice is kept until it is taken back. */
  isAutomatic: boolean;
  /** Connections that no rule matches go there. */
  isDefault: boolean;
  /** It uses the node already. */
  isUsing: boolean;
}

/**
 * Which of a node's groups can be made to use it: those in which people choose, or else the automatic ones.
 * The group of the default policy comes first.
 */
export function groupChoices(
  { default_policy: policy, groups }: Pick<OutboundOverview, 'default_policy' | 'groups'>,
  proxy: string,
): UseChoice[] {
  const choices = groups
    .filter(({ type }) => type !== 'load-balance')
    .map(({ name, type, now_proxy: now, fixed }) => ({
      group: name,
      isAutomatic: type !== 'select',
      isDefault: name === policy,
      isUsing: now === proxy && (type === 'select' || fixed),
    }));
  const chosen = choices.filter(({ isAutomatic }) => !isAutomatic);
  const offered = chosen.length > 0 ? chosen : choices;
  return offered.toSorted((one, other) => Number(other.isDefault) - Number(one.isDefault));
}
