import { isIP } from 'node:net';
import { LineOptions, splitLine } from '../client-lines/line-options.js';
import { cleanLabel } from '../fields.js';
import type { ClientSections } from './client-sections.js';
import type { Profile, ProfileRuleProvider } from './profile.js';
import { isHttpUrl } from './read-groups.js';

const MAX_RULES = 200_000;
const MAX_RULE = 4_096;
const MAX_SETS = 500;
/** Words of Surge and Quantumult X for a type, and those of Clash. */
const TYPES: Readonly<Record<string, string>> = {
  'SRC-IP': 'SRC-IP-CIDR',
  'DEST-PORT': 'DST-PORT',
  PROTOCOL: 'NETWORK',
  HOST: 'DOMAIN',
  'HOST-SUFFIX': 'DOMAIN-SUFFIX',
  'HOST-KEYWORD': 'DOMAIN-KEYWORD',
  'HOST-WILDCARD': 'DOMAIN-WILDCARD',
  'HOST-REGEX': 'DOMAIN-REGEX',
  'IP6-CIDR': 'IP-CIDR6',
  FINAL: 'MATCH',
};
const TYPE = /(^|\()[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(?=,)/g;
/** Options that say nothing about which connections a rule is for. */
const IDLE =
  /^(?:dns-failed|extended-matching|pre-matching|force-remote-dns|force-cellular|multi-interface|multi-interface-balance|enhanced-mode|via-interface=.*|notification-text=.*|update-interval=.*)$/i;

/** The `[Rule]` of Surge and Loon, and Loon's `[Remote Rule]`, whose lists come behind. */
export function readSurgeRules(sections: ClientSections, profile: Profile): void {
  const rules = sections.of('rule');
  const last = rules.findLastIndex((line) => /^(?:FINAL|MATCH)\s*,/i.test(line));
  for (const line of last < 0 ? rules : rules.slice(0, last)) addRule(profile, line);
  for (const line of sections.of('remote rule')) {
    const [url = '', ...parts] = splitLine(line);
    const options = new LineOptions(parts, 0);
    if (options.isOff('enabled')) continue;
    addSetRule(profile, { url, name: options.get('tag'), behavior: 'classical' }, [options.get('policy') ?? '']);
  }
  if (last >= 0) for (const line of rules.slice(last)) addRule(profile, line);
}

/** The `[filter_local]` of Quantumult X, whose last rule is behind the lists of `[filter_remote]`. */
export function readQuantumultXRules(sections: ClientSections, profile: Profile): void {
  const rules = sections.of('filter_local');
  for (const line of rules.filter((each) => !/^final\s*,/i.test(each))) addRule(profile, line);
  for (const line of sections.of('filter_remote')) {
    const [url = '', ...parts] = splitLine(line);
    const options = new LineOptions(parts, 0);
    const target = options.get('force-policy');
    if (options.isOff('enabled')) continue;
    if (target === undefined) drop(profile, url, 'rule_unreadable');
    else addSetRule(profile, { url, name: options.get('tag'), behavior: 'classical' }, [target]);
  }
  for (const line of rules.filter((each) => /^final\s*,/i.test(each))) addRule(profile, line);
}

function addRule(profile: Profile, written: string): void {
  if (profile.rules.length >= MAX_RULES) return;
  const line = written.replace(/[ \t]+(?:\/\/|#).*$/, '').trim();
  if (!line.includes(',') || line.length > MAX_RULE) return;
  const [word = '', ...fields] = line.split(',').map((field) => field.trim());
  const type = word.toUpperCase();
  const [payload = '', ...rest] = fields.filter((field, index) => index < 2 || !IDLE.test(field));
  if ((type === 'RULE-SET' || type === 'DOMAIN-SET') && isHttpUrl(payload)) {
    const behavior = type === 'DOMAIN-SET' ? 'domain' : 'classical';
    addSetRule(profile, { url: payload, name: undefined, behavior }, rest);
  } else if (type === 'RULE-SET' && payload.toUpperCase() === 'LAN') {
    profile.rules.push(['GEOIP', 'LAN', ...rest].join(','));
  } else profile.rules.push(inClash(type, line));
}

function inClash(type: string, line: string): string {
  const renamed = line.replace(TYPE, (all, open: string, word: string) => {
    const known = TYPES[word.toUpperCase()];
    return known === undefined ? all : `${open}${known}`;
  });
  // Parentheses hold commas that separate no options.
  if (/^(?:AND|OR|NOT)$/.test(type)) return renamed.replace(/(\)[ \t]*,[^,()]+)(?:,[^()]*)$/, '$1');
  const fields = renamed.split(',').map((field) => field.trim());
  // Surge takes a single address as well.
  if (type === 'SRC-IP' && isIP(fields[1] ?? '') !== 0) fields[1] += isIP(fields[1] ?? '') === 4 ? '/32' : '/128';
  return fields.filter((field, index) => index < 2 || !IDLE.test(field)).join(',');
}

interface WrittenSet {
  url: string;
  name: string | undefined;
  behavior: 'domain' | 'classical';
}

/** @param rest the target, and options. */
function addSetRule(profile: Profile, { url, name: label, behavior }: WrittenSet, rest: readonly string[]): void {
  if (!isHttpUrl(url) || profile.ruleProviders.length >= MAX_SETS) {
    drop(profile, url, isHttpUrl(url) ? 'too_many' : 'url_unusable');
    return;
  }
  const known = profile.ruleProviders.find(({ source }) => 'url' in source && source.url === url);
  const name = known?.name ?? freeName(profile, cleanLabel(label ?? '') ?? fileName(url));
  if (!known) profile.ruleProviders.push(toProvider(name, url, behavior));
  profile.rules.push(['RULE-SET', name, ...rest].join(','));
}

function toProvider(name: string, url: string, behavior: WrittenSet['behavior']): ProfileRuleProvider {
  const format = behavior === 'domain' ? 'domain-set' : 'text';
  return { name, behavior, format, source: { url }, intervalSec: null, remarks: [] };
}

function fileName(url: string): string {
  const last = URL.parse(url)?.pathname.split('/').at(-1) ?? '';
  return last.replace(/\.[a-z]{2,5}$/i, '').replace(/[,()]+/g, '-') || 'list';
}

function freeName(profile: Profile, wanted: string): string {
  const clean = wanted.replace(/[,()]+/g, '-');
  const used = new Set(profile.ruleProviders.map(({ name }) => name));
  if (!used.has(clean)) return clean;
  for (let number = 2; ; number++) if (!used.has(`${clean} ${number}`)) return `${clean} ${number}`;
}

function drop(profile: Profile, name: string, reason: 'rule_unreadable' | 'too_many' | 'url_unusable'): void {
  profile.dropped.push({ section: 'rules', name: name.slice(0, 200), outcome: 'left_out', reason });
}
