import type { ProfileReason } from '@gatehouse/contracts';

export type Fields = Record<string, unknown>;

/** What conditions of rules depend on. */
export interface RuleSurroundings {
  /** Whether names were resolved before the rule: without it addresses are looked at only where the client gave one. */
  resolved: boolean;
  /** Names in rules, by the tags of rule sets. */
  sets: ReadonlyMap<string, string>;
}

/** A rule that has no equal here. Without a part of it, it would match more. */
export class Unwritable extends Error {
  readonly reason: ProfileReason;

  constructor(reason: ProfileReason) {
    super(reason);
    this.name = 'Unwritable';
    this.reason = reason;
  }
}

type Write = (value: string, around: RuleSurroundings) => string;

const MAX_DEPTH = 8;
/** The kernel reads up to 256 conditions of one list, and lines of 16,384 characters. */
const MAX_PARTS = 200;
const MAX_LINE = 16_000;
/** Ports in one condition. */
const MAX_PORTS = 20;

const address =
  (type: string): Write =>
  (value, around) =>
    `${type},${value}${around.resolved ? '' : ',no-resolve'}`;

/** Of these together any may hold: where a connection goes. Rule sets count as part of them. */
const DESTINATION: Readonly<Record<string, Write>> = {
  domain: (value) => `DOMAIN,${value}`,
  // With a dot in front it is the names below only.
  domain_suffix: (value) => (value.startsWith('.') ? `DOMAIN-WILDCARD,*${value}` : `DOMAIN-SUFFIX,${value}`),
  domain_keyword: (value) => `DOMAIN-KEYWORD,${value}`,
  domain_regex: (value) => `DOMAIN-REGEX,${value}`,
  geosite: (value) => `GEOSITE,${value}`,
  geoip: address('GEOIP'),
  ip_cidr: (value, around) => address(value.includes(':') ? 'IP-CIDR6' : 'IP-CIDR')(prefixOf(value), around),
  ip_is_private: (value, around) => address('GEOIP')(isOn(value, 'PRIVATE'), around),
  rule_set: (tag, around) => {
    const name = around.sets.get(tag);
    if (name === undefined) throw new Unwritable('rule_set_missing');
    return address('RULE-SET')(name, around);
  },
};
/** Further groups: one condition of each must hold. */
const GROUPS: readonly Readonly<Record<string, Write>>[] = [
  {
    source_geoip: (value) => `SRC-GEOIP,${value}`,
    source_ip_cidr: (value) => `SRC-IP-CIDR,${prefixOf(value)}`,
    source_ip_is_private: (value) => `SRC-GEOIP,${isOn(value, 'PRIVATE')}`,
  },
  { network: (value) => `NETWORK,${value}` },
  { ip_version: (value) => `IP-CIDR,${value === '6' ? '::/0' : '0.0.0.0/0'},no-resolve` },
  { process_name: (value) => `PROCESS-NAME,${value}`, process_path: (value) => `PROCESS-PATH,${value}` },
  { process_path_regex: (value) => `PROCESS-PATH-REGEX,${value}` },
  { package_name: (value) => `PROCESS-NAME,${value}` },
  { user_id: (value) => `UID,${value}` },
  { auth_user: (value) => `IN-USER,${value}` },
];
const PORTS: readonly (readonly [type: string, single: string, range: string])[] = [
  ['DST-PORT', 'port', 'port_range'],
  ['SRC-PORT', 'source_port', 'source_port_range'],
];
/** Keys that say nothing about which connections a rule is for. */
const OTHER = new Set([
  'type',
  'invert',
  'action',
  'outbound',
  'method',
  'no_drop',
  'clash_mode',
  'udp_disable_domain_unmapping',
  'udp_connect',
  'udp_timeout',
  'tls_fragment',
  'tls_fragment_fallback_delay',
  'tls_record_fragment',
  'network_strategy',
  'fallback_delay',
]);
const KNOWN = new Set([
  ...OTHER,
  ...[DESTINATION, ...GROUPS].flatMap((group) => Object.keys(group)),
  ...PORTS.flatMap(([, single, range]) => [single, range]),
]);

/**
 * The conditions of a rule as lines in Clash's form without a target: the rule holds if one of them does.
 * @throws Unwritable
 */
