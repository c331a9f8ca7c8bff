import type { ProxyNode } from '@gatehouse/contracts';
import { fromClashEntry } from '../clash/from-entry.js';
import type { EntrySink } from '../entry-sink.js';
import { FormatError } from '../errors.js';
import { canonicalPlugin } from '../stream/sip003.js';
import { given } from '../stream/transport.js';
import { eachLine } from '../text/lines.js';

type Options = Record<string, unknown>;

const TYPES: Record<string, string> = {
  ss: 'ss',
  vmess: 'vmess',
  trojan: 'trojan',
  http: 'http',
  https: 'http',
  socks5: 'socks5',
  'socks5-tls': 'socks5',
  snell: 'snell',
  tuic: 'tuic',
  'tuic-v5': 'tuic',
  hysteria2: 'hysteria2',
  ssh: 'ssh',
  anytls: 'anytls',
};
const BUILTIN = new Set(['direct', 'reject', 'reject-tinygif', 'reject-drop', 'reject-no-drop']);
const SECTION = /^\[[ \t]*([A-Za-z][A-Za-z ]*)\]$/;
const COMMENT = /^(?:#|\/\/|;)/;
const LINE = /^([^=,]{1,400})=[ \t]*([A-Za-z0-9-]{2,16})[ \t]*(?:,|$)/;
const MAX_LINE = 65_536;

/** Whether a line is `name = type, ...` with a type of Surge. */
export function looksLikeSurgeLine(line: string): boolean {
  const type = LINE.exec(line)?.[2]?.toLowerCase();
  return type !== undefined && (Object.hasOwn(TYPES, type) || BUILTIN.has(type));
}

/** Whether the text is a Surge configuration, or a list of Surge lines. Looks at the first lines only. */
export function looksLikeSurge(text: string): boolean {
  let looked = 0;
  for (const raw of eachLine(text)) {
    const line = raw.trim();
    if (line === '' || COMMENT.test(line)) continue;
    if (SECTION.test(line) || looksLikeSurgeLine(line)) return true;
    looked += 1;
    if (looked >= 20) return false;
  }
  return false;
}

/** Reads the lines of the `[Proxy]` section, or of the whole text where there are no sections. */
export function readSurge(text: string, sink: EntrySink): void {
  sink.result.format = 'surge';
  let line = 0;
  let section = 'proxy';
  for (const raw of eachLine(text)) {
    line += 1;
    const entry = raw.trim();
    if (entry === '' || COMMENT.test(entry)) continue;
    const heading = SECTION.exec(entry)?.[1];
    if (heading !== undefined) section = heading.toLowerCase();
    else if (section === 'proxy') addSurgeLine(entry, line, sink);
  }
}

function addSurgeLine(entry: string, line: number, sink: EntrySink): void {
  const found = LINE.exec(entry);
  const type = found?.[2]?.toLowerCase() ?? '';
  if (BUILTIN.has(type)) {
    sink.ignore();
    return;
  }
  sink.add({
    line,
    read: () => parseSurgeLine(entry),
    raw: () => entry,
    label: () => found?.[1]?.trim(),
    shown: () => ({ name: found?.[1]?.trim() ?? '', type }),
  });
}

/** Reads `name = type, host, port, key=value...` of Surge by converting it to the equivalent Clash entry. */
export function parseSurgeLine(line: string): ProxyNode {
  if (line.length > MAX_LINE) throw new FormatError('entry_too_large', 'the line is longer than 64 KiB');
  const found = LINE.exec(line);
  const word = found?.[2]?.toLowerCase() ?? '';
  if (found === null || !Object.hasOwn(TYPES, word)) {
    throw new FormatError(
      found === null ? 'unrecognised_line' : 'unsupported_type',
      'the line is not a proxy of Surge',
    );
  }
  const [, ...parts] = splitQuoted(line.slice(line.indexOf('=') + 1));
  const settings = new SurgeOptions(parts);
  return fromClashEntry({
    name: unquote(found[1]?.trim() ?? ''),
    type: TYPES[word],
    server: settings.place(0),
    port: settings.place(1),
    ...given('dialer-proxy', settings.get('underlying-proxy')),
    ...protocolOptions(word, settings),
  });
}

/** The values after host and port: positional ones and `key=value` pairs, with keys in lower case. */
class SurgeOptions {
  private readonly places: string[] = [];
  private readonly pairs = new Map<string, string>();

  constructor(parts: readonly string[]) {
    for (const part of parts) {
      const equals = part.indexOf('=');
      const key = part.slice(0, Math.max(equals, 0)).trim().toLowerCase();
      if (this.places.length >= 2 && equals > 0 && /^[a-z0-9-]+$/.test(key)) {
        this.pairs.set(key, unquote(part.slice(equals + 1).trim()));
      } else this.places.push(unquote(part.trim()));
    }
  }

  place(index: number): string | undefined {
    return this.places[index];
  }

  get(key: string): string | undefined {
    const value = this.pairs.get(key);
    return value === '' ? undefined : value;
  }

  isOn(key: string): boolean {
    return this.get(key)?.toLowerCase() === 'true' || this.get(key) === '1';
  }
}

function protocolOptions(type: string, options: SurgeOptions): Options {
  switch (type) {
    case 'ss':
      return shadowsocks(options);
    case 'vmess':
      return {
        uuid: options.get('username'),
        // `vmess-aead=false` is the old handshake, which an alterId above 0 stands for.
        alterId: options.get('vmess-aead')?.toLowerCase() === 'false' ? 1 : 0,
        cipher: options.get('encrypt-method'),
        ...tls(options, 'servername', options.isOn('tls')),
        ...webSocket(options),
      };
    case 'trojan':
      return { password: options.get('password'), ...tls(options, 'sni', true), ...webSocket(options) };
    case 'http':
    case 'https':
    case 'socks5':
    case 'socks5-tls':
      return {
        username: options.get('username') ?? options.place(2),
        password: options.get('password') ?? options.place(3),
        ...tls(options, 'sni', type === 'https' || type === 'socks5-tls'),
      };
    default:
      return storedOptions(type, options);
  }
}

function shadowsocks(options: SurgeOptions): Options {
  const obfs = options.get('obfs');
  const shadow = options.get('shadow-tls-password');
  const plugin =
    obfs !== undefined
      ? canonicalPlugin('obfs', {
          mode: obfs,
          ...given('host', options.get('obfs-host')),
          ...given('path', options.get('obfs-uri')),
        })
      : shadow !== undefined
        ? {
            name: 'shadow-tls',
            options: {
              password: shadow,
              ...given('host', options.get('shadow-tls-sni')),
              ...given('version', options.get('shadow-tls-version')),
            },
          }
        : undefined;
  return {
    cipher: options.get('encrypt-method'),
    password: options.get('password'),
    ...(options.get('udp-relay') === undefined ? {} : { udp: options.isOn('udp-relay') }),
    ...(plugin === undefined ? {} : { plugin: plugin.name, 'plugin-opts': plugin.options }),
  };
}

/** Options of types that are only stored and exported. */
function storedOptions(type: string, options: SurgeOptions): Options {
  const secret = { password: options.get('password'), ...tls(options, 'sni', false) };
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
      return {
        ...secret,
        ports: options.get('port-hopping')?.replaceAll(';', ','),
        'hop-interval': options.get('port-hopping-interval'),
        down: options.get('download-bandwidth'),
      };
    case 'tuic':
    case 'tuic-v5':
      return { ...secret, token: options.get('token'), uuid: options.get('uuid') };
    case 'ssh':
      return { username: options.get('username'), password: options.get('password') };
    default:
      return secret;
  }
}

function tls(options: SurgeOptions, serverName: 'sni' | 'servername', on: boolean): Options {
  const sni = options.get('sni');
  return {
    ...(on ? { tls: true } : {}),
    ...given(serverName, sni?.toLowerCase() === 'off' ? undefined : sni),
    ...given('alpn', options.get('alpn')),
    ...(options.isOn('skip-cert-verify') ? { 'skip-cert-verify': true } : {}),
    ...given('fingerprint', options.get('server-cert-fingerprint-sha256')),
  };
}

function webSocket(options: SurgeOptions): Options {
  if (!options.isOn('ws')) return {};
  const headers: Record<string, string> = {};
  for (const pair of (options.get('ws-headers') ?? '').split('|')) {
    const colon = pair.indexOf(':');
    if (colon > 0) headers[pair.slice(0, colon).trim()] = unquote(pair.slice(colon + 1).trim());
  }
  return { network: 'ws', 'ws-opts': { path: options.get('ws-path'), headers } };
}

/** Splits at commas outside of double quotes. */
function splitQuoted(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') quoted = !quoted;
    else if (character === ',' && !quoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

function unquote(text: string): string {
  return text.length >= 2 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}
