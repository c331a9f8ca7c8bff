import type { GroupConfig } from '../interfaces/config.js';
import type { ConnectionMetadata } from '../interfaces/connection.js';
import { KernelConfigError, type GroupState, type GroupSwitched } from '../interfaces/kernel.js';
import type { PolicyTable } from '../interfaces/route.js';
import {
  BUILT_IN_POLICIES,
  compileGroups,
  type CompiledGroups,
  type Group,
  type GroupMemory,
} from './compile-groups.js';
import type { GroupView, MemberHealth } from './group-rule.js';

/** What groups must know about outbounds. */
export interface HealthView {
  /** For a group measured with `testUrl`; absent: the general measurement. */
  of(testUrl: string | undefined, tag: string): MemberHealth;
  /** Whether `halfOpen` is true for any outbound. */
  readonly anyHalfOpen: boolean;
  /** Whether its circuit has been open long enough for a flow to try it. It is not alive until that succeeds. */
  halfOpen(tag: string): boolean;
  /** Like `halfOpen`, and no flow is trying it now. */
  mayTry(tag: string): boolean;
  /** Reserves the trial for one flow. False if another flow has it. */
  claimTrial(tag: string): boolean;
}

export interface PolicyTableOptions {
  /** Absent: everything is alive and unmeasured. */
  health?: HealthView;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

export interface SelectablePolicyTable extends PolicyTable {
  /** Members that were left out because they do not exist. */
  readonly warnings: readonly string[];
  /**
   * The nodes that a group may lead to, without built-ins; of a `select` group those behind its member in use. Null if
   * there is no such group.
   */
  nodesBelow(group: string): ReadonlySet<string> | null;
  /** The chain of this flow, which counts as used. */
  useChain(tag: string, flow: ConnectionMetadata): string[];
  /** @throws KernelConfigError for an unknown group or a member it does not have, and for a load-balance group. */
  select(group: string, member: string | null): void;
  /** The member in use, null for an empty group and a load-balance group. @throws KernelConfigError for an unknown group. */
  selected(group: string): string | null;
  groups(): GroupState[];
  /** Lets the groups over these outbounds decide again. */
  healthChanged(tags: Iterable<string>): void;
  /** Lets groups decide again whose decision has expired. */
  recheck(): void;
  /** Takes over the state of the previous table, and reports switches from then on. */
  takeOver(before: ReadonlyMap<string, GroupMemory> | null, onSwitched: (change: GroupSwitched) => void): void;
  /** Retires this table: it keeps its members in use and reports nothing more. */
  retire(): ReadonlyMap<string, GroupMemory>;
}

const UNKNOWN: MemberHealth = { alive: true, delayMs: null };
const DEAD: MemberHealth = { alive: false, delayMs: null };
const EVERYTHING_ALIVE: HealthView = {
  of: () => UNKNOWN,
  anyHalfOpen: false,
  halfOpen: () => false,
  mayTry: () => false,
  claimTrial: () => false,
};

/** Why a group decides. */
interface DecisionCause {
  /** A user or a new configuration chose another member. */
  isChoice?: boolean;
  /** The member in use gets no preference. */
  ignoreCurrent?: boolean;
  silent?: boolean;
}

/**
 * Creates the table of outbounds by tag, and the groups over them.
 * @throws KernelConfigError for a duplicate name and for groups that contain each other.
 */
export function createPolicyTable(
  outbounds: ReadonlyMap<string, { udp: boolean }>,
  groups: readonly GroupConfig[],
  options: PolicyTableOptions = {},
): SelectablePolicyTable {
  return new GroupTable(outbounds, groups, options);
}

class GroupTable implements SelectablePolicyTable {
  readonly warnings: readonly string[];
  readonly #outbounds: ReadonlyMap<string, { udp: boolean }>;
  readonly #health: HealthView;
  readonly #now: () => number;
  readonly #compiled: CompiledGroups;
  /** Cached chains that are the same for every flow, until a group switches. There are at most as many as tags. */
  readonly #chains = new Map<string, readonly string[]>();
  /** Cached until a group switches. */
  readonly #nodes = new Map<string, ReadonlySet<string>>();
  #onSwitched: ((change: GroupSwitched) => void) | null = null;
  /** Groups with a circuit in their chain that may be tried. */
  readonly #trials = new Set<Group>();
  #retired = false;

