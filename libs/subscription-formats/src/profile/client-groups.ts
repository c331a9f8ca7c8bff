import { LineOptions, splitLine, unquote } from '../client-lines/line-options.js';
import { cleanLabel } from '../fields.js';
import type { ClientSections } from './client-sections.js';
import { readNameTest } from './name-filter.js';
import type { NameFilter, Profile, ProfileGroup, ProfileRemark } from './profile.js';
import { isHttpUrl, secondsOf } from './read-groups.js';

const MAX_GROUPS = 500;
const MAX_PROVIDERS = 100;
const ON = new Set(['1', 'true', 'yes']);
/** Words for types, and what they are here. Others reject. */
const TYPES: Readonly<Record<string, string>> = {
  select: 'select',
  static: 'select',
  'url-test': 'url-test',
  'url-latency-benchmark': 'url-test',
  fallback: 'fallback',
  available: 'fallback',
  'load-balance': 'load-balance',
  'round-robin': 'load-balance',
  'dest-hash': 'load-balance',
};
const READ = new Set(
  (
    'url interval check-interval update-interval tolerance timeout policy-path policy-regex-filter server-tag-regex resource-tag-regex ' +
    'include-all-proxies hidden no-alert icon-url img-url strategy algorithm persistent select'
  ).split(' '),
);

/** What names of groups and members may stand for. */
interface Surroundings {
  /** Remote lists of nodes by their names. */
  remotes: ReadonlySet<string>;
  /** Filters over them that groups name as members. */
  filters: ReadonlyMap<string, NameFilter>;
}

const EVERY: NameFilter = { include: [], exclude: [], excludeTypes: [], readable: true };

/** `Name = type, members and options` of Surge and Loon. */
export function readSurgeGroups(sections: ClientSections, profile: Profile): void {
  for (const { key, value } of sections.pairs('remote proxy')) addRemote(profile, key, splitLine(value)[0]);
  const filters = new Map<string, NameFilter>();
  for (const { key, value } of sections.pairs('remote filter')) filters.set(key, remoteFilter(value));
  const remotes = new Set(profile.proxyProviders.map(({ name }) => name));
  const around = { remotes, filters };
  for (const { key, value } of sections.pairs('proxy group')) {
    const [type = '', ...parts] = splitLine(value);
    addGroup(profile, { name: unquote(key), type, parts }, around);
  }
}

/** `type=name, members and options` of Quantumult X. */
export function readQuantumultXGroups(sections: ClientSections, profile: Profile): void {
  for (const line of sections.of('server_remote')) {
    const [url, ...options] = splitLine(line);
    addRemote(profile, new LineOptions(options, 0).get('tag'), url);
  }
  const remotes = new Set(profile.proxyProviders.map(({ name }) => name));
  for (const { key, value } of sections.pairs('policy')) {
    const [name = '', ...parts] = splitLine(value);
    addGroup(profile, { name, type: key, parts }, { remotes, filters: new Map() });
  }
}

function addRemote(profile: Profile, label: string | undefined, url: string | undefined): void {
  const name = cleanLabel(label ?? '') ?? URL.parse(url ?? '')?.hostname ?? 'remote';
  const address = unquote(url ?? '');
  const tooMany = profile.proxyProviders.length >= MAX_PROVIDERS;
  if (tooMany || !isHttpUrl(address)) {
    const reason = tooMany ? 'too_many' : 'url_unusable';
    profile.dropped.push({ section: 'proxy_providers', name, outcome: 'left_out', reason });
    return;
  }
  const remarks: ProfileRemark[] = [{ outcome: 'replaced', reason: 'becomes_subscription' }];
  const shared = { intervalSec: null, userAgent: null, filter: EVERY, remarks };
  profile.proxyProviders.push({ name, url: address, ...shared });
}

function remoteFilter(value: string): NameFilter {
  const [kind = '', ...parts] = splitLine(value);
  const pattern = new LineOptions(parts, 0).get('filterkey') ?? '';
  const text = /^namekeyword$/i.test(kind) ? pattern.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&') : pattern;
  return filterOf(text === '' ? undefined : text);
}

