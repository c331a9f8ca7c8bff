import { formatHostPort } from '@gatehouse/net';
import { formatRuleLine } from '@gatehouse/proxy-kernel';
import type {
  DnsConfig,
  GroupConfig,
  KernelConfig,
  ListenerConfig,
  OutboundConfig,
  RuleConfig,
  RuleSetConfig,
} from '@gatehouse/proxy-kernel';
import { toClashEntry } from '@gatehouse/subscription-formats';

/** The default test address of groups that measure. */
const DEFAULT_TEST_URL = 'https://www.gstatic.com/generate_204';
const TEST_INTERVAL_SEC = 300;
/** The name of the DNS listener, in the map of ports and in the states of listeners. */
export const DNS_LISTENER = 'dns';
const GEOSITE_PREFIX = 'geosite:';

export interface MihomoControl {
  /** File name of the control socket, inside mihomo's folder. */
  socket: string;
  /** Ports chosen for listeners with port 0, by listener name. */
  ports: ReadonlyMap<string, number>;
  /** Rules before all others. */
  guards?: readonly string[];
}

/** A mihomo configuration, sent as JSON, which is valid YAML. */
export type MihomoConfig = Record<string, unknown>;

/**
 * Translates a configuration for mihomo. Nodes and groups keep the kernel's tags as their names. All nodes are inline,
 * because a reload would cut connections through a `proxy-provider`.
 */
export function toMihomoConfig(config: KernelConfig, control: MihomoControl): MihomoConfig {
  return {
    ...mihomoBasics(control.socket),
    // mihomo's other modes would bypass the guards, so they are expressed as rules.
    mode: 'rule',
    listeners: config.listeners.map((listener) => toListener(listener, control.ports)),
    proxies: config.outbounds.map(toProxy),
    'proxy-groups': config.groups.map(toGroup),
    'rule-providers': Object.fromEntries((config.ruleSets ?? []).map(toRuleProvider)),
    rules: [...(control.guards ?? []), ...toRules(config)],
    ...(config.dns ? { dns: toDns(config.dns, control.ports), hosts: config.dns.hosts ?? {} } : {}),
    ...toSniffer(config),
  };
}

/** The settings that hold before the first configuration and in every one. */
export function mihomoBasics(socket: string): MihomoConfig {
  return {
    'external-controller-unix': socket,
    'external-controller-cors': { 'allow-origins': [], 'allow-private-network': false },
    'log-level': 'warning',
    'find-process-mode': 'off',
    'geo-auto-update': false,
    profile: { 'store-selected': false, 'store-fake-ip': false },
  };
}

function toListener({ name, type, address, port, users }: ListenerConfig, ports: ReadonlyMap<string, number>) {
  return { name, type, listen: address, port: port === 0 ? (ports.get(name) ?? 0) : port, users: users ?? [] };
}

function toProxy({ tag, node, dialer }: OutboundConfig): Record<string, unknown> {
  const { dialerProxy: _label, ...own } = node;
  return { ...toClashEntry({ ...own, name: tag }), ...(dialer === undefined ? {} : { 'dialer-proxy': dialer }) };
}

function toGroup({ name, type, members, testUrl, toleranceMs, strategy }: GroupConfig): Record<string, unknown> {
  const measured = type === 'select' ? {} : { url: testUrl ?? DEFAULT_TEST_URL, interval: TEST_INTERVAL_SEC };
  return {
    name,
    type,
    proxies: members.length > 0 ? members : ['REJECT'],
    ...measured,
    ...(type === 'url-test' ? { tolerance: toleranceMs ?? 100 } : {}),
    ...(type === 'load-balance' ? { strategy: strategy ?? 'consistent-hashing' } : {}),
  };
}

function toRuleProvider({ name, behavior, entries }: RuleSetConfig): [string, Record<string, unknown>] {
  return [name, { type: 'inline', behavior, payload: entries }];
}

/**
 * mihomo skips a rule whose target carries no UDP, and sends flows that reach the end of the list out directly; the
 * last rule refuses them. A rule whose target or set does not exist makes mihomo refuse the whole configuration. Our
 * kernel skips such rules, so they are left out.
 */
function toRules(config: KernelConfig): string[] {
  const known = new Set([
    ...config.outbounds.map(({ tag }) => tag),
    ...config.groups.map(({ name }) => name),
    'DIRECT',
    'REJECT',
    'REJECT-DROP',
    'PASS',
  ]);
  const sets = new Set(config.ruleSets?.map(({ name }) => name));
  const lines = config.rules
    .map(withSetsOfSites)
    .filter((rule) => known.has(rule.target) && setsNamedBy(rule).every((name) => sets.has(name)))
    .map(formatRuleLine);
  const last = config.mode === 'direct' ? ['MATCH,DIRECT'] : [`MATCH,${config.defaultPolicy}`, 'MATCH,REJECT'];
  return [...(config.mode === 'rule' ? lines : []), ...last];
}

/** Lists of sites are sent as sets of ours, also inside conditions, so that mihomo needs no database of its own. */
function withSetsOfSites(rule: RuleConfig): RuleConfig {
  const toSet = (code: string): string => `${GEOSITE_PREFIX}${code.toLowerCase()}`;
  if (rule.type === 'GEOSITE') return { ...rule, type: 'RULE-SET', payload: toSet(rule.payload) };
  const named = /\(\s*GEOSITE\s*,\s*([^\s,()]+)(?=\s*[,)])/gi;
  return isCondition(rule)
    ? { ...rule, payload: rule.payload.replace(named, (_all, code: string) => `(RULE-SET,${toSet(code)}`) }
    : rule;
}

function setsNamedBy(rule: RuleConfig): string[] {
  if (rule.type === 'RULE-SET') return [rule.payload];
  if (!isCondition(rule)) return [];
  return [...rule.payload.matchAll(/\(\s*RULE-SET\s*,([^,()]+)/gi)].map(([, name = '']) => name.trim());
}

function isCondition({ type }: RuleConfig): boolean {
  return type === 'AND' || type === 'OR' || type === 'NOT';
}

function toDns(
  { nameservers, bootstrap, policy, fakeIp, listen }: DnsConfig,
  ports: ReadonlyMap<string, number>,
): Record<string, unknown> {
  return {
    enable: true,
    ...(listen ? { listen: formatHostPort(listen.address, listen.port || (ports.get(DNS_LISTENER) ?? 0)) } : {}),
    nameserver: nameservers,
    ...(bootstrap ? { 'default-nameserver': bootstrap } : {}),
    ...(policy ? { 'nameserver-policy': policy } : {}),
    ...(fakeIp
      ? { 'enhanced-mode': 'fake-ip', 'fake-ip-range': fakeIp.range, 'fake-ip-filter': fakeIp.filter ?? [] }
      : { 'enhanced-mode': 'normal' }),
  };
}

function toSniffer({ sniffing }: KernelConfig): MihomoConfig {
  if (sniffing === false) return {};
  const ports = sniffing?.ports ?? [80, 443];
  const sniff = { HTTP: { ports }, TLS: { ports } };
  return { sniffer: { enable: true, 'parse-pure-ip': true, 'override-destination': false, sniff } };
}
