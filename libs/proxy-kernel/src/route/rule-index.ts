import type { Cidr } from '@gatehouse/net';
import type { RuleConfig } from '../interfaces/config.js';
import type { ConnectionMetadata } from '../interfaces/connection.js';
import { KernelConfigError } from '../interfaces/kernel.js';
import type { CountryLookup, PolicyTable, RoutedFlow } from '../interfaces/route.js';
import type { Accept } from './accept.js';
import { AddressTable } from './address-table.js';
import { type ResidualRule, oneEachRule } from './any-of.js';
import { type DomainEntry, DomainTable, SCOPE } from './domain-table.js';
import { type KeywordEntry, KeywordAutomaton } from './keyword-automaton.js';
import type { PrefixEntry } from './prefix-table.js';
import { createMatcher, setConditions } from './rule/create-matcher.js';
import { DomainKeywordMatcher } from './rule/domain-keyword.js';
import { DomainSuffixMatcher } from './rule/domain-suffix.js';
import { DomainMatcher } from './rule/domain.js';
import { GeoIpMatcher, LAN, LAN_PREFIXES } from './rule/geoip.js';
import { IpCidrMatcher } from './rule/ip-cidr.js';
import type { MatcherContext, RuleMatcher } from './rule/matcher-context.js';
import { LogicMatcher } from './rule/logic.js';
import { RuleError } from './rule/rule-error.js';
import { RuleSetMatcher, setNameOf } from './rule/rule-set.js';
import { type RuleCondition, isSetRule, wantsResolving } from './rule/rule-type.js';
import { checkTarget } from './rule-line.js';
import type { CompiledRuleSets } from './rule-set/rule-sets.js';
import { SetRules } from './rule-set/set-rules.js';

interface IndexSource {
  rules: readonly RuleConfig[];
  policies: PolicyTable;
  context: MatcherContext & { readonly sets: CompiledRuleSets };
}

const ALWAYS = (): boolean => true;

/** The parts of a rule list, each in rule order. */
class RuleParts {
  readonly domains: DomainEntry[] = [];
  readonly keywords: KeywordEntry[] = [];
  readonly destinations: PrefixEntry[] = [];
  readonly sources: PrefixEntry[] = [];
  /** Countries of the target, by code. */
  readonly countries = new Map<string, number[]>();
  readonly residual: ResidualRule[] = [];
  /** Rules with conditions in an order, of which some may not see the address that another one asks for. */
  readonly ordered = new Map<number, RuleMatcher>();

  readonly sets: SetRules;
  readonly #context: MatcherContext;
  /** Rules that cause every domain to be resolved unless they match its name, ascending. */
  readonly asking: number[] = [];

  constructor(context: IndexSource['context']) {
    this.#context = context;
    this.sets = new SetRules(context.sets.tables);
  }

  add(rule: number, config: RuleConfig, matcher: RuleMatcher): void {
    if (matcher.missingSet) return;
    if (matcher instanceof RuleSetMatcher || matcher instanceof LogicMatcher) this.ordered.set(rule, matcher);
    if (matcher instanceof RuleSetMatcher) this.#addSet(rule, config);
    else this.#addCondition(rule, config, matcher);
    if (wantsResolving(config)) this.asking.push(rule);
  }

  #addCondition(rule: number, config: RuleCondition, matcher: RuleMatcher): void {
    if (matcher instanceof DomainMatcher) this.#addDomain(matcher.domain, SCOPE.exact, rule);
    else if (matcher instanceof DomainSuffixMatcher) this.#addDomain(matcher.suffix, SCOPE.suffix, rule);
    else if (matcher instanceof DomainKeywordMatcher) this.keywords.push({ keyword: matcher.keyword, rule });
    else if (matcher instanceof IpCidrMatcher) this.#addPrefixes(config, rule, [matcher.cidr]);
    else if (matcher instanceof GeoIpMatcher && matcher.country === LAN) this.#addPrefixes(config, rule, LAN_PREFIXES);
    else if (matcher instanceof GeoIpMatcher && !config.src) this.#addCountry(matcher.country, rule);
    else this.residual.push({ rule, matcher, mayAsk: config.noResolve !== true });
  }

  /** Names and prefixes of a set are in tables of their own; the rest is compiled with the rule. */
  #addSet(rule: number, config: RuleConfig): void {
    if (!isSetRule(config)) return;
    const set = this.#context.sets.get(setNameOf(config.type as 'RULE-SET' | 'GEOSITE', config.payload));
    if (!set) return;
    this.sets.add(set.number, rule, config.src === true);
    for (const { condition, matcher } of setConditions(config, set, this.#context)) {
      this.#addCondition(rule, condition, matcher);
    }
    if (set.asks && !config.noResolve && !config.src) this.asking.push(rule);
  }

  #addDomain(domain: string, scope: number, rule: number): void {
    this.domains.push({ domain, scope, rule });
  }

  #addPrefixes(config: RuleCondition, rule: number, cidrs: readonly Cidr[]): void {
    for (const cidr of cidrs) (config.src ? this.sources : this.destinations).push({ cidr, rule });
  }

  #addCountry(country: string, rule: number): void {
    const rules = this.countries.get(country);
    if (rules) {
      if (rules.at(-1) !== rule) rules.push(rule);
    } else {
      this.countries.set(country, [rule]);
    }
  }
}

/**
 * Checks every rule and compiles those whose target exists; a rule without a target is left out.
 * @throws KernelConfigError
 */
