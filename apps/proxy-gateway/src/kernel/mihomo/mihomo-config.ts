import type { ProxyNode } from '@gatehouse/contracts';
import { formatHostPort } from '@gatehouse/net';
import type {
  DnsConfig,
  GroupConfig,
  KernelConfig,
  ListenerConfig,
  OutboundConfig,
  RuleSetConfig,
} from '@gatehouse/proxy-kernel';
import { toClashEntry } from '@gatehouse/subscription-formats';
import type { MihomoRules } from './mihomo-rules.js';

/** The default test address of groups that measure. */
const DEFAULT_TEST_URL = 'https://www.gstatic.com/generate_204';
const TEST_INTERVAL_SEC = 300;
/** The name of the DNS listener, in the map of ports and in the states of listeners. */
export const DNS_LISTENER = 'dns';

const EMBEDDED_DEFAULT: ReadonlySet<string> = new Set(['ss', 'socks5', 'trojan', 'vmess', 'vless', 'anytls']);
const QUIC: ReadonlySet<string> = new Set(['hysteria', 'hysteria2', 'tuic']);

export interface MihomoControl {
  /** File name of the control socket, inside mihomo's folder. */
  socket: string;
  /** Ports chosen for listeners with port 0, by listener name. */
  ports: ReadonlyMap<string, number>;
  /** Rules before all others. */
  guards?: readonly string[];
  /** The configuration's rules as mihomo writes them. */
  rules: MihomoRules;
  /** Nodes that this version of mihomo does not take; they reject. */
  refusedNodes?: ReadonlySet<string>;
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
    proxies: config.outbounds.map((outbound) => toProxy(outbound, control.refusedNodes)),
    'proxy-groups': config.groups.map(toGroup),
    'rule-providers': Object.fromEntries(control.rules.sets.map(toRuleProvider)),
    rules: [...(control.guards ?? []), ...control.rules.lines],
    ...(config.dns ? { dns: toDns(config.dns, control.ports), hosts: config.dns.hosts ?? {} } : {}),
    ...toSniffer(config),
  };
}

/** The settings that hold before the first configuration and in every one. */
export function mihomoBasics(socket: string): MihomoConfig {
  return {
    'external-controller-unix': socket,
    'external-controller-cors': { 'allow-origins': [], 'allow-private-network': false },
    // The log reports every flow, also those that are over before the next look at the list.
    'log-level': 'info',
    'find-process-mode': 'off',
    'geo-auto-update': false,
    profile: { 'store-selected': false, 'store-fake-ip': false },
  };
}

function toListener({ name, type, address, port, users }: ListenerConfig, ports: ReadonlyMap<string, number>) {
  return {
    name,
    type,
    listen: address,
    port: port === 0 ? (ports.get(name) ?? 0) : port,
    users: (users ?? []).map(({ username, password }) => ({ username, password })),
  };
}

/** @param refused those that mihomo does not take. */
export function toProxy(
  { tag, node, dialer }: OutboundConfig,
  refused?: MihomoControl['refusedNodes'],
): Record<string, unknown> {
  if (refused?.has(tag)) return { name: tag, type: 'reject' };
  const { dialerProxy: _label, ...own } = node;
  return {
    ...toClashEntry({ ...own, name: tag }),
    ...(EMBEDDED_DEFAULT.has(node.type) && { udp: carriesUdp(node) }),
    ...(dialer === undefined ? {} : { 'dialer-proxy': dialer }),
  };
}

/** As in the embedded kernel, where these nodes carry UDP unless they say otherwise. Others have mihomo's defaults. */
export function carriesUdp(node: ProxyNode): boolean {
  if (node.type === 'http' || node.type === 'ssh') return false;
  if (QUIC.has(node.type)) return true;
  if (node.type === 'ss') return node.udp ?? (node.plugin === undefined || node.udpOverTcp === true);
  return node.udp ?? EMBEDDED_DEFAULT.has(node.type);
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
