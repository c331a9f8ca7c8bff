import type { ConnectionMetadata } from '../../interfaces/connection.js';
import type { Matcher } from '../../interfaces/route.js';
import { type LinearRegex, compileLinearRegex } from './linear-regex.js';

/**
 * `DOMAIN-REGEX,^ad\d+\.`: a regular expression somewhere in the name, case ignored.
 *
 * Rules come from subscriptions, so a pattern is as little trusted as a packet. A backtracking engine can be made to take
 * hours over a 60-character name; this one takes time in proportion to the name, and refuses what needs backtracking.
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
