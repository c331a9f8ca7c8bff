import { IpPatternError, IpRules, type IpRuleConfig, type IpRuleOptions } from '@gatehouse/tunnel-kernel';
import { parseAddressPattern } from './address-pattern.js';

/** No visitor comes from the unspecified address. */
const NOBODY = { kind: 'exact', pattern: '::' } as const;

/** Rules are the same objects in the next configuration. */
const legible = new WeakSet<IpRuleConfig>();

/**
 * Rules that somebody wrote into the table by hand may have patterns that cannot be read. They are about nobody, and keep no
 * other rule from being compiled; one that allows nobody still means that others are not allowed.
 */
export function legibleRules(
  rules: IpRuleConfig[],
  onProblem: (rule: IpRuleConfig, problem: string) => void = () => undefined,
): IpRuleConfig[] {
  const problems = new Map<IpRuleConfig, string>();
  for (const rule of rules) {
    const problem = problemOf(rule);
    if (problem !== null) problems.set(rule, problem);
  }
  for (const [rule, problem] of problems) onProblem(rule, problem);
  // The same array where nothing is wrong: what was compiled from it is not compiled again.
  return problems.size === 0 ? rules : rules.map((rule) => (problems.has(rule) ? { ...rule, ...NOBODY } : rule));
}

/** Compiles rules, those that cannot be read as `legibleRules`. */
export function compileRules(rules: IpRuleConfig[], options: IpRuleOptions, previous?: IpRules): IpRules {
  try {
    return new IpRules(rules, options, previous);
  } catch (error) {
    // Only then is each of them looked at: there may be very many.
    if (error instanceof IpPatternError) return new IpRules(legibleRules(rules), options, previous);
    throw error;
  }
}

function problemOf(rule: IpRuleConfig): string | null {
  if (legible.has(rule)) return null;
  try {
    parseAddressPattern(rule.kind, rule.pattern);
    legible.add(rule);
    return null;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}