export function conditionLines(rule: unknown, around: RuleSurroundings): string[] {
  if (!isFields(rule)) throw new Unwritable('rule_unreadable');
  const lines =
    rule['type'] === 'logical' || rule['invert'] === true ? wholeOrParts(rule, around) : spread(rule, around);
  if (lines.some((line) => line.length > MAX_LINE)) throw new Unwritable('too_large');
  return lines;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list, or one value. @throws Unwritable */
export function textsIn(rule: Fields, key: string): string[] {
  const value = Object.hasOwn(rule, key) ? rule[key] : [];
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items.map((item) => {
    if (typeof item === 'number' || typeof item === 'boolean') return String(item);
    if (typeof item === 'string' && item !== '' && !/[\r\n]/.test(item)) return item;
    throw new Unwritable('rule_unreadable');
  });
}

/** Any of several rules is a line for each of them. */
function wholeOrParts(rule: Fields, around: RuleSurroundings): string[] {
  const { rules } = rule;
  const isAny = rule['type'] === 'logical' && rule['mode'] === 'or' && rule['invert'] !== true && Array.isArray(rules);
  return isAny ? rules.flatMap((each) => conditionLines(each, around)) : [condition(rule, around, 0)];
}

/** A line for each place that a rule names, or for many of them if there are other conditions. */
function spread(rule: Fields, around: RuleSurroundings): string[] {
  const groups = groupsOf(rule, around);
  const [only] = groups;
  if (only === undefined) throw new Unwritable('rule_unreadable');
  if (groups.length === 1) return only;
  const longest = groups.reduce((a, b) => (b.length > a.length ? b : a));
  const others = groups.filter((group) => group !== longest).map((group) => join('OR', group));
  return cut(longest).map((part) => join('AND', [join('OR', part), ...others]));
}

function cut(parts: readonly string[]): string[][] {
  const pieces: string[][] = [];
  let size = Infinity;
  for (const part of parts) {
    if (size + part.length > MAX_LINE / 2 || (pieces.at(-1)?.length ?? 0) >= MAX_PARTS) {
      pieces.push([]);
      size = 0;
    }
    pieces.at(-1)?.push(part);
    size += part.length + 3;
  }
  return pieces;
}

/** @throws Unwritable */
function condition(rule: unknown, around: RuleSurroundings, depth: number): string {
  if (!isFields(rule) || depth > MAX_DEPTH) throw new Unwritable('rule_unreadable');
  const inner =
    rule['type'] === 'logical'
      ? logical(rule, around, depth)
      : join(
          'AND',
          groupsOf(rule, around).map((group) => join('OR', group)),
        );
  return rule['invert'] === true ? `NOT,((${inner}))` : inner;
}

function logical({ mode, rules }: Fields, around: RuleSurroundings, depth: number): string {
  if (!Array.isArray(rules) || rules.length === 0 || (mode !== 'and' && mode !== 'or')) {
    throw new Unwritable('rule_unreadable');
  }
  const parts = rules.map((each) => condition(each, around, depth + 1));
  return join(mode === 'and' ? 'AND' : 'OR', parts);
}

function join(word: 'AND' | 'OR', parts: readonly string[]): string {
  const [only] = parts;
  if (only === undefined) throw new Unwritable('rule_unreadable');
  if (parts.length > MAX_PARTS) throw new Unwritable('too_large');
  return parts.length === 1 ? only : `${word},(${parts.map((part) => `(${part})`).join(',')})`;
}

/** One of each list must hold. @throws Unwritable */
function groupsOf(rule: Fields, around: RuleSurroundings): string[][] {
  const foreign = Object.keys(rule).find((key) => !KNOWN.has(key));
  if (foreign !== undefined) throw new Unwritable('condition_unknown');
  const groups = [DESTINATION, ...GROUPS].map((group) =>
    Object.entries(group).flatMap(([key, write]) => textsIn(rule, key).map((value) => write(value, around))),
  );
  return [...groups, ...PORTS.map(([type, single, range]) => portsOf(rule, type, single, range))].filter(
    (group) => group.length > 0,
  );
}

function portsOf(rule: Fields, type: string, single: string, range: string): string[] {
  const ports = [...textsIn(rule, single), ...textsIn(rule, range).map(rangeOf)];
  const conditions: string[] = [];
  for (let at = 0; at < ports.length; at += MAX_PORTS) {
    conditions.push(`${type},${ports.slice(at, at + MAX_PORTS).join('/')}`);
  }
  return conditions;
}

/** @throws Unwritable for a switch that is off, which says nothing that can be written. */
function isOn(value: string, word: string): string {
  if (value !== 'true') throw new Unwritable('condition_unknown');
  return word;
}

/** A single address is a prefix. */
function prefixOf(value: string): string {
  if (value.includes('/')) return value;
  return `${value}/${value.includes(':') ? 128 : 32}`;
}

/** `1000:2000`, `:3000`, `4000:`. @throws Unwritable */
function rangeOf(value: string): string {
  const [, low = '', high = ''] = /^(\d{0,5}):(\d{0,5})$/.exec(value) ?? [];
  if (low === '' && high === '') throw new Unwritable('rule_unreadable');
  return `${low === '' ? '1' : low}-${high === '' ? '65535' : high}`;
}
