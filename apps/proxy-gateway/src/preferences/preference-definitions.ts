import { byDomain, dnsListen, fakeIpFilter, fakeIpRange, nameServers } from './dns-preferences.js';
import {
  flag,
  groupListeners,
  httpUrl,
  httpUrls,
  integer,
  listenAddress,
  oneOf,
  optionalHttpUrl,
  ratio,
  statusRanges,
  text,
  userList,
} from './preference-types.js';
import type { PreferenceType } from './preference-types.js';

const DAY_SEC = 86_400;

/** Where MetaCubeX/meta-rules-dat is published, with a mirror. */
function metaRules(file: string): string {
  return [
    `https://github.com/MetaCubeX/meta-rules-dat/releases/download/latest/${file}`,
    `https://fastly.jsdelivr.net/gh/MetaCubeX/meta-rules-dat@release/${file}`,
  ].join(' ');
}

/** Every setting that users can change while the service runs, with its default. */
export const PREFERENCES = {
  'auth.enabled': flag(true),
  'auth.token_ttl_sec': integer(3_600, 60, 30 * DAY_SEC),

  'kernel.mode': oneOf('embedded', ['embedded', 'mihomo']),
  // Processes of the embedded kernel, which listen on the same ports and divide the connections.
  'kernel.workers': integer(1, 1, 64),
  'kernel.listen.mixed': listenAddress(),
  // In addition to the mixed listener; empty for none.
  'kernel.listen.http': listenAddress(),
  'kernel.listen.socks': listenAddress(),
  // Listeners whose traffic leaves by one group each, whatever the rules say.
  'kernel.listen.groups': groupListeners(),
  // The users of the listeners; empty: no login is needed.
  'kernel.users': userList(),
  // Also while there are no users, so that deleting the last one does not open the proxy.
  'kernel.require_login': flag(false),
  'kernel.allow_lan': flag(false),
  // Whether DIRECT may lead to private addresses without a rule that names them; `auto`: as set by the environment.
  'kernel.allow_private_targets': oneOf('auto', ['auto', 'true', 'false']),
  'kernel.log_level': oneOf('info', ['debug', 'info', 'warning', 'error', 'silent']),

  'health.url': httpUrl('https://www.gstatic.com/generate_204'),
  'health.expected_status': statusRanges('204'),
  'health.interval_sec': integer(300, 10, DAY_SEC),
  'health.timeout_ms': integer(5_000, 100, 60_000),
  // With this a thousand nodes that never answer take seven rounds of the timeout, less than 40 s.
  'health.concurrency': integer(160, 1, 1_024),
  'health.tolerance_ms': integer(100, 0, 60_000),
  // Measure the second request on an open connection: what a page feels, without the time to connect.
  'health.unified': flag(false),

  // A service that returns a node's exit address: Cloudflare's trace lines, JSON with `ip`, or a bare address. Empty
  // for none.
  'country.exit_url': optionalHttpUrl('https://www.cloudflare.com/cdn-cgi/trace'),

  'subscription.user_agent': text('clash.meta/1.19 gatehouse'),
  'subscription.timeout_ms': integer(30_000, 1_000, 300_000),
  'subscription.max_bytes': integer(20 * 1_048_576, 1_024, 200 * 1_048_576),
  'subscription.via_proxy': oneOf('fallback', ['never', 'fallback', 'always']),
  'subscription.keep_ratio': ratio(0.2),
  'subscription.allow_private': flag(false),

  // Several addresses are mirrors of one file, tried in this order.
  'geo.country_url': httpUrls(metaRules('country.mmdb')),
  'geo.asn_url': httpUrls(metaRules('GeoLite2-ASN.mmdb')),
  'geo.geosite_url': httpUrls(metaRules('geosite.dat')),
  'geo.geoip_url': httpUrls(''),
  'geo.auto_update': flag(true),
  'geo.interval_hours': integer(24, 1, 24 * 90),
  'geo.allow_private': flag(false),

  'traffic_log.enabled': flag(true),
  'traffic_log.retention_days': integer(30, 1, 3_650),
  'traffic_stats.retention_days': integer(90, 1, 3_650),
  'audit.retention_days': integer(365, 1, 3_650),
  'runtime_log.retention_days': integer(7, 1, 365),
  'runtime_log.max_rows': integer(200_000, 1_000, 10_000_000),

  // All empty: the resolver of the operating system is used.
  'dns.nameservers': nameServers('nameservers'),
  'dns.bootstrap': nameServers('bootstrap'),
  'dns.policy': byDomain('policy'),
  'dns.hosts': byDomain('hosts'),
  // The address of the name server for others; empty for none.
  'dns.listen': dnsListen(),
  // Whether it answers with addresses that stand for names, so that rules see the names.
  'dns.fake_ip': flag(false),
  'dns.fake_ip_range': fakeIpRange('198.18.0.0/16'),
  // Names that keep their real addresses: local networks, time servers, and checks for internet access.
  'dns.fake_ip_filter': fakeIpFilter(
    '* +.lan +.local +.localdomain +.home.arpa +.internal +.ntp.org time.*.com time.*.gov +.msftconnecttest.com +.msftncsi.com',
  ),

  'routing.mode': oneOf('rule', ['rule', 'global', 'direct']),
  'outbound.country_groups': flag(true),
  'switch.close_connections': oneOf('none', ['none', 'group', 'all']),
} satisfies Record<string, PreferenceType<unknown>>;

export type PreferenceKey = keyof typeof PREFERENCES;

/** The value type of a key: boolean for flags, number for integers, a union for choices. */
export type PreferenceValue<K extends PreferenceKey> = ReturnType<(typeof PREFERENCES)[K]['parse']>;

export const PREFERENCE_KEYS = Object.keys(PREFERENCES).filter(isPreferenceKey);

export function isPreferenceKey(key: string): key is PreferenceKey {
  return Object.hasOwn(PREFERENCES, key);
}

/** Settings that hold credentials: sealed in the database and hidden from callers that may only read. */
export const SECRET_PREFERENCES: ReadonlySet<string> = new Set<PreferenceKey>(['kernel.users']);

/** Read once, when the service starts. */
const READ_AT_START: readonly PreferenceKey[] = ['kernel.mode', 'kernel.workers'];

/** The keys that changed and take effect only after a restart of the service. */
export function restartNeeded(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): PreferenceKey[] {
  return READ_AT_START.filter((key) => before[key] !== after[key]);
}
