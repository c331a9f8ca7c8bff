import type { ConnectionMetadata } from '../../interfaces/connection.js';
import type { Matcher } from '../../interfaces/route.js';
import { type LinearRegex, compileLinearRegex } from './linear-regex.js';

/**
 * `DOMAIN-REGEX,^ad\d+\.`: names with a match of the regular expression, ignoring case.
 * Rules may come from subscriptions, so patterns are not trusted. A backtracking engine can be made to take hours over
 * a 60-character name; this one takes time in proportion to the name, and refuses patterns that need backtracking.
 */
export class DomainRegexMatcher implements Matcher {
  readonly type = 'DOMAIN-REGEX';
  readonly #payload: string;
  readonly #regex: LinearRegex;

  constructor(payload: string) {
    this.#payload = payload;
    this.#regex = compileLinearRegex(payload);
  }

  matches(flow: ConnectionMetadata): boolean {
    return flow.host !== null && this.#regex.test(flow.host);
  }

  describe(): string {
    return `DOMAIN-REGEX,${this.#payload}`;
  }
}
