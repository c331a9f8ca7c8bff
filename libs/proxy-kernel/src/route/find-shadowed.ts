/** Finds rules that can never decide, because an earlier one matches every flow that they would match. */
import { type Cidr, cidrContains, guarded } from '@gatehouse/net';
import type { RuleSetConfig } from '../interfaces/config.js';
import type { Accept } from './accept.js';
import { type DomainEntry, DomainTable, SCOPE } from './domain-table.js';
import { type KeywordEntry, KeywordAutomaton } from './keyword-automaton.js';
import { type PrefixEntry, PrefixTable } from './prefix-table.js';
import type { RuleDefinition } from './rule-line.js';
import { EMPTY_CONTEXT, createMatcher } from './rule/create-matcher.js';
import { DomainKeywordMatcher } from './rule/domain-keyword.js';
import { DomainSuffixMatcher } from './rule/domain-suffix.js';
import { DomainMatcher } from './rule/domain.js';
import { GeoIpMatcher, LAN, LAN_PREFIXES } from './rule/geoip.js';
import { IpCidrMatcher } from './rule/ip-cidr.js';
import type { RuleMatcher } from './rule/matcher-context.js';
import { PortMatcher, type PortRange } from './rule/port.js';
import { RuleError } from './rule/rule-error.js';
import { isAddressRule, isLogicRule, isSetRule, wantsResolving } from './rule/rule-type.js';
import { type Lookup, lookupOfLogic, lookupOfSet } from './rule-set/lookup.js';

export type ShadowRule = RuleDefinition & { /** Absent: true. */ enabled?: boolean };

export interface ShadowOptions {
  /**
   * True for a target that exists, carries UDP and never leads to PASS, whatever its groups choose. Absent: `DIRECT`,
   * `REJECT` and `REJECT-DROP`. A rule with any target still shadows later ones with the same target.
   */
  alwaysTakes?: (target: string) => boolean;
  /** The sets that rules name. Two rules with one set that is not here are never called the same. */
  ruleSets?: readonly RuleSetConfig[];
}

const BUILT_IN: ReadonlySet<string> = new Set(['DIRECT', 'REJECT', 'REJECT-DROP']);
/** The most earlier rules compared with one rule. Beyond that a shadow may be missed, but never invented. */
const MAX_CANDIDATES = 64;
/** Rules read or compared at a time, which takes a few milliseconds. */
const SLICE = 1_000;

/**
 * For each rule the index of an earlier enabled one that always wins over it; null if there is none, if none was found,
 * and for rules that are disabled or invalid. Takes time about in proportion to the number of rules.
 */
export function findShadowed(rules: readonly ShadowRule[], options: ShadowOptions = {}): (number | null)[] {
  const finder = new ShadowFinder(rules, rules.map(readMatcher), options);
  return rules.map((_, index) => finder.find(index));
}

/** Like `findShadowed`, but yields to the event loop, since a long list takes seconds. */
export async function findShadowedInSlices(
  rules: readonly ShadowRule[],
  options: ShadowOptions = {},
): Promise<(number | null)[]> {
  const matchers = await mapInSlices(rules, readMatcher);
  const finder = new ShadowFinder(rules, matchers, options);
  return mapInSlices(rules, (_, index) => finder.find(index));
}

async function mapInSlices<T, R>(items: readonly T[], map: (item: T, index: number) => R): Promise<R[]> {
  const results: R[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % SLICE === 0) await new Promise((resolve) => setImmediate(guarded(null, resolve)));
    results.push(map(item, index));
  }
  return results;
}

function isBuiltIn(target: string): boolean {
  return BUILT_IN.has(target);
}

class ShadowFinder {
  readonly #rules: readonly ShadowRule[];
  readonly #takes: readonly boolean[];
  readonly #matchers: readonly (RuleMatcher | null)[];
  readonly #lookups: readonly Lookup[];
  /** The last rule before each that may cause a domain to be resolved. */
  readonly #lastAsking: Int32Array;
  /** DOMAIN and DOMAIN-SUFFIX rules; the latter also separately, for what covers a whole suffix. */
  readonly #names: DomainTable;
  readonly #suffixes: DomainTable;
  readonly #keywords: KeywordAutomaton;
  readonly #prefixes: Record<'destination' | 'source', { 4: PrefixTable; 6: PrefixTable }>;
  /** Rules with the same meaning, in order. */
  readonly #alike = new Map<string, number[]>();
  readonly #ports = new Map<string, { index: number; ranges: readonly PortRange[] }[]>();
  readonly #matchAll: number[] = [];

