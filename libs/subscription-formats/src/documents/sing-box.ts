import type { ProxyNode } from '@gatehouse/contracts';
import { asEntry, ClashEntry } from '../clash/entry.js';
import { fromClashEntry } from '../clash/from-entry.js';
import type { EntrySink } from '../entry-sink.js';
import { FormatError } from '../errors.js';
import { isRecord } from '../clash/entry.js';
import { given } from '../stream/transport.js';
import { parseSip003 } from '../stream/sip003.js';
import { addObject } from './object-entry.js';

type Options = Record<string, unknown>;

/** Types of sing-box outbounds that are not servers. */
const BUILTIN = new Set(['direct', 'block', 'dns', 'selector', 'urltest', 'bond', 'naive-noop']);
const TYPES: Record<string, string> = { shadowsocks: 'ss', socks: 'socks5', shadowsocksr: 'ssr' };

/** Reads `outbounds` (and WireGuard `endpoints`) of a sing-box configuration. */
export function readSingBox(document: Record<string, unknown>, sink: EntrySink): void {
  sink.result.format = 'sing-box';
  const lists = [document['outbounds'], document['endpoints']];
  let line = 0;
  for (const list of lists) {
    for (const value of Array.isArray(list) ? (list as unknown[]) : []) {
      line += 1;
      const type = isRecord(value) ? value['type'] : undefined;
      if (typeof type === 'string' && BUILTIN.has(type)) sink.ignore(policyOf(value as Record<string, unknown>));
      else addObject(sink, line, value, fromSingBox, ['tag']);
    }
  }
}

/** What an outbound without a server stands for in rules and groups; undefined for what has no equal here. */
function policyOf({ type, tag, ...rest }: Record<string, unknown>): { name: unknown; type: string } | undefined {
  if (type === 'block') return { name: tag, type: 'REJECT' };
  const leadsElsewhere = ['override_address', 'override_port', 'detour'].some((key) => Object.hasOwn(rest, key));
  return type === 'direct' && !leadsElsewhere ? { name: tag, type: 'DIRECT' } : undefined;
}

/** Reads one sing-box outbound by converting it to the equivalent Clash entry. @throws FormatError */
export function fromSingBox(value: unknown): ProxyNode {
  const outbound = asEntry(value);
  const type = outbound.required('type').toLowerCase();
  return fromClashEntry({
    name: outbound.text('tag'),
    type: TYPES[type] ?? type,
    server: outbound.text('server'),
    port: outbound.text('server_port'),
    ...given('dialer-proxy', outbound.text('detour')),
    ...(outbound.text('network') === 'tcp' ? { udp: false } : {}),
    ...protocolOptions(type, outbound),
    ...tlsOptions(type, outbound.map('tls'), outbound.text('server')),
    ...transportOptions(outbound.map('transport')),
  });
}

function protocolOptions(type: string, outbound: ClashEntry): Options {
  switch (type) {
    case 'shadowsocks':
      return shadowsocks(outbound);
    case 'socks':
      return socks(outbound);
    case 'http':
      return { ...user(outbound), headers: outbound.raw('headers') };
    case 'trojan':
      return { password: outbound.text('password') };
    case 'anytls':
      return anytls(outbound);
    case 'vmess':
    case 'vless':
      return {
        uuid: outbound.text('uuid'),
        alterId: outbound.text('alter_id'),
        cipher: outbound.text('security'),
        flow: outbound.text('flow'),
        'packet-encoding': outbound.text('packet_encoding'),
      };
    case 'hysteria':
      return { ...hysteria(outbound), 'auth-str': outbound.text('auth_str'), obfs: outbound.text('obfs') };
    case 'hysteria2':
      return { ...hysteria(outbound), ...hysteria2(outbound) };
    case 'tuic':
      return {
        uuid: outbound.text('uuid'),
        password: outbound.text('password'),
        'congestion-controller': outbound.text('congestion_control'),
        'udp-relay-mode': outbound.text('udp_relay_mode'),
        'reduce-rtt': outbound.raw('zero_rtt_handshake'),
      };
    case 'wireguard':
      return wireguard(outbound);
    case 'ssh':
      return {
        username: outbound.text('user'),
        password: outbound.text('password'),
        'private-key': outbound.list('private_key')?.join('\n'),
        'private-key-passphrase': outbound.text('private_key_passphrase'),
        'host-key': outbound.raw('host_key'),
      };
    default:
      throw new FormatError('unsupported_type', 'type is not known', { field: 'type' });
  }
}

function user(outbound: ClashEntry): Options {
  return { username: outbound.text('username'), password: outbound.text('password') };
}

function shadowsocks(outbound: ClashEntry): Options {
  const plugin = outbound.text('plugin');
  const parsed = plugin === undefined ? undefined : parseSip003(`${plugin};${outbound.text('plugin_opts') ?? ''}`);
  const overTcp = outbound.raw('udp_over_tcp');
  const enabled = isRecord(overTcp) ? overTcp['enabled'] : overTcp;
  return {
    cipher: outbound.text('method'),
    password: outbound.text('password'),
    ...(parsed === undefined ? {} : { plugin: parsed.name, 'plugin-opts': parsed.options }),
    ...(enabled === true ? { 'udp-over-tcp': true } : {}),
  };
}

