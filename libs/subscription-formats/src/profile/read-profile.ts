import { ClashEntry, isRecord } from '../clash/entry.js';
import { readRuleLines } from '../documents/rule-lines.js';
import { FormatError } from '../errors.js';
import { cleanLabel } from '../fields.js';
import type { SubscriptionFormat } from '../parsed.js';
import { readSections } from './document-sections.js';
import type { DocumentSections } from './document-sections.js';
import { emptyProfile } from './profile.js';
import { readQuantumultXProfile, readSurgeProfile } from './read-client-profile.js';
import { readSingBoxProfile } from './read-sing-box-profile.js';
import type { Profile, ProfileDns, ProfileSniffer } from './profile.js';
import { readGroups } from './read-groups.js';
import { readProxyProviders, readRuleProviders } from './read-providers.js';

const SECTION_KEYS = {
  groups: ['proxy-groups', 'Proxy Group'],
  proxy_providers: ['proxy-providers', 'proxy-provider'],
  rule_providers: ['rule-providers'],
  sub_rules: ['sub-rules'],
  dns: ['dns'],
  hosts: ['hosts'],
  sniffer: ['sniffer'],
} as const;
/** Keys that are read elsewhere, or say nothing about traffic. */
const KNOWN: ReadonlySet<string> = new Set([
  ...Object.values(SECTION_KEYS).flat(),
  'proxies',
  'Proxy',
  'rules',
  'Rule',
]);
const MAX_LISTS = 200;
const MAX_LINES = 50_000;
const MAX_HOSTS = 10_000;
const MAX_PORTS = 1_024;

/**
 * Reads what a Clash document has besides its nodes: groups, providers, lists of rules, name servers, hosts and
 * sniffing; likewise configurations of Surge, Loon, Quantumult X and sing-box. Other formats have no profile. Never throws for
 * any text: what cannot be read is in `dropped`.
 */
export function parseProfile(text: string, format: SubscriptionFormat = 'clash'): Profile {
  const profile = emptyProfile();
  if (format === 'surge') readSurgeProfile(text, profile);
  if (format === 'quantumult-x') readQuantumultXProfile(text, profile);
  if (format === 'sing-box') readSingBoxProfile(text, profile);
  if (format !== 'clash') return profile;
  profile.rules = readRuleLines(text);
  const sections = readSections(text, Object.values(SECTION_KEYS).flat());
  for (const [section, keys] of Object.entries(SECTION_KEYS) as [keyof typeof SECTION_KEYS, readonly string[]][]) {
    const broken = keys.find((key) => sections.unreadable.includes(key));
    if (broken) profile.dropped.push({ section, name: broken, outcome: 'left_out', reason: 'unreadable' });
  }
  readGroups(valueOf(sections, 'groups'), profile);
  readProxyProviders(valueOf(sections, 'proxy_providers'), profile);
  readRuleProviders(valueOf(sections, 'rule_providers'), profile);
  readSubRules(valueOf(sections, 'sub_rules'), profile);
  readHosts(valueOf(sections, 'hosts'), profile);
  profile.dns = readDns(valueOf(sections, 'dns'));
  profile.sniffer = readSniffer(valueOf(sections, 'sniffer'));
  profile.machineOptions = sections.keys.filter((key) => !KNOWN.has(key)).slice(0, MAX_LISTS);
  return profile;
}

function valueOf(sections: DocumentSections, section: keyof typeof SECTION_KEYS): unknown {
  const key = SECTION_KEYS[section].find((name) => sections.values.has(name));
  return key === undefined ? undefined : sections.values.get(key);
}

function readSubRules(value: unknown, profile: Profile): void {
  const entries = isRecord(value) ? Object.entries(value) : [];
  let left = MAX_LINES;
  for (const [index, [key, list]] of entries.entries()) {
    const name = cleanLabel(key) ?? `#${index + 1}`;
    const lines = Array.isArray(list) ? list.filter((line) => typeof line === 'string') : null;
    left -= lines?.length ?? 0;
    const reason = lines === null ? 'unreadable' : index >= MAX_LISTS || left < 0 ? 'too_many' : null;
    if (lines && reason === null) profile.subRules.push({ name, lines: lines.map((line) => line.trim()) });
    else profile.dropped.push({ section: 'sub_rules', name, outcome: 'left_out', reason: reason ?? 'unreadable' });
  }
}

