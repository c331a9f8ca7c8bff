/** The types of rules, and why others are refused. */
import type { RuleConfig, RuleType } from '../../interfaces/config.js';
import { RuleError } from './rule-error.js';

/** The part of a rule that decides which flows it matches. */
export type RuleCondition = Pick<RuleConfig, 'type' | 'payload' | 'noResolve' | 'src'>;

/** A record, so that the compiler finds a missing type. */
const KNOWN: Readonly<Record<RuleType, true>> = {
  DOMAIN: true,
  'DOMAIN-SUFFIX': true,
  'DOMAIN-KEYWORD': true,
  'DOMAIN-WILDCARD': true,
  'DOMAIN-REGEX': true,
  GEOSITE: true,
  'IP-CIDR': true,
  'IP-CIDR6': true,
  'IP-SUFFIX': true,
  'IP-ASN': true,
  GEOIP: true,
  'DST-PORT': true,
  'SRC-PORT': true,
  'IN-PORT': true,
  'IN-TYPE': true,
  'IN-USER': true,
  'IN-NAME': true,
  NETWORK: true,
  'RULE-SET': true,
  AND: true,
  OR: true,
  NOT: true,
  MATCH: true,
};

export const RULE_TYPES = Object.keys(KNOWN) as readonly RuleType[];

/** Other names in use: mihomo's rules for the client's address, the first Clash's, and Surge's last rule. */
const ALIASES: Readonly<Record<string, { type: RuleType; src?: true }>> = {
  'SRC-IP-CIDR': { type: 'IP-CIDR', src: true },
  'SOURCE-IP-CIDR': { type: 'IP-CIDR', src: true },
  'SRC-IP-SUFFIX': { type: 'IP-SUFFIX', src: true },
  'SRC-IP-ASN': { type: 'IP-ASN', src: true },
  'SRC-GEOIP': { type: 'GEOIP', src: true },
  FINAL: { type: 'MATCH' },
};

const NEEDS_HOOK = /^(PROCESS-(NAME|PATH)(-WILDCARD|-REGEX)?|UID|DSCP)$/;
const ADDRESS_TYPES: ReadonlySet<string> = new Set(['IP-CIDR', 'IP-CIDR6', 'IP-SUFFIX', 'IP-ASN', 'GEOIP']);
const LOGIC_TYPES: ReadonlySet<string> = new Set(['AND', 'OR', 'NOT']);

function isRuleType(word: string): word is RuleType {
  return Object.hasOwn(KNOWN, word);
}

/** @throws RuleError */
export function resolveType(text: string): { type: RuleType; src?: true } {
  const word = text.toUpperCase();
  if (isRuleType(word)) return { type: word };
  const alias = Object.hasOwn(ALIASES, word) ? ALIASES[word] : undefined;
  if (alias) return alias;
  throw refusedType(word);
}

/** Why a word is not a rule type here. */
export function refusedType(word: string): RuleError {
  if (NEEDS_HOOK.test(word)) return new RuleError('type', `${word} needs an operating-system hook`);
  if (word === 'SUB-RULE') {
    return new RuleError('type', 'SUB-RULE names a list inside a Clash configuration; write its rules out instead');
  }
  if (word === 'REMATCH-NAME') return new RuleError('type', 'REMATCH-NAME is not supported by this kernel');
  return new RuleError('type', `${JSON.stringify(word.slice(0, 80))} is not a known rule type`);
}

export function isAddressRule(rule: RuleCondition): boolean {
  return ADDRESS_TYPES.has(rule.type);
}

export function isSetRule(rule: RuleCondition): boolean {
  return rule.type === 'RULE-SET' || rule.type === 'GEOSITE';
}

export function isLogicRule(rule: RuleCondition): boolean {
  return LOGIC_TYPES.has(rule.type);
}

/** Whether the rule makes the router resolve a domain. */
export function wantsResolving(rule: RuleCondition): boolean {
  return isAddressRule(rule) && rule.noResolve !== true && rule.src !== true;
}
