import type { OtherNode, ProxyNode, ShadowsocksNode, VlessNode, VmessNode, TrojanNode } from '@gatehouse/contracts';
import { lineTlsParts, storedTlsParts, type TlsNames } from './line-stream.js';
import { flag, joinLine, mark, pair, quoted, storedText, type LineParts } from './line-values.js';
import { hysteria2Parts, pluginParts, userParts } from './surge-node.js';
import { Unsayable } from './target.js';

const TLS: TlsNames = {
  sni: 'tls-name',
  pin: 'tls-cert-sha256',
  reality: { publicKey: 'public-key', shortId: 'short-id' },
};
const VMESS_CIPHERS: Readonly<Record<string, string>> = {
  auto: 'auto',
  none: 'none',
  'aes-128-gcm': 'aes-128-gcm',
  'chacha20-poly1305': 'chacha20-poly1305',
};
const SS_CIPHER =
  /^(?:none|aes-(?:128|192|256)-(?:gcm|ctr|cfb)|x?chacha20-ietf-poly1305|chacha20-ietf|rc4-md5|2022-blake3-(?:aes-128-gcm|aes-256-gcm))$/;

/** Writes `name = type,host,port,...` of Loon, which `parseSurgeLine` reads. @throws Unsayable */
export function writeLoonNode(node: ProxyNode): string {
  if (node.dialerProxy !== undefined) throw new Unsayable('dialerProxy', 'node_dialer');
  const [type, ...options] = 'options' in node ? stored(node) : dialable(node);
  const carriesUdp = node.type !== 'http' && node.type !== 'hysteria2';
  return joinLine(
    [
      `${node.name} = ${type}`,
      node.server,
      String(node.port),
      ...options,
      carriesUdp ? flag('udp', node.udp) : undefined,
    ],
    ',',
  );
}

/** Loon has secrets in quotes behind the port. */
function inQuotes(value: string, field: string): string {
  const text = quoted(value, field);
  return text.startsWith('"') ? text : `"${text}"`;
}

function dialable(node: Exclude<ProxyNode, OtherNode>): LineParts {
  switch (node.type) {
    case 'ss':
      return shadowsocks(node);
    case 'socks5':
      return [
        'socks5',
        ...userParts(node),
        mark('over-tls', node.tls !== undefined),
        ...lineTlsParts(node, node.tls, TLS),
      ];
    case 'http':
      if (node.headers !== undefined) throw new Unsayable('headers');
      return [node.tls === undefined ? 'http' : 'https', ...userParts(node), ...lineTlsParts(node, node.tls, TLS)];
    case 'trojan':
      return ['trojan', inQuotes(node.password, 'password'), ...transport(node), ...lineTlsParts(node, node.tls, TLS)];
    case 'vmess':
      return vmess(node);
    case 'vless':
      return vless(node);
  }
}

function shadowsocks({ cipher, password, plugin, udpOverTcp }: ShadowsocksNode): LineParts {
  if (!SS_CIPHER.test(cipher)) throw new Unsayable('cipher');
  if (udpOverTcp === true) throw new Unsayable('udpOverTcp');
  return ['Shadowsocks', cipher, inQuotes(password, 'password'), ...pluginParts(plugin, 'obfs-name')];
}

function vmess(node: VmessNode): LineParts {
  const cipher = Object.hasOwn(VMESS_CIPHERS, node.cipher) ? VMESS_CIPHERS[node.cipher] : undefined;
  if (cipher === undefined) throw new Unsayable('cipher');
  return [
    'vmess',
    cipher,
    inQuotes(node.uuid, 'uuid'),
    ...transport(node),
    `alterId=${node.alterId}`,
    mark('over-tls', node.tls !== undefined),
    ...lineTlsParts(node, node.tls, TLS),
  ];
}

function vless(node: VlessNode): LineParts {
  if (node.encryption !== undefined && node.encryption !== 'none') throw new Unsayable('encryption');
  if (node.flow !== undefined && node.flow !== 'xtls-rprx-vision') throw new Unsayable('flow');
  return [
    'VLESS',
    inQuotes(node.uuid, 'uuid'),
    ...transport(node),
    pair('flow', node.flow),
    mark('over-tls', node.tls !== undefined),
    ...lineTlsParts(node, node.tls, TLS),
  ];
}

function transport({ transport: carrier }: TrojanNode | VmessNode | VlessNode): LineParts {
  if (carrier === undefined) return ['transport=tcp'];
  if (carrier.type === 'ws') {
    const { Host: host, ...others } = carrier.headers ?? {};
    if (Object.keys(others).length > 0) throw new Unsayable('transport.headers');
    return ['transport=ws', pair('path', carrier.path, 'transport.path'), pair('host', host, 'transport.headers.Host')];
  }
  if (carrier.type !== 'http') throw new Unsayable(`transport ${carrier.type}`);
  if (carrier.method !== undefined) throw new Unsayable('transport.method');
  const { Host: hosts = [], ...others } = carrier.headers ?? {};
  if (hosts.length > 1 || Object.keys(others).length > 0) throw new Unsayable('transport.headers');
  if ((carrier.path ?? []).length > 1) throw new Unsayable('transport.path');
  return [
    'transport=http',
    pair('path', carrier.path?.[0], 'transport.path'),
    pair('host', hosts[0], 'transport.headers.Host'),
  ];
}

function stored(node: OtherNode): LineParts {
  const { options } = node;
  const text = (key: string): string => storedText(options, key) ?? '';
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- Loon has no other types
  switch (node.type) {
    case 'ssr':
      return [
        'shadowsocksr',
        text('cipher'),
        inQuotes(text('password'), 'password'),
        pair('protocol', text('protocol')),
        pair('protocol-param', text('protocol-param')),
        pair('obfs', text('obfs')),
        pair('obfs-param', text('obfs-param')),
      ];
    case 'hysteria2':
      return [
        'Hysteria2',
        inQuotes(text('password'), 'password'),
        ...hysteria2Parts(node, ['server-ports', 'hop-interval', ',']),
        ...storedTlsParts(options, TLS),
      ];
    case 'anytls':
      return ['anytls', inQuotes(text('password'), 'password'), ...storedTlsParts(options, TLS)];
    default:
      throw new Unsayable(node.type, 'node_type');
  }
}
