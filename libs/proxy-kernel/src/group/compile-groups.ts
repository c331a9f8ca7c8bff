import type { GroupConfig } from '../interfaces/config.js';
import { KernelConfigError } from '../interfaces/kernel.js';
import { createGroupRule } from './create-group-rule.js';
import type { GroupRule } from './group-rule.js';
import { orderGroups } from './order-groups.js';

/** Outbounds that always exist. `PASS` is not a way out: a rule that reaches it passes the flow to the next rule. */
export const BUILT_IN_POLICIES = ['DIRECT', 'REJECT', 'REJECT-DROP', 'PASS'] as const;

/** The state of a group that the next generation takes over. */
export interface GroupMemory {
  readonly config: GroupConfig;
  rule: GroupRule;
  now: string | null;
  chosen: string | null;
  switchedAt: number;
}

/** A group in use. Values that follow from the health of its members are cached here until that changes. */
export interface Group extends GroupMemory {
  readonly members: readonly string[];
  /** The outbound behind `now`; null if that ends in an empty group. */
  leaf: string | null;
  udp: boolean;
  /** For groups that spread flows: the members to spread TCP flows over, and those for UDP flows. */
  living: readonly string[];
  livingUdp: readonly string[];
  /** The member that would be used if the open circuit behind it were tried successfully. */
  trial: string | null;
  /** When the rule has to decide again. */
  recheckAt: number;
}

export interface CompiledGroups {
  /** In the order of the configuration. */
  groups: ReadonlyMap<string, Group>;
  /** Each group after the groups that it contains. */
  ordered: readonly Group[];
  /** Groups by member. */
  parents: ReadonlyMap<string, readonly Group[]>;
  warnings: string[];
}

/** @throws KernelConfigError for a duplicate name and for groups that contain each other. */
export function compileGroups(
  configs: readonly GroupConfig[],
  outbounds: ReadonlyMap<string, unknown>,
  now: () => number,
): CompiledGroups {
  const names = claimNames(configs, outbounds);
  const warnings: string[] = [];
  const groups = new Map<string, Group>();
  for (const config of configs) {
    const members = existingMembers(config, (tag) => names.has(tag) || outbounds.has(tag), warnings);
    groups.set(config.name, newGroup(config, members, now));
  }
  const { order, cycle } = orderGroups(new Map([...groups].map(([name, group]) => [name, group.members])));
  if (cycle) {
    const index = configs.findIndex((group) => group.name === cycle[0]);
    throw new KernelConfigError(`groups[${index}].members`, `groups contain each other: ${cycle.join(' -> ')}`);
  }
  const ordered = order.flatMap((name) => groups.get(name) ?? []);
  return { groups, ordered, parents: parentsOf(ordered), warnings };
}

function existingMembers(config: GroupConfig, exists: (tag: string) => boolean, warnings: string[]): string[] {
  return [...new Set(config.members)].filter((tag) => {
    if (!exists(tag)) warnings.push(`group ${config.name}: member ${tag} does not exist`);
    else if (config.type === 'load-balance' && tag === 'PASS')
      warnings.push(`group ${config.name}: PASS carries nothing and is left out`);
    else return true;
    return false;
  });
}

function newGroup(config: GroupConfig, members: readonly string[], now: () => number): Group {
  return {
    config,
    members,
    rule: createGroupRule(config.type, { ...config, now }),
    now: null,
    chosen: config.type === 'load-balance' ? null : (config.selected ?? null),
    switchedAt: -Infinity,
    leaf: null,
    udp: true,
    living: members,
    livingUdp: members,
    trial: null,
    recheckAt: Infinity,
  };
}

function parentsOf(groups: readonly Group[]): Map<string, Group[]> {
  const parents = new Map<string, Group[]>();
  for (const group of groups) {
    for (const member of group.members) {
      const known = parents.get(member);
      if (known) known.push(group);
      else parents.set(member, [group]);
    }
  }
  return parents;
}

function claimNames(groups: readonly GroupConfig[], outbounds: ReadonlyMap<string, unknown>): Set<string> {
  const names = new Set<string>();
  for (const [i, { name }] of groups.entries()) {
    const path = `groups[${i}].name`;
    if (name === '') throw new KernelConfigError(path, 'a group needs a name');
    if (names.has(name)) throw new KernelConfigError(path, `${name} is the name of another group`);
    if (outbounds.has(name)) throw new KernelConfigError(path, `${name} is the tag of an outbound`);
    names.add(name);
  }
  return names;
}