function socks(outbound: ClashEntry): Options {
  if ((outbound.text('version') ?? '5') !== '5') {
    throw new FormatError('unsupported_type', 'SOCKS4 is not supported, only SOCKS5', { field: 'version' });
  }
  return user(outbound);
}

function anytls(outbound: ClashEntry): Options {
  const seconds = (key: string): string | undefined => outbound.text(key)?.replace(/s$/, '');
  return {
    password: outbound.text('password'),
    'idle-session-check-interval': seconds('idle_session_check_interval'),
    'idle-session-timeout': seconds('idle_session_timeout'),
    'min-idle-session': outbound.raw('min_idle_session'),
  };
}

function hysteria(outbound: ClashEntry): Options {
  const up = outbound.text('up_mbps');
  const down = outbound.text('down_mbps');
  return {
    up: up === undefined ? outbound.text('up') : up,
    down: down === undefined ? outbound.text('down') : down,
    ...given(
      'ports',
      outbound
        .list('server_ports')
        ?.map((range) => range.replace(':', '-'))
        .join(','),
    ),
    ...given('hop-interval', outbound.text('hop_interval')?.replace(/s$/, '')),
  };
}

function hysteria2(outbound: ClashEntry): Options {
  const obfs = outbound.map('obfs');
  return {
    password: outbound.text('password'),
    obfs: obfs.text('type'),
    'obfs-password': obfs.text('password'),
  };
}

function wireguard(outbound: ClashEntry): Options {
  const peers = outbound.raw('peers');
  const peer = Array.isArray(peers) && peers.length > 0 ? asEntry(peers[0]) : undefined;
  const addresses = outbound.list('local_address') ?? outbound.list('address') ?? [];
  const bare = addresses.map((address) => address.replace(/\/\d+$/, ''));
  return {
    server: outbound.text('server') ?? peer?.text('address', 'server'),
    port: outbound.text('server_port') ?? peer?.text('port', 'server_port'),
    'private-key': outbound.text('private_key'),
    'public-key': outbound.text('peer_public_key') ?? peer?.text('public_key'),
    'pre-shared-key': outbound.text('pre_shared_key') ?? peer?.text('pre_shared_key'),
    'allowed-ips': peer?.raw('allowed_ips'),
    reserved: outbound.raw('reserved') ?? peer?.raw('reserved'),
    'persistent-keepalive': peer?.raw('persistent_keepalive_interval'),
    mtu: outbound.raw('mtu'),
    ip: bare.find((address) => !address.includes(':')),
    ipv6: bare.find((address) => address.includes(':')),
  };
}

function tlsOptions(type: string, tls: ClashEntry, server: string | undefined): Options {
  if (tls.flag('enabled') !== true) return {};
  const reality = tls.map('reality');
  const named = type === 'vmess' || type === 'vless' ? 'servername' : 'sni';
  const other = !['shadowsocks', 'socks', 'http', 'trojan', 'vmess', 'vless'].includes(type);
  return {
    ...(other ? {} : { tls: true }),
    // Without a server name sing-box sends the server's address, while Clash would use the Host header.
    [named]: tls.text('server_name') ?? (other ? undefined : server),
    alpn: tls.raw('alpn'),
    ...(other ? given('disable-sni', tls.flag('disable_sni')) : {}),
    'skip-cert-verify': tls.flag('insecure') ?? false,
    'client-fingerprint': tls.map('utls').flag('enabled') === true ? tls.map('utls').text('fingerprint') : undefined,
    ...(reality.flag('enabled') === true
      ? { 'reality-opts': { 'public-key': reality.text('public_key'), 'short-id': reality.text('short_id') } }
      : {}),
  };
}

function transportOptions(transport: ClashEntry): Options {
  const type = transport.text('type');
  // HTTP has a list of hosts, which is read below.
  const host = type === 'http' ? undefined : transport.text('host');
  const path = transport.text('path');
  switch (type) {
    case undefined:
      return {};
    case 'ws':
      return {
        network: 'ws',
        'ws-opts': {
          path,
          headers: transport.raw('headers'),
          'max-early-data': transport.raw('max_early_data'),
          'early-data-header-name': transport.raw('early_data_header_name'),
        },
      };
    case 'httpupgrade':
      return {
        network: 'httpupgrade',
        'ws-opts': { path, headers: { ...singleHeaders(transport.map('headers')), ...given('Host', host) } },
      };
    case 'grpc':
      return { network: 'grpc', 'grpc-opts': { 'grpc-service-name': transport.text('service_name') } };
    case 'http':
      return { network: 'h2', 'h2-opts': { host: transport.raw('host'), path } };
    case 'quic':
      return { network: 'quic' };
    default:
      throw new FormatError('unsupported_transport', 'the transport is not known', { field: 'transport.type' });
  }
}

function singleHeaders(headers: ClashEntry): Record<string, string> {
  return Object.fromEntries(headers.keys().map((key) => [key, headers.list(key)?.[0] ?? '']));
}