function filterOf(pattern: string | undefined): NameFilter {
  if (pattern === undefined) return EVERY;
  const test = readNameTest(pattern);
  return test === null ? { ...EVERY, readable: false } : { ...EVERY, include: [test] };
}

interface WrittenGroup {
  name: string;
  type: string;
  /** Behind the type: members, then `key=value`. */
  parts: readonly string[];
}

function addGroup(profile: Profile, written: WrittenGroup, around: Surroundings): void {
  const name = cleanLabel(written.name);
  const isDuplicate = profile.groups.some((group) => group.name === name);
  if (name === undefined || isDuplicate || profile.groups.length >= MAX_GROUPS) {
    const reason = isDuplicate ? 'duplicate_name' : name === undefined ? 'unreadable' : 'too_many';
    profile.dropped.push({ section: 'groups', name: written.name.slice(0, 200), outcome: 'left_out', reason });
    return;
  }
  profile.groups.push(toGroup({ ...written, name }, profile, around));
}

function toGroup({ name, type: word, parts }: WrittenGroup, profile: Profile, around: Surroundings): ProfileGroup {
  const pairs = parts.filter((part) => /^[a-z0-9_-]+[ \t]*=/i.test(part));
  const options = new LineOptions(pairs, 0);
  const listed = parts.filter((part) => !pairs.includes(part) && part !== '').map(unquote);
  const type = word.toLowerCase();
  const pattern = options.get('policy-regex-filter', 'server-tag-regex');
  const filters = listed.flatMap((member) => around.filters.get(member) ?? []);
  const use = listed.filter((member) => around.remotes.has(member));
  const path = options.get('policy-path');
  if (path !== undefined) {
    const remote = `${name} (policy-path)`;
    addRemote(profile, remote, path);
    if (isHttpUrl(path)) use.push(remote);
  }
  const takesAll = filters.length > 0 || (pattern !== undefined && use.length === 0);
  const includeAll = ON.has(options.get('include-all-proxies')?.toLowerCase() ?? '');
  const filter = pattern === undefined ? joined(filters) : filterOf(pattern);
  const url = options.get('url');
  const icon = options.get('icon-url', 'img-url');
  return {
    name,
    type: TYPES[type] ?? type,
    proxies: listed.filter((member) => !around.filters.has(member) && !around.remotes.has(member)),
    use,
    includeProxies: includeAll || takesAll,
    includeProviders: takesAll,
    filter,
    testUrl: url !== undefined && isHttpUrl(url) ? url : null,
    expectedStatus: null,
    intervalSec: secondsOf(options.get('interval', 'check-interval')),
    toleranceMs: Number(options.get('tolerance')) || null,
    lazy: true,
    strategy: type === 'round-robin' ? 'round-robin' : type === 'dest-hash' ? 'consistent-hashing' : null,
    hidden: ON.has(options.get('hidden')?.toLowerCase() ?? ''),
    icon: icon !== undefined && isHttpUrl(icon) ? icon : null,
    remarks: remarksOf(filter, pairs),
  };
}

/** A node that one of several filters takes. */
function joined(filters: readonly NameFilter[]): NameFilter {
  if (filters.length === 0) return EVERY;
  const include = filters.some(({ include: tests }) => tests.length === 0) ? [] : filters.flatMap((one) => one.include);
  return { ...EVERY, include, readable: filters.every(({ readable }) => readable) };
}

function remarksOf(filter: NameFilter, pairs: readonly string[]): ProfileRemark[] {
  const keys = pairs.map((pair) => pair.slice(0, pair.indexOf('=')).trim().toLowerCase());
  return [
    ...(filter.readable ? [] : [{ outcome: 'replaced', reason: 'filter_unreadable' } as const]),
    ...(keys.every((key) => READ.has(key)) ? [] : [{ outcome: 'carried', reason: 'option_ignored' } as const]),
  ];
}
