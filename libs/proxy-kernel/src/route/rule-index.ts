import { type Cidr, parseIp } from '@gatehouse/net';
import type { RuleConfig } from '../interfaces/config.js';
import type { ConnectionMetadata } from '../interfaces/connection.js';
import { KernelConfigError } from '../interfaces/kernel.js';
import type { CountryLookup, Matcher, PolicyTable } from '../interfaces/route.js';
import { type DomainEntry, DomainTable } from './domain-table.js';
import { type KeywordEntry, KeywordAutomaton } from './keyword-automaton.js';
import { type PrefixEntry, PrefixTable } from './prefix-table.js';
import type { Accept } from './accept.js';
import { createMatcher } from './rule/create-matcher.js';
import { DomainKeywordMatcher } from './rule/domain-keyword.js';
import { DomainSuffixMatcher } from './rule/domain-suffix.js';
import { DomainMatcher } from './rule/domain.js';
import { GeoIpMatcher, LAN, LAN_PREFIXES } from './rule/geoip.js';
import { IpCidrMatcher } from './rule/ip-cidr.js';
import { RuleError } from './rule/rule-error.js';
import { checkTarget } from './rule-line.js';

interface IndexSource {
  rules: readonly RuleConfig[];
  policies: PolicyTable;
  country: CountryLookup;
}

interface ResidualRule {
  readonly rule: number;
  readonly matcher: Matcher;
}

/** What one rule list is split into, each part in rule order. */
class RuleParts {
  readonly domains: DomainEntry[] = [];
  readonly keywords: KeywordEntry[] = [];
  readonly destinations: PrefixEntry[] = [];
  readonly sources: PrefixEntry[] = [];
  /** Countries of the target, by code. */
  readonly countries = new Map<string, number[]>();
  readonly residual: ResidualRule[] = [];

  add(rule: number, config: RuleConfig, matcher: Matcher): void {
    if (matcher instanceof DomainMatcher) this.domains.push({ domain: matcher.domain, below: false, rule });
    else if (matcher instanceof DomainSuffixMatcher) this.domains.push({ domain: matcher.suffix, below: true, rule });
    else if (matcher instanceof DomainKeywordMatcher) this.keywords.push({ keyword: matcher.keyword, rule });
    else if (matcher instanceof IpCidrMatcher) this.#addPrefixes(config, rule, [matcher.cidr]);
    else if (matcher instanceof GeoIpMatcher && matcher.country === LAN) this.#addPrefixes(config, rule, LAN_PREFIXES);
    else if (matcher instanceof GeoIpMatcher && !config.src) this.#addCountry(matcher.country, rule);
    else this.residual.push({ rule, matcher });
  }

  #addPrefixes(config: RuleConfig, rule: number, cidrs: readonly Cidr[]): void {
    for (const cidr of cidrs) (config.src ? this.sources : this.destinations).push({ cidr, rule });
  }

  #addCountry(country: string, rule: number): void {
    const rules = this.countries.get(country);
    if (rules) rules.push(rule);
    else this.countries.set(country, [rule]);
  }
}

/**
 * Checks every rule and compiles those whose target exists; a rule without a target decides nothing and is left out.
 * @throws KernelConfigError
 */
export function compileRuleIndex({ rules, policies, country }: IndexSource): RuleIndex {
  const parts = new RuleParts();
  for (const [i, rule] of rules.entries()) {
    const matcher = compileRule(rule, i, country);
    if (policies.has(rule.target)) parts.add(i, rule, matcher);
  }
  return new RuleIndex(parts, country);
}

function compileRule(rule: RuleConfig, index: number, country: CountryLookup): Matcher {
  try {
    checkTarget(rule.target);
    return createMatcher(rule, country);
  } catch (error) {
    if (error instanceof RuleError) throw new KernelConfigError(`rules[${index}].${error.field}`, error.message);
    throw error;
  }
}

/** Every part narrows the upper bound for the next, so a part is asked only about rules that could still win. */
export class RuleIndex {
  readonly #country: CountryLookup;
  readonly #domains: DomainTable;
  readonly #keywords: KeywordAutomaton;
  readonly #firstKeyword: number;
  readonly #destinations: AddressIndex;
  readonly #sources: AddressIndex;
  readonly #countries: ReadonlyMap<string, readonly number[]>;
  readonly #firstCountry: number;
  readonly #residual: readonly ResidualRule[];

  constructor(parts: RuleParts, country: CountryLookup) {
    this.#country = country;
    this.#domains = new DomainTable(parts.domains);
    this.#keywords = new KeywordAutomaton(parts.keywords);
    this.#firstKeyword = parts.keywords[0]?.rule ?? Infinity;
    this.#destinations = new AddressIndex(parts.destinations);
    this.#sources = new AddressIndex(parts.sources);
    this.#countries = parts.countries;
    this.#firstCountry = Math.min(...[...parts.countries.values()].map((rules) => rules[0] ?? Infinity));
    const overflow = this.#keywords.overflow.map(({ keyword, rule }) => ({
      rule,
      matcher: new DomainKeywordMatcher(keyword),
    }));
    this.#residual = [...parts.residual, ...overflow].sort((a, b) => a.rule - b.rule);
  }

  /** Smallest index in `[from, to)` whose rule matches `flow` as it is and is accepted; `to` when there is none. */
  find(flow: ConnectionMetadata, from: number, to: number, accept: Accept): number {
    let best = to;
    if (flow.host !== null) {
      best = this.#domains.find(flow.host, from, best, accept);
      if (this.#firstKeyword < best) best = this.#keywords.find(flow.host, from, best, accept);
    }
    if (flow.destinationIp !== null) {
      best = this.#destinations.find(flow.destinationIp, from, best, accept);
      best = this.#findCountry(flow.destinationIp, from, best, accept);
    }
    best = this.#sources.find(flow.sourceIp, from, best, accept);
    return this.#scanResidual(flow, from, best, accept);
  }

  /** Of the compiled tables, without the rules themselves. */
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
    for (const { rule, matcher } of this.#residual) {
      if (rule >= to) break;
      if (rule >= from && matcher.matches(flow) === true && accept(rule)) return rule;
    }
    return to;
  }
}

/** Prefixes of both families. */
class AddressIndex {
  readonly #v4: PrefixTable;
  readonly #v6: PrefixTable;
  readonly #first: number;

  constructor(entries: readonly PrefixEntry[]) {
    this.#v4 = new PrefixTable(
      1,
      entries.filter((entry) => entry.cidr.family === 4),
    );
    this.#v6 = new PrefixTable(
      4,
      entries.filter((entry) => entry.cidr.family === 6),
    );
    this.#first = entries[0]?.rule ?? Infinity;
  }

  find(address: string, from: number, to: number, accept: Accept): number {
    if (this.#first >= to) return to;
    const ip = parseIp(address);
    if (ip === null) return to;
    return (ip.family === 4 ? this.#v4 : this.#v6).find(ip.words, from, to, accept);
  }

  get bytes(): number {
    return this.#v4.bytes + this.#v6.bytes;
  }
}
