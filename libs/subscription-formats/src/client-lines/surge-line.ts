import type { ProxyNode } from '@gatehouse/contracts';
import { fromClashEntry } from '../clash/from-entry.js';
import { FormatError } from '../errors.js';
import { given } from '../stream/transport.js';
import { LineOptions, MAX_LINE_LENGTH, splitLine, unquote } from './line-options.js';
import { surgeOptions } from './surge-options.js';

/** Words of Surge and Loon for a type, and its Clash name. */
const TYPES: Record<string, string> = {
  ss: 'ss',
  shadowsocks: 'ss',
  shadowsocksr: 'ssr',
  vless: 'vless',
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
const LINE = /^([^=,]{1,400})=[ \t]*([A-Za-z0-9-]{2,16})[ \t]*(?:,|$)/;

/** What a line says before its options; undefined if it is not `name = type, ...`. */
export interface SurgeLine {
  name: string;
  /** Lower case. */
  type: string;
  /** `known`: a type that is read. `builtin`: a policy such as `direct`. */
  kind: 'known' | 'builtin' | 'unknown';
}

export function readSurgeLine(line: string): SurgeLine | undefined {
  const found = LINE.exec(line);
  if (found === null) return undefined;
  const type = found[2]?.toLowerCase() ?? '';
  const kind = Object.hasOwn(TYPES, type) ? 'known' : BUILTIN.has(type) ? 'builtin' : 'unknown';
  return { name: unquote(found[1]?.trim() ?? ''), type, kind };
}

/** Whether a line is `name = type, ...` with a type of Surge or Loon. */
export function looksLikeSurgeLine(line: string): boolean {
  const found = readSurgeLine(line);
  return found !== undefined && found.kind !== 'unknown';
}

/**
 * Reads `name = type, host, port, key=value...` of Surge, or `name = type,host,port,cipher,"password",key=value...` of Loon, by
 * converting it to the equivalent Clash entry.
 * @throws FormatError
 */
export function parseSurgeLine(line: string): ProxyNode {
  if (line.length > MAX_LINE_LENGTH) throw new FormatError('entry_too_large', 'the line is longer than 64 KiB');
  const found = readSurgeLine(line);
  if (found?.kind !== 'known') {
    const code = found === undefined ? 'unrecognised_line' : 'unsupported_type';
    throw new FormatError(code, 'the line is not a proxy of Surge or Loon');
  }
  const [, ...parts] = splitLine(line.slice(line.indexOf('=') + 1));
  const options = new LineOptions(parts, 2);
  return fromClashEntry({
    name: found.name,
    type: TYPES[found.type],
    server: options.place(0),
    port: options.place(1),
    ...given('dialer-proxy', options.get('underlying-proxy')),
    ...given('udp', options.flag('udp-relay', 'udp')),
    ...surgeOptions(found.type, options),
  });
}
