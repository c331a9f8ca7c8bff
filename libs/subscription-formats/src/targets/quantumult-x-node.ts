import type { NodeTls, OtherNode, ProxyNode, ShadowsocksNode } from '@gatehouse/contracts';
import { hostInUrl } from '../fields.js';
import { lineSni } from './line-stream.js';
import { flag, joinLine, storedText, type LineParts } from './line-values.js';
import { Unsayable } from './target.js';

const VMESS_CIPHERS: Readonly<Record<string, string>> = {
  auto: 'chacha20-poly1305',
  none: 'none',
  'aes-128-gcm': 'aes-128-gcm',
  'chacha20-poly1305': 'chacha20-poly1305',
};
const SS_CIPHER =
  /^(?:none|aes-(?:128|192|256)-(?:gcm|ctr|cfb)|x?chacha20-ietf-poly1305|chacha20-ietf|rc4-md5|2022-blake3-(?:aes-128-gcm|aes-256-gcm))$/;

/** Writes `type=host:port, key=value..., tag=name` of Quantumult X, which `parseQuantumultXLine` reads. @throws Unsayable */
export function writeQuantumultXNode(node: ProxyNode): string {
  if (node.dialerProxy !== undefined) throw new Unsayable('dialerProxy', 'node_dialer');
  const [type, ...options] = 'options' in node ? stored(node) : dialable(node);
  const carriesUdp = node.type !== 'http';
  return joinLine(
    [
      `${type}=${hostInUrl(node.server)}:${node.port}`,
      ...options,
      carriesUdp ? flag('udp-relay', node.udp) : undefined,
      value('tag', node.name, 'name'),
    ],
    ', ',
  );
}

