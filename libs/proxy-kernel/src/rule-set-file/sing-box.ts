/** Rule sets of sing-box: rules whose fields are conditions, as JSON in source form, and in binary form. */
import type { RuleSetBehavior } from '../interfaces/config.js';
import type { Line } from './lines.js';
import { RuleSetFileError } from './rule-set-file-error.js';
import { isSrs, readSrs } from './srs.js';

const MAX_VERSION = 4;
const MAX_DEPTH = 8;

type Fields = Record<string, unknown>;

/** Conditions of one field of a rule, of which any may hold. */
type Write = (value: string) => string;

/** Fields that say where a connection goes: of all of them together any may hold. */
const DESTINATION: Readonly<Record<string, Write>> = {
  domain: (value) => `DOMAIN,${value}`,
  // With a dot in front it is the names below only.
  domain_suffix: (value) => (value.startsWith('.') ? `DOMAIN-WILDCARD,*${value}` : `DOMAIN-SUFFIX,${value}`),
  domain_keyword: (value) => `DOMAIN-KEYWORD,${value}`,
  domain_regex: (value) => `DOMAIN-REGEX,${value}`,
  ip_cidr: (value) => `${addressType(value)},${prefixOf(value)}`,
};
/** Further groups: one condition of each must hold. */
const GROUPS: readonly Readonly<Record<string, Write>>[] = [
  { port: (value) => `DST-PORT,${value}`, port_range: (value) => `DST-PORT,${rangeOf(value)}` },
  { source_ip_cidr: (value) => `SRC-IP-CIDR,${prefixOf(value)}` },
  { source_port: (value) => `SRC-PORT,${value}`, source_port_range: (value) => `SRC-PORT,${rangeOf(value)}` },
  { network: (value) => `NETWORK,${value}` },
];
const KNOWN = new Set([
  'type',
  'invert',
  ...Object.keys(DESTINATION),
  ...GROUPS.flatMap((group) => Object.keys(group)),
]);

/** A rule that cannot be expressed here. */
class Unwritable extends Error {}

/** @throws RuleSetFileError for what is no rule set of sing-box. */
export function* parseSingBox(content: Buffer, behavior: RuleSetBehavior): Generator<Line> {
  let number = 0;
  for (const rule of rulesOf(content)) {
    number++;
    try {
      for (const text of entriesOf(rule, behavior)) yield { number, text, problem: null };
    } catch (error) {
      if (!(error instanceof Unwritable)) throw error;
      yield { number, text: JSON.stringify(rule), problem: error.message };
    }
  }
}

function rulesOf(content: Buffer): readonly unknown[] {
  const document = isSrs(content) ? readSrs(content) : parse(content);
  if (!isFields(document) || !Array.isArray(document['rules'])) throw new RuleSetFileError('no list of rules');
  const { version } = document;
  if (typeof version !== 'number' || version < 1 || version > MAX_VERSION)
    throw new RuleSetFileError(`a rule set of version ${String(version)}; 1 to ${MAX_VERSION} are read`);
  return document['rules'];
}

function parse(content: Buffer): unknown {
  try {
    return JSON.parse(content.toString('utf8'));
  } catch (cause) {
    throw new RuleSetFileError('neither JSON nor a binary rule set', { cause });
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A rule about names or addresses alone is an entry for each; any other rule is one entry. @throws Unwritable */
function entriesOf(rule: unknown, behavior: RuleSetBehavior): string[] {
  if (behavior !== 'classical') return namesOrPrefixes(rule, behavior);
  if (isFields(rule) && rule['type'] !== 'logical' && rule['invert'] !== true) {
    const groups = groupsOf(rule);
    const [only] = groups;
    if (only && groups.length === 1) return only;
  }
  return [conditionOf(rule, 0)];
}

function namesOrPrefixes(rule: unknown, behavior: 'domain' | 'ipcidr'): string[] {
  const allowed = behavior === 'domain' ? ['domain', 'domain_suffix'] : ['ip_cidr'];
  const fields = isFields(rule) ? Object.keys(rule).filter((key) => key !== 'type') : [];
  const foreign = fields.find((key) => !allowed.includes(key));
  if (!isFields(rule) || fields.length === 0) throw new Unwritable('not a rule');
  if (foreign !== undefined) throw new Unwritable(`${foreign} is no part of a set of behavior ${behavior}`);
  const suffixes = valuesOf(rule, 'domain_suffix').map((value) => (value.startsWith('.') ? value : `+.${value}`));
  return [...valuesOf(rule, 'domain'), ...suffixes, ...valuesOf(rule, 'ip_cidr')];
}

/** @throws Unwritable */
function conditionOf(rule: unknown, depth: number): string {
  if (!isFields(rule) || depth > MAX_DEPTH) throw new Unwritable('not a rule that can be read');
  const inner = rule['type'] === 'logical' ? logical(rule, depth) : all(groupsOf(rule).map(any));
  return rule['invert'] === true ? `NOT,((${inner}))` : inner;
}

function logical(rule: Fields, depth: number): string {
  const { mode, rules } = rule;
  if (!Array.isArray(rules) || rules.length === 0 || (mode !== 'and' && mode !== 'or'))
    throw new Unwritable('a logical rule needs a mode, and or or, and rules');
  const parts = rules.map((each) => conditionOf(each, depth + 1));
  return mode === 'and' ? all(parts) : any(parts);
}

function any(parts: readonly string[]): string {
  return join('OR', parts);
}

function all(parts: readonly string[]): string {
  return join('AND', parts);
}

function join(word: 'AND' | 'OR', parts: readonly string[]): string {
  const [only] = parts;
  if (only === undefined) throw new Unwritable('a rule without conditions');
  return parts.length === 1 ? only : `${word},(${parts.map((part) => `(${part})`).join(',')})`;
}

/** The conditions of a rule: one of each list must hold. @throws Unwritable */
function groupsOf(rule: Fields): string[][] {
  const foreign = Object.keys(rule).find((key) => !KNOWN.has(key));
  // Without the field the rule would match more.
  if (foreign !== undefined) throw new Unwritable(`${foreign} is not a condition here`);
  const groups = [DESTINATION, ...GROUPS].map((group) =>
    Object.entries(group).flatMap(([key, write]) => valuesOf(rule, key).map(write)),
  );
  return groups.filter((group) => group.length > 0);
}

/** A list, or one value. */
function valuesOf(rule: Fields, key: string): string[] {
  const value = Object.hasOwn(rule, key) ? rule[key] : [];
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items.map((item) => {
    if (typeof item === 'number' || (typeof item === 'string' && item !== '')) return String(item);
    throw new Unwritable(`${key} has a value that is no text`);
  });
}

function addressType(value: string): string {
  return value.includes(':') ? 'IP-CIDR6' : 'IP-CIDR';
}

/** A single address is a prefix. */
function prefixOf(value: string): string {
  if (value.includes('/')) return value;
  return `${value}/${value.includes(':') ? 128 : 32}`;
}

/** `1000:2000`, `:3000`, `4000:`. @throws Unwritable */
function rangeOf(value: string): string {
  const [, low = '', high = ''] = /^(\d{0,5}):(\d{0,5})$/.exec(value) ?? [];
  if (low === '' && high === '') throw new Unwritable(`${JSON.stringify(value.slice(0, 80))} is not a range of ports`);
  return `${low === '' ? '0' : low}-${high === '' ? '65535' : high}`;
}
