import type { RoutedFlow } from '../../interfaces/route.js';
import type { RuleMatcher } from './matcher-context.js';
import { RuleError } from './rule-error.js';

export type LogicType = 'AND' | 'OR' | 'NOT';

/**
 * `AND,((DOMAIN,a.com),(NETWORK,udp))`, `OR`, and `NOT` of one condition. Conditions are looked at in their order, as in
 * mihomo: one that needs an address has the name resolved, unless one before it has decided.
 */
export class LogicMatcher implements RuleMatcher {
  readonly type: LogicType;
  readonly missingSet: string | null;
  readonly #conditions: readonly RuleMatcher[];

  constructor(type: LogicType, conditions: readonly RuleMatcher[]) {
    if (conditions.length === 0) throw new RuleError('payload', `${type} needs a condition`);
    if (type === 'NOT' && conditions.length !== 1) throw new RuleError('payload', 'NOT needs exactly one condition');
    this.type = type;
    this.#conditions = conditions;
    this.missingSet = conditions.find(({ missingSet }) => missingSet)?.missingSet ?? null;
  }

  matches(flow: RoutedFlow): boolean | 'needs-ip' {
    if (this.type === 'NOT') {
      const result = this.#conditions[0]?.matches(flow) ?? false;
      return result === 'needs-ip' ? result : !result;
    }
    return this.type === 'AND' ? this.#all(flow) : this.#any(flow);
  }

  #all(flow: RoutedFlow): boolean | 'needs-ip' {
    for (const condition of this.#conditions) {
      const result = condition.matches(flow);
      if (result !== true) return result;
    }
    return true;
  }

  /** Nothing is resolved where a later condition decides without an address. */
  #any(flow: RoutedFlow): boolean | 'needs-ip' {
    let open = false;
    for (const condition of this.#conditions) {
      const result = condition.matches(flow);
      if (result === true) return true;
      if (result === 'needs-ip') open = true;
    }
    return open && 'needs-ip';
  }

  describe(): string {
    return `${this.type},(${this.#conditions.map((condition) => `(${condition.describe()})`).join(',')})`;
  }
}