/** Quantumult X reads no quotes: a comma ends a value. */
function value(key: string, text: string | undefined, field = key): string | undefined {
  if (text === undefined || text === '') return undefined;
  if (/[,"\p{Cc}\u2028\u2029]/u.test(text) || text.trim() !== text) throw new Unsayable(field);
  return `${key}=${text}`;
}

function dialable(node: Exclude<ProxyNode, OtherNode>): LineParts {
  switch (node.type) {
    case 'ss':
      return ['shadowsocks', ...shadowsocks(node)];
    case 'socks5':
    case 'http':
      if (node.type === 'http' && node.headers !== undefined) throw new Unsayable('headers');
      return [
        node.type,
        value('username', node.username),
        value('password', node.password),
        ...overTls(node, node.tls),
      ];
    case 'trojan':
      return ['trojan', value('password', node.password), ...trojanStream(node)];
    case 'vmess': {
      const cipher = Object.hasOwn(VMESS_CIPHERS, node.cipher) ? VMESS_CIPHERS[node.cipher] : undefined;
      if (cipher === undefined) throw new Unsayable('cipher');
      return [
        'vmess',
        `method=${cipher}`,
        value('password', node.uuid, 'uuid'),
        ...stream(node),
        `aead=${node.alterId === 0}`,
      ];
    }
    case 'vless':
      if (node.encryption !== undefined && node.encryption !== 'none') throw new Unsayable('encryption');
      if (node.flow !== undefined && node.flow !== 'xtls-rprx-vision') throw new Unsayable('flow');
      return [
        'vless',
        'method=none',
        value('password', node.uuid, 'uuid'),
        ...stream(node),
        value('vless-flow', node.flow),
      ];
  }
}

function tlsParts(tls: NodeTls | undefined): LineParts {
  if (tls === undefined) return [];
  for (const field of ['certificate', 'privateKey', 'ech'] as const) {
    if (tls[field] !== undefined) throw new Unsayable(`tls.${field}`);
  }
  return [
    tls.skipCertVerify === true ? 'tls-verification=false' : undefined,
    value('tls-cert-sha256', tls.fingerprint, 'tls.fingerprint'),
    value('reality-base64-pubkey', tls.reality?.publicKey, 'tls.reality'),
    value('reality-hex-shortid', tls.reality?.shortId, 'tls.reality'),
  ];
}

function overTls(node: ProxyNode, tls: NodeTls | undefined): LineParts {
  if (tls === undefined) return [];
  if (tls.reality !== undefined) throw new Unsayable('tls.reality');
  return ['over-tls=true', value('tls-host', lineSni(node), 'tls.sni'), ...tlsParts(tls)];
}

function trojanStream(node: Extract<ProxyNode, { type: 'trojan' }>): LineParts {
  if (node.transport === undefined) return overTls(node, node.tls);
  if (node.tls.reality !== undefined) throw new Unsayable('tls.reality');
  return [...webSocket(node.transport, true), value('tls-host', lineSni(node), 'tls.sni'), ...tlsParts(node.tls)];
}

type Carried = Extract<ProxyNode, { type: 'vmess' | 'vless' }>;

function stream(node: Carried): LineParts {
  const { tls, transport } = node;
  const sni = lineSni(node);
  if (transport === undefined) {
    if (tls === undefined) return [];
    return ['obfs=over-tls', value('obfs-host', sni, 'tls.sni'), ...tlsParts(tls)];
  }
  if (transport.type !== 'http') {
    return [...webSocket(transport, tls !== undefined), value('tls-host', sni, 'tls.sni'), ...tlsParts(tls)];
  }
  if (tls !== undefined) throw new Unsayable('transport http with tls');
  if (transport.method !== undefined) throw new Unsayable('transport.method');
  const { Host: hosts = [], ...others } = transport.headers ?? {};
  if (hosts.length > 1 || Object.keys(others).length > 0) throw new Unsayable('transport.headers');
  if ((transport.path ?? []).length > 1) throw new Unsayable('transport.path');
  return ['obfs=http', value('obfs-host', hosts[0]), value('obfs-uri', transport.path?.[0], 'transport.path')];
}

function webSocket(transport: NonNullable<Carried['transport']>, secure: boolean): LineParts {
  if (transport.type !== 'ws') throw new Unsayable(`transport ${transport.type}`);
  const { Host: host, ...others } = transport.headers ?? {};
  if (Object.keys(others).length > 0) throw new Unsayable('transport.headers');
  return [
    secure ? 'obfs=wss' : 'obfs=ws',
    value('obfs-host', host, 'transport.headers.Host'),
    value('obfs-uri', transport.path, 'transport.path'),
  ];
}

function shadowsocks({ cipher, password, plugin, udpOverTcp }: ShadowsocksNode): LineParts {
  if (!SS_CIPHER.test(cipher)) throw new Unsayable('cipher');
  const parts = [`method=${cipher}`, value('password', password)];
  const version = udpOverTcp === true ? ['udp-over-tcp=sp.v2'] : [];
  if (plugin === undefined) return [...parts, ...version];
  const { mode, host, path, tls, mux, ...others } = plugin.options;
  const other = Object.keys(others)[0];
  if (other !== undefined) throw new Unsayable(`plugin.options.${other}`);
  const place = [value('obfs-host', host as string | undefined), value('obfs-uri', path as string | undefined)];
  if (plugin.name === 'obfs') return [...parts, `obfs=${String(mode)}`, ...place, ...version];
  if (plugin.name !== 'v2ray-plugin') throw new Unsayable(`plugin ${plugin.name}`);
  if (mux !== false) throw new Unsayable('plugin.options.mux');
  return [...parts, tls === true ? 'obfs=wss' : 'obfs=ws', ...place, ...version];
}

function stored(node: OtherNode): LineParts {
  const text = (key: string): string | undefined => storedText(node.options, key);
  if (node.type === 'anytls') {
    const unverified = node.options['skip-cert-verify'] === true;
    return [
      'anytls',
      value('password', text('password')),
      'over-tls=true',
      value('tls-host', text('sni'), 'sni'),
      unverified ? 'tls-verification=false' : undefined,
      value('tls-cert-sha256', text('fingerprint'), 'fingerprint'),
    ];
  }
  if (node.type !== 'ssr') throw new Unsayable(node.type, 'node_type');
  return [
    'shadowsocks',
    value('method', text('cipher')),
    value('password', text('password')),
    value('ssr-protocol', text('protocol')),
    value('ssr-protocol-param', text('protocol-param')),
    value('obfs', text('obfs')),
    value('obfs-host', text('obfs-param')),
  ];
}
