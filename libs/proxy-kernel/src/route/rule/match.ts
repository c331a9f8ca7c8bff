import type { Matcher } from '../../interfaces/route.js';
import { RuleError } from './rule-error.js';

/** `MATCH`: every flow. */
export class MatchMatcher implements Matcher {
  readonly type = 'MATCH';

  constructor(payload: string) {
    if (payload !== '') throw new RuleError('payload', 'MATCH takes no payload');
  }

  matches(): boolean {
    return true;
  }

  describe(): string {
    return 'MATCH';
  }
}
