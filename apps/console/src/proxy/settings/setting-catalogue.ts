/** How a setting is asked for; what the service accepts is the service's own affair. */
export interface SettingEntry {
  key: string;
  label: string;
  hint?: string;
  choices?: readonly string[];
  /** A list or map that needs several lines. */
  isLong?: boolean;
}

export interface SettingGroup {
  title: string;
  entries: SettingEntry[];
}

const FLAG = ['true', 'false'];

/** Every setting that this console has words for, in the order in which people meet them. */
const KNOWN: readonly { title: string; entries: readonly SettingEntry[] }[] = [
  {
    title: 'Kernel and listeners',
    entries: [
      {
        key: 'kernel.listen.mixed',
        label: 'Mixed listener',
        hint: 'HTTP and SOCKS on one port; address:port, empty: as the environment says',
      },
      { key: 'kernel.listen.http', label: 'HTTP listener', hint: 'Besides the mixed one; empty: none' },
      { key: 'kernel.listen.socks', label: 'SOCKS listener', hint: 'Besides the mixed one; empty: none' },
      {
        key: 'kernel.users',
        label: 'Users of the proxy',
        hint: 'user:password, separated by spaces; empty: no password is needed',
        isLong: true,
      },
      { key: 'kernel.allow_lan', label: 'Listen to other machines', choices: FLAG },
      {
        key: 'kernel.allow_private_targets',
        label: 'Lead to private networks',
        hint: 'false: only where a rule names them; auto: as the environment says',
        choices: ['auto', 'true', 'false'],
      },
      {
        key: 'kernel.mode',
        label: 'Kernel',
        hint: 'Takes effect with the next start',
        choices: ['embedded', 'mihomo'],
      },
      { key: 'kernel.log_level', label: 'Log level', choices: ['debug', 'info', 'warning', 'error', 'silent'] },
    ],
  },
  {
    title: 'Routing',
    entries: [
      {
        key: 'routing.mode',
        label: 'Mode',
        hint: 'rule: by the rules; global: all to the default policy; direct: nothing through nodes',
        choices: ['rule', 'global', 'direct'],
      },
      { key: 'outbound.country_groups', label: 'A group for each country', choices: FLAG },
      { key: 'switch.close_connections', label: 'Connections that a switch ends', choices: ['none', 'group', 'all'] },
    ],
  },
  {
    title: 'Tests of nodes',
    entries: [
      { key: 'health.url', label: 'Test address' },
      { key: 'health.expected_status', label: 'Expected status', hint: '204, 200-299/301' },
      { key: 'health.interval_sec', label: 'Seconds between tests' },
      { key: 'health.timeout_ms', label: 'Timeout in milliseconds' },
      { key: 'health.concurrency', label: 'Tests at once' },
      { key: 'health.tolerance_ms', label: 'Milliseconds by which another must be faster' },
      {
        key: 'health.unified',
        label: 'Measure the second request',
        hint: 'What a page feels rather than what connecting costs',
        choices: FLAG,
      },
      { key: 'country.exit_url', label: 'Exit IP lookup URL', hint: 'Empty: no lookup' },
    ],
  },
  {
    title: 'Subscriptions',
    entries: [
      { key: 'subscription.user_agent', label: 'User-Agent' },
      { key: 'subscription.timeout_ms', label: 'Timeout in milliseconds' },
      { key: 'subscription.max_bytes', label: 'Largest reply in bytes' },
      { key: 'subscription.via_proxy', label: 'Fetch through the proxy', choices: ['never', 'fallback', 'always'] },
      {
        key: 'subscription.keep_ratio',
        label: 'Smallest share of nodes that is believed',
        hint: '0.2: a reply with less than a fifth keeps the nodes before',
      },
      { key: 'subscription.allow_private', label: 'Private addresses', choices: FLAG },
    ],
  },
  {
    title: 'Names and addresses',
    entries: [
      {
        key: 'dns.nameservers',
        label: 'Name servers',
        hint: '1.1.1.1, tcp://…, https://…, system; separated by spaces; empty: the system’s',
        isLong: true,
      },
      { key: 'dns.bootstrap', label: 'Name servers for name servers', isLong: true },
      {
        key: 'dns.policy',
        label: 'Name servers by domain',
        hint: '+.example.com=192.0.2.1, separated by spaces',
        isLong: true,
      },
      { key: 'dns.hosts', label: 'Fixed addresses', hint: 'host.example=192.0.2.1, separated by spaces', isLong: true },
      { key: 'dns.listen', label: 'DNS listener', hint: 'address:port, empty: none' },
      {
        key: 'dns.fake_ip',
        label: 'Addresses that stand for names',
        hint: 'The listener answers with them',
        choices: FLAG,
      },
      { key: 'dns.fake_ip_range', label: 'Range of such addresses' },
      { key: 'dns.fake_ip_filter', label: 'Names that keep their own addresses', isLong: true },
    ],
  },
  {
    title: 'Geo databases',
    entries: [
      { key: 'geo.auto_update', label: 'Update automatically', choices: FLAG },
      { key: 'geo.interval_hours', label: 'Hours between updates' },
      { key: 'geo.country_url', label: 'Countries', hint: 'Mirrors separated by spaces', isLong: true },
      { key: 'geo.asn_url', label: 'Networks', isLong: true },
      { key: 'geo.geosite_url', label: 'Sites', isLong: true },
      { key: 'geo.geoip_url', label: 'Addresses', isLong: true },
      { key: 'geo.allow_private', label: 'Private addresses', choices: FLAG },
    ],
  },
  {
    title: 'Logs',
    entries: [
      { key: 'traffic_log.enabled', label: 'Write the traffic log', choices: FLAG },
      { key: 'traffic_log.retention_days', label: 'Days to keep the traffic log' },
      { key: 'traffic_stats.retention_days', label: 'Days to keep the figures by hour' },
      { key: 'audit.retention_days', label: 'Days to keep the audit log' },
      { key: 'runtime_log.retention_days', label: 'Days to keep the runtime log' },
      { key: 'runtime_log.max_rows', label: 'Most lines of the runtime log' },
    ],
  },
  {
    title: 'Access',
    entries: [
      {
        key: 'auth.enabled',
        label: 'Login',
        hint: 'false: everyone who can reach the API has full access',
        choices: FLAG,
      },
      { key: 'auth.token_ttl_sec', label: 'Seconds that a login lasts' },
    ],
  },
];

/** The settings that the service has, in groups; those that are new to this console come last under their own names. */
export function groupSettings(keys: readonly string[]): SettingGroup[] {
  const left = new Set(keys);
  const groups = KNOWN.map(({ title, entries }) => ({ title, entries: entries.filter(({ key }) => left.delete(key)) }));
  const others = [...left].sort().map((key) => ({ key, label: key }));
  return [...groups, { title: 'Others', entries: others }].filter(({ entries }) => entries.length > 0);
}

/** What differs, and so has to be sent. */
export function changedSettings(
  before: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(Object.entries(now).filter(([key, value]) => before[key] !== value));
}
