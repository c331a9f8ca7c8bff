import { type Cidr, cidrContains, parseIp, specialPurposeRanges } from '@gatehouse/net';
import type { ConnectionMetadata } from '../../interfaces/connection.js';
import type { CountryLookup, Matcher } from '../../interfaces/route.js';
import { type AddressOptions, describeOptions, matchAddress } from './match-address.js';
import { RuleError } from './rule-error.js';

/** The pseudo-country of addresses that belong to no country. `PRIVATE` is another name for it. */
export const LAN = 'LAN';

/** Private use, loopback, link-local, multicast, broadcast and unspecified, in both families. */
export const LAN_PREFIXES: readonly Cidr[] = specialPurposeRanges(
  'unspecified',
  'private',
  'loopback',
  'link-local',
  'multicast',
  'broadcast',
);

/** `GEOIP,CN` or `GEOIP,LAN`. Without a database only `LAN` can match. */
export class GeoIpMatcher implements Matcher {
  readonly type = 'GEOIP';
  readonly country: string;
  readonly #options: AddressOptions;
  readonly #lookup: CountryLookup;

  constructor(payload: string, options: AddressOptions, lookup: CountryLookup) {
    this.country = parseCountryPayload(payload);
    this.#options = options;
    this.#lookup = lookup;
  }

  matches(flow: ConnectionMetadata): boolean | 'needs-ip' {
    return matchAddress(flow, this.#options, (address) =>
      this.country === LAN ? isLanAddress(address) : this.#lookup(address) === this.country,
    );
  }

  describe(): string {
    return `GEOIP,${this.country}${describeOptions(this.#options)}`;
  }
}

function isLanAddress(address: string): boolean {
  const ip = parseIp(address);
  return ip !== null && LAN_PREFIXES.some((prefix) => cidrContains(prefix, ip));
}

/** @throws RuleError */
function parseCountryPayload(payload: string): string {
  const country = payload.toUpperCase();
  if (country === LAN || country === 'PRIVATE') return LAN;
  if (/^[A-Z]{2}$/.test(country)) return country;
  throw new RuleError(
    'payload',
    `${JSON.stringify(payload.slice(0, 80))} is neither a two-letter country code nor LAN`,
  );
}
