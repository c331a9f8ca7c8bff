import type {
  HttpNode,
  OtherNode,
  ProxyNode,
  ShadowsocksNode,
  Socks5Node,
  TrojanNode,
  VlessNode,
  VmessNode,
} from '@gatehouse/contracts';
import { FormatError, missing } from '../errors.js';
import { checkStorable, readName, readPort, readServer, readUuid } from '../fields.js';
import { readCipher, readShadowsocksPassword } from '../stream/shadowsocks.js';
import { canonicalPlugin } from '../stream/sip003.js';
import type { ShadowsocksPlugin } from '../stream/sip003.js';
import { settleSni } from '../stream/tls.js';
import { given } from '../stream/transport.js';
import { readVmessCipher } from '../stream/vmess.js';
import { asEntry, isRecord } from './entry.js';
import type { ClashEntry } from './entry.js';
import { isOtherType, readOtherOptions } from './other-options.js';
import type { OtherType } from './other-options.js';
import { readClashTls, readClashTransport, readHeaders } from './stream-options.js';

const TYPE_ALIASES: Record<string, string> = {
  socks: 'socks5',
  shadowsocks: 'ss',
  hy2: 'hysteria2',
  wg: 'wireguard',
  https: 'http',
};
/** Types of entries that are not servers. */
const BUILTIN = new Set([
  'direct',
  'reject',
  'reject-drop',
  'dns',
  'pass',
  'compatible',
  'relay',
  'rematch',
  'select',
  'url-test',
  'fallback',
  'load-balance',
]);

export function isBuiltinEntry(entry: unknown): entry is { type: string; name?: unknown } {
  return isRecord(entry) && typeof entry['type'] === 'string' && BUILTIN.has(entry['type'].toLowerCase());
}

/** Reads one entry of a Clash `proxies:` list. @throws FormatError with the field. */
export function fromClashEntry(value: unknown): ProxyNode {
  const entry = asEntry(value);
  const given = entry.required('type').toLowerCase();
  const node = readByType(TYPE_ALIASES[given] ?? given, entry);
  checkStorable(node);
  return node;
}

function readByType(type: string, entry: ClashEntry): ProxyNode {
  switch (type) {
    case 'ss':
      return readShadowsocks(entry);
    case 'socks5':
      return readSocks5(entry);
    case 'http':
      return readHttp(entry);
    case 'trojan':
      return readTrojan(entry);
    case 'vmess':
      return readVmess(entry);
    case 'vless':
      return readVless(entry);
    default:
      if (isOtherType(type)) return readOther(type, entry);
      throw new FormatError('unsupported_type', 'type is not known', { field: 'type' });
  }
}

interface Endpoint {
  name: string;
  server: string;
  port: number;
  udp?: boolean;
  dialerProxy?: string;
}

function readEndpoint(entry: ClashEntry, fallbackPort?: string): Endpoint {
  const server = readServer(entry.required('server'));
  const port = readPort(entry.text('port') ?? fallbackPort);
  return {
    name: readName(entry.text('name'), server, port),
    server,
    port,
    ...given('udp', entry.flag('udp')),
    ...given('dialerProxy', entry.text('dialer-proxy')),
  };
}

function readShadowsocks(entry: ClashEntry): ShadowsocksNode {
  const cipher = readCipher(entry.text('cipher', 'method'));
  const plugin = readPlugin(entry);
  return {
    type: 'ss',
    ...readEndpoint(entry),
    cipher,
    password: readShadowsocksPassword(cipher, entry.text('password') ?? ''),
    ...(plugin === undefined ? {} : { plugin }),
    ...(entry.flag('udp-over-tcp') === true ? { udpOverTcp: true } : {}),
  };
}

function readPlugin(entry: ClashEntry): ShadowsocksPlugin | undefined {
  const name = entry.text('plugin');
  if (name === undefined) return undefined;
  const map = entry.map('plugin-opts');
  const options: Record<string, string | boolean> = {};
  for (const key of map.keys()) {
    const value = map.raw(key);
    if (typeof value === 'boolean') options[key] = value;
    else if (Array.isArray(value)) options[key] = (map.list(key) ?? []).join(',');
    else if (isRecord(value)) options[key] = JSON.stringify(value);
    else if (value === 'true' || value === 'false') options[key] = value === 'true';
    else options[key] = map.text(key) ?? '';
  }
  return canonicalPlugin(name, options);
}

