import { cleanLabel } from '../fields.js';
import type { Profile, ProfileGroup } from './profile.js';
import { isHttpUrl } from './read-groups.js';
import type { Fields } from './sing-box-conditions.js';
import { intervalOf } from './sing-box-rules.js';

const MAX_GROUPS = 500;
const TYPES: ReadonlyMap<unknown, string> = new Map([
  ['selector', 'select'],
  ['urltest', 'url-test'],
]);
/** The last ones have no effect on where traffic goes. */
const READ = new Set(
  'type tag outbounds default url interval tolerance idle_timeout interrupt_exist_connections'.split(' '),
);

/** The selectors and tests among the outbounds. */
export function readSingBoxGroups(outbounds: readonly Fields[], profile: Profile): void {
  for (const outbound of outbounds) {
    const type = TYPES.get(outbound['type']);
    if (type === undefined) continue;
    const tag = typeof outbound['tag'] === 'string' ? outbound['tag'] : undefined;
    const name = cleanLabel(tag);
    const isDuplicate = profile.groups.some((group) => group.name === name);
    if (name !== undefined && !isDuplicate && profile.groups.length < MAX_GROUPS) {
      profile.groups.push(toGroup(outbound, name, type));
      continue;
    }
    const reason = isDuplicate ? 'duplicate_name' : name === undefined ? 'unreadable' : 'too_many';
    profile.dropped.push({ section: 'groups', name: name ?? '?', outcome: 'left_out', reason });
  }
}

function toGroup(outbound: Fields, name: string, type: string): ProfileGroup {
  const { url, tolerance, default: preferred } = outbound;
  const members = Array.isArray(outbound['outbounds']) ? (outbound['outbounds'] as unknown[]) : [];
  const listed = members.flatMap((member) => (typeof member === 'string' ? (cleanLabel(member) ?? []) : []));
  const first = typeof preferred === 'string' && listed.includes(preferred) ? [preferred] : [];
  const isIgnored = Object.keys(outbound).some((key) => !READ.has(key));
  return {
    name,
    type,
    // The chosen one comes first, which groups start with.
    proxies: [...new Set([...first, ...listed])],
    use: [],
    includeProxies: false,
    includeProviders: false,
    filter: { include: [], exclude: [], excludeTypes: [], readable: true },
    testUrl: typeof url === 'string' && isHttpUrl(url) ? url : null,
    expectedStatus: null,
    intervalSec: intervalOf(outbound['interval']),
    toleranceMs: typeof tolerance === 'number' && tolerance > 0 ? Math.min(tolerance, 60_000) : null,
    lazy: true,
    strategy: null,
    hidden: false,
    icon: null,
    remarks: isIgnored ? [{ outcome: 'carried', reason: 'option_ignored' }] : [],
  };
}
