import type { IpAddress } from '@gatehouse/net';
import { GroupRanks } from './group-ranks.js';
import { ListRanks } from './list-ranks.js';
import type { IpMatcher } from './ip-pattern.js';
import { NO_RANK, PrefixTrie, type PrefixEntry } from './prefix-trie.js';

/** What databases and lists know of a visitor's address. Null: it is in none; undefined: there is no database or list. */
export interface AddressFacts {
  country(): string | null | undefined;
  asn(): number | null | undefined;
  inList(list: string): boolean | undefined;
}

/** A pattern with the rank of its rule. */
export interface RankedMatcher {
  matcher: IpMatcher;
  rank: number;
  denies: boolean;
}

/** Finds the best rank for an address among patterns that apply under the same condition. Immutable. */
export class RuleTable {
  /** The best rank of all. */
  readonly best: number;
  private readonly trie: PrefixTrie;
  private readonly countries = new GroupRanks<string>();
  private readonly systems = new GroupRanks<number>();
  private readonly lists = new ListRanks();

  /** Takes prefixes one by one, and all in order of rank. */
  constructor(matchers: readonly RankedMatcher[]) {
    this.best = matchers[0]?.rank ?? NO_RANK;
    const prefixes: PrefixEntry[] = [];
    for (const { matcher, rank, denies } of matchers) {
      if ('cidrs' in matcher) for (const cidr of matcher.cidrs) prefixes.push({ cidr, rank });
      else if ('country' in matcher) {
        this.countries.add({ group: matcher.country, rank }, { negated: matcher.negated, denies });
      } else if ('list' in matcher) this.lists.add({ list: matcher.list, rank, denies });
      else this.systems.add({ group: matcher.asn, rank }, { negated: matcher.negated, denies });
    }
    this.trie = new PrefixTrie(prefixes);
  }

  /** `strict`: without a database or list, a rule that denies what only that knows denies everybody. */
  find(address: IpAddress, facts: AddressFacts, strict: boolean): number {
    let first = this.trie.find(address);
    if (!this.countries.isEmpty) first = Math.min(first, this.countries.find(facts.country(), strict));
    if (!this.systems.isEmpty) first = Math.min(first, this.systems.find(facts.asn(), strict));
    return this.lists.isEmpty ? first : Math.min(first, this.lists.find(facts, strict));
  }

  /** Whether a rule needs a database or a list that is not there. */
  lacks(facts: AddressFacts): boolean {
    const lacksCountries = !this.countries.isEmpty && facts.country() === undefined;
    return lacksCountries || (!this.systems.isEmpty && facts.asn() === undefined) || this.lists.lacks(facts);
  }
}