  constructor(
    rules: readonly ShadowRule[],
    matchers: readonly (RuleMatcher | null)[],
    { alwaysTakes: takes = isBuiltIn, ruleSets = [] }: ShadowOptions,
  ) {
    this.#rules = rules;
    const known = new Map<string, boolean>();
    this.#takes = rules.map(({ target }) => {
      const taken = known.get(target) ?? takes(target);
      known.set(target, taken);
      return taken;
    });
    this.#matchers = matchers;
    const sets = new Map(ruleSets.map((set) => [set.name, set]));
    this.#lookups = rules.map((rule) => lookupOf(rule, sets));
    this.#lastAsking = lastAsking(rules, this.#lookups);
    const names: DomainEntry[] = [];
    const keywords: KeywordEntry[] = [];
    const prefixes = { destination: [] as PrefixEntry[], source: [] as PrefixEntry[] };
    for (const [rule, matcher] of this.#matchers.entries()) {
      const { src = false, type } = rules[rule] ?? {};
      if (!matcher) continue;
      if (matcher instanceof DomainMatcher) names.push({ domain: matcher.domain, scope: SCOPE.exact, rule });
      else if (matcher instanceof DomainSuffixMatcher)
        names.push({ domain: matcher.suffix, scope: SCOPE.suffix, rule });
      else if (matcher instanceof DomainKeywordMatcher) keywords.push({ keyword: matcher.keyword, rule });
      else if (type === 'MATCH') this.#matchAll.push(rule);
      else this.#addOther(rule, matcher);
      for (const cidr of cidrsOf(matcher)) prefixes[src ? 'source' : 'destination'].push({ cidr, rule });
    }
    this.#names = new DomainTable(names);
    this.#suffixes = new DomainTable(names.filter(({ scope }) => scope === SCOPE.suffix));
    this.#keywords = new KeywordAutomaton(keywords);
    this.#prefixes = { destination: byFamily(prefixes.destination), source: byFamily(prefixes.source) };
  }

  find(index: number): number | null {
    const matcher = this.#matchers[index];
    const rule = this.#rules[index];
    if (!matcher || !rule) return null;
    const all = this.#first(index, this.#matchAll, () => true);
    return smallest(all, this.#findCovering(index, rule, matcher));
  }

  #addOther(rule: number, matcher: RuleMatcher): void {
    const key = this.#keyOf(rule, matcher);
    const alike = this.#alike.get(key);
    if (alike) alike.push(rule);
    else this.#alike.set(key, [rule]);
    if (!(matcher instanceof PortMatcher)) return;
    const ports = this.#ports.get(matcher.type) ?? [];
    this.#ports.set(matcher.type, ports);
    if (ports.length < MAX_CANDIDATES) ports.push({ index: rule, ranges: merged(matcher.ranges) });
  }

  #findCovering(index: number, rule: ShadowRule, matcher: RuleMatcher): number | null {
    if (matcher instanceof DomainKeywordMatcher) return this.#findKeyword(index, matcher.keyword);
    if (matcher instanceof DomainMatcher) return this.#findName(index, this.#names, matcher.domain);
    if (matcher instanceof DomainSuffixMatcher) return this.#findName(index, this.#suffixes, matcher.suffix);
    if (matcher instanceof IpCidrMatcher) return this.#findPrefix(index, rule, matcher.cidr);
    const alike = this.#first(index, this.#alike.get(this.#keyOf(index, matcher)) ?? [], (earlier) =>
      this.#seesTheSame(earlier, index),
    );
    return matcher instanceof PortMatcher ? smallest(alike, this.#findPorts(index, matcher)) : alike;
  }

  #findKeyword(index: number, text: string): number | null {
    return bounded(
      index,
      (accept) => this.#keywords.find(text, 0, index, accept),
      (earlier) => this.#wins(earlier, index),
    );
  }

  #findName(index: number, table: DomainTable, name: string): number | null {
    const wins: Accept = (earlier) => this.#wins(earlier, index);
    const found = bounded(index, (accept) => table.find(name, 0, index, accept), wins);
    return smallest(found, this.#findKeyword(index, name));
  }

  #findPrefix(index: number, rule: ShadowRule, cidr: Cidr): number | null {
    const table = this.#prefixes[rule.src ? 'source' : 'destination'][cidr.family];
    return bounded(
      index,
      (accept) => table.find(cidr.words, 0, index, accept),
      (earlier) => this.#wins(earlier, index) && this.#seesTheSame(earlier, index) && this.#isWider(earlier, cidr),
    );
  }

  /**
   * The earlier rule contains the first address of `cidr`; it contains all of them if one of its prefixes is no longer.
   */
  #isWider(earlier: number, cidr: Cidr): boolean {
    const matcher = this.#matchers[earlier];
    return cidrsOf(matcher ?? null).some((own) => own.prefix <= cidr.prefix && cidrContains(own, cidr));
  }

  #findPorts(index: number, matcher: PortMatcher): number | null {
    const candidates = this.#ports.get(matcher.type) ?? [];
    const covers = ({ ranges }: { ranges: readonly PortRange[] }): boolean =>
      matcher.ranges.every(({ from, to }) => ranges.some((range) => range.from <= from && to <= range.to));
    return candidates.find((one) => one.index < index && this.#wins(one.index, index) && covers(one))?.index ?? null;
  }

  #first(index: number, candidates: readonly number[], fits: (earlier: number) => boolean): number | null {
    for (const earlier of candidates.slice(0, MAX_CANDIDATES)) {
      if (earlier >= index) return null;
      if (this.#wins(earlier, index) && fits(earlier)) return earlier;
    }
    return null;
  }

  /** Rules with the same target either both refuse or both accept. */
  #wins(earlier: number, index: number): boolean {
    return this.#takes[earlier] === true || this.#rules[earlier]?.target === this.#rules[index]?.target;
  }

  /** Whether the later rule never sees an address that the earlier one with the same condition did not see. */
  #seesTheSame(earlier: number, index: number): boolean {
    const [a, b] = [this.#rules[earlier], this.#rules[index]];
    if (!a || !b) return false;
    const undisturbed = (this.#lastAsking[index] ?? index) <= earlier;
    if (isAddressRule(b)) return b.src === true || wantsResolving(a) || (b.noResolve === true && undisturbed);
    if (!isSetRule(b) && !isLogicRule(b)) return true;
    if (b.src === true && isSetRule(b)) return true;
    // What stands before the condition that asks does not see the address at `earlier`, but does at `index`.
    if (this.#lookups[earlier] === 'in-order') return false;
    return undisturbed && (a.noResolve !== true || b.noResolve === true);
  }

  #keyOf(index: number, matcher: RuleMatcher): string {
    const rule = this.#rules[index];
    if (!rule) return '';
    const plain = isAddressRule(rule)
      ? createMatcher({ type: rule.type, payload: rule.payload }, EMPTY_CONTEXT)
      : matcher;
    const payload = isSetRule(rule) ? `${rule.type},${rule.payload}` : plain.describe();
    return `${rule.src === true ? 'src' : ''}\0${payload}`;
  }
}

