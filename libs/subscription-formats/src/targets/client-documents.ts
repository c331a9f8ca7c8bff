import { showRule } from './clash.js';
import type { Prepared, PreparedGroup } from './prepare.js';
import type { TargetInput, TargetRule } from './target.js';

const DEFAULT_TEST_URL = 'http://www.gstatic.com/generate_204';
const DEFAULT_INTERVAL_SEC = 600;

/** Rule types of Surge and Loon that are called as they are here, or otherwise. */
const SURGE_RULES: Readonly<Record<string, string>> = {
  DOMAIN: 'DOMAIN',
  'DOMAIN-SUFFIX': 'DOMAIN-SUFFIX',
  'DOMAIN-KEYWORD': 'DOMAIN-KEYWORD',
  'DOMAIN-WILDCARD': 'DOMAIN-WILDCARD',
  'IP-CIDR': 'IP-CIDR',
  'IP-CIDR6': 'IP-CIDR6',
  GEOIP: 'GEOIP',
  'IP-ASN': 'IP-ASN',
  'DST-PORT': 'DEST-PORT',
  'SRC-PORT': 'SRC-PORT',
  'PROCESS-NAME': 'PROCESS-NAME',
};
const LOON_RULES: Readonly<Record<string, string>> = {
  DOMAIN: 'DOMAIN',
  'DOMAIN-SUFFIX': 'DOMAIN-SUFFIX',
  'DOMAIN-KEYWORD': 'DOMAIN-KEYWORD',
  'IP-CIDR': 'IP-CIDR',
  'IP-CIDR6': 'IP-CIDR6',
  GEOIP: 'GEOIP',
  'IP-ASN': 'IP-ASN',
  'DST-PORT': 'DEST-PORT',
  'SRC-PORT': 'SRC-PORT',
};
const QUANTUMULT_X_RULES: Readonly<Record<string, string>> = {
  DOMAIN: 'host',
  'DOMAIN-SUFFIX': 'host-suffix',
  'DOMAIN-KEYWORD': 'host-keyword',
  'DOMAIN-WILDCARD': 'host-wildcard',
  'IP-CIDR': 'ip-cidr',
  'IP-CIDR6': 'ip6-cidr',
  GEOIP: 'geoip',
  'IP-ASN': 'ip-asn',
};

const lines = (prepared: Prepared): string[] => prepared.nodes.map(({ entry }) => entry as string);
const comments = ({ comments: said = [] }: TargetInput): string[] => said.map((line) => `# ${line}`);
const join = (parts: readonly string[]): string => `${parts.join('\n')}\n`;

export function surgeDocument(prepared: Prepared, input: TargetInput): string {
  if (input.final === null) return join([...comments(input), ...lines(prepared)]);
  const managed =
    input.update && `#!MANAGED-CONFIG ${input.update.url} interval=${input.update.intervalSec} strict=false`;
  return join([
    ...(managed === undefined ? [] : [managed]),
    ...comments(input),
    '',
    '[General]',
    'loglevel = notify',
    '',
    ...surgeSections(prepared, input, { words: SURGE_RULES, separator: ', ', final: input.final }),
  ]);
}

export function loonDocument(prepared: Prepared, input: TargetInput): string {
  if (input.final === null) return join([...comments(input), ...lines(prepared)]);
  const sections = surgeSections(prepared, input, { words: LOON_RULES, separator: ',', final: input.final });
  return join([...comments(input), '', ...sections]);
}

interface SurgeDialect {
  words: Readonly<Record<string, string>>;
  /** Between the members of a group. */
  separator: ', ' | ',';
  /** Where the traffic goes that no rule matches. */
  final: string;
}

/** The sections that Surge and Loon have in common. */
function surgeSections(prepared: Prepared, input: TargetInput, { words, separator, final }: SurgeDialect): string[] {
  return [
    '[Proxy]',
    ...lines(prepared),
    '',
    '[Proxy Group]',
    ...prepared.groups.map((group) => surgeGroup(group, prepared, separator)),
    '',
    '[Rule]',
    ...clientRules(prepared, input, words, ','),
    `FINAL,${prepared.nameOf(final) ?? 'REJECT'}`,
  ];
}

