import type { RuleConfig } from '@gatehouse/proxy-kernel';

/**
 * For each rule the position of an earlier one that takes everything it would; null where none is known. Looks at what
 * can be told from two rules alone: equal conditions, domains under a suffix, whatever comes behind a MATCH.
 * @param usable false for rules that the kernel skips: they take nothing.
 */
export function shadowed(rules: readonly RuleConfig[], usable: (rule: RuleConfig) => boolean): (number | null)[] {
  const conditions = new Map<string, number>();
  const suffixes = new Map<string, number>();
  let match: number | null = null;
  return rules.map((rule, index) => {
    const before = match ?? conditions.get(keyOf(rule)) ?? suffixAbove(rule, suffixes) ?? null;
    // A target without UDP or PASS lets flows go on.
    if (before === null && usable(rule) && rule.target !== 'PASS') {
      if (rule.type === 'MATCH') match = index;
      if (rule.type === 'DOMAIN-SUFFIX') suffixes.set(domainOf(rule), index);
      conditions.set(keyOf(rule), index);
    }
    return before;
  });
}

function suffixAbove(rule: RuleConfig, suffixes: ReadonlyMap<string, number>): number | undefined {
  if (rule.type !== 'DOMAIN' && rule.type !== 'DOMAIN-SUFFIX') return undefined;
  let name = domainOf(rule);
  for (;;) {
    const found = suffixes.get(name);
    if (found !== undefined) return found;
    const dot = name.indexOf('.');
    if (dot < 0) return undefined;
    name = name.slice(dot + 1);
  }
}

function domainOf({ payload }: RuleConfig): string {
  return payload.toLowerCase().replace(/^\./, '');
}

function keyOf({ type, payload, noResolve, src }: RuleConfig): string {
  const caseMatters = /^(DOMAIN-REGEX|RULE-SET|IN-USER|IN-NAME|AND|OR|NOT)$/.test(type);
  return [type, caseMatters ? payload : payload.toLowerCase(), noResolve === true, src === true].join('\n');
}
