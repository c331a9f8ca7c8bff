import { decodePercent } from './percent.js';

const LIMIT = 200;
const MAX_SHOWN_KEYS = 40;
const MAX_KEY = 60;
const LINK = /^\s*([A-Za-z][A-Za-z0-9+.-]*):\/\//;
const ENDPOINT = /@((?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):\d{1,5})(?=[/?#]|$)/;
const PUBLIC_KEYS = new Set([
  'name',
  'type',
  'server',
  'port',
  'network',
  'tls',
  'udp',
  'cipher',
  'tag',
  'server_port',
]);

/** A rejected line or entry in a form that may be shown and stored: without credentials, at most 200 characters. */
export function redact(input: unknown): string {
  const text = typeof input === 'string' ? redactLine(input) : redactEntry(input);
  return text.length <= LIMIT ? text : `${cutText(text, LIMIT - 1)}…`;
}

/** The first `length` UTF-16 units, never half of a surrogate pair. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

function redactLine(input: string): string {
  const line = input.slice(0, 4096);
  const scheme = LINK.exec(line)?.[1];
  if (scheme === undefined) return maskWords(line.trim());
  const hash = line.indexOf('#');
  const label = hash === -1 ? '' : `#${decodePercent(line.slice(hash + 1)).trim()}`;
  const endpoint = ENDPOINT.exec(hash === -1 ? line : line.slice(0, hash))?.[1];
  return `${scheme.toLowerCase()}://***${endpoint === undefined ? '' : `@${endpoint}`}${label}`;
}

/** Keeps `host:port` and the shape of a line, and hides everything that may be a password or a token. */
function maskWords(line: string): string {
  const colons = line.split(':');
  const head = colons.length > 2 ? `${colons.slice(0, 2).join(':')}:***` : line;
  return head.slice(0, LIMIT * 2).replace(/[A-Za-z0-9+/=_-]{8,}/g, (word) => `${word.slice(0, 3)}***`);
}

/** Cuts a value before formatting it, so that the hidden part of a huge value takes no time. */
function shownValue(value: unknown): unknown {
  if (typeof value === 'string') return cutText(value, LIMIT);
  return typeof value === 'number' || typeof value === 'boolean' ? value : '***';
}

function redactEntry(entry: unknown): string {
  if (typeof entry !== 'object' || entry === null) return `(${entry === null ? 'null' : typeof entry})`;
  if (Array.isArray(entry)) return `(list of ${entry.length})`;
  const shown: Record<string, unknown> = {};
  let left = MAX_SHOWN_KEYS;
  for (const key in entry) {
    if (left === 0) break;
    left -= 1;
    shown[cutText(key, MAX_KEY)] = PUBLIC_KEYS.has(key) ? shownValue((entry as Record<string, unknown>)[key]) : '***';
  }
  return JSON.stringify(shown);
}
