import type { RuleConfig, RuleType } from '../../interfaces/config.js';
import type { CountryLookup, Matcher } from '../../interfaces/route.js';
import { DomainKeywordMatcher } from './domain-keyword.js';
import { DomainRegexMatcher } from './domain-regex.js';
import { DomainSuffixMatcher } from './domain-suffix.js';
import { DomainWildcardMatcher } from './domain-wildcard.js';
import { DomainMatcher } from './domain.js';
import { DstPortMatcher } from './dst-port.js';
import { GeoIpMatcher } from './geoip.js';
import { IpCidrMatcher } from './ip-cidr.js';
import { MatchMatcher } from './match.js';
import { NetworkMatcher } from './network.js';
import { RuleError } from './rule-error.js';

/** What of a rule decides which flows it matches. */
export type RuleCondition = Pick<RuleConfig, 'type' | 'payload' | 'noResolve' | 'src'>;

type Constructors = Partial<Record<RuleType, (rule: RuleCondition, country: CountryLookup) => Matcher>>;

const CONSTRUCTORS: Constructors = {
  DOMAIN: (rule) => new DomainMatcher(rule.payload),
  'DOMAIN-SUFFIX': (rule) => new DomainSuffixMatcher(rule.payload),
  'DOMAIN-KEYWORD': (rule) => new DomainKeywordMatcher(rule.payload),
  'DOMAIN-WILDCARD': (rule) => new DomainWildcardMatcher(rule.payload),
  'DOMAIN-REGEX': (rule) => new DomainRegexMatcher(rule.payload),
  'IP-CIDR': (rule) => new IpCidrMatcher('IP-CIDR', rule.payload, addressOptions(rule)),
  'IP-CIDR6': (rule) => new IpCidrMatcher('IP-CIDR6', rule.payload, addressOptions(rule)),
  GEOIP: (rule, country) => new GeoIpMatcher(rule.payload, addressOptions(rule), country),
  'DST-PORT': (rule) => new DstPortMatcher(rule.payload),
  NETWORK: (rule) => new NetworkMatcher(rule.payload),
  MATCH: (rule) => new MatchMatcher(rule.payload),
};

export const RULE_TYPES = Object.keys(CONSTRUCTORS) as readonly RuleType[];

/** @throws RuleError */
export function createMatcher(rule: RuleCondition, country: CountryLookup): Matcher {
  const construct = Object.hasOwn(CONSTRUCTORS, rule.type) ? CONSTRUCTORS[rule.type] : undefined;
  if (!construct) {
    throw new RuleError('type', `${JSON.stringify(String(rule.type).slice(0, 80))} is not a known rule type`);
  }
  return construct(rule, country);
}

export function isAddressRule(rule: RuleCondition): boolean {
  return rule.type === 'IP-CIDR' || rule.type === 'IP-CIDR6' || rule.type === 'GEOIP';
}

/** True where the rule makes the router resolve a domain. */
export function wantsResolving(rule: RuleCondition): boolean {
  return isAddressRule(rule) && rule.noResolve !== true && rule.src !== true;
}

function addressOptions(rule: RuleCondition): { noResolve: boolean; src: boolean } {
  return { noResolve: rule.noResolve === true, src: rule.src === true };
}
