import type { ShadowsocksNode } from '@gatehouse/contracts';
import { FormatError } from '../errors.js';
import { readName, readSwitch } from '../fields.js';
import { is2022Cipher, readCipher, readShadowsocksPassword } from '../stream/shadowsocks.js';
import { canonicalPlugin, formatSip003, parseSip003 } from '../stream/sip003.js';
import type { ShadowsocksPlugin } from '../stream/sip003.js';
import { decodeBase64Text, encodeBase64Url } from '../text/base64.js';
import { decodePercent, encodePercent } from '../text/percent.js';
import type { LinkCodec } from './codec.js';
import { joinLink, readEndpoint, splitLink } from './link-url.js';
import type { LinkParts, LinkQuery } from './link-url.js';
import { readExtras, readTransportQuery, writeExtras } from './stream-query.js';

/** `ss://` links: SIP002 with base64 or plain userinfo, and the older form that is all base64. */
export const shadowsocksLinks: LinkCodec<ShadowsocksNode> = {
  schemes: ['ss', 'shadowsocks'],
  parse: parseShadowsocks,
  format: formatShadowsocks,
};

function parseShadowsocks(link: string): ShadowsocksNode {
  const parts = splitLink(link);
  const { credentials, authority } = parts.userinfo === undefined ? decodeWhole(parts) : decodeUserinfo(parts);
  const colon = credentials.indexOf(':');
  if (colon === -1) throw new FormatError('missing_field', 'password is missing', { field: 'password' });
  const { server, port } = readEndpoint(authority);
  const cipher = readCipher(credentials.slice(0, colon));
  const node: ShadowsocksNode = {
    type: 'ss',
    name: readName(parts.name ?? parts.query.get('remarks'), server, port),
    server,
    port,
    cipher,
    password: readShadowsocksPassword(cipher, credentials.slice(colon + 1)),
    ...readExtras(parts.query),
  };
  const plugin = readPlugin(parts.query);
  if (plugin !== undefined) node.plugin = plugin;
  if (readUdpOverTcp(parts.query)) node.udpOverTcp = true;
  return node;
}

/** `ss://BASE64(cipher:password@host:port)` */
function decodeWhole(parts: LinkParts): { credentials: string; authority: string } {
  const body = decodePercent(parts.authority).replace(/\/$/, '');
  const text = decodeBase64Text(body);
  const at = text?.lastIndexOf('@') ?? -1;
  if (text === undefined || at === -1) {
    throw new FormatError('invalid_base64', 'the link is neither cipher:password@host:port nor base64 of it');
  }
  return { credentials: text.slice(0, at), authority: text.slice(at + 1) };
}

/** `ss://cipher:password@host:port`, or userinfo in base64. Base64 has no `:`, so the two cannot be confused. */
function decodeUserinfo(parts: LinkParts): { credentials: string; authority: string } {
  const userinfo = parts.userinfo ?? '';
  if (userinfo.includes(':')) return { credentials: decodePercent(userinfo), authority: parts.authority };
  const decoded = decodePercent(userinfo);
  const credentials = decodeBase64Text(decoded) ?? (decoded.includes(':') ? decoded : undefined);
  if (credentials === undefined) {
    throw new FormatError('invalid_base64', 'the part before @ is neither cipher:password nor base64 of it');
  }
  return { credentials, authority: parts.authority };
}

function readUdpOverTcp(query: LinkQuery): boolean {
  const uot = query.get('uot');
  if (uot === '2') return true;
  return readSwitch(uot ?? query.get('udp-over-tcp'), 'udp-over-tcp') === true;
}

function readPlugin(query: LinkQuery): ShadowsocksPlugin | undefined {
  const sip003 = query.get('plugin');
  if (sip003 !== undefined) return parseSip003(sip003);
  for (const name of ['v2ray-plugin', 'shadow-tls', 'gost', 'gost-plugin'] as const) {
    const json = query.get(name);
    if (json !== undefined) return readPluginJson(name, json);
  }
  return readXrayTransport(query);
}

/** Shadowrocket writes plugin options as base64 of JSON. */
function readPluginJson(name: string, encoded: string): ShadowsocksPlugin {
  const field = 'plugin-opts';
  const text = decodeBase64Text(encoded);
  if (text === undefined) throw new FormatError('invalid_base64', `${field} must be base64 of JSON`, { field });
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new FormatError('invalid_json', `${field} must be base64 of JSON`, { field, cause });
  }
  const options: Record<string, string | boolean> = {};
  for (const [key, value] of Object.entries(typeof parsed === 'object' && parsed !== null ? parsed : {})) {
    if (typeof value === 'boolean' || typeof value === 'string') options[key] = value;
    else if (typeof value === 'number') options[key] = String(value);
  }
  return canonicalPlugin(name, options);
}

/** Panels built on Xray put its WebSocket transport into ss links; v2ray-plugin without mux is the same on the wire. */
function readXrayTransport(query: LinkQuery): ShadowsocksPlugin | undefined {
  const transport = readTransportQuery(query);
  const security = query.get('security')?.toLowerCase() ?? 'none';
  if (transport === undefined && security === 'none') return undefined;
  if (transport?.type !== 'ws' || (security !== 'none' && security !== 'tls')) {
    throw new FormatError('unsupported_transport', 'Shadowsocks takes plain TCP or WebSocket only', { field: 'type' });
  }
  return canonicalPlugin('v2ray-plugin', {
    mode: 'websocket',
    tls: security === 'tls',
    host: transport.headers?.['Host'] ?? query.get('sni') ?? '',
    path: transport.path,
    mux: false,
  });
}

function formatShadowsocks(node: ShadowsocksNode): string {
  const credentials = `${node.cipher}:${node.password}`;
  const userinfo = is2022Cipher(node.cipher)
    ? `${encodePercent(node.cipher)}:${encodePercent(node.password)}`
    : encodeBase64Url(credentials);
  const query = {
    plugin: node.plugin === undefined ? undefined : formatSip003(node.plugin),
    uot: node.udpOverTcp === true ? '1' : undefined,
    ...writeExtras(node),
  };
  return joinLink('ss', userinfo, node, query, node.name);
}
