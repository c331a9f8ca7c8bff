import type { OtherNode, ProxyNode, ShadowsocksNode } from '@gatehouse/contracts';
import { headerPairs, lineTlsParts, storedTlsParts, type TlsNames } from './line-stream.js';
import { flag, joinLine, mark, megabits, pair, quoted, storedText, type LineParts } from './line-values.js';
import { Unsayable } from './target.js';

const TLS: TlsNames = { sni: 'sni', pin: 'server-cert-fingerprint-sha256' };
const VMESS_CIPHERS: Readonly<Record<string, string | undefined>> = {
  auto: undefined,
  none: 'none',
  'aes-128-gcm': 'aes-128-gcm',
  'chacha20-poly1305': 'chacha20-ietf-poly1305',
};
const SS_CIPHER =
  /^(?:none|aes-(?:128|192|256)-(?:gcm|ctr|cfb)|x?chacha20-ietf-poly1305|chacha20-ietf|rc4-md5|2022-blake3-(?:aes-128-gcm|aes-256-gcm))$/;

/** Writes `name = type, host, port, ...` of Surge, which `parseSurgeLine` reads. @throws Unsayable */
export function writeSurgeNode(node: ProxyNode): string {
  const [type, ...options] = 'options' in node ? stored(node) : dialable(node);
  const carriesUdp = node.type !== 'http' && node.type !== 'ssh' && node.type !== 'hysteria2' && node.type !== 'tuic';
  return joinLine(
    [
      `${node.name} = ${type}`,
      node.server,
      String(node.port),
      ...options,
      carriesUdp ? flag('udp-relay', node.udp) : undefined,
      pair('underlying-proxy', node.dialerProxy, 'dialerProxy'),
    ],
    ', ',
  );
}

function dialable(node: Exclude<ProxyNode, OtherNode>): LineParts {
  switch (node.type) {
    case 'ss':
      return ['ss', ...shadowsocks(node)];
    case 'socks5':
    case 'http': {
      const secure = node.tls !== undefined;
      const word = node.type === 'http' ? (secure ? 'https' : 'http') : secure ? 'socks5-tls' : 'socks5';
      const headers = node.type === 'http' ? headerPairs(node.headers ?? {}, ';', ': ') : undefined;
      return [word, ...userParts(node), headers && `headers=${headers}`, ...lineTlsParts(node, node.tls, TLS)];
    }
    case 'trojan':
      return ['trojan', pair('password', node.password), ...webSocket(node), ...lineTlsParts(node, node.tls, TLS)];
    case 'vmess': {
      if (!Object.hasOwn(VMESS_CIPHERS, node.cipher)) throw new Unsayable('cipher');
      return [
        'vmess',
        pair('username', node.uuid, 'uuid'),
        pair('encrypt-method', VMESS_CIPHERS[node.cipher]),
        `vmess-aead=${node.alterId === 0}`,
        ...webSocket(node),
        mark('tls', node.tls !== undefined),
        ...lineTlsParts(node, node.tls, TLS),
      ];
    }
    case 'vless':
      throw new Unsayable('vless', 'node_type');
  }
}

/** User and password of a proxy, by their places. @throws Unsayable for a password without a user. */
export function userParts({ username, password }: { username?: string; password?: string }): LineParts {
  if (username === undefined && password === undefined) return [];
  if (username === undefined || password === undefined) throw new Unsayable('username');
  return [username, password].map((value) => {
    const text = quoted(value, 'password');
    return text.startsWith('"') ? text : `"${text}"`;
  });
}

function webSocket(node: Extract<ProxyNode, { type: 'vmess' | 'trojan' }>): LineParts {
  const transport = node.transport;
  if (transport === undefined) return [];
  if (transport.type !== 'ws') throw new Unsayable(`transport ${transport.type}`);
  const headers = headerPairs(transport.headers ?? {}, '|', ':');
  return ['ws=true', pair('ws-path', transport.path, 'transport.path'), headers && `ws-headers=${headers}`];
}

function shadowsocks({ cipher, password, plugin, udpOverTcp }: ShadowsocksNode): LineParts {
  if (!SS_CIPHER.test(cipher)) throw new Unsayable('cipher');
  if (udpOverTcp === true) throw new Unsayable('udpOverTcp');
  return [pair('encrypt-method', cipher), pair('password', password), ...pluginParts(plugin, 'obfs')];
}

/** The two plugins that Surge and Loon have built in. @param obfs the name of the option for simple-obfs. */
export function pluginParts(plugin: ShadowsocksNode['plugin'], obfs: string): LineParts {
  if (plugin === undefined) return [];
  const text = (key: string): string | undefined => {
    const value = plugin.options[key];
    return typeof value === 'string' ? value : undefined;
  };
  if (plugin.name === 'obfs') {
    return [pair(obfs, text('mode')), pair('obfs-host', text('host')), pair('obfs-uri', text('path'))];
  }
  if (plugin.name !== 'shadow-tls') throw new Unsayable(`plugin ${plugin.name}`);
  return [
    pair('shadow-tls-password', text('password')),
    pair('shadow-tls-sni', text('host')),
    pair('shadow-tls-version', text('version')),
  ];
}

function stored(node: OtherNode): LineParts {
  const text = (key: string): string | undefined => storedText(node.options, key);
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- Surge has no other types
  switch (node.type) {
    case 'snell': {
      const obfs = node.options['obfs-opts'] as { mode?: string; host?: string } | undefined;
      return [
        'snell',
        pair('psk', text('psk')),
        pair('version', text('version')),
        pair('obfs', obfs?.mode),
        pair('obfs-host', obfs?.host),
      ];
    }
    case 'hysteria2':
      return [
        'hysteria2',
        pair('password', text('password')),
        ...hysteria2Parts(node, ['port-hopping', 'port-hopping-interval', ';']),
        ...storedTlsParts(node.options, TLS),
      ];
    case 'tuic': {
      const alpn = node.options['alpn'] as string[] | undefined;
      const user =
        text('uuid') === undefined
          ? [pair('token', text('token'))]
          : [pair('uuid', text('uuid')), pair('password', text('password'))];
      return [
        text('uuid') === undefined ? 'tuic' : 'tuic-v5',
        ...user,
        pair('alpn', alpn?.join(',')),
        ...storedTlsParts(node.options, TLS),
      ];
    }
    case 'ssh':
      return ['ssh', pair('username', text('username')), pair('password', text('password'))];
    case 'anytls':
      return ['anytls', pair('password', text('password')), ...storedTlsParts(node.options, TLS)];
    default:
      throw new Unsayable(node.type, 'node_type');
  }
}

/** @param names of port hopping, of its interval, and what separates ranges. */
export function hysteria2Parts(
  { options }: OtherNode,
  [ports, interval, separator]: readonly [string, string, string],
): LineParts {
  const obfs = storedText(options, 'obfs');
  if (obfs !== undefined && obfs !== 'salamander') throw new Unsayable('obfs');
  return [
    pair('download-bandwidth', megabits(storedText(options, 'down'), 'down')),
    pair(ports, storedText(options, 'ports')?.replaceAll(',', separator)),
    pair(interval, storedText(options, 'hop-interval')),
    pair('salamander-password', obfs && storedText(options, 'obfs-password')),
  ];
}
