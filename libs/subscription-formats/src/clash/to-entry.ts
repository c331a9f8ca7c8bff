import type { ProxyNode, ShadowsocksNode } from '@gatehouse/contracts';
import { explicitSni } from '../stream/tls.js';
import { given } from '../stream/transport.js';
import { writeClashTls, writeClashTransport } from './stream-options.js';

type Options = Record<string, unknown>;

/** Writes a node as an entry of a Clash `proxies:` list; `fromClashEntry` reads an equal node back. */
export function toClashEntry(node: ProxyNode): Options {
  return {
    name: node.name,
    type: node.type,
    server: node.server,
    port: node.port,
    ...protocolOptions(node),
    ...given('udp', node.udp),
    ...given('dialer-proxy', node.dialerProxy),
  };
}

function protocolOptions(node: ProxyNode): Options {
  if ('options' in node) return { ...node.options };
  switch (node.type) {
    case 'ss':
      return shadowsocksOptions(node);
    case 'socks5':
    case 'http':
      return {
        ...given('username', node.username),
        ...given('password', node.password),
        ...writeClashTls(node.tls, { serverName: 'sni', sni: node.tls?.sni, switch: true }),
        ...(node.type === 'http' ? given('headers', node.headers) : {}),
      };
    case 'trojan':
      return {
        password: node.password,
        ...writeClashTls(node.tls, { serverName: 'sni', sni: node.tls.sni, switch: false }),
        ...writeClashTransport(node.transport),
      };
    case 'vmess':
    case 'vless':
      return userOptions(node);
  }
}

function userOptions(node: Extract<ProxyNode, { type: 'vmess' | 'vless' }>): Options {
  const own =
    node.type === 'vmess'
      ? { alterId: node.alterId, cipher: node.cipher }
      : { ...given('flow', node.flow), ...given('encryption', node.encryption) };
  const sni = explicitSni(node.tls, node.server, node.transport);
  return {
    uuid: node.uuid,
    ...own,
    ...writeClashTls(node.tls, { serverName: 'servername', sni, switch: true }),
    ...writeClashTransport(node.transport),
    ...given('packet-encoding', node.packetEncoding),
  };
}

function shadowsocksOptions(node: ShadowsocksNode): Options {
  return {
    cipher: node.cipher,
    password: node.password,
    ...(node.plugin === undefined
      ? {}
      : { plugin: node.plugin.name, 'plugin-opts': pluginOptions(node.plugin.options) }),
    ...given('udp-over-tcp', node.udpOverTcp),
  };
}

/** `version` is a number and `headers` a mapping in Clash, where a SIP003 option is always text. */
function pluginOptions(options: Record<string, string | boolean>): Options {
  const out: Options = { ...options };
  const { version, headers } = options;
  if (typeof version === 'string' && /^\d+$/.test(version)) out['version'] = Number(version);
  if (typeof headers === 'string' && headers.startsWith('{')) out['headers'] = parseOrKeep(headers);
  return out;
}

function parseOrKeep(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // It is not JSON, so the option is written unchanged.
    return json;
  }
}
