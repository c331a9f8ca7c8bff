import { t } from '../messages/index.js';

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

const CHOICES = {
  true: t('settingsPage.choices.true'),
  false: t('settingsPage.choices.false'),
  auto: t('settingsPage.choices.auto'),
  embedded: t('settingsPage.choices.embedded'),
  mihomo: t('settingsPage.choices.mihomo'),
  debug: t('settingsPage.choices.debug'),
  info: t('settingsPage.choices.info'),
  warning: t('settingsPage.choices.warning'),
  error: t('settingsPage.choices.error'),
  silent: t('settingsPage.choices.silent'),
  rule: t('settingsPage.choices.rule'),
  global: t('settingsPage.choices.global'),
  direct: t('settingsPage.choices.direct'),
  none: t('settingsPage.choices.none'),
  group: t('settingsPage.choices.group'),
  all: t('settingsPage.choices.all'),
  never: t('settingsPage.choices.never'),
  fallback: t('settingsPage.choices.fallback'),
  always: t('settingsPage.choices.always'),
};

/** A choice in words; the API's own where there are none. */
export function wordFor(choice: string): string {
  return (CHOICES as Readonly<Record<string, string>>)[choice] ?? choice;
}

/** Every setting that this console has words for, in the order in which people meet them. */
const KNOWN: readonly { title: string; entries: readonly SettingEntry[] }[] = [
  {
    title: t('settingsPage.sections.kernel'),
    entries: [
      {
        key: 'kernel.listen.mixed',
        label: t('settings.kernel_listen_mixed.label'),
        hint: t('settings.kernel_listen_mixed.hint'),
      },
      {
        key: 'kernel.listen.http',
        label: t('settings.kernel_listen_http.label'),
        hint: t('settings.kernel_listen_http.hint'),
      },
      {
        key: 'kernel.listen.socks',
        label: t('settings.kernel_listen_socks.label'),
        hint: t('settings.kernel_listen_socks.hint'),
      },
      {
        key: 'kernel.listen.groups',
        label: t('settings.kernel_listen_groups.label'),
        hint: t('settings.kernel_listen_groups.hint'),
        isLong: true,
      },
      {
        key: 'kernel.users',
        label: t('settings.kernel_users.label'),
        hint: t('settings.kernel_users.hint'),
        isLong: true,
      },
      {
        key: 'kernel.require_login',
        label: t('settings.kernel_require_login.label'),
        hint: t('settings.kernel_require_login.hint'),
        choices: FLAG,
      },
      {
        key: 'kernel.allow_lan',
        label: t('settings.kernel_allow_lan.label'),
        hint: t('settings.kernel_allow_lan.hint'),
        choices: FLAG,
      },
      {
        key: 'kernel.allow_private_targets',
        label: t('settings.kernel_allow_private_targets.label'),
        hint: t('settings.kernel_allow_private_targets.hint'),
        choices: ['auto', 'true', 'false'],
      },
      {
        key: 'kernel.mode',
        label: t('settings.kernel_mode.label'),
        hint: t('settings.kernel_mode.hint'),
        choices: ['embedded', 'mihomo'],
      },
      {
        key: 'kernel.workers',
        label: t('settings.kernel_workers.label'),
        hint: t('settings.kernel_workers.hint'),
      },
      {
        key: 'kernel.log_level',
        label: t('settings.kernel_log_level.label'),
        hint: t('settings.kernel_log_level.hint'),
        choices: ['debug', 'info', 'warning', 'error', 'silent'],
      },
    ],
  },
  {
    title: t('settingsPage.sections.routing'),
    entries: [
      {
        key: 'routing.mode',
        label: t('settings.routing_mode.label'),
        hint: t('settings.routing_mode.hint'),
        choices: ['rule', 'global', 'direct'],
      },
      {
        key: 'outbound.country_groups',
        label: t('settings.outbound_country_groups.label'),
        hint: t('settings.outbound_country_groups.hint'),
        choices: FLAG,
      },
      {
        key: 'switch.close_connections',
        label: t('settings.switch_close_connections.label'),
        hint: t('settings.switch_close_connections.hint'),
        choices: ['none', 'group', 'all'],
      },
    ],
  },
  {
    title: t('settingsPage.sections.tests'),
    entries: [
      { key: 'health.url', label: t('settings.health_url.label'), hint: t('settings.health_url.hint') },
      {
        key: 'health.expected_status',
        label: t('settings.health_expected_status.label'),
        hint: t('settings.health_expected_status.hint'),
      },
      { key: 'health.interval_sec', label: t('settings.health_interval_sec.label') },
      {
        key: 'health.timeout_ms',
        label: t('settings.health_timeout_ms.label'),
        hint: t('settings.health_timeout_ms.hint'),
      },
      {
        key: 'health.concurrency',
        label: t('settings.health_concurrency.label'),
        hint: t('settings.health_concurrency.hint'),
      },
      {
        key: 'health.tolerance_ms',
        label: t('settings.health_tolerance_ms.label'),
        hint: t('settings.health_tolerance_ms.hint'),
      },
      {
        key: 'health.unified',
        label: t('settings.health_unified.label'),
        hint: t('settings.health_unified.hint'),
        choices: FLAG,
      },
      {
        key: 'country.exit_url',
        label: t('settings.country_exit_url.label'),
        hint: t('settings.country_exit_url.hint'),
      },
    ],
  },
  {
    title: t('settingsPage.sections.subscriptions'),
    entries: [
      {
        key: 'subscription.user_agent',
        label: t('settings.subscription_user_agent.label'),
        hint: t('settings.subscription_user_agent.hint'),
      },
      { key: 'subscription.timeout_ms', label: t('settings.subscription_timeout_ms.label') },
      {
        key: 'subscription.max_bytes',
        label: t('settings.subscription_max_bytes.label'),
        hint: t('settings.subscription_max_bytes.hint'),
      },
      {
        key: 'subscription.via_proxy',
        label: t('settings.subscription_via_proxy.label'),
        hint: t('settings.subscription_via_proxy.hint'),
        choices: ['never', 'fallback', 'always'],
      },
      {
        key: 'subscription.keep_ratio',
        label: t('settings.subscription_keep_ratio.label'),
        hint: t('settings.subscription_keep_ratio.hint'),
      },
      {
        key: 'subscription.allow_private',
        label: t('settings.subscription_allow_private.label'),
        hint: t('settings.subscription_allow_private.hint'),
        choices: FLAG,
      },
    ],
  },
  {
    title: t('settingsPage.sections.dns'),
    entries: [
      {
        key: 'dns.nameservers',
        label: t('settings.dns_nameservers.label'),
        hint: t('settings.dns_nameservers.hint'),
        isLong: true,
      },
      {
        key: 'dns.bootstrap',
        label: t('settings.dns_bootstrap.label'),
        hint: t('settings.dns_bootstrap.hint'),
        isLong: true,
      },
      { key: 'dns.policy', label: t('settings.dns_policy.label'), hint: t('settings.dns_policy.hint'), isLong: true },
      { key: 'dns.hosts', label: t('settings.dns_hosts.label'), hint: t('settings.dns_hosts.hint'), isLong: true },
      { key: 'dns.listen', label: t('settings.dns_listen.label'), hint: t('settings.dns_listen.hint') },
      {
        key: 'dns.fake_ip',
        label: t('settings.dns_fake_ip.label'),
        hint: t('settings.dns_fake_ip.hint'),
        choices: FLAG,
      },
      {
        key: 'dns.fake_ip_range',
        label: t('settings.dns_fake_ip_range.label'),
        hint: t('settings.dns_fake_ip_range.hint'),
      },
      {
        key: 'dns.fake_ip_filter',
        label: t('settings.dns_fake_ip_filter.label'),
        hint: t('settings.dns_fake_ip_filter.hint'),
        isLong: true,
      },
    ],
  },
  {
    title: t('settingsPage.sections.geo'),
    entries: [
      { key: 'geo.auto_update', label: t('settings.geo_auto_update.label'), choices: FLAG },
      { key: 'geo.interval_hours', label: t('settings.geo_interval_hours.label') },
      {
        key: 'geo.country_url',
        label: t('settings.geo_country_url.label'),
        hint: t('settings.geo_country_url.hint'),
        isLong: true,
      },
      { key: 'geo.asn_url', label: t('settings.geo_asn_url.label'), isLong: true },
      { key: 'geo.geosite_url', label: t('settings.geo_geosite_url.label'), isLong: true },
      { key: 'geo.geoip_url', label: t('settings.geo_geoip_url.label'), isLong: true },
      {
        key: 'geo.allow_private',
        label: t('settings.geo_allow_private.label'),
        hint: t('settings.geo_allow_private.hint'),
        choices: FLAG,
      },
    ],
  },
  {
    title: t('settingsPage.sections.logs'),
    entries: [
      { key: 'traffic_log.enabled', label: t('settings.traffic_log_enabled.label'), choices: FLAG },
      { key: 'traffic_log.retention_days', label: t('settings.traffic_log_retention_days.label') },
      { key: 'traffic_stats.retention_days', label: t('settings.traffic_stats_retention_days.label') },
      { key: 'audit.retention_days', label: t('settings.audit_retention_days.label') },
      { key: 'runtime_log.retention_days', label: t('settings.runtime_log_retention_days.label') },
      { key: 'runtime_log.max_rows', label: t('settings.runtime_log_max_rows.label') },
    ],
  },
  {
    title: t('settingsPage.sections.access'),
    entries: [
      {
        key: 'auth.enabled',
        label: t('settings.auth_enabled.label'),
        hint: t('settings.auth_enabled.hint'),
        choices: FLAG,
      },
      {
        key: 'auth.token_ttl_sec',
        label: t('settings.auth_token_ttl_sec.label'),
        hint: t('settings.auth_token_ttl_sec.hint'),
      },
    ],
  },
];

/** The settings that the service has, in groups; those that are new to this console come last under their own names. */
export function groupSettings(keys: readonly string[]): SettingGroup[] {
  const left = new Set(keys);
  const groups = KNOWN.map(({ title, entries }) => ({ title, entries: entries.filter(({ key }) => left.delete(key)) }));
  const others = [...left].sort().map((key) => ({ key, label: key }));
  return [...groups, { title: t('settingsPage.others'), entries: others }].filter(({ entries }) => entries.length > 0);
}

/** Groups with the settings whose key, label or hint has every word of a search. */
export function findSettings(groups: readonly SettingGroup[], search: string): SettingGroup[] {
  const words = search.toLowerCase().split(/\s+/);
  const matches = (title: string, { key, label, hint = '' }: SettingEntry): boolean => {
    const text = `${title} ${key} ${label} ${hint}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return groups
    .map(({ title, entries }) => ({ title, entries: entries.filter((entry) => matches(title, entry)) }))
    .filter(({ entries }) => entries.length > 0);
}

/** What differs, and so has to be sent. */
export function changedSettings(
  before: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(Object.entries(now).filter(([key, value]) => before[key] !== value));
}
