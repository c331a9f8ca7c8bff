import type { RuleView } from '@gatehouse/contracts';

/** Offered while typing; the service knows which others there are. */
export const RULE_TYPES = [
  'DOMAIN',
  'DOMAIN-SUFFIX',
  'DOMAIN-KEYWORD',
  'DOMAIN-WILDCARD',
  'DOMAIN-REGEX',
  'IP-CIDR',
  'IP-CIDR6',
  'SRC-IP-CIDR',
  'IP-ASN',
  'GEOIP',
  'GEOSITE',
  'DST-PORT',
  'SRC-PORT',
  'IN-PORT',
  'IN-TYPE',
  'IN-USER',
  'NETWORK',
  'RULE-SET',
  'AND',
  'OR',
  'NOT',
  'MATCH',
] as const;

export interface RuleForm {
  type: string;
  payload: string;
  target: string;
  note: string;
  no_resolve: boolean;
  src: boolean;
  after_profile: boolean;
  /** Of a new rule: before a neighbour, before all other manual rules, or behind them. */
  place: 'before' | 'start' | 'end';
  /** Stands for the whole line in what the service refuses. */
  raw: null;
}

export function formOf(rule: RuleView | null): RuleForm {
  return {
    type: rule?.type ?? 'DOMAIN-SUFFIX',
    payload: rule?.payload ?? '',
    target: rule?.target ?? '',
    note: rule?.note ?? '',
    no_resolve: rule?.options.no_resolve ?? false,
    src: rule?.options.src ?? false,
    after_profile: rule?.after_profile ?? false,
    place: 'end',
    raw: null,
  };
}

export function toBody({ raw: _unused, place: _place, note, ...rest }: RuleForm): Record<string, unknown> {
  return { ...rest, note: note.trim() === '' ? null : note };
}
