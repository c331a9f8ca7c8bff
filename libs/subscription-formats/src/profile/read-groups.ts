import { ClashEntry, isRecord } from '../clash/entry.js';
import { FormatError } from '../errors.js';
import { cleanLabel } from '../fields.js';
import { readNameFilter } from './name-filter.js';
import type { Profile, ProfileGroup, ProfileRemark } from './profile.js';

const MAX_GROUPS = 500;
const MAX_MEMBERS = 20_000;
const MAX_URL = 2_048;
/** Options that are read. Any other one is reported. */
const READ = new Set(
  (
    'name type proxies use include-all include-all-proxies include-all-providers filter exclude-filter exclude-type ' +
    'url expected-status interval tolerance lazy strategy hidden icon ' +
    // These have no effect on where traffic goes: how tests run is set for the whole gateway.
    'timeout max-failed-times'
  ).split(' '),
);

/** The `proxy-groups:` of a document. */
export function readGroups(value: unknown, profile: Profile): void {
  const list = Array.isArray(value) ? value : [];
  const names = new Set<string>();
  for (const [index, item] of list.entries()) {
    const name = labelOf(item) ?? `#${index + 1}`;
    const reason = index >= MAX_GROUPS ? 'too_many' : names.has(name) ? 'duplicate_name' : null;
    const group = reason === null ? readGroup(item) : null;
    if (group) profile.groups.push(group);
    else profile.dropped.push({ section: 'groups', name, outcome: 'left_out', reason: reason ?? 'unreadable' });
    names.add(name);
  }
}

function labelOf(item: unknown): string | undefined {
  const name = isRecord(item) && Object.hasOwn(item, 'name') ? item['name'] : undefined;
  return typeof name === 'string' || typeof name === 'number' ? cleanLabel(String(name)) : undefined;
}

/** Null for what is no group. */
function readGroup(item: unknown): ProfileGroup | null {
  const name = labelOf(item);
  if (!isRecord(item) || name === undefined) return null;
  const entry = new ClashEntry(item);
  try {
    return toGroup(entry, name);
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}

/** @throws FormatError */
function toGroup(entry: ClashEntry, name: string): ProfileGroup {
  const includeAll = entry.flag('include-all') ?? false;
  const filter = readNameFilter(entry);
  const remarks: ProfileRemark[] = [];
  if (!filter.readable) remarks.push({ outcome: 'replaced', reason: 'filter_unreadable' });
  if (entry.keys().some((key) => !READ.has(key))) remarks.push({ outcome: 'carried', reason: 'option_ignored' });
  const url = entry.text('url');
  return {
    name,
    type: (entry.text('type') ?? '').toLowerCase(),
    proxies: labels(entry.list('proxies')),
    use: labels(entry.list('use')),
    includeProxies: includeAll || (entry.flag('include-all-proxies') ?? false),
    includeProviders: includeAll || (entry.flag('include-all-providers') ?? false),
    filter,
    testUrl: url !== undefined && url.length <= MAX_URL && isHttpUrl(url) ? url : null,
    expectedStatus: statusOf(entry.text('expected-status')),
    intervalSec: secondsOf(entry.text('interval')),
    toleranceMs: numberOf(entry.text('tolerance'), 60_000),
    lazy: entry.flag('lazy') ?? true,
    strategy: entry.text('strategy') ?? null,
    hidden: entry.flag('hidden') ?? false,
    icon: iconOf(entry.text('icon')),
    remarks,
  };
}

function labels(list: readonly string[] = []): string[] {
  return list.slice(0, MAX_MEMBERS).flatMap((text) => cleanLabel(text) ?? []);
}

export function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== '';
}

function iconOf(text: string | undefined): string | null {
  return text !== undefined && text.length <= MAX_URL && isHttpUrl(text) ? text : null;
}

function statusOf(text: string | undefined): string | null {
  return text !== undefined && /^[\d/-]{3,64}$/.test(text) ? text : null;
}

/** Seconds as a number, or with a unit as Go writes it: `300`, `5m`, `1h30m`. */
export function secondsOf(text: string | undefined): number | null {
  const plain = numberOf(text, 31_536_000);
  if (plain !== null || text === undefined || !/^(?:\d{1,6}(?:\.\d{1,3})?[smh])+$/.test(text)) return plain;
  const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)([smh])/g)];
  return Math.round(parts.reduce((sum, [, amount, unit = 's']) => sum + Number(amount) * (units[unit] ?? 1), 0));
}

function numberOf(text: string | undefined, max: number): number | null {
  return text !== undefined && /^\d{1,9}$/.test(text) && Number(text) > 0 ? Math.min(Number(text), max) : null;
}
