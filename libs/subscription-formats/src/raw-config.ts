import type { ProxyNode } from '@gatehouse/contracts';
import { isRecord } from './clash/entry.js';
import { fromClashEntry } from './clash/from-entry.js';
import { readYaml } from './clash/yaml-package.js';
import { looksLikeHostLine, parseHostLine } from './documents/host-line.js';
import { looksLikeQuantumultXLine, parseQuantumultXLine } from './client-lines/quantumult-x-line.js';
import { looksLikeSurgeLine, parseSurgeLine } from './client-lines/surge-line.js';
import { fromSingBox } from './documents/sing-box.js';
import { FormatError, missing } from './errors.js';
import { linkScheme } from './links/link-url.js';
import { parseLink } from './links/registry.js';

const MAX_LENGTH = 65_536;
const TYPE_WORDS: Record<string, string> = {
  socks: 'socks5',
  shadowsocks: 'ss',
  hy2: 'hysteria2',
  wg: 'wireguard',
  https: 'http',
  mierus: 'mieru',
};

/**
 * Reads what a user entered for one node: a share link, a JSON object or YAML of one Clash entry (with `proxies:`
 * around it or not), or `host:port[:user:password]`. An empty `type` accepts any.
 * @throws FormatError; `type_mismatch` for a link of another type.
 */
export function parseRawConfig(type: string, rawConfig: string): ProxyNode {
  const text = rawConfig.trim();
  if (text === '') throw missing('raw_config');
  if (text.length > MAX_LENGTH) throw new FormatError('entry_too_large', 'raw_config is longer than 64 KiB');
  const wanted = wantedType(type);
  const node = read(text, wanted);
  if (wanted !== undefined && node.type !== wanted) {
    throw new FormatError('type_mismatch', `type is ${wanted}, but raw_config describes a node of type ${node.type}`, {
      field: 'type',
    });
  }
  return node;
}

function wantedType(type: string): string | undefined {
  const word = type.trim().toLowerCase();
  return word === '' || word === 'auto' ? undefined : (TYPE_WORDS[word] ?? word);
}

function read(text: string, type: string | undefined): ProxyNode {
  if (linkScheme(text) !== undefined) {
    if (/[\r\n]/.test(text)) throw new FormatError('invalid_link', 'raw_config must hold one link only');
    return parseLink(text);
  }
  if (looksLikeHostLine(text)) return hostNode(text, type);
  if (!text.includes('\n') && looksLikeSurgeLine(text)) return parseSurgeLine(text);
  if (!text.includes('\n') && looksLikeQuantumultXLine(text)) return parseQuantumultXLine(text);
  return entryNode(singleEntry(readObject(text)), type);
}

/** A bare endpoint is an HTTP proxy unless the type is SOCKS. */
function hostNode(text: string, type: string | undefined): ProxyNode {
  const { headers: _headers, ...node } = parseHostLine(text);
  return type === 'socks5' ? { ...node, type } : node;
}

function readObject(text: string): unknown {
  if (text.startsWith('{') || text.startsWith('[')) {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      // YAML in flow style looks like this, too.
      return readYaml(text);
    }
  }
  return readYaml(text);
}

function singleEntry(document: unknown): unknown {
  const list: unknown = isRecord(document) ? (document['proxies'] ?? document) : document;
  if (!Array.isArray(list)) return list;
  if (list.length !== 1) throw new FormatError('invalid_entry', 'raw_config must hold exactly one entry');
  return list[0] as unknown;
}

function entryNode(entry: unknown, type: string | undefined): ProxyNode {
  if (!isRecord(entry)) {
    throw new FormatError('invalid_entry', 'raw_config is neither a share link, a JSON object nor a Clash entry');
  }
  if (entry['server_port'] !== undefined) return fromSingBox(entry);
  const own: Record<string, unknown> = { ...entry };
  if (own['type'] === undefined && type !== undefined) own['type'] = type;
  return fromClashEntry(own);
}
