import type { GroupStrategy, OutboundGroupType } from '@gatehouse/contracts';
import type { NameFilter, Profile, ProfileGroup, ProfileRemark } from '@gatehouse/subscription-formats';
import { byBytes, compileFilter } from '../kernel-config/group-intake.js';

/** A group as it is stored, except for the ids of subscriptions. */
export interface PlannedGroup {
  /** In the profile. */
  name: string;
  storedAs: string;
  type: OutboundGroupType;
  /** Kernel tags. */
  members: string[];
  /** Null: only the listed members. */
  intake: { own: boolean; providers: string[]; filter: NameFilter; asListed: boolean } | null;
  testUrl: string | null;
  expectedStatus: string | null;
  intervalSec: number | null;
  toleranceMs: number | null;
  lazy: boolean;
  strategy: GroupStrategy | null;
  hidden: boolean;
  icon: string | null;
  remarks: ProfileRemark[];
}

export interface GroupSurroundings {
  /** Stored names by the names of the profile's groups. */
  names: ReadonlyMap<string, string>;
  /** The tag of a node of the profile; null for any other name. */
  nodeTag: (name: string) => string | null;
  /** Entries among the nodes that are a built-in policy. */
  builtIns: ReadonlyMap<string, string>;
  /** The proxy providers that are used. */
  providers: ReadonlySet<string>;
}

const TYPES: ReadonlySet<string> = new Set<OutboundGroupType>(['select', 'url-test', 'fallback', 'load-balance']);
const STRATEGIES: ReadonlySet<string> = new Set<GroupStrategy>([
  'round-robin',
  'consistent-hashing',
  'sticky-sessions',
]);
const BUILT_IN: ReadonlySet<string> = new Set(['DIRECT', 'REJECT', 'REJECT-DROP']);
/** Names of other programs for what is built in here. */
const ALIASES: Readonly<Record<string, string>> = { COMPATIBLE: 'DIRECT', BLOCK: 'REJECT' };

/** The built-in policy that a name of a profile means; null for any other name. */
export function builtInOf(name: string): { tag: string; replaced: boolean } | null {
  const word = name.toUpperCase();
  if (BUILT_IN.has(word) || word === 'PASS') return { tag: word, replaced: false };
  const alias = Object.hasOwn(ALIASES, word) ? ALIASES[word] : undefined;
  if (alias !== undefined) return { tag: alias, replaced: alias === 'REJECT' };
  return /^REJECT-[A-Z0-9-]+$/.test(word) ? { tag: 'REJECT', replaced: true } : null;
}

/** The groups of a profile, with members that exist and without circles. */
export function planGroups({ groups }: Profile, surroundings: GroupSurroundings): PlannedGroup[] {
  const planned = groups.map((group) => planGroup(group, surroundings));
  breakCircles(planned);
  return planned;
}

function planGroup(group: ProfileGroup, surroundings: GroupSurroundings): PlannedGroup {
  const { name } = group;
  const storedAs = surroundings.names.get(name) ?? name;
  const remarks = [...group.remarks];
  if (storedAs !== name) remarks.push({ outcome: 'replaced', reason: 'group_renamed' });
  // `smart` of Surge and of a fork of mihomo takes one of the fastest.
  const type = group.type === 'smart' ? 'url-test' : group.type;
  if (type !== group.type) remarks.push({ outcome: 'replaced', reason: 'group_type_fastest' });
  const isKnown = TYPES.has(type);
  if (!isKnown) {
    remarks.push({ outcome: 'replaced', reason: group.type === 'relay' ? 'relay_rejects' : 'group_type_rejects' });
  }
  const members = isKnown ? membersOf(group, surroundings, remarks) : [];
  const intake = isKnown ? intakeOf(group, surroundings, remarks) : null;
  if (isKnown && members.length === 0 && intake === null) remarks.push({ outcome: 'replaced', reason: 'group_empty' });
  const { testUrl, expectedStatus, intervalSec, toleranceMs, lazy, strategy, hidden, icon } = group;
  return {
    name,
    storedAs,
    type: isKnown ? (type as OutboundGroupType) : 'select',
    members,
    intake,
    lazy,
    hidden,
    icon,
    remarks,
    testUrl: !isKnown || type === 'select' ? null : testUrl,
    expectedStatus,
    intervalSec: intervalSec === null ? null : Math.max(intervalSec, 10),
    toleranceMs: type === 'url-test' ? toleranceMs : null,
    strategy: type === 'load-balance' && STRATEGIES.has(strategy ?? '') ? (strategy as GroupStrategy) : null,
  };
}

function membersOf(
  { proxies, filter }: ProfileGroup,
  { names, nodeTag, builtIns }: GroupSurroundings,
  remarks: ProfileRemark[],
): string[] {
  // As in mihomo it concerns the listed members as well.
  const excludes = compileFilter({ ...filter, include: [] })?.excludes ?? (() => false);
  const listed = proxies.filter((name) => !excludes({ originalName: name, type: '' }));
  const tags = listed.map((name) => {
    // Names distinguish case: `Direct` may be a group.
    const own = names.get(name) ?? nodeTag(name);
    const builtIn = own === null ? builtInOf(builtIns.get(name) ?? name) : null;
    return builtIn?.tag === 'PASS' ? null : (own ?? builtIn?.tag ?? null);
  });
  const found = tags.filter((tag) => tag !== null);
  if (found.length < tags.length) remarks.push({ outcome: 'carried', reason: 'members_missing' });
  return [...new Set(found)];
}

function intakeOf(
  group: ProfileGroup,
  { providers }: GroupSurroundings,
  remarks: ProfileRemark[],
): PlannedGroup['intake'] {
  const wanted = group.includeProviders ? [...providers].sort(byBytes) : group.use;
  const used = wanted.filter((name) => providers.has(name));
  if (used.length < wanted.length) remarks.push({ outcome: 'carried', reason: 'provider_missing' });
  if (!group.includeProxies && used.length === 0) return null;
  const filter = usableFilter(group.filter, remarks);
  const asListed = used.length === 0 && filter.include.length > 1;
  return { own: group.includeProxies, providers: used, filter, asListed };
}

/** The filter, or one that takes nothing if the kernel's engine does not read it. */
export function usableFilter(filter: NameFilter, remarks: ProfileRemark[]): NameFilter {
  if (!filter.readable || compileFilter(filter) !== null) return filter;
  remarks.push({ outcome: 'replaced', reason: 'filter_unreadable' });
  return { ...filter, readable: false };
}

/** Takes the member out of a group that would lead back to it. */
function breakCircles(groups: readonly PlannedGroup[]): void {
  const byName = new Map(groups.map((group) => [group.storedAs, group]));
  const done = new Set<string>();
  for (const start of groups) {
    // A stack of its own: groups may be nested deeper than calls can be.
    const path = [{ group: start, next: 0 }];
    const onPath = new Set([start.storedAs]);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const tag = top.group.members[top.next];
      const inside = tag === undefined ? undefined : byName.get(tag);
      if (tag === undefined) {
        done.add(top.group.storedAs);
        onPath.delete(top.group.storedAs);
        path.pop();
      } else if (onPath.has(tag)) {
        top.group.members.splice(top.next, 1);
        top.group.remarks.push({ outcome: 'replaced', reason: 'group_loop' });
      } else {
        top.next++;
        if (inside && !done.has(tag)) {
          path.push({ group: inside, next: 0 });
          onPath.add(tag);
        }
      }
    }
  }
}
