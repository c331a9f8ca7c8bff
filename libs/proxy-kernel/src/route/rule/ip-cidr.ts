import { type Cidr, cidrContains, formatCidr, parseCidr, parseIp } from '@gatehouse/net';
import type { ConnectionMetadata } from '../../interfaces/connection.js';
import type { Matcher } from '../../interfaces/route.js';
import { type AddressOptions, describeOptions, matchAddress } from './match-address.js';
import { RuleError } from './rule-error.js';

/** `IP-CIDR,10.0.0.0/8` and its alias `IP-CIDR6`: both accept both families. */
export class IpCidrMatcher implements Matcher {
  readonly type: 'IP-CIDR' | 'IP-CIDR6';
  readonly cidr: Cidr;
  readonly #options: AddressOptions;

  constructor(type: 'IP-CIDR' | 'IP-CIDR6', payload: string, options: AddressOptions) {
    this.type = type;
    this.cidr = parseCidrPayload(payload);
    this.#options = options;
  }

  matches(flow: ConnectionMetadata): boolean | 'needs-ip' {
    return matchAddress(flow, this.#options, (address) => {
      const ip = parseIp(address);
      return ip !== null && cidrContains(this.cidr, ip);
    });
  }

  describe(): string {
    return `${this.type},${formatCidr(this.cidr)}${describeOptions(this.#options)}`;
  }
}

/** @throws RuleError */
export function parseCidrPayload(payload: string): Cidr {
  const cidr = parseCidr(payload);
  if (cidr) return cidr;
  const shown = JSON.stringify(payload.slice(0, 80));
  const ip = parseIp(payload);
  const hint = ip
    ? `needs a prefix length, as in ${payload}/${ip.family === 4 ? 32 : 128}`
    : 'is not an address prefix';
  throw new RuleError('payload', `${shown} ${hint}`);
}