  constructor(
    outbounds: ReadonlyMap<string, { udp: boolean }>,
    groups: readonly GroupConfig[],
    { health = EVERYTHING_ALIVE, now = Date.now }: PolicyTableOptions,
  ) {
    this.#outbounds = withBuiltIns(outbounds);
    this.#health = health;
    this.#now = now;
    this.#compiled = compileGroups(groups, this.#outbounds, now);
    this.warnings = this.#compiled.warnings;
    for (const group of this.#compiled.ordered) this.#decide(group);
  }

  has(tag: string): boolean {
    return this.#outbounds.has(tag) || this.#compiled.groups.has(tag);
  }

  /** An unknown tag rejects, and rejecting works for UDP as well. */
  supportsUdp(tag: string): boolean {
    return this.#compiled.groups.get(tag)?.udp ?? this.#outbounds.get(tag)?.udp ?? true;
  }

  chain(tag: string, flow?: ConnectionMetadata): string[] {
    if (!flow) return [...this.#walk(tag)];
    const trial = this.#walkTrial(tag, flow);
    return [...(trial && this.#health.mayTry(trial.at(-1) ?? '') ? trial : this.#walk(tag, flow))];
  }

  leaf(tag: string): string {
    return this.#walk(tag).at(-1) ?? 'REJECT';
  }

  nodesBelow(name: string): ReadonlySet<string> | null {
    const group = this.#compiled.groups.get(name);
    if (!group) return null;
    const known = this.#nodes.get(name);
    if (known) return known;
    const members = group.config.type === 'select' ? (group.now === null ? [] : [group.now]) : group.members;
    const nodes = new Set(members.flatMap((member) => [...(this.nodesBelow(member) ?? ownNode(member))]));
    this.#nodes.set(name, nodes);
    return nodes;
  }

  useChain(tag: string, flow: ConnectionMetadata): string[] {
    const trial = this.#walkTrial(tag, flow);
    const claimed = trial !== null && this.#health.claimTrial(trial.at(-1) ?? '');
    return claimed ? trial : [...this.#walk(tag, flow, true)];
  }

  select(name: string, member: string | null): void {
    const group = this.#group(name);
    if (group.rule.pick) throw new KernelConfigError(name, 'a load-balance group has no choice to make');
    if (member !== null && !group.members.includes(member)) {
      throw new KernelConfigError(name, `${member} is not a member of this group`);
    }
    group.chosen = member;
    this.#decide(group, { isChoice: true, ignoreCurrent: member === null });
    this.#decideAbove([name]);
  }

  selected(name: string): string | null {
    const group = this.#group(name);
    return group.rule.pick ? null : group.now;
  }

  groups(): GroupState[] {
    return [...this.#compiled.groups.values()].map(({ config, members, now, chosen, rule }) => ({
      name: config.name,
      type: config.type,
      members,
      now: rule.pick ? null : now,
      fixed: !rule.pick && now !== null && now === chosen,
    }));
  }

  healthChanged(tags: Iterable<string>): void {
    if (!this.#retired) this.#decideAbove(tags);
  }

  recheck(): void {
    if (this.#retired) return;
    const at = this.#now();
    const due = this.#compiled.ordered.filter((group) => group.recheckAt <= at);
    for (const group of due) this.#decide(group);
    this.#decideAbove(due.map((group) => group.config.name));
  }

  takeOver(before: ReadonlyMap<string, GroupMemory> | null, onSwitched: (change: GroupSwitched) => void): void {
    this.#onSwitched = onSwitched;
    for (const group of this.#compiled.ordered) {
      const memory = before?.get(group.config.name);
      // A load-balance group has no member in use that a group of another type could keep.
      if (memory && !memory.rule.pick === !group.rule.pick) this.#continue(group, memory);
      else this.#decide(group, { silent: true });
    }
  }

  retire(): ReadonlyMap<string, GroupMemory> {
    this.#retired = true;
    this.#onSwitched = null;
    return this.#compiled.groups;
  }

  #group(name: string): Group {
    const group = this.#compiled.groups.get(name);
    if (!group) throw new KernelConfigError(name, 'no such group');
    return group;
  }

  #continue(group: Group, memory: GroupMemory): void {
    if (sameRule(group.config, memory.config)) group.rule = memory.rule;
    group.now = memory.now;
    group.switchedAt = memory.switchedAt;
    this.#decide(group, { isChoice: group.chosen !== memory.chosen });
  }

  #decide(group: Group, { isChoice = false, ignoreCurrent = false, silent = false }: DecisionCause = {}): void {
    const { now: from, members } = group;
    const view = this.#view(group, ignoreCurrent);
    const { member, reason, recheckAt = Infinity } = group.rule.choose(view);
    group.recheckAt = recheckAt;
    group.now = member;
    this.#derive(group, view);
    if (member === from) return;
    if (from !== null) group.switchedAt = view.at;
    if (silent || group.rule.pick) return;
    const because = isChoice && (from === null || members.includes(from)) ? 'manual' : reason;
    this.#onSwitched?.({ at: view.at, group: group.config.name, from, to: member, reason: because });
  }

  /** Lets the groups over these tags decide again, and the groups over those. */
  #decideAbove(tags: Iterable<string>): void {
    const { parents, ordered } = this.#compiled;
    const due = new Set<Group>();
    for (const tag of tags) for (const parent of parents.get(tag) ?? []) due.add(parent);
    if (due.size === 0) return;
    for (const group of ordered) {
      if (!due.has(group)) continue;
      this.#decide(group);
      for (const parent of parents.get(group.config.name) ?? []) due.add(parent);
    }
  }

  #view(group: Group, ignoreCurrent: boolean): GroupView {
    const { members, chosen, switchedAt, config } = group;
    const health = (member: string): MemberHealth => {
      const leaf = this.#leafOf(member);
      return leaf === null ? DEAD : this.#health.of(config.testUrl, leaf);
    };
    return { members, chosen, switchedAt, health, now: ignoreCurrent ? null : group.now, at: this.#now() };
  }

  /** Updates everything that follows from the member in use and the health of all members. */
  #derive(group: Group, view: GroupView): void {
    const { now, members } = group;
    group.leaf = now === null ? null : this.#leafOf(now);
    group.udp = now === null || this.supportsUdp(now);
    if (group.rule.pick) {
      const alive = members.filter((member) => view.health(member).alive);
      group.living = sameList(group.living, alive.length > 0 ? alive : members);
      const udp = group.living.filter((member) => this.supportsUdp(member));
      group.livingUdp = sameList(group.livingUdp, udp.length === group.living.length ? group.living : udp);
      group.udp = members.length === 0 || udp.length > 0;
    }
    group.trial = this.#trialOf(group, view);
    if (group.trial === null) this.#trials.delete(group);
    else this.#trials.add(group);
    this.#chains.clear();
    this.#nodes.clear();
  }

