import type { ConnectionMetadata } from '../../interfaces/connection.js';
import type { Matcher } from '../../interfaces/route.js';
import { parseDomainPayload } from './domain-name.js';

/** `DOMAIN,example.com`: exactly that name. */
export class DomainMatcher implements Matcher {
  readonly type = 'DOMAIN';
  readonly domain: string;

  constructor(payload: string) {
    this.domain = parseDomainPayload(payload);
  }

  matches(flow: ConnectionMetadata): boolean {
    return flow.host === this.domain;
  }

  describe(): string {
    return `DOMAIN,${this.domain}`;
  }
}
