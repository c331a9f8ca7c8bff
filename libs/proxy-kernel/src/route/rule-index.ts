import type { ConnectionMetadata } from '../interfaces/connection.js';
import type { RuleConfig } from '../interfaces/config.js';
import { KernelConfigError } from '../interfaces/kernel.js';
import type { CountryLookup, Matcher, PolicyTable } from '../interfaces/route.js';
import type { Accept, RuleFinder } from './rule-finder.js';
import { createMatcher } from './rule/create-matcher.js';
import { RuleError } from './rule/rule-error.js';

interface IndexSource {
  rules: readonly RuleConfig[];
  policies: PolicyTable;
  country: CountryLookup;
}

/** @throws KernelConfigError */
export function compileRuleIndex(source: IndexSource): RuleFinder {
  const matchers: Matcher[] = source.rules.map((rule, i) => {
    try {
      return createMatcher(rule, source.country);
    } catch (error) {
      if (error instanceof RuleError) throw new KernelConfigError(`rules[${i}].${error.field}`, error.message);
      throw error;
    }
  });
  return {
    find(flow: ConnectionMetadata, from: number, to: number, accept: Accept): number {
      for (let i = from; i < to; i++) {
        if (source.policies.has(source.rules[i]?.target ?? '') && matchers[i]?.matches(flow) === true && accept(i)) return i;
      }
      return to;
    },
  };
}