export function quantumultXDocument(prepared: Prepared, input: TargetInput): string {
  if (input.final === null) return join([...comments(input), ...lines(prepared)]);
  const own = (name: string): string => QUANTUMULT_X_BUILT_INS[name] ?? name;
  return join([
    ...comments(input),
    '',
    '[policy]',
    ...prepared.groups.map((group) => quantumultXGroup(group, prepared, own)),
    '',
    '[server_local]',
    ...lines(prepared),
    '',
    '[filter_local]',
    ...clientRules(prepared, input, QUANTUMULT_X_RULES, ', ', own),
    `final, ${own(prepared.nameOf(input.final) ?? 'REJECT')}`,
  ]);
}

const QUANTUMULT_X_BUILT_INS: Readonly<Record<string, string>> = {
  DIRECT: 'direct',
  REJECT: 'reject',
  'REJECT-DROP': 'reject',
};

function surgeGroup(group: PreparedGroup, { remarks }: Prepared, separator: ', ' | ','): string {
  const { name, type, members, testUrl, intervalSec, toleranceMs } = group;
  const equals = separator === ',' ? ' = ' : '=';
  const measured = [
    `url${equals}${testUrl ?? DEFAULT_TEST_URL}`,
    `interval${equals}${intervalSec ?? DEFAULT_INTERVAL_SEC}`,
    ...(type === 'url-test' && toleranceMs !== undefined ? [`tolerance${equals}${toleranceMs}`] : []),
  ];
  if (type === 'load-balance') remarks.add('changed', 'group_type', type, name);
  return `${name} = ${[type, ...members, ...(type === 'select' || type === 'load-balance' ? [] : measured)].join(separator)}`;
}

const QUANTUMULT_X_GROUPS: Readonly<Record<PreparedGroup['type'], string>> = {
  select: 'static',
  'url-test': 'url-latency-benchmark',
  fallback: 'available',
  'load-balance': 'round-robin',
};

function quantumultXGroup(group: PreparedGroup, { remarks }: Prepared, own: (name: string) => string): string {
  const { name, type, members, intervalSec, toleranceMs } = group;
  if (type === 'load-balance') remarks.add('changed', 'group_type', type, name);
  const measured =
    type === 'url-test'
      ? [`check-interval=${intervalSec ?? DEFAULT_INTERVAL_SEC}`, `tolerance=${toleranceMs ?? 0}`]
      : [];
  return `${QUANTUMULT_X_GROUPS[type]}=${[name, ...members.map(own), ...measured].join(', ')}`;
}

function clientRules(
  { nameOf, remarks }: Prepared,
  { rules }: TargetInput,
  words: Readonly<Record<string, string>>,
  separator: string,
  own = (name: string): string => name,
): string[] {
  const written: string[] = [];
  for (const rule of rules) {
    const word = rule.src === true || !Object.hasOwn(words, rule.type) ? undefined : words[rule.type];
    const target = nameOf(rule.target);
    if (word === undefined || !isPlain(rule)) {
      remarks.add('left_out', rule.type === 'RULE-SET' ? 'rule_set' : 'rule_type', rule.type, showRule(rule));
    } else if (target === undefined) remarks.add('left_out', 'rule_target', null, showRule(rule));
    else {
      const options = rule.noResolve === true ? ['no-resolve'] : [];
      written.push([ruleWord(word, rule), rule.payload, own(target), ...options].join(separator));
    }
  }
  return written;
}

/** These formats have an own word for IPv6. */
function ruleWord(word: string, { type, payload }: TargetRule): string {
  if (type !== 'IP-CIDR' || !payload.includes(':')) return word;
  return word === 'IP-CIDR' ? 'IP-CIDR6' : 'ip6-cidr';
}

/** A comma would end the payload, a list of ports is one line each. */
function isPlain({ payload }: TargetRule): boolean {
  return payload !== '' && !/[,"\p{Cc}]/u.test(payload);
}