/** Ends a search after enough candidates, with nothing found. */
function bounded(index: number, search: (accept: Accept) => number, fits: Accept): number | null {
  let left = MAX_CANDIDATES;
  const answer = search((earlier) => left-- <= 0 || fits(earlier));
  return answer < index && left >= 0 ? answer : null;
}

function readMatcher(rule: ShadowRule): RuleMatcher | null {
  if (rule.enabled === false) return null;
  try {
    return createMatcher(rule, EMPTY_CONTEXT);
  } catch (error) {
    // An invalid rule decides nothing; its error is shown elsewhere.
    if (error instanceof RuleError) return null;
    throw error;
  }
}

/** Whether a rule has names resolved. */
function lookupOf(rule: ShadowRule, sets: ReadonlyMap<string, RuleSetConfig>): Lookup {
  if (wantsResolving(rule)) return 'at-once';
  if (rule.noResolve === true) return 'never';
  if (isLogicRule(rule)) return lookupOfLogic(rule.payload);
  if (rule.type !== 'RULE-SET' || rule.src === true) return 'never';
  const set = sets.get(rule.payload);
  return set ? lookupOfSet(set) : 'in-order';
}

function lastAsking(rules: readonly ShadowRule[], lookups: readonly Lookup[]): Int32Array {
  const last = new Int32Array(rules.length);
  let latest = -1;
  for (const [index, rule] of rules.entries()) {
    last[index] = latest;
    if (rule.enabled !== false && lookups[index] !== 'never') latest = index;
  }
  return last;
}

function cidrsOf(matcher: RuleMatcher | null): readonly Cidr[] {
  if (matcher instanceof IpCidrMatcher) return [matcher.cidr];
  return matcher instanceof GeoIpMatcher && matcher.country === LAN ? LAN_PREFIXES : [];
}

function byFamily(entries: readonly PrefixEntry[]): { 4: PrefixTable; 6: PrefixTable } {
  const of = (family: 4 | 6): PrefixEntry[] => entries.filter(({ cidr }) => cidr.family === family);
  return { 4: new PrefixTable(1, of(4)), 6: new PrefixTable(4, of(6)) };
}

/** Merges ranges that touch or overlap. */
function merged(ranges: readonly PortRange[]): PortRange[] {
  const result: { from: number; to: number }[] = [];
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last && from <= last.to + 1) last.to = Math.max(last.to, to);
    else result.push({ from, to });
  }
  return result;
}

function smallest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}