  /** The member that would be used if the circuits that wait for a trial were closed. */
  #trialOf(group: Group, view: GroupView): string | null {
    if (!this.#health.anyHalfOpen) return null;
    const waiting = new Set(group.members.filter((member) => this.#health.halfOpen(this.#leafOf(member) ?? '')));
    const [first] = waiting;
    if (first === undefined || group.rule.pick) return first ?? null;
    const health = (member: string): MemberHealth =>
      waiting.has(member) ? { ...view.health(member), alive: true } : view.health(member);
    const { member } = group.rule.choose({ ...view, now: group.now, switchedAt: -Infinity, health });
    return member !== null && member !== group.now && waiting.has(member) ? member : null;
  }

  #leafOf(member: string): string | null {
    const group = this.#compiled.groups.get(member);
    return group ? group.leaf : member;
  }

  /** An unknown tag and an empty group end in `REJECT`: traffic without a way out must not get another one. */
  #walk(tag: string, flow?: ConnectionMetadata, take = false): readonly string[] {
    const known = this.#chains.get(tag);
    if (known) return known;
    if (!this.has(tag)) return [tag, 'REJECT'];
    const chain = [tag];
    let same = true;
    for (let group = this.#compiled.groups.get(tag); group;) {
      same &&= group.rule.pick === undefined;
      const next = nextMember(group, flow, take);
      chain.push(next);
      group = this.#compiled.groups.get(next);
    }
    if (same) this.#chains.set(tag, chain);
    return chain;
  }

  /** The chain through the first circuit that waits for a trial; null if there is none. */
  #walkTrial(tag: string, flow: ConnectionMetadata): string[] | null {
    if (this.#trials.size === 0) return null;
    const chain = [tag];
    let found = false;
    for (let group = this.#compiled.groups.get(tag); group;) {
      const next = (found ? null : group.trial) ?? nextMember(group, flow, false);
      found ||= group.trial !== null;
      chain.push(next);
      group = this.#compiled.groups.get(next);
    }
    const takesUdp = this.#outbounds.get(chain.at(-1) ?? '')?.udp ?? false;
    return found && (flow.network === 'tcp' || takesUdp) ? chain : null;
  }
}

function nextMember(group: Group, flow: ConnectionMetadata | undefined, take: boolean): string {
  if (!group.rule.pick || !flow) return group.now ?? 'REJECT';
  const members = flow.network === 'udp' ? group.livingUdp : group.living;
  return members.length === 0 ? 'REJECT' : group.rule.pick(flow, members, take);
}

function ownNode(tag: string): string[] {
  return (BUILT_IN_POLICIES as readonly string[]).includes(tag) ? [] : [tag];
}

/** Returns `before` if both are equal, because caches are keyed by the array. */
function sameList(before: readonly string[], after: readonly string[]): readonly string[] {
  return before.length === after.length && before.every((tag, index) => tag === after[index]) ? before : after;
}

function sameRule(a: GroupConfig, b: GroupConfig): boolean {
  return a.type === b.type && a.toleranceMs === b.toleranceMs && a.strategy === b.strategy;
}

function withBuiltIns(outbounds: ReadonlyMap<string, { udp: boolean }>): Map<string, { udp: boolean }> {
  const all = new Map(outbounds);
  for (const tag of BUILT_IN_POLICIES) all.set(tag, { udp: true });
  return all;
}
