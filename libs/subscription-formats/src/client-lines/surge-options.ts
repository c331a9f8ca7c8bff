import { FormatError } from '../errors.js';
import { canonicalPlugin, type ShadowsocksPlugin } from '../stream/sip003.js';
import { given } from '../stream/transport.js';
import { readHeaderPairs, type LineOptions } from './line-options.js';
import { lineTls } from './line-tls.js';

type Options = Record<string, unknown>;

/**
 * The Clash options of a line of Surge or Loon. Surge names every option; Loon puts cipher, user and password behind the
 * port, and has other names for TLS and the transport. No name means two things, so one reader takes both.
 */
export function surgeOptions(type: string, options: LineOptions): Options {
  switch (type) {
    case 'ss':
    case 'shadowsocks':
      return shadowsocks(options);
    case 'shadowsocksr':
      return shadowsocksR(options);
    case 'vmess':
      return vmess(options);
    case 'vless':
      return {
        uuid: options.get('username') ?? options.place(2),
        flow: options.get('flow'),
        ...lineTls(options, 'servername', options.isOn('tls', 'over-tls')),
        ...transport(options),
      };
    case 'trojan':
      return { password: password(options, 2), ...lineTls(options, 'sni', true), ...transport(options) };
    case 'http':
    case 'https':
    case 'socks5':
    case 'socks5-tls':
      return proxy(type, options);
    default:
      return storedOptions(type, options);
  }
}

const password = (options: LineOptions, place: number): string | undefined =>
  options.get('password') ?? options.place(place);

function proxy(type: string, options: LineOptions): Options {
  const secure = type === 'https' || type === 'socks5-tls' || options.isOn('tls', 'over-tls');
  const headers = readHeaderPairs(options.get('headers'), ';');
  return {
    username: options.get('username') ?? options.place(2),
    password: password(options, 3),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...lineTls(options, 'sni', secure),
  };
}

function vmess(options: LineOptions): Options {
  const isOld = options.isOff('vmess-aead');
  return {
    uuid: options.get('username') ?? options.place(3),
    // `vmess-aead=false` is the old handshake, which an alterId above 0 stands for.
    alterId: options.get('alterid') ?? (isOld ? 1 : 0),
    cipher: options.get('encrypt-method') ?? options.place(2),
    ...lineTls(options, 'servername', options.isOn('tls', 'over-tls')),
    ...transport(options),
  };
}

function shadowsocks(options: LineOptions): Options {
  const plugin = shadowsocksPlugin(options);
  return {
    cipher: options.get('encrypt-method') ?? options.place(2),
    password: password(options, 3),
    ...given('udp-over-tcp', options.flag('udp-over-tcp')),
    ...(plugin === undefined ? {} : { plugin: plugin.name, 'plugin-opts': plugin.options }),
  };
}

/** Older lines of Loon have the obfuscation and its host behind the password. */
function shadowsocksPlugin(options: LineOptions): ShadowsocksPlugin | undefined {
  const obfs = options.get('obfs', 'obfs-name') ?? options.place(4);
  if (obfs !== undefined) {
    return canonicalPlugin('obfs', {
      mode: obfs,
      ...given('host', options.get('obfs-host') ?? options.place(5)),
      ...given('path', options.get('obfs-uri')),
    });
  }
  const shadow = options.get('shadow-tls-password');
  if (shadow === undefined) return undefined;
  return {
    name: 'shadow-tls',
    options: {
      password: shadow,
      ...given('host', options.get('shadow-tls-sni')),
      ...given('version', options.get('shadow-tls-version')),
    },
  };
}

function shadowsocksR(options: LineOptions): Options {
  return {
    cipher: options.place(2),
    password: options.place(3),
    protocol: options.get('protocol') ?? 'origin',
    'protocol-param': options.get('protocol-param'),
    obfs: options.get('obfs') ?? 'plain',
    'obfs-param': options.get('obfs-param', 'obfs-host'),
  };
}

/** Options of types that are stored with their Clash options. */
function storedOptions(type: string, options: LineOptions): Options {
  const secret = { password: password(options, 2), ...lineTls(options, 'sni', false) };
  switch (type) {
    case 'snell':
      return {
        psk: options.get('psk'),
        version: options.get('version'),
        ...(options.get('obfs') === undefined
          ? {}
          : { 'obfs-opts': { mode: options.get('obfs'), host: options.get('obfs-host') } }),
      };
    case 'hysteria2':
      return { ...secret, ...hysteria2(options) };
    case 'tuic':
    case 'tuic-v5':
      return { ...secret, token: options.get('token'), uuid: options.get('uuid') };
    case 'ssh':
      return { username: options.get('username'), password: options.get('password') };
    default:
      return secret;
  }
}

function hysteria2(options: LineOptions): Options {
  const salamander = options.get('salamander-password');
  return {
    ports: options.get('port-hopping', 'server-ports')?.replaceAll(';', ',').replaceAll(/\s/g, ''),
    'hop-interval': options.get('port-hopping-interval', 'hop-interval'),
    down: options.get('download-bandwidth'),
    ...(salamander === undefined ? {} : { obfs: 'salamander', 'obfs-password': salamander }),
  };
}

function transport(options: LineOptions): Options {
  const kind = options.isOn('ws') ? 'ws' : (options.get('transport', 'obfs') ?? 'tcp');
  const path = options.get('ws-path', 'path', 'obfs-path', 'obfs-uri');
  const host = options.get('host', 'obfs-host');
  switch (kind.toLowerCase()) {
    case 'ws': {
      const headers = {
        ...readHeaderPairs(options.get('obfs-header'), '[Rr][Nn]'),
        ...readHeaderPairs(options.get('ws-headers'), '|'),
        ...given('Host', host),
      };
      return { network: 'ws', 'ws-opts': { path, headers } };
    }
    case 'http':
      return {
        network: 'http',
        'http-opts': { ...given('path', path), ...(host === undefined ? {} : { headers: { Host: [host] } }) },
      };
    case 'tcp':
      return {};
    default:
      throw new FormatError('unsupported_transport', 'the transport is not known', { field: 'transport' });
  }
}
