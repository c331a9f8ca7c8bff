import type { ConnectionMetadata } from '../../interfaces/connection.js';
import type { Matcher } from '../../interfaces/route.js';
import { MAX_DOMAIN_LENGTH, toAsciiLower } from './domain-name.js';
import { RuleError } from './rule-error.js';

/** `DOMAIN-KEYWORD,google`: names that contain the text anywhere. */
export class DomainKeywordMatcher implements Matcher {
  readonly type = 'DOMAIN-KEYWORD';
  readonly keyword: string;

  constructor(payload: string) {
    this.keyword = toAsciiLower(payload);
    if (this.keyword.length > MAX_DOMAIN_LENGTH || !/^[a-z0-9_.-]+$/.test(this.keyword)) {
      throw new RuleError('payload', `${JSON.stringify(payload.slice(0, 80))} cannot be part of a domain name`);
    }
  }

  matches(flow: ConnectionMetadata): boolean {
    return flow.host !== null && flow.host.includes(this.keyword);
  }

  describe(): string {
    return `DOMAIN-KEYWORD,${this.keyword}`;
  }
}
