import type { AsnLookup, CountryLookup, Matcher } from '../../interfaces/route.js';
import type { RuleCondition } from './rule-type.js';

export interface RuleSetLookup {
  get(name: string): RuleSetHandle | null;
}

export interface RuleSetHandle {
  /** The number of the set, as found in the tables. */
  readonly number: number;
  /** An entry may cause a domain to be resolved. */
  readonly asks: boolean;
  /** Entries that are in no table. */
  readonly others: readonly RuleCondition[];
  /**
   * All conditions that an address can change, in their order: for sets with AND, OR or NOT, of which each may ask. Null for
   * all other sets.
   */
  readonly ordered: readonly RuleCondition[] | null;
  /** How many of `others` stand before the first entry that asks for an address. They do not see what it gets. */
  readonly othersBeforeAsking: number;
  hasDomain(host: string): boolean;
  hasAddress(address: string): boolean;
  /** The same without the prefixes that stand before the first entry that asks. */
  hasLaterAddress(address: string): boolean;
  hasSource(address: string): boolean;
}

/** The lookups that matchers use. */
export interface MatcherContext {
  readonly country: CountryLookup;
  readonly asn: AsnLookup;
  readonly sets: RuleSetLookup;
}

export interface RuleMatcher extends Matcher {
  /** The name of a rule set that this rule needs and that does not exist; the rule is skipped then. */
  readonly missingSet?: string | null;
}