function readHosts(value: unknown, profile: Profile): void {
  const entries = isRecord(value) ? Object.entries(value) : [];
  for (const [index, [key, item]] of entries.entries()) {
    const domain = key.trim().toLowerCase();
    const values = texts(item);
    const reason = index >= MAX_HOSTS ? 'too_many' : domain === '' || values.length === 0 ? 'unreadable' : null;
    if (reason === null) profile.hosts.push({ domain, values });
    else profile.dropped.push({ section: 'hosts', name: domain.slice(0, 200), outcome: 'left_out', reason });
  }
}

function readDns(value: unknown): ProfileDns | null {
  if (!isRecord(value)) return null;
  const entry = new ClashEntry(value);
  if (entry.raw('enable') === false || entry.raw('enable') === 'false') return null;
  const read = new Set(['enable', 'nameserver', 'default-nameserver', 'nameserver-policy']);
  return {
    nameservers: texts(entry.raw('nameserver')),
    bootstrap: texts(entry.raw('default-nameserver')),
    policy: policyOf(entry.raw('nameserver-policy')),
    otherOptions: entry.keys().filter((key) => !read.has(key)),
  };
}

/** Keys may name several domains, separated by commas: `+.a.example,+.b.example`, `geosite:cn,private`. */
function policyOf(value: unknown): Record<string, string[]> {
  const policy = new Map<string, string[]>();
  for (const [key, servers] of isRecord(value) ? Object.entries(value).slice(0, MAX_HOSTS) : []) {
    const names = /^[a-z-]+:/i.test(key) ? [key] : key.split(',');
    for (const name of names) if (name.trim() !== '') policy.set(name.trim().toLowerCase(), texts(servers));
  }
  policy.delete('__proto__');
  return Object.fromEntries(policy);
}

function readSniffer(value: unknown): ProfileSniffer | null {
  if (!isRecord(value)) return null;
  const entry = new ClashEntry(value);
  try {
    if (entry.flag('enable') !== true) return null;
    const { sniff } = value;
    const kinds = isRecord(sniff) ? ['HTTP', 'TLS'].filter((kind) => Object.hasOwn(sniff, kind)) : [];
    const listed = [
      ...texts(entry.raw('port-whitelist')),
      ...kinds.flatMap((kind) => portsOf(entry.map('sniff').map(kind), kind)),
    ];
    const read = new Set(['enable', 'sniff', 'sniffing', 'port-whitelist', 'parse-pure-ip', 'override-destination']);
    const quic = isRecord(sniff) && Object.hasOwn(sniff, 'QUIC') ? ['sniff.QUIC'] : [];
    return { ports: expand(listed), otherOptions: [...entry.keys().filter((key) => !read.has(key)), ...quic] };
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}

/** A kind without ports has those of its protocol. */
function portsOf(options: ClashEntry, kind: string): string[] {
  const ports = texts(options.raw('ports'));
  return ports.length > 0 ? ports : [kind === 'HTTP' ? '80' : '443'];
}

/** `80` and `8080-8880`. */
function expand(listed: readonly string[]): number[] {
  const ports = new Set<number>();
  for (const text of listed) {
    const [, low, high] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
    if (low === undefined) continue;
    for (let port = Number(low); port <= Number(high ?? low) && ports.size < MAX_PORTS; port++) {
      if (port >= 1 && port <= 65_535) ports.add(port);
    }
  }
  return [...ports].sort((a, b) => a - b);
}

/** The texts of a list, or of one text. */
function texts(value: unknown): string[] {
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items
    .filter((item) => typeof item === 'string' || typeof item === 'number')
    .map((item) => String(item).trim())
    .filter((item) => item !== '')
    .slice(0, MAX_HOSTS);
}
