import type { IpAddress } from '@gatehouse/net';
import type { IpRuleConfig } from '../config.js';
import { IpPatternError, parseIpPattern } from './ip-pattern.js';
import { NO_RANK, PrefixTrie, type PrefixEntry } from './prefix-trie.js';

/** Country of the visitor's address; null: unknown; undefined: there is no database. */
export type CountryOfAddress = () => string | null | undefined;

interface RankedCountry {
  country: string;
  rank: number;
}

/** One pattern of one rule, before ranking. */
interface Candidate {
  rule: IpRuleConfig;
  /** For a country: less specific than any prefix. */
  prefix: number;
  place: (rank: number) => void;
}

/** The rules of one level, compiled. Precedence: priority, deny before allow, longer prefix, id. Immutable. */
export class RuleLevel {
  /** The configured rules. */
  readonly rules: readonly IpRuleConfig[];
  /** The level has a rule that allows, so everybody else is refused. */
  readonly allowsOnly: boolean;
  readonly hasCountries: boolean;
  private readonly ranked: IpRuleConfig[] = [];
  private readonly trie: PrefixTrie;
  private readonly countries = new Map<string, number>();
  /**
   * Negated countries, the best rank first, each country once: the second entry applies to addresses of the first
   * country.
   */
  private readonly negated: RankedCountry[] = [];
  private firstCountryDeny = NO_RANK;

  /** @throws IpPatternError naming the rule. */
  constructor(rules: readonly IpRuleConfig[]) {
    this.rules = rules;
    this.allowsOnly = rules.some(({ type }) => type === 'allow');
    const prefixes: PrefixEntry[] = [];
    const candidates = rules.flatMap((rule) => this.candidates(rule, prefixes));
    for (const { rule, place } of candidates.sort(byRank)) place(this.ranked.push(rule) - 1);
    this.trie = new PrefixTrie(prefixes);
    this.hasCountries = this.countries.size > 0 || this.negated.length > 0;
  }

  /**
   * The matching rule for an address; null: none. `strict`: without a database, a rule that denies countries denies
   * everybody.
   */
  find(address: IpAddress, countryOf: CountryOfAddress, strict: boolean): IpRuleConfig | null {
    const rank = this.trie.find(address);
    const first = this.hasCountries ? Math.min(rank, this.findCountry(countryOf(), strict)) : rank;
    return this.ranked[first] ?? null;
  }

  private findCountry(country: string | null | undefined, strict: boolean): number {
    if (country === undefined) return strict ? this.firstCountryDeny : NO_RANK;
    const direct = country === null ? undefined : this.countries.get(country);
    const [best, second] = this.negated;
    const negated = best?.country === country ? second : best;
    return Math.min(direct ?? NO_RANK, negated?.rank ?? NO_RANK);
  }

  private candidates(rule: IpRuleConfig, prefixes: PrefixEntry[]): Candidate[] {
    const { matcher } = parsePattern(rule);
    if ('cidrs' in matcher) {
      return matcher.cidrs.map((cidr) => ({
        rule,
        prefix: cidr.prefix,
        place: (rank) => prefixes.push({ cidr, rank }),
      }));
    }
    const { country, negated } = matcher;
    const place = (rank: number): void => {
      // Rules come in order of rank.
      if (rule.type === 'deny') this.firstCountryDeny = Math.min(this.firstCountryDeny, rank);
      if (!negated) this.countries.set(country, this.countries.get(country) ?? rank);
      else if (!this.negated.some((known) => known.country === country)) this.negated.push({ country, rank });
    };
    return [{ rule, prefix: -1, place }];
  }
}

function parsePattern(rule: IpRuleConfig): ReturnType<typeof parseIpPattern> {
  try {
    return parseIpPattern(rule.kind, rule.pattern);
  } catch (error) {
    if (!(error instanceof IpPatternError)) throw error;
    throw new IpPatternError(`rule ${rule.id}: ${error.message}`);
  }
}

function byRank(a: Candidate, b: Candidate): number {
  const order = a.rule.priority - b.rule.priority || typeOrder(a.rule) - typeOrder(b.rule);
  return order || b.prefix - a.prefix || a.rule.id - b.rule.id;
}

function typeOrder({ type }: IpRuleConfig): number {
  return type === 'deny' ? 0 : 1;
}
