import type { ConnectionMetadata } from '../interfaces/connection.js';
import type { Matcher } from '../interfaces/route.js';

export interface ResidualRule {
  readonly rule: number;
  readonly matcher: Matcher;
  /** The rule may cause a domain to be resolved. */
  readonly mayAsk: boolean;
}

/**
 * One entry for each rule, in rule order: several conditions of one set become one that matches if any of them does.
 */
export function oneEachRule(residual: readonly ResidualRule[]): ResidualRule[] {
  const groups = new Map<number, ResidualRule[]>();
  for (const entry of residual) {
    const group = groups.get(entry.rule);
    if (group) group.push(entry);
    else groups.set(entry.rule, [entry]);
  }
  const merged = [...groups].map(([rule, entries]): ResidualRule => {
    const [only] = entries;
    return only && entries.length === 1 ? only : { rule, matcher: new AnyOf(entries), mayAsk: true };
  });
  return merged.sort((a, b) => a.rule - b.rule);
}

class AnyOf implements Matcher {
  readonly type = 'OR';
  readonly #entries: readonly ResidualRule[];

  constructor(entries: readonly ResidualRule[]) {
    this.#entries = entries;
  }

  matches(flow: ConnectionMetadata): boolean | 'needs-ip' {
    let open = false;
    for (const { matcher, mayAsk } of this.#entries) {
      const result = matcher.matches(flow);
      if (result === true) return true;
      if (result === 'needs-ip' && mayAsk) open = true;
    }
    return open ? 'needs-ip' : false;
  }

  describe(): string {
    return this.#entries.map(({ matcher }) => matcher.describe()).join(' or ');
  }
}
