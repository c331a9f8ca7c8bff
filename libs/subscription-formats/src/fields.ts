import { isIP, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { FormatError, invalid, missing } from './errors.js';
import { cutText } from './text/redact.js';

const HOST_NAME = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/;
const UUID = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/;
// oxlint-disable-next-line no-control-regex -- names come from outside and may have control characters
const CONTROLS = /(?:[\u0000-\u001f\u007f-\u009f\u2028\u2029]|\p{Surrogate})+/gu;
const NAME_LIMIT = 200;

/** Host name (lower case, IDN as punycode, no final dot) or address literal (IPv6 canonical, no brackets). */
export function readServer(raw: string, field = 'server'): string {
  let host = raw.trim();
  if (host === '') throw missing(field);
  if (host.startsWith('[') && host.endsWith(']')) host = host.slice(1, -1);
  if (host.includes(':')) return readIpv6(host, field);
  // oxlint-disable-next-line no-control-regex -- tests for ASCII
  if (!/^[\u0000-\u007f]*$/.test(host)) host = domainToASCII(host);
  host = host.toLowerCase();
  if (host.endsWith('.')) host = host.slice(0, -1);
  if (host.length > 253 || !HOST_NAME.test(host) || host.includes('..')) throw badServer(field);
  return host;
}

function readIpv6(host: string, field: string): string {
  if (!isIPv6(host) || host.includes('%')) throw badServer(field);
  return new URL(`http://[${host}]`).hostname.slice(1, -1);
}

function badServer(field: string): FormatError {
  return new FormatError('invalid_server', `${field} is not a host name or an address`, { field });
}

export function readPort(raw: string | number | undefined, field = 'port'): number {
  if (raw === undefined || raw === '') throw missing(field);
  const text = String(raw).trim();
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65535) {
    throw new FormatError('invalid_port', `${field} must be a whole number from 1 to 65535`, { field });
  }
  return port;
}

/**
 * A user id of VMess and VLESS. A UUID becomes lower case with dashes; other text up to 30 bytes stays as it is,
 * since servers map it to a UUID v5 (Xray).
 */
export function readUuid(raw: string, field = 'uuid'): string {
  const text = raw.trim();
  if (text === '') throw missing(field);
  const parts = UUID.exec(text.toLowerCase());
  if (parts !== null) return parts.slice(1).join('-');
  if (Buffer.byteLength(text) > 30 || /\s/.test(text)) {
    throw new FormatError('invalid_uuid', `${field} is not a UUID`, { field });
  }
  return text;
}

export function readSecret(raw: string | undefined, field: string): string {
  if (raw === undefined || raw === '') throw missing(field);
  return raw;
}

/** A label: one line, trimmed, at most 200 characters; `server:port` when there is none. */
export function readName(raw: string | undefined, server: string, port: number): string {
  return cleanLabel(raw) ?? defaultName(server, port);
}

/** Like `readName` without a default: undefined when nothing is left. */
export function cleanLabel(raw: string | undefined, limit = NAME_LIMIT): string | undefined {
  if (raw === undefined) return undefined;
  const label = cutText(raw.replace(CONTROLS, ' ').trim(), limit).trim();
  return label === '' ? undefined : label;
}

export function defaultName(server: string, port: number): string {
  return `${hostInUrl(server)}:${port}`;
}

/** Brackets around IPv6 (RFC 3986 3.2.2). */
export function hostInUrl(server: string): string {
  return server.includes(':') ? `[${server}]` : server;
}

const TRUE_WORDS = new Set(['1', 'true', 'yes', 'on']);
const FALSE_WORDS = new Set(['0', 'false', 'no', 'off', '']);

/** A boolean as links write it; undefined when absent or empty. */
export function readSwitch(raw: unknown, field: string): boolean | undefined {
  if (raw === undefined || raw === null || raw === '') return undefined;
  if (typeof raw === 'boolean') return raw;
  const word = typeof raw === 'string' || typeof raw === 'number' ? String(raw).trim().toLowerCase() : 'invalid';
  if (TRUE_WORDS.has(word)) return true;
  if (FALSE_WORDS.has(word)) return false;
  throw invalid(field, 'true or false');
}

/** A whole number from `min`; undefined when absent or empty. */
export function readCount(raw: unknown, field: string, min = 0): number | undefined {
  if (raw === undefined || raw === null || raw === '') return undefined;
  const value =
    typeof raw === 'number' ? raw : typeof raw === 'string' && /^\d{1,15}$/.test(raw.trim()) ? Number(raw) : NaN;
  if (!Number.isSafeInteger(value) || value < min) throw invalid(field, `a whole number from ${min}`);
  return value;
}

/** The default server name of a TLS handshake: the Host header, if it is a host name (as in mihomo and v2rayN). */
export function serverNameOf(hostHeader: string | undefined): string | undefined {
  if (hostHeader === undefined) return undefined;
  const host = hostHeader.replace(/:\d+$/, '').toLowerCase();
  return isIP(host) === 0 && HOST_NAME.test(host) ? host : undefined;
}

// oxlint-disable-next-line no-control-regex -- NUL cannot be stored as text or JSON in PostgreSQL
const UNSTORABLE = /\u0000|\p{Surrogate}/u;

/** Refuses text that databases and other programs cannot store: NUL and halves of surrogate pairs. */
export function checkStorable(value: unknown, field = ''): void {
  if (typeof value === 'string') {
    if (UNSTORABLE.test(value)) throw invalid(field, 'text without NUL characters');
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const record = value as Record<string, unknown>;
  for (const key of Object.keys(record)) {
    if (UNSTORABLE.test(key)) throw invalid(field, 'named without NUL characters');
    const inner = record[key];
    if (typeof inner !== 'string' && typeof inner !== 'object') continue;
    checkStorable(inner, field === '' || Array.isArray(value) ? field || key : `${field}.${key}`);
  }
}