function readSocks5(entry: ClashEntry): Socks5Node {
  const endpoint = readEndpoint(entry);
  const tls = readClashTls(entry, false);
  settleSni(tls, endpoint.server);
  return { type: 'socks5', ...endpoint, ...readUser(entry), ...(tls === undefined ? {} : { tls }) };
}

function readUser(entry: ClashEntry): { username?: string; password?: string } {
  return { ...given('username', entry.text('username')), ...given('password', entry.text('password')) };
}

function readHttp(entry: ClashEntry): HttpNode {
  const endpoint = readEndpoint(entry);
  const tls = readClashTls(entry, entry.text('type')?.toLowerCase() === 'https');
  settleSni(tls, endpoint.server);
  const headers = readHeaders(entry.map('headers'));
  return {
    type: 'http',
    ...endpoint,
    ...readUser(entry),
    ...(tls === undefined ? {} : { tls }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  };
}

function readTrojan(entry: ClashEntry): TrojanNode {
  const endpoint = readEndpoint(entry);
  if (entry.map('ss-opts').flag('enabled') === true) {
    throw new FormatError('unsupported_option', 'the Shadowsocks layer of trojan-go is not supported', {
      field: 'ss-opts.enabled',
    });
  }
  const tls = readClashTls(entry, true) ?? {};
  settleSni(tls, endpoint.server);
  const transport = readClashTransport(entry);
  const password = entry.required('password');
  return { type: 'trojan', ...endpoint, password, tls, ...(transport === undefined ? {} : { transport }) };
}

function readVmess(entry: ClashEntry): VmessNode {
  return {
    type: 'vmess',
    ...readEndpoint(entry),
    uuid: readUuid(entry.required('uuid')),
    alterId: entry.count('alterId') ?? entry.count('alter-id') ?? 0,
    cipher: readVmessCipher(entry.text('cipher')),
    ...readStream(entry),
  };
}

function readVless(entry: ClashEntry): VlessNode {
  const encryption = entry.text('encryption');
  return {
    type: 'vless',
    ...readEndpoint(entry),
    uuid: readUuid(entry.required('uuid')),
    ...given('flow', entry.text('flow')),
    ...given('encryption', encryption === 'none' ? undefined : encryption),
    ...readStream(entry),
  };
}

function readStream(entry: ClashEntry): Pick<VlessNode, 'tls' | 'transport' | 'packetEncoding'> {
  const tls = readClashTls(entry, false);
  const transport = readClashTransport(entry);
  settleSni(tls, readServer(entry.required('server')), transport);
  const xudp = entry.flag('xudp') === true ? 'xudp' : undefined;
  return {
    ...given('tls', tls),
    ...given('transport', transport),
    ...given('packetEncoding', entry.text('packet-encoding') ?? xudp),
  };
}

/** Entries with port hopping have a range of ports; the first one is the port of the node. */
function readOther(type: OtherType, entry: ClashEntry): OtherNode {
  const range = entry.text('ports', 'port-range');
  const peers = entry.raw('peers');
  if (type === 'tailscale' && !entry.has('server')) return readTailscale(entry);
  const place = !entry.has('server') && Array.isArray(peers) && peers.length > 0 ? asEntry(peers[0]) : entry;
  if (!place.has('server')) throw missing('server');
  const endpoint = readEndpoint(place, /^\d+/.exec(range ?? '')?.[0]);
  const name = readName(entry.text('name'), endpoint.server, endpoint.port);
  return { type, ...endpoint, name, options: readOtherOptions(type, entry) };
}

/** An entry of Tailscale has no server of its own: the one it signs in at stands for it. */
function readTailscale(entry: ClashEntry): OtherNode {
  const place = /^https?:\/\/(\[[^\]]+\]|[^/:]+)(?::(\d+))?/.exec(entry.text('control-url') ?? TAILSCALE_CONTROL);
  const server = readServer(place?.[1] ?? '', 'control-url');
  const port = readPort(place?.[2] ?? '443', 'control-url');
  const name = readName(entry.text('name'), server, port);
  const udp = given('udp', entry.flag('udp'));
  return { type: 'tailscale', name, server, port, ...udp, options: readOtherOptions('tailscale', entry) };
}

const TAILSCALE_CONTROL = 'https://controlplane.tailscale.com';
