import {
  IpPatternError,
  IpRules,
  parseIpPattern,
  RequestCondition,
  type IpRuleConfig,
  type IpRuleOptions,
} from '@gatehouse/tunnel-kernel';

/** No visitor comes from the unspecified address. */
const NOBODY = { kind: 'exact', pattern: '::', paths: null, methods: null } as const;

/** Unchanged rules are the same objects in the next configuration. */
const legible = new WeakSet<IpRuleConfig>();

/**
 * Rules that were written into the table by hand may have invalid patterns. Such a rule matches nothing and does not
 * prevent others from being compiled; an invalid rule that allows still means that everybody else is refused.
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
  // Returns the same array if all rules are valid, so that it is not compiled again.
  return problems.size === 0 ? rules : rules.map((rule) => (problems.has(rule) ? { ...rule, ...NOBODY } : rule));
}

/** Compiles rules, replacing invalid ones as `legibleRules` does. */
export function compileRules(rules: IpRuleConfig[], options: IpRuleOptions, previous?: IpRules): IpRules {
  try {
    return new IpRules(rules, options, previous);
  } catch (error) {
    // Only now is each rule checked: there may be very many.
    if (error instanceof IpPatternError) return new IpRules(legibleRules(rules), options, previous);
    throw error;
  }
}

function problemOf(rule: IpRuleConfig): string | null {
  if (legible.has(rule)) return null;
  try {
    parseIpPattern(rule.kind, rule.pattern);
    if (rule.paths || rule.methods) new RequestCondition(rule.type, rule);
    legible.add(rule);
    return null;
  } catch (error) {
    if (error instanceof IpPatternError) return error.message;
    throw error;
  }
}
