import { type IpAddress, formatIp, parseIp } from '@gatehouse/net';
import type { ConnectionMetadata } from '../../interfaces/connection.js';
import type { Matcher } from '../../interfaces/route.js';
import { type AddressOptions, describeOptions, matchAddress } from './match-address.js';
import { RuleError } from './rule-error.js';

/** `IP-SUFFIX,8.8.8.8/24`: addresses of that family whose last 24 bits are the same. */
export class IpSuffixMatcher implements Matcher {
  readonly type = 'IP-SUFFIX';
  readonly #suffix: IpAddress;
  readonly #bits: number;
  readonly #options: AddressOptions;

  constructor(payload: string, options: AddressOptions) {
    const [, text = '', digits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(payload) ?? [];
    const ip = parseIp(text);
    if (!ip || Number(digits) > ip.words.length * 32) {
      throw new RuleError('payload', `${JSON.stringify(payload.slice(0, 80))} is not an address and a number of bits`);
    }
    this.#suffix = ip;
    this.#bits = Number(digits);
    this.#options = options;
  }

  matches(flow: ConnectionMetadata): boolean | 'needs-ip' {
    return matchAddress(flow, this.#options, (address) => {
      const ip = parseIp(address);
      return ip !== null && endsAlike(ip, this.#suffix, this.#bits);
    });
  }

  describe(): string {
    return `IP-SUFFIX,${formatIp(this.#suffix)}/${this.#bits}${describeOptions(this.#options)}`;
  }
}

function endsAlike(a: IpAddress, b: IpAddress, bits: number): boolean {
  if (a.family !== b.family) return false;
  let left = bits;
  for (let word = a.words.length - 1; word >= 0 && left > 0; word--, left -= 32) {
    const mask = left >= 32 ? 0xffffffff : 2 ** left - 1;
    if ((((a.words[word] ?? 0) ^ (b.words[word] ?? 0)) & mask) !== 0) return false;
  }
  return true;
}
