import type { GroupFilter } from '@gatehouse/contracts';
import type { GroupIntake } from '../data/group-intake.js';
import { takeNodes } from './group-intake.js';
import type { IntakeNode } from './group-intake.js';
import { compileNodeFilter } from './node-filter.js';
import type { FilteredNode } from './node-filter.js';

export interface TaggedNode extends FilteredNode, IntakeNode {}

export interface GroupShape {
  name: string;
  /** Kernel tags. */
  members: readonly string[];
  filter: GroupFilter | null;
  exclude: GroupFilter | null;
  includeCountries: boolean;
  automatic: boolean;
  /** The nodes that a profile adds behind the listed members. Absent or null: none. */
  intake?: GroupIntake | null;
  /** The target of an empty group. */
  emptyFallback: string;
}

export interface ResolvedMembers {
  /** In order of preference, for the kernel. */
  members: string[];
  /** Everything that can be chosen, including groups that are empty at the moment. */
  candidates: ReadonlySet<string>;
}

const BUILT_IN = new Set(['DIRECT', 'REJECT', 'REJECT-DROP']);

/**
 * The members of every group, by the group's name. Listed members keep their order. A group that also includes nodes or
 * countries has its listed groups and nodes first, then the countries, the nodes, and last the built-ins of its list.
 * An empty group is no member of another one, since choosing it could only reject.
 */
export function resolveMembers(
  groups: readonly GroupShape[],
  nodes: readonly TaggedNode[],
): ReadonlyMap<string, ResolvedMembers> {
  const names = new Set(groups.map(({ name }) => name));
  const tags = new Set(nodes.map(({ tag }) => tag));
  const exists = (tag: string): boolean => tags.has(tag) || names.has(tag) || BUILT_IN.has(tag);
  const countries = groups.filter(({ automatic }) => automatic).map(({ name }) => name);
  const all = [...tags];
  const candidates = new Map(
    groups.map((group) => {
      const listed = group.members.filter((tag) => exists(tag) && tag !== group.name);
      const taken = group.filter === null ? [] : filterNodes(group.filter, group.exclude, nodes, all);
      if (group.intake) return [group.name, new Set([...listed, ...takeNodes(group.intake, nodes)])];
      return [group.name, inOrder(group, listed, countries, taken)];
    }),
  );
  const usable = nonEmpty(groups, candidates, names);
  return new Map(
    groups.map(({ name, emptyFallback }) => {
      const mine = candidates.get(name) ?? new Set();
      const members = [...mine].filter((tag) => !names.has(tag) || usable.has(tag));
      if (members.length === 0 && emptyFallback !== 'REJECT') members.push(emptyFallback);
      return [name, { members, candidates: mine }];
    }),
  );
}

function filterNodes(
  filter: GroupFilter,
  exclude: GroupFilter | null,
  nodes: readonly TaggedNode[],
  all: readonly string[],
): readonly string[] {
  if (Object.keys(filter).length === 0 && exclude === null) return all;
  const isIn = compileNodeFilter(filter);
  const isOut = exclude === null ? () => false : compileNodeFilter(exclude);
  return nodes.filter((node) => isIn(node) && !isOut(node)).map(({ tag }) => tag);
}

function inOrder(
  { name, filter, includeCountries }: GroupShape,
  listed: readonly string[],
  countries: readonly string[],
  taken: readonly string[],
): ReadonlySet<string> {
  if (filter === null && !includeCountries) return new Set(listed);
  const first = listed.filter((tag) => !BUILT_IN.has(tag));
  const last = listed.filter((tag) => BUILT_IN.has(tag));
  const included = includeCountries ? countries.filter((country) => country !== name) : [];
  return new Set([...first, ...included, ...taken, ...last]);
}

/** Groups with at least one way out, possibly through other groups. */
function nonEmpty(
  groups: readonly GroupShape[],
  candidates: ReadonlyMap<string, ReadonlySet<string>>,
  names: ReadonlySet<string>,
): ReadonlySet<string> {
  const found = new Set<string>();
  let before = -1;
  while (found.size > before) {
    before = found.size;
    for (const { name, emptyFallback } of groups) {
      if (found.has(name)) continue;
      if (emptyFallback !== 'REJECT' || leadsOut(candidates.get(name), names, found)) found.add(name);
    }
  }
  return found;
}

function leadsOut(
  tags: ReadonlySet<string> | undefined,
  names: ReadonlySet<string>,
  usable: ReadonlySet<string>,
): boolean {
  for (const tag of tags ?? []) if (!names.has(tag) || usable.has(tag)) return true;
  return false;
}