export function compileRuleIndex({ rules, policies, context }: IndexSource): RuleIndex {
  const parts = new RuleParts(context);
  for (const [i, rule] of rules.entries()) {
    const matcher = compileRule(rule, i, context);
    if (policies.has(rule.target)) parts.add(i, rule, matcher);
  }
  return new RuleIndex(parts, context.country);
}

function compileRule(rule: RuleConfig, index: number, context: MatcherContext): RuleMatcher {
  try {
    checkTarget(rule.target);
    return createMatcher(rule, context);
  } catch (error) {
    if (error instanceof RuleError) throw new KernelConfigError(`rules[${index}].${error.field}`, error.message);
    throw error;
  }
}

/** Each part narrows the upper bound for the next one, so a part is asked only about rules that can still win. */
export class RuleIndex {
  readonly #country: CountryLookup;
  readonly #domains: DomainTable;
  readonly #keywords: KeywordAutomaton;
  readonly #firstKeyword: number;
  readonly #destinations: AddressTable;
  readonly #sources: AddressTable;
  readonly #countries: ReadonlyMap<string, readonly number[]>;
  readonly #firstCountry: number;
  readonly #residual: readonly ResidualRule[];
  readonly #sets: SetRules;
  readonly #asking: readonly number[];
  readonly #ordered: ReadonlyMap<number, RuleMatcher>;

  constructor(parts: RuleParts, country: CountryLookup) {
    this.#country = country;
    this.#domains = new DomainTable(parts.domains);
    this.#keywords = new KeywordAutomaton(parts.keywords);
    this.#firstKeyword = parts.keywords[0]?.rule ?? Infinity;
    this.#destinations = new AddressTable(parts.destinations);
    this.#sources = new AddressTable(parts.sources);
    this.#countries = parts.countries;
    this.#firstCountry = Math.min(...[...parts.countries.values()].map((rules) => rules[0] ?? Infinity));
    const overflow = this.#keywords.overflow.map(({ keyword, rule }) => ({
      rule,
      matcher: new DomainKeywordMatcher(keyword),
      mayAsk: false,
    }));
    this.#sets = parts.sets;
    this.#asking = parts.asking;
    this.#ordered = parts.ordered;
    this.#residual = oneEachRule([...parts.residual, ...overflow]);
  }

  /**
   * The smallest index in `[from, to)` whose rule matches and is accepted; `to` if there is none. A negative result is
   * `~index` of an earlier rule that needs the domain's address; only for a flow without an address.
   */
  find(flow: ConnectionMetadata, from: number, to: number, accept: Accept): number {
    if (flow.host === null || flow.destinationIp !== null) return this.#search(flow, from, to, accept);
    let start = from;
    for (const asking of this.#asking) {
      if (asking < start) continue;
      if (asking >= to) break;
      const best = this.#search(flow, start, asking + 1, accept);
      if (best <= asking) return best;
      if (!this.#matchesByTable(flow, asking) && !this.#matchesByItself(flow, asking)) return ~asking;
      start = asking + 1;
    }
    return this.#search(flow, start, to, accept);
  }

  /** Whether the rule that asked for an address matches with it. Its conditions before the one that asked do not see it. */
  matchesResolved(flow: ConnectionMetadata, rule: number, address: string): boolean {
    const matcher = this.#ordered.get(rule);
    if (!matcher) return this.#search({ ...flow, destinationIp: address }, rule, rule + 1, ALWAYS) === rule;
    const seen: RoutedFlow = { ...flow, resolvable: address };
    return matcher.matches(seen) === true;
  }

  #search(flow: ConnectionMetadata, from: number, to: number, accept: Accept): number {
    return this.#scanResidual(flow, from, this.#findIndexed(flow, from, to, accept), accept);
  }

  /** A rule that matches without an address, but whose target refuses the flow, needs no address. */
  #matchesByTable(flow: ConnectionMetadata, rule: number): boolean {
    return this.#findIndexed(flow, rule, rule + 1, ALWAYS) === rule;
  }

  #matchesByItself(flow: ConnectionMetadata, rule: number): boolean {
    return this.#residual.find((entry) => entry.rule === rule)?.matcher.matches(flow) === true;
  }

  #findIndexed(flow: ConnectionMetadata, from: number, to: number, accept: Accept): number {
    let best = to;
    if (flow.host !== null) {
      best = this.#domains.find(flow.host, from, best, accept);
      if (this.#firstKeyword < best) best = this.#keywords.find(flow.host, from, best, accept);
    }
    if (flow.destinationIp !== null) {
      best = this.#destinations.find(flow.destinationIp, from, best, accept);
      best = this.#findCountry(flow.destinationIp, from, best, accept);
    }
    best = this.#sets.find(flow, from, best, accept);
    return this.#sources.find(flow.sourceIp, from, best, accept);
  }

  /** The size of the compiled tables, without the rules. */
  get bytes(): number {
    return this.#domains.bytes + this.#keywords.bytes + this.#destinations.bytes + this.#sources.bytes;
  }

  #findCountry(address: string, from: number, to: number, accept: Accept): number {
    if (this.#firstCountry >= to) return to;
    const rules = this.#countries.get(this.#country(address) ?? '') ?? [];
    const rule = rules.find((candidate) => candidate >= to || (candidate >= from && accept(candidate)));
    return Math.min(rule ?? to, to);
  }

  #scanResidual(flow: ConnectionMetadata, from: number, to: number, accept: Accept): number {
    for (const { rule, matcher, mayAsk } of this.#residual) {
      if (rule >= to) break;
      if (rule < from) continue;
      const result = matcher.matches(flow);
      if (result === true && accept(rule)) return rule;
      if (result === 'needs-ip' && mayAsk && !this.#matchesByTable(flow, rule)) return ~rule;
    }
    return to;
  }
}
