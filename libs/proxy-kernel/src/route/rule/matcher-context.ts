import type { AsnLookup, CountryLookup, Matcher } from '../../interfaces/route.js';
import type { RuleSetLookup } from '../rule-set/rule-sets.js';

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
