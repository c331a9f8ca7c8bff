import type { ConnectionMetadata } from '../../interfaces/connection.js';
import type { RuleMatcher } from './matcher-context.js';
import { RuleError } from './rule-error.js';

export type LogicType = 'AND' | 'OR' | 'NOT';

/**
 * `AND,((DOMAIN,a.com),(NETWORK,udp))`, `OR`, and `NOT` of one condition. A condition that needs an address leaves the
 * result open only while it can still change it: `AND` of a miss and an unknown is a miss, and nothing is resolved.
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

  matches(flow: ConnectionMetadata): boolean | 'needs-ip' {
    if (this.type === 'NOT') {
      const result = this.#conditions[0]?.matches(flow) ?? false;
      return result === 'needs-ip' ? result : !result;
    }
    const decisive = this.type === 'OR';
    let open = false;
    for (const condition of this.#conditions) {
      const result = condition.matches(flow);
      if (result === decisive) return decisive;
      if (result === 'needs-ip') open = true;
    }
    return open ? 'needs-ip' : !decisive;
  }

  describe(): string {
    return `${this.type},(${this.#conditions.map((condition) => `(${condition.describe()})`).join(',')})`;
  }
}
