import type { ConnectionMetadata } from '../../interfaces/connection.js';
import type { Matcher } from '../../interfaces/route.js';
import { parseDomainPayload } from './domain-name.js';

/** `DOMAIN-SUFFIX,example.com`: that name and everything below it. A leading dot, as in other dialects, is dropped. */
export class DomainSuffixMatcher implements Matcher {
  readonly type = 'DOMAIN-SUFFIX';
  readonly suffix: string;

  constructor(payload: string) {
    this.suffix = parseDomainPayload(payload.startsWith('.') ? payload.slice(1) : payload);
  }

  matches(flow: ConnectionMetadata): boolean {
    const host = flow.host;
    if (host === null || !host.endsWith(this.suffix)) return false;
    return host.length === this.suffix.length || host[host.length - this.suffix.length - 1] === '.';
  }

  describe(): string {
    return `DOMAIN-SUFFIX,${this.suffix}`;
  }
}
