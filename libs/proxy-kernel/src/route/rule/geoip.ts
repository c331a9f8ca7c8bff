import { type Cidr, cidrContains, parseCidr, parseIp } from '@gatehouse/net';
import type { ConnectionMetadata } from '../../interfaces/connection.js';
import type { CountryLookup, Matcher } from '../../interfaces/route.js';
import { type AddressOptions, describeOptions, matchAddress } from './match-address.js';
import { RuleError } from './rule-error.js';

/** Pseudo-country of addresses that no registry gives to a country. `PRIVATE` is another name for it. */
export const LAN = 'LAN';

/** Private use, loopback, link-local, multicast and unspecified, in both families. */
export const LAN_PREFIXES: readonly Cidr[] = [
  '0.0.0.0/32',
  '10.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '224.0.0.0/4',
  '255.255.255.255/32',
  '::/128',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
].flatMap((text) => parseCidr(text) ?? []);

/** `GEOIP,CN` or `GEOIP,LAN`. Without a database only `LAN` ever matches. */
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
export function parseCountryPayload(payload: string): string {
  const country = payload.toUpperCase();
  if (country === LAN || country === 'PRIVATE') return LAN;
  if (/^[A-Z]{2}$/.test(country)) return country;
  throw new RuleError(
    'payload',
    `${JSON.stringify(payload.slice(0, 80))} is neither a two-letter country code nor LAN`,
  );
}
