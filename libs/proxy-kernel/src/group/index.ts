import type { GroupConfig } from '../interfaces/config.js';
import { KernelConfigError, type GroupState } from '../interfaces/kernel.js';
import type { PolicyTable } from '../interfaces/route.js';
import { findCycle } from './find-cycle.js';

/** Outbounds that always exist. `PASS` is no way out: a rule that reaches it hands the flow to the next rule. */
export const BUILT_IN_POLICIES = ['DIRECT', 'REJECT', 'REJECT-DROP', 'PASS'] as const;

export interface SelectablePolicyTable extends PolicyTable {
  /** What was left out of the table and why: members that do not exist. */
  readonly warnings: readonly string[];
  /** @throws KernelConfigError for an unknown group or a member it does not have. */
  select(group: string, member: string | null): void;
  /** The member in use, null for an empty group. @throws KernelConfigError for an unknown group. */
  selected(group: string): string | null;
  groups(): GroupState[];
}

interface Group {
  readonly type: GroupConfig['type'];
  readonly members: readonly string[];
  selected: string | null;
  fixed: boolean;
}

/**
 * The ways out by tag, and the groups over them.
 * @throws KernelConfigError for a name used twice and for groups that contain each other.
 */
export function createPolicyTable(
  outbounds: ReadonlyMap<string, { udp: boolean }>,
  groups: readonly GroupConfig[],
): SelectablePolicyTable {
  return new GroupTable(outbounds, groups);
}

class GroupTable implements SelectablePolicyTable {
  readonly warnings: string[] = [];
  readonly #outbounds: ReadonlyMap<string, { udp: boolean }>;
  readonly #groups = new Map<string, Group>();
  /** Chains walked since the last change of a selection. Bounded by the number of tags. */
  readonly #chains = new Map<string, readonly string[]>();

  constructor(outbounds: ReadonlyMap<string, { udp: boolean }>, groups: readonly GroupConfig[]) {
    this.#outbounds = withBuiltIns(outbounds);
    const names = claimNames(groups, this.#outbounds);
    for (const config of groups) this.#groups.set(config.name, this.#compile(config, names));
    const cycle = findCycle(new Map([...this.#groups].map(([name, group]) => [name, group.members])));
    if (cycle) {
      const index = groups.findIndex((group) => group.name === cycle[0]);
      throw new KernelConfigError(`groups[${index}].members`, `groups contain each other: ${cycle.join(' -> ')}`);
    }
  }

  has(tag: string): boolean {
    return this.#outbounds.has(tag) || this.#groups.has(tag);
  }

  supportsUdp(tag: string): boolean {
    return this.#outbounds.get(this.#walk(tag).at(-1) ?? '')?.udp ?? false;
  }

  /** An unknown tag and an empty group end in `REJECT`: traffic that has no way out must not find another one. */
  chain(tag: string): string[] {
    return [...this.#walk(tag)];
  }

  select(name: string, member: string | null): void {
    const group = this.#group(name);
    if (member !== null && !group.members.includes(member)) {
      throw new KernelConfigError(name, `${member} is not a member of this group`);
    }
    group.selected = member ?? group.members[0] ?? null;
    group.fixed = member !== null;
    this.#chains.clear();
  }

  selected(name: string): string | null {
    return this.#group(name).selected;
  }

  groups(): GroupState[] {
    return [...this.#groups].map(([name, { type, members, selected, fixed }]) => ({
      name,
      type,
      members,
      now: selected,
      fixed,
    }));
  }

  #group(name: string): Group {
    const group = this.#groups.get(name);
    if (!group) throw new KernelConfigError(name, 'no such group');
    return group;
  }

  #compile(config: GroupConfig, names: ReadonlySet<string>): Group {
    const members = [...new Set(config.members)].filter((tag) => names.has(tag) || this.#outbounds.has(tag));
    for (const tag of new Set(config.members)) {
      if (!members.includes(tag)) this.warnings.push(`group ${config.name}: member ${tag} does not exist`);
    }
    const wanted = config.selected;
    const fixed = wanted !== undefined && members.includes(wanted);
    return { type: config.type, members, selected: fixed ? wanted : (members[0] ?? null), fixed };
  }

  #walk(tag: string): readonly string[] {
    const known = this.#chains.get(tag);
    if (known) return known;
    const chain = [tag];
    for (let group = this.#groups.get(tag); group;) {
      const next = group.selected ?? 'REJECT';
      chain.push(next);
      group = this.#groups.get(next);
    }
    if (!this.has(tag)) return [tag, 'REJECT'];
    this.#chains.set(tag, chain);
    return chain;
  }
}

function withBuiltIns(outbounds: ReadonlyMap<string, { udp: boolean }>): Map<string, { udp: boolean }> {
  const all = new Map(outbounds);
  for (const tag of BUILT_IN_POLICIES) all.set(tag, { udp: true });
  return all;
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
