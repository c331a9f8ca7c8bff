import type { ProxyNode } from '@gatehouse/contracts';
import { fromClashEntry } from '../clash/from-entry.js';
import { FormatError } from '../errors.js';
import { canonicalPlugin } from '../stream/sip003.js';
import { given } from '../stream/transport.js';
import { LineOptions, MAX_LINE_LENGTH, splitLine } from './line-options.js';
import { lineTls } from './line-tls.js';

type Options = Record<string, unknown>;

const LINE =
  /^(shadowsocks|vmess|vless|trojan|anytls|http|socks5)[ \t]*=[ \t]*([^,=\s]{1,400}):(\d{1,6})[ \t]*(?:,|$)/i;
/** Spellings of the HTTP/1.1 disguise in Quantumult X's own examples. */
const HTTP_OBFS = new Set(['http', 'vmess-http', 'vemss-http', 'shadowsocks-http']);
const SSR_OBFS = new Set([
  'plain',
  'http_simple',
  'http_post',
  'random_head',
  'tls1.2_ticket_auth',
  'tls1.2_ticket_fastauth',
]);

/** Whether a line is `type=host:port, key=value..., tag=name` of Quantumult X. */
export function looksLikeQuantumultXLine(line: string): boolean {
  return LINE.test(line);
}

/** Name and type of a line, as far as they can be read. */
export function quantumultXLabel(line: string): { name: string | undefined; type: string } {
  const name = new LineOptions(splitLine(line), 1).get('tag');
  return { name, type: LINE.exec(line)?.[1]?.toLowerCase() ?? '' };
}

/** Reads `type=host:port, key=value..., tag=name` by converting it to the equivalent Clash entry. @throws FormatError */
export function parseQuantumultXLine(line: string): ProxyNode {
  if (line.length > MAX_LINE_LENGTH) throw new FormatError('entry_too_large', 'the line is longer than 64 KiB');
  const found = LINE.exec(line);
  if (found === null) throw new FormatError('unrecognised_line', 'the line is not a proxy of Quantumult X');
  const [, word = '', server, port] = found;
  const options = new LineOptions(splitLine(line), 1);
  const type = word.toLowerCase();
  return fromClashEntry({
    name: options.get('tag'),
    server,
    port,
    ...given('udp', options.flag('udp-relay')),
    ...typeOptions(type, options),
  });
}

function typeOptions(type: string, options: LineOptions): Options {
  const password = options.get('password');
  switch (type) {
    case 'shadowsocks':
      return isShadowsocksR(options) ? shadowsocksR(options) : shadowsocks(options);
    case 'vmess':
      return {
        type,
        uuid: password,
        cipher: options.get('method') ?? 'none',
        // `aead=false` is the old handshake, which an alterId above 0 stands for.
        alterId: options.isOff('aead') ? 1 : 0,
        ...stream(options, 'servername', false),
      };
    case 'vless':
      return { type, uuid: password, flow: options.get('vless-flow'), ...stream(options, 'servername', false) };
    case 'trojan':
      return { type, password, ...stream(options, 'sni', true) };
    case 'anytls':
      return { type, password, ...lineTls(options, 'sni', false) };
    default:
      return { type, username: options.get('username'), password, ...stream(options, 'sni', false) };
  }
}

function isShadowsocksR(options: LineOptions): boolean {
  return options.get('ssr-protocol') !== undefined || SSR_OBFS.has(options.get('obfs') ?? '');
}

function shadowsocksR(options: LineOptions): Options {
  return {
    type: 'ssr',
    cipher: options.get('method'),
    password: options.get('password'),
    protocol: options.get('ssr-protocol') ?? 'origin',
    'protocol-param': options.get('ssr-protocol-param'),
    obfs: options.get('obfs') ?? 'plain',
    'obfs-param': options.get('obfs-host'),
  };
}

function shadowsocks(options: LineOptions): Options {
  const plugin = shadowsocksPlugin(options);
  const overTcp = options.get('udp-over-tcp');
  return {
    type: 'ss',
    cipher: options.get('method'),
    password: options.get('password'),
    ...(overTcp?.startsWith('sp.') === true ? { 'udp-over-tcp': true } : {}),
    ...(plugin === undefined ? {} : { plugin: plugin.name, 'plugin-opts': plugin.options }),
  };
}

function shadowsocksPlugin(options: LineOptions): ReturnType<typeof canonicalPlugin> | undefined {
  const obfs = options.get('obfs')?.toLowerCase();
  const place = { ...given('host', options.get('obfs-host')), ...given('path', options.get('obfs-uri')) };
  if (obfs === undefined) return undefined;
  if (obfs === 'tls' || HTTP_OBFS.has(obfs))
    return canonicalPlugin('obfs', { mode: obfs === 'tls' ? 'tls' : 'http', ...place });
  if (obfs === 'ws' || obfs === 'wss') {
    const unverified = options.isOff('tls-verification') ? { 'skip-cert-verify': true } : {};
    // Quantumult X does not multiplex; v2ray-plugin does unless it is switched off.
    return canonicalPlugin('v2ray-plugin', {
      ...place,
      mode: 'websocket',
      mux: false,
      tls: obfs === 'wss',
      ...unverified,
    });
  }
  throw new FormatError('unsupported_option', 'Shadowsocks takes obfs http, tls, ws or wss only', { field: 'obfs' });
}

/** TLS and transport, which `obfs` decides together. */
function stream(options: LineOptions, serverName: 'sni' | 'servername', always: boolean): Options {
  const obfs = options.get('obfs')?.toLowerCase();
  const host = options.get('obfs-host');
  const path = options.get('obfs-uri');
  const secure = always || obfs === 'wss' || obfs === 'over-tls' || options.isOn('over-tls');
  const security = lineTls(options, serverName, secure, obfs === 'over-tls' ? host : undefined);
  if (obfs === 'ws' || obfs === 'wss') {
    return { ...security, network: 'ws', 'ws-opts': { path, headers: given('Host', host) } };
  }
  if (obfs !== undefined && HTTP_OBFS.has(obfs)) {
    const headers = host === undefined ? {} : { headers: { Host: [host] } };
    return { ...security, network: 'http', 'http-opts': { ...given('path', path), ...headers } };
  }
  if (obfs === undefined || obfs === 'over-tls') return security;
  throw new FormatError('unsupported_transport', 'obfs must be http, ws, wss or over-tls', { field: 'obfs' });
}
