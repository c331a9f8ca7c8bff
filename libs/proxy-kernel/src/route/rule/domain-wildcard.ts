import type { ConnectionMetadata } from '../../interfaces/connection.js';
import type { Matcher } from '../../interfaces/route.js';
import { MAX_DOMAIN_LENGTH, toAsciiLower } from './domain-name.js';
import { RuleError } from './rule-error.js';

/** `DOMAIN-WILDCARD,*.example.c?m`: `*` is any text, including dots or none; `?` is exactly one character. */
export class DomainWildcardMatcher implements Matcher {
  readonly type = 'DOMAIN-WILDCARD';
  readonly pattern: string;

  constructor(payload: string) {
    this.pattern = payload.replace(/[^*?]+/g, toAsciiLower);
    if (this.pattern.length > MAX_DOMAIN_LENGTH || !/^[a-z0-9_.*?-]+$/.test(this.pattern)) {
      throw new RuleError('payload', `${JSON.stringify(payload.slice(0, 80))} is not a domain name with * and ?`);
    }
  }

  matches(flow: ConnectionMetadata): boolean {
    return flow.host !== null && matchesWildcard(flow.host, this.pattern);
  }

  describe(): string {
    return `DOMAIN-WILDCARD,${this.pattern}`;
  }
}

/**
 * Greedy with a single backtracking point: the time is at most the product of both lengths, whatever the pattern is.
 */
function matchesWildcard(text: string, pattern: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let i = 0; i < text.length;) {
    const expected = pattern[at];
    if (expected === '*') {
      star = at++;
      resume = i;
    } else if (expected === '?' || expected === text[i]) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++resume;
    } else {
      return false;
    }
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
