import { cidrContains, parseCidr, type Cidr, type IpAddress } from '@gatehouse/net';
import type { RuleConfig } from '../interfaces/index.js';
import { parseCondition, splitConditions } from '../route/rule/condition-text.js';
import type { RuleCondition } from '../route/rule/rule-type.js';

/** The destinations that a rule names. */
export interface NamedTarget {
  /** Prefixes of the target's address. */
  prefixes: Cidr[];
  /** Full domain names. */
  domains: string[];
  /** Whether it names suffixes (`DOMAIN-SUFFIX`). */
  suffixes: boolean;
  /** Single ports. */
  ports: number[];
  /** `GEOIP,LAN`. */
  lan: boolean;
}

/**
 * The destinations of a rule that an administrator wrote by hand and whose target is `DIRECT`; null for every other
 * rule. Rules of subscriptions come from others, and a group may later lead anywhere. For `AND` every condition counts;
 * for `OR` and `NOT` none, because they match destinations that they do not name.
 */
export function namedTargetOf(rule: RuleConfig | undefined): NamedTarget | null {
  if (rule?.source !== 'manual' || rule.target !== 'DIRECT') return null;
  const named: NamedTarget = { prefixes: [], domains: [], suffixes: false, ports: [], lan: false };
  for (const condition of conditionsOf(rule)) add(named, condition);
  return named;
}

export function namesAddress({ prefixes }: NamedTarget, ip: IpAddress, wholeOnly: boolean): boolean {
  return prefixes.some(
    (prefix) => (!wholeOnly || prefix.prefix === prefix.words.length * 32) && cidrContains(prefix, ip),
  );
}

function conditionsOf(rule: RuleConfig): RuleCondition[] {
  return rule.type === 'AND' ? splitConditions(rule.payload).map(parseCondition) : [rule];
}

function add(named: NamedTarget, { type, payload, src }: RuleCondition): void {
  if (src) return;
  if (type === 'IP-CIDR' || type === 'IP-CIDR6') {
    const prefix = parseCidr(payload);
    if (prefix) named.prefixes.push(prefix);
  } else if (type === 'DOMAIN') named.domains.push(payload.toLowerCase());
  else if (type === 'DOMAIN-SUFFIX') named.suffixes = true;
  else if (type === 'DST-PORT') named.ports.push(...singlePorts(payload));
  else if (type === 'GEOIP' && /^(lan|private)$/i.test(payload)) named.lan = true;
}

function singlePorts(payload: string): number[] {
  const parts = payload.split(/[/,]/).map((part) => part.trim());
  return parts.filter((part) => /^\d+$/.test(part)).map(Number);
}
