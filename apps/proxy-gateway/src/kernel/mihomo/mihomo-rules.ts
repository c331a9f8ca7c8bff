import { formatRuleLine } from '@gatehouse/proxy-kernel';
import type { KernelConfig, RuleConfig, RuleSetConfig } from '@gatehouse/proxy-kernel';

const GEOSITE_PREFIX = 'geosite:';
const GEOIP_PREFIX = 'geoip:';
const ASN_PREFIX = 'asn:';
const BUILT_IN = ['DIRECT', 'REJECT', 'REJECT-DROP', 'PASS'];
/** The condition of a rule, or one inside AND, OR and NOT. */
const IN_CONDITIONS = /\(\s*(GEOSITE|(?:SRC-)?GEOIP|(?:SRC-)?IP-ASN|(?:DST|SRC|IN)-PORT)\s*,\s*([^()]+?)\s*(?=\))/gi;
/** An entry of a classical set that needs a database. */
const ADDRESS_ENTRY = /^\s*(SRC-)?(GEOIP|IP-ASN)\s*,\s*([^\s,]+)\s*((?:,.*)?)$/i;

/** The prefixes of countries and of autonomous systems, from the databases in use. `LAN` is a country, too. */
export interface GeoPrefixes {
  country(code: string): readonly string[];
  asn(number: number): readonly string[];
}

export interface MihomoRules {
  lines: string[];
  /** The rule that each of the first lines stands for; the lines behind them are the default policy. */
  rules: readonly RuleConfig[];
  /** The sets that the lines name: ours, and those that stand for countries and autonomous systems. */
  sets: RuleSetConfig[];
}

/**
 * Translates the rules. mihomo would download databases for sites, countries and autonomous systems, so each of these
 * becomes a set from our own. mihomo skips a rule whose target carries no UDP, and sends flows that reach the end of the
 * list out directly; the last rule refuses them. A rule whose target or set does not exist makes mihomo refuse the whole
 * configuration. Our kernel skips such rules, so they are left out.
 */
export function toMihomoRules(config: KernelConfig, geo: GeoPrefixes | undefined): MihomoRules {
  const known = new Set([
    ...config.outbounds.map(({ tag }) => tag),
    ...config.groups.map(({ name }) => name),
    ...BUILT_IN,
  ]);
  const sets = new Map((config.ruleSets ?? []).map((set) => [set.name, set]));
  const usable = config.mode === 'rule' ? config.rules.filter(({ target }) => known.has(target)) : [];
  const translated = usable.map((rule) => ({ rule, written: withSets(rule) }));
  for (const { written } of translated) addAddressSets(setsNamedBy(written), sets, geo);
  const kept = translated.filter(({ written }) => setsNamedBy(written).every((name) => sets.has(name)));
  const last = config.mode === 'direct' ? ['MATCH,DIRECT'] : [`MATCH,${config.defaultPolicy}`, 'MATCH,REJECT'];
  return {
    lines: [...kept.map(({ written }) => formatRuleLine(written)), ...last],
    rules: kept.map(({ rule }) => rule),
    sets: [...sets.values()].map((set) => withoutDatabases(set, geo)),
  };
}

/** Writes a rule with sets in place of databases, and ports as mihomo separates them. */
function withSets(rule: RuleConfig): RuleConfig {
  const { type, payload } = rule;
  if (type === 'GEOSITE' || type === 'GEOIP' || type === 'IP-ASN') {
    return { ...rule, type: 'RULE-SET', payload: setFor(type, payload) };
  }
  if (isPorts(type)) return { ...rule, payload: payload.replaceAll(',', '/') };
  if (!isCondition(type)) return rule;
  return { ...rule, payload: payload.replace(IN_CONDITIONS, (_all, word: string, rest: string) => inner(word, rest)) };
}

function inner(word: string, rest: string): string {
  const type = word.toUpperCase();
  if (isPorts(type)) return `(${type},${rest.replaceAll(',', '/')}`;
  const [payload = '', ...options] = rest.split(',').map((part) => part.trim());
  const src = type.startsWith('SRC-') ? ['src'] : [];
  return `(${['RULE-SET', setFor(type.replace('SRC-', ''), payload), ...options, ...src].join(',')}`;
}

/** The name of the set in place of a condition. */
function setFor(type: string, payload: string): string {
  const code = payload.toLowerCase();
  if (type === 'GEOSITE') return `${GEOSITE_PREFIX}${code}`;
  if (type === 'IP-ASN') return `${ASN_PREFIX}${Number(code.replace(/^as/, ''))}`;
  return `${GEOIP_PREFIX}${code === 'private' ? 'lan' : code}`;
}

function addAddressSets(
  names: readonly string[],
  sets: Map<string, RuleSetConfig>,
  geo: GeoPrefixes | undefined,
): void {
  for (const name of names) {
    if (sets.has(name)) continue;
    const entries = name.startsWith(GEOIP_PREFIX)
      ? geo?.country(name.slice(GEOIP_PREFIX.length).toUpperCase())
      : name.startsWith(ASN_PREFIX) && geo?.asn(Number(name.slice(ASN_PREFIX.length)));
    if (entries) sets.set(name, { name, behavior: 'ipcidr', entries });
  }
}

/** Writes the prefixes in place of entries for countries and autonomous systems. */
function withoutDatabases(set: RuleSetConfig, geo: GeoPrefixes | undefined): RuleSetConfig {
  if (set.behavior !== 'classical' || !set.entries.some((entry) => ADDRESS_ENTRY.test(entry))) return set;
  return { ...set, entries: set.entries.flatMap((entry) => prefixEntries(entry, geo)) };
}

function prefixEntries(entry: string, geo: GeoPrefixes | undefined): readonly string[] {
  const [, src, type, payload = '', options = ''] = ADDRESS_ENTRY.exec(entry) ?? [];
  if (type === undefined) return [entry];
  const name = setFor(type.toUpperCase(), payload);
  const found = new Map<string, RuleSetConfig>();
  addAddressSets([name], found, geo);
  const suffix = `${options}${src === undefined ? '' : ',src'}`;
  return (found.get(name)?.entries ?? []).map((prefix) => `IP-CIDR,${prefix}${suffix}`);
}

function setsNamedBy({ type, payload }: RuleConfig): string[] {
  if (type === 'RULE-SET') return [payload];
  if (!isCondition(type)) return [];
  return [...payload.matchAll(/\(\s*RULE-SET\s*,\s*([^,()]*[^,()\s])(?=\s*[,)])/gi)].map(([, name = '']) => name);
}

function isCondition(type: string): boolean {
  return type === 'AND' || type === 'OR' || type === 'NOT';
}

function isPorts(type: string): boolean {
  return type === 'DST-PORT' || type === 'SRC-PORT' || type === 'IN-PORT';
}
