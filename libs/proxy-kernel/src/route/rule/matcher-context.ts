import type { AsnLookup, CountryLookup, Matcher } from '../../interfaces/route.js';
import type { RuleCondition } from './rule-type.js';

export interface RuleSetLookup {
  get(name: string): RuleSetHandle | null;
}

export interface RuleSetHandle {
  /** Position among the sets; what the tables answer. */
  readonly number: number;
  /** An entry would have a domain resolved. */
  readonly asks: boolean;
  /** Entries that are in no table. */
  readonly others: readonly RuleCondition[];
  hasDomain(host: string): boolean;
  hasAddress(address: string): boolean;
  hasSource(address: string): boolean;
}

/** What matchers look things up in. */
export interface MatcherContext {
  readonly country: CountryLookup;
  readonly asn: AsnLookup;
  readonly sets: RuleSetLookup;
}

export interface RuleMatcher extends Matcher {
  /** Name of a rule set that this rule needs and that does not exist: the rule is skipped then. */
  readonly missingSet?: string | null;
}
