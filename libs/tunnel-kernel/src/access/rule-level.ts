import type { IpAddress } from '@gatehouse/net';
import type { IpRuleConfig } from '../config.js';
import { GroupRanks } from './group-ranks.js';
import { IpPatternError, parseIpPattern } from './ip-pattern.js';
import { PrefixTrie, type PrefixEntry } from './prefix-trie.js';

/** What databases know of a visitor's address. Null: it is in none; undefined: there is no database. */
export interface AddressFacts {
  country(): string | null | undefined;
  asn(): number | null | undefined;
}

/** One pattern of one rule, before ranking. */
interface Candidate {
  rule: IpRuleConfig;
  /** For countries and autonomous systems: less specific than any prefix. */
  prefix: number;
  place: (rank: number) => void;
}

/** The rules of one level, compiled. Precedence: priority, deny before allow, longer prefix, id. Immutable. */
export class RuleLevel {
  /** The configured rules. */
  readonly rules: readonly IpRuleConfig[];
  /** The level has a rule that allows, so everybody else is refused. */
  readonly allowsOnly: boolean;
  private readonly ranked: IpRuleConfig[] = [];
  private readonly trie: PrefixTrie;
  private readonly countries = new GroupRanks<string>();
  private readonly systems = new GroupRanks<number>();

  /** @throws IpPatternError naming the rule. */
  constructor(rules: readonly IpRuleConfig[]) {
    this.rules = rules;
    this.allowsOnly = rules.some(({ type }) => type === 'allow');
    const prefixes: PrefixEntry[] = [];
    const candidates = rules.flatMap((rule) => this.candidates(rule, prefixes));
    for (const { rule, place } of candidates.sort(byRank)) place(this.ranked.push(rule) - 1);
    this.trie = new PrefixTrie(prefixes);
  }

  /** Whether a rule needs a database that is not there. */
  lacks(facts: AddressFacts): boolean {
    const lacksCountries = !this.countries.isEmpty && facts.country() === undefined;
    return lacksCountries || (!this.systems.isEmpty && facts.asn() === undefined);
  }

  /**
   * The matching rule for an address; null: none. `strict`: without a database, a rule that denies what only the
   * database knows denies everybody.
   */
  find(address: IpAddress, facts: AddressFacts, strict: boolean): IpRuleConfig | null {
    let first = this.trie.find(address);
    if (!this.countries.isEmpty) first = Math.min(first, this.countries.find(facts.country(), strict));
    if (!this.systems.isEmpty) first = Math.min(first, this.systems.find(facts.asn(), strict));
    return this.ranked[first] ?? null;
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
    const { negated } = matcher;
    const how = { negated, denies: rule.type === 'deny' };
    const place = (rank: number): void => {
      if ('country' in matcher) this.countries.add({ group: matcher.country, rank }, how);
      else this.systems.add({ group: matcher.asn, rank }, how);
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
