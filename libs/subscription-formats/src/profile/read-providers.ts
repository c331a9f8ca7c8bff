import type { ProfileReason, ProfileSection } from '@gatehouse/contracts';
import { ClashEntry, isRecord } from '../clash/entry.js';
import { FormatError } from '../errors.js';
import { cleanLabel } from '../fields.js';
import { readNameFilter } from './name-filter.js';
import type { Profile, ProfileProxyProvider, ProfileRemark, ProfileRuleProvider } from './profile.js';
import { isHttpUrl, secondsOf } from './read-groups.js';

const MAX_PROVIDERS = 100;
const MAX_RULE_PROVIDERS = 500;
const MAX_URL = 8_192;
const MAX_INLINE_ENTRIES = 200_000;
const PROXY_OPTIONS = new Set(
  'type url path interval filter exclude-filter exclude-type header health-check payload size-limit'.split(' '),
);

/** Why something is no provider that can be used. */
class Unusable extends Error {
  readonly reason: ProfileReason;

  constructor(reason: ProfileReason) {
    super(reason);
    this.name = 'Unusable';
    this.reason = reason;
  }
}

/** The `proxy-providers:` of a document. */
export function readProxyProviders(value: unknown, profile: Profile): void {
  const read = (name: string, entry: ClashEntry): void => {
    profile.proxyProviders.push(toProxyProvider(name, entry));
  };
  eachProvider(value, profile, { section: 'proxy_providers', max: MAX_PROVIDERS, read });
}

/** The `rule-providers:` of a document. */
export function readRuleProviders(value: unknown, profile: Profile): void {
  const read = (name: string, entry: ClashEntry): void => {
    profile.ruleProviders.push(toRuleProvider(name, entry));
  };
  eachProvider(value, profile, { section: 'rule_providers', max: MAX_RULE_PROVIDERS, read });
}

interface ProviderKind {
  section: ProfileSection;
  max: number;
  /** @throws Unusable, FormatError */
  read: (name: string, entry: ClashEntry) => void;
}

function eachProvider(value: unknown, profile: Profile, { section, max, read }: ProviderKind): void {
  const entries = isRecord(value) ? Object.entries(value) : [];
  for (const [index, [key, item]] of entries.entries()) {
    const name = cleanLabel(key);
    try {
      if (index >= max) throw new Unusable('too_many');
      if (name === undefined || !isRecord(item)) throw new Unusable('unreadable');
      read(name, new ClashEntry(item));
    } catch (error) {
      if (!(error instanceof Unusable) && !(error instanceof FormatError)) throw error;
      const reason = error instanceof Unusable ? error.reason : 'unreadable';
      profile.dropped.push({ section, name: name ?? `#${index + 1}`, outcome: 'left_out', reason });
    }
  }
}

/** @throws Unusable, FormatError */
function toProxyProvider(name: string, entry: ClashEntry): ProfileProxyProvider {
  const type = (entry.text('type') ?? 'http').toLowerCase();
  if (type === 'file') throw new Unusable('file_elsewhere');
  if (type === 'inline') throw new Unusable('inline_nodes');
  const filter = readNameFilter(entry);
  const remarks: ProfileRemark[] = [{ outcome: 'replaced', reason: 'becomes_subscription' }];
  if (!filter.readable) remarks.push({ outcome: 'replaced', reason: 'filter_unreadable' });
  if (entry.keys().some((key) => !PROXY_OPTIONS.has(key))) {
    remarks.push({ outcome: 'carried', reason: 'option_ignored' });
  }
  return {
    name,
    url: urlOf(entry),
    intervalSec: secondsOf(entry.text('interval')),
    userAgent: userAgentOf(entry),
    filter,
    remarks,
  };
}

/** @throws Unusable, FormatError */
function toRuleProvider(name: string, entry: ClashEntry): ProfileRuleProvider {
  const type = (entry.text('type') ?? 'http').toLowerCase();
  const behavior = (entry.text('behavior') ?? 'classical').toLowerCase();
  const format = (entry.text('format') ?? 'yaml').toLowerCase();
  if (behavior !== 'domain' && behavior !== 'ipcidr' && behavior !== 'classical') throw new Unusable('unreadable');
  if (format !== 'yaml' && format !== 'text' && format !== 'mrs') throw new Unusable('unreadable');
  if (format === 'mrs' && behavior === 'classical') throw new Unusable('mrs_classical');
  if (type === 'file') throw new Unusable('file_elsewhere');
  const shared = { name, behavior, intervalSec: secondsOf(entry.text('interval')), remarks: [] } as const;
  if (type === 'inline') return { ...shared, remarks: [], format: 'text', source: { entries: entriesOf(entry) } };
  return { ...shared, remarks: [], format, source: { url: urlOf(entry) } };
}

/** @throws Unusable, FormatError */
function entriesOf(entry: ClashEntry): string[] {
  const entries = (entry.list('payload') ?? []).map((line) => line.trim()).filter((line) => line !== '');
  if (entries.length === 0) throw new Unusable('unreadable');
  if (entries.length > MAX_INLINE_ENTRIES) throw new Unusable('too_large');
  return entries;
}

/** @throws Unusable, FormatError */
function urlOf(entry: ClashEntry): string {
  const url = entry.text('url')?.trim() ?? '';
  if (url.length > MAX_URL || !isHttpUrl(url)) throw new Unusable('url_unusable');
  return url;
}

/** The `User-Agent` among the header fields, whose values are lists. */
function userAgentOf(entry: ClashEntry): string | null {
  const header = entry.map('header');
  const key = header.keys().find((name) => name.toLowerCase() === 'user-agent');
  const agent = key === undefined ? undefined : header.list(key)?.[0];
  return agent !== undefined && /^[\x20-\x7e]{1,300}$/.test(agent) ? agent : null;
}
