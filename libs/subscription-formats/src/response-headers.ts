import { cleanLabel } from './fields.js';
import { decodeBase64Text } from './text/base64.js';
import { decodePercent } from './text/percent.js';

/** Quota as `subscription-userinfo` reports it. Bytes; null if the header has no value. */
export interface SubscriptionUserinfo {
  upload: number | null;
  download: number | null;
  total: number | null;
  /** Also null if the subscription does not expire. */
  expireAt: Date | null;
}

/** Other facts about a subscription in the provider's response headers. */
export interface SubscriptionProfile {
  updateIntervalHours: number | null;
  title: string | null;
  /** File name of the download, without its folder. */
  filename: string | null;
  /** http and https only, because users open it. */
  webPageUrl: string | null;
  supportUrl: string | null;
  announce: string | null;
}

/** Response headers of `fetch` or `node:http`. */
export type HeaderSource =
  Readonly<Record<string, string | readonly string[] | undefined>> | { get(name: string): string | null | undefined };

const MAX_HEADER = 8192;
const MAX_ANNOUNCE = 1000;
const PAIR = /(?:^|[;,\s])(upload|download|total|expire)\s*=\s*"?([0-9.eE+-]+)"?/gi;
/** A year of hours: longer intervals are mistakes. */
const MAX_INTERVAL_HOURS = 8784;
/** The end of 9999, in seconds. */
const MAX_EXPIRE = 253_402_300_799;

/**
 * Reads `upload=1; download=2; total=3; expire=4`. Any part may be missing, parts come in any order, figures may be
 * fractions or in exponent form. Undefined when no part can be read.
 */
export function parseUserinfo(header: string | null | undefined): SubscriptionUserinfo | undefined {
  if (header === null || header === undefined || header === '') return undefined;
  const found = new Map<string, number>();
  for (const match of header.slice(0, MAX_HEADER).matchAll(PAIR)) {
    const value = Number(match[2]);
    const key = (match[1] ?? '').toLowerCase();
    if (Number.isFinite(value) && value >= 0 && !found.has(key)) found.set(key, Math.round(value));
  }
  if (found.size === 0) return undefined;
  const bytes = (key: string): number | null => {
    const value = found.get(key);
    return value !== undefined && Number.isSafeInteger(value) ? value : null;
  };
  return {
    upload: bytes('upload'),
    download: bytes('download'),
    total: bytes('total'),
    expireAt: expiry(found.get('expire')),
  };
}

/** Converts Unix seconds; some panels send milliseconds. Zero means never. */
function expiry(value: number | undefined): Date | null {
  if (value === undefined || value === 0) return null;
  const seconds = value > MAX_EXPIRE ? value / 1000 : value;
  return seconds > MAX_EXPIRE ? null : new Date(Math.round(seconds * 1000));
}

/** Reads the profile headers that Clash clients know. An unreadable value is null. */
export function parseProfileHeaders(headers: HeaderSource): SubscriptionProfile {
  const get = headerReader(headers);
  return {
    updateIntervalHours: readHours(get('profile-update-interval')),
    title: readText(get('profile-title')),
    filename: readFilename(get('content-disposition')),
    webPageUrl: readWebUrl(get('profile-web-page-url')),
    supportUrl: readWebUrl(get('support-url')),
    announce: readText(get('announce'), MAX_ANNOUNCE),
  };
}

function headerReader(headers: HeaderSource): (name: string) => string | undefined {
  if (typeof headers.get === 'function') {
    const source = headers as { get(name: string): string | null | undefined };
    return (name) => source.get(name)?.slice(0, MAX_HEADER);
  }
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(headers as Record<string, string | readonly string[] | undefined>)) {
    const first = typeof value === 'string' ? value : value?.[0];
    if (first !== undefined) values.set(name.toLowerCase(), first.slice(0, MAX_HEADER));
  }
  return (name) => values.get(name);
}

function readHours(value: string | undefined): number | null {
  const hours = Number(value?.trim() ?? '');
  return value !== undefined && value.trim() !== '' && hours > 0 && hours <= MAX_INTERVAL_HOURS ? hours : null;
}

/** Reads a text that is plain, `base64:…`, or UTF-8 that an HTTP parser read as Latin-1. */
function readText(value: string | undefined, limit?: number): string | null {
  if (value === undefined) return null;
  const encoded = /^\s*base64:\s*([^]*)$/i.exec(value)?.[1];
  const text = encoded === undefined ? utf8OfLatin1(value) : (decodeBase64Text(encoded.trim()) ?? '');
  return cleanLabel(text, limit) ?? null;
}

/** Decodes UTF-8 that Node's HTTP parser read as Latin-1. */
function utf8OfLatin1(value: string): string {
  // oxlint-disable-next-line no-control-regex -- every Latin-1 character, one of them beyond ASCII
  if (!/^[\u0000-\u00ff]*$/.test(value) || !/[\u0080-\u00ff]/.test(value)) return value;
  const text = Buffer.from(value, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? value : text;
}

/** File name of RFC 6266: `filename*` (RFC 5987) before `filename`. */
function readFilename(value: string | undefined): string | null {
  if (value === undefined) return null;
  const extended = /(?:^|;)\s*filename\*\s*=\s*"?([A-Za-z0-9_-]*)'[^']*'([^;"]*)/i.exec(value);
  const quoted = /(?:^|;)\s*filename\s*=\s*"((?:\\.|[^"\\])*)"/i.exec(value)?.[1]?.replace(/\\(.)/g, '$1');
  const token = /(?:^|;)\s*filename\s*=\s*([^;"\s]+)/i.exec(value)?.[1];
  const name = extended === null ? decodePercent(utf8OfLatin1(quoted ?? token ?? '')) : decodeExtended(extended);
  // Only the last part, because a file name from outside must not be a path.
  return cleanLabel(name.split(/[/\\]/).pop()) ?? null;
}

function decodeExtended(match: RegExpExecArray): string {
  const latin1 = /^iso-8859-1$/i.test(match[1] ?? '');
  const value = (match[2] ?? '').trim();
  if (!latin1) return decodePercent(value);
  return value.replace(/%([0-9A-Fa-f]{2})/g, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function readWebUrl(value: string | undefined): string | null {
  const text = value?.trim() ?? '';
  if (text === '' || text.length > 2048 || !URL.canParse(text)) return null;
  const url = new URL(text);
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' ? url.href : null;
}
