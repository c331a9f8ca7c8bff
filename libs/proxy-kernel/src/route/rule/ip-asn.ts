import type { ConnectionMetadata } from '../../interfaces/connection.js';
import type { AsnLookup, Matcher } from '../../interfaces/route.js';
import { type AddressOptions, describeOptions, matchAddress } from './match-address.js';
import { RuleError } from './rule-error.js';

/** `IP-ASN,13335`: addresses of that autonomous system. Without a database it never matches. */
export class IpAsnMatcher implements Matcher {
  readonly type = 'IP-ASN';
  readonly #asn: number;
  readonly #options: AddressOptions;
  readonly #lookup: AsnLookup;

  constructor(payload: string, options: AddressOptions, lookup: AsnLookup) {
    const [, digits = ''] = /^(?:AS)?([1-9]\d{0,9})$/i.exec(payload) ?? [];
    this.#asn = Number(digits);
    if (digits === '' || this.#asn > 0xffffffff) {
      throw new RuleError(
        'payload',
        `${JSON.stringify(payload.slice(0, 80))} is not the number of an autonomous system`,
      );
    }
    this.#options = options;
    this.#lookup = lookup;
  }

  matches(flow: ConnectionMetadata): boolean | 'needs-ip' {
    return matchAddress(flow, this.#options, (address) => this.#lookup(address) === this.#asn);
  }

  describe(): string {
    return `IP-ASN,${this.#asn}${describeOptions(this.#options)}`;
  }
}
