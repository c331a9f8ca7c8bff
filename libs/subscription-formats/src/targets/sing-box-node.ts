import type { NodeTls, ProxyNode } from '@gatehouse/contracts';
import { explicitSni } from '../stream/tls.js';
import { formatSip003 } from '../stream/sip003.js';
import { given } from '../stream/transport.js';
import { writeSingBoxTransport } from './sing-box-transport.js';
import { writeStoredSingBox } from './sing-box-stored.js';
import { Unsayable } from './target.js';

type Options = Record<string, unknown>;
type Shadowsocks = Extract<ProxyNode, { type: 'ss' }>;

const SS_CIPHER =
  /^(?:none|aes-(?:128|192|256)-(?:gcm|ctr|cfb)|x?chacha20-ietf-poly1305|chacha20-ietf|xchacha20|rc4-md5|2022-blake3-(?:aes-128-gcm|aes-256-gcm|chacha20-poly1305))$/;
const VMESS_CIPHERS = ['auto', 'none', 'zero', 'aes-128-gcm', 'chacha20-poly1305'];
const PACKET_ENCODINGS = ['xudp', 'packetaddr'];
const PLUGIN_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  obfs: ['mode', 'host'],
  'v2ray-plugin': ['mode', 'host', 'path', 'tls', 'mux'],
};
/** sing-box imitates a ClientHello for REALITY in any case. */
const DEFAULT_HELLO = 'chrome';

/** Writes an outbound of sing-box 1.12, or an endpoint for WireGuard; `fromSingBox` reads it. @throws Unsayable */
export function writeSingBoxNode(node: ProxyNode): Options {
  const place = { tag: node.name, server: node.server, server_port: node.port };
  const detour = given('detour', node.dialerProxy);
  if ('options' in node) {
    const { type, ...own } = writeStoredSingBox(node);
    return type === 'wireguard' ? { type, tag: node.name, ...own, ...detour } : { type, ...place, ...own, ...detour };
  }
  const { type, ...own } = protocol(node);
  return {
    type,
    ...place,
    ...own,
    ...(node.udp === false && node.type !== 'http' ? { network: 'tcp' } : {}),
    ...('tls' in node && node.tls !== undefined ? { tls: writeTls(node, node.tls) } : {}),
    ...writeSingBoxTransport(node),
    ...detour,
  };
}

function protocol(node: Exclude<ProxyNode, { options: unknown }>): Options {
  switch (node.type) {
    case 'ss':
      return shadowsocks(node);
    case 'socks5':
      if (node.tls !== undefined) throw new Unsayable('tls');
      return { type: 'socks', version: '5', ...user(node) };
    case 'http':
      return { type: 'http', ...user(node), ...given('headers', node.headers) };
    case 'trojan':
      return { type: 'trojan', password: node.password };
    case 'vmess':
      if (!VMESS_CIPHERS.includes(node.cipher)) throw new Unsayable('cipher');
      return {
        type: 'vmess',
        uuid: node.uuid,
        ...(node.alterId === 0 ? {} : { alter_id: node.alterId }),
        security: node.cipher,
        ...packetEncoding(node.packetEncoding),
      };
    case 'vless':
      if (node.encryption !== undefined && node.encryption !== 'none') throw new Unsayable('encryption');
      if (node.flow !== undefined && node.flow !== 'xtls-rprx-vision') throw new Unsayable('flow');
      return { type: 'vless', uuid: node.uuid, ...given('flow', node.flow), ...packetEncoding(node.packetEncoding) };
  }
}

function user({ username, password }: { username?: string; password?: string }): Options {
  return { ...given('username', username), ...given('password', password) };
}

function packetEncoding(value: string | undefined): Options {
  return value !== undefined && PACKET_ENCODINGS.includes(value) ? { packet_encoding: value } : {};
}

function shadowsocks({ cipher, password, plugin, udpOverTcp }: Shadowsocks): Options {
  if (!SS_CIPHER.test(cipher)) throw new Unsayable('cipher');
  return {
    type: 'shadowsocks',
    method: cipher,
    password,
    ...(plugin === undefined ? {} : shadowsocksPlugin(plugin)),
    ...(udpOverTcp === true ? { udp_over_tcp: { enabled: true } } : {}),
  };
}

function shadowsocksPlugin(plugin: NonNullable<Shadowsocks['plugin']>): Options {
  const known = Object.hasOwn(PLUGIN_OPTIONS, plugin.name) ? PLUGIN_OPTIONS[plugin.name] : undefined;
  if (known === undefined) throw new Unsayable(`plugin ${plugin.name}`);
  const other = Object.keys(plugin.options).find((key) => !known.includes(key));
  if (other !== undefined) throw new Unsayable(`plugin.options.${other}`);
  const text = formatSip003(plugin);
  const end = text.indexOf(';');
  return end === -1 ? { plugin: text } : { plugin: text.slice(0, end), plugin_opts: text.slice(end + 1) };
}

function writeTls(node: ProxyNode, tls: NodeTls): Options {
  for (const field of ['fingerprint', 'certificate', 'privateKey', 'ech'] as const) {
    if (tls[field] !== undefined) throw new Unsayable(`tls.${field}`);
  }
  const sni = node.type === 'vmess' || node.type === 'vless' ? explicitSni(tls, node.server, node.transport) : tls.sni;
  const hello = tls.clientFingerprint ?? (tls.reality === undefined ? undefined : DEFAULT_HELLO);
  return {
    enabled: true,
    ...given('server_name', sni),
    ...given('alpn', tls.alpn),
    ...(tls.skipCertVerify === true ? { insecure: true } : {}),
    ...(hello === undefined ? {} : { utls: { enabled: true, fingerprint: hello } }),
    ...(tls.reality === undefined
      ? {}
      : { reality: { enabled: true, public_key: tls.reality.publicKey, ...given('short_id', tls.reality.shortId) } }),
  };
}
