import { cidrContains, parseCidr, type Cidr, type IpAddress } from '@gatehouse/net';
import type { RuleConfig } from '../interfaces/index.js';
import { parseCondition, splitConditions } from '../route/rule/condition-text.js';
import type { RuleCondition } from '../route/rule/rule-type.js';

/** What a rule says by name of where its flows may go. */
export interface NamedTarget {
  /** Prefixes of the target's address. */
  prefixes: Cidr[];
  /** Names, whole. */
  domains: string[];
  /** Whether it names ends of names (`DOMAIN-SUFFIX`). */
  suffixes: boolean;
  /** Single ports. */
  ports: number[];
  /** `GEOIP,LAN`. */
  lan: boolean;
}

/**
 * What a rule names that an administrator wrote by hand and that sends flows out directly; null for every other rule. Rules
 * of subscriptions come from somebody else, and a group may lead anywhere later on. Of `AND` every condition counts, of
 * `OR` and `NOT` none: what they let through has no name.
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
