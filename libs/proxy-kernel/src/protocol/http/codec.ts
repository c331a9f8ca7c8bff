/** Parses heads of HTTP/1 proxy requests and decides what a proxy passes on (RFC 9110 7.6, RFC 9112). Pure. */
import { readHeaderLine } from '@gatehouse/net';
import { DialError, NoSuchWayError, RejectedError, UserLimitError } from '../../interfaces/index.js';
import { normalHost } from '../../transport/normal-host.js';

/** Fields for a single connection (RFC 9110 7.6.1), in addition to those named by `Connection`. */
const HOP_BY_HOP = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-authenticate',
  'proxy-authentication-info',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Kept even if `Connection` names them, since they decide where a message goes and where it ends. */
const PROTECTED = new Set(['host', 'content-length']);

export class HttpRequestError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.name = 'HttpRequestError';
    this.status = status;
  }
}

export interface Authority {
  host: string;
  port: number;
}

export interface ConnectHead extends Authority {
  headers: ReadonlyMap<string, string>;
}

/** Parses the head of a CONNECT request, including the empty line. @throws HttpRequestError 400. */
export function parseConnectHead(head: string): ConnectHead {
  const lines = head.slice(0, -4).split('\r\n');
  const match = /^CONNECT (\S+) HTTP\/1\.[01]$/.exec(lines[0] ?? '');
  if (!match) throw new HttpRequestError(400, 'malformed request line');
  return { ...parseAuthority(match[1] ?? ''), headers: parseHeaderLines(lines.slice(1)) };
}

/** `host:port` or `[v6]:port`. @throws HttpRequestError 400. */
export function parseAuthority(text: string, defaultPort?: number): Authority {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/?#@[\]]+))(?::(\d{1,5}))?$/.exec(text);
  const host = normalHost(match?.[1] ?? match?.[2] ?? '');
  const port = match?.[3] === undefined ? (defaultPort ?? 0) : Number(match[3]);
  if (host === null || port < 1 || port > 65_535) throw new HttpRequestError(400, 'malformed target');
  return { host, port };
}

/**
 * Fields by lower-case name. @throws HttpRequestError 400 for folded lines, empty names, and duplicates of fields that
 * must be unique.
 */
function parseHeaderLines(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const field = readHeaderLine(line);
    if (!field) throw new HttpRequestError(400, 'malformed header');
    headers.set(field.name, field.value);
  }
  return headers;
}

/** The credentials of `Basic` (RFC 7617). Null without any. */
export function parseBasic(header: string | undefined): { username: string; password: string } | null {
  const match = /^basic +([A-Za-z0-9+/_-]+=*) *$/i.exec(header ?? '');
  if (!match) return null;
  const text = Buffer.from(match[1] ?? '', 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? null : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

export function formatBasic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** `name, value, name, value...` without the fields for a single connection. */
export function endToEndHeaders(raw: readonly string[], drop: readonly string[] = []): string[] {
  const dropped = new Set([...drop, ...connectionOptions(raw)]);
  const kept: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    if (!HOP_BY_HOP.has(name) && !dropped.has(name)) kept.push(raw[index] ?? '', raw[index + 1] ?? '');
  }
  return kept;
}

function connectionOptions(raw: readonly string[]): string[] {
  const options: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    if (raw[index]?.toLowerCase() === 'connection') options.push(...(raw[index + 1] ?? '').toLowerCase().split(','));
  }
  return options.map((option) => option.trim()).filter((option) => !PROTECTED.has(option));
}

/** The status of a proxy's answer to a request that failed. */
export function statusOf(error: unknown): number {
  if (error instanceof HttpRequestError) return error.status;
  if (error instanceof UserLimitError && error.isTemporary) return 429;
  if (error instanceof RejectedError) return 403;
  return error instanceof DialError && error.kind === 'timeout' ? 504 : 502;
}

/** The message for the client: the kind of failure, without addresses or texts of the system. */
export function publicReason(error: unknown): string {
  if (error instanceof HttpRequestError) return error.message;
  if (error instanceof UserLimitError) return error.message;
  if (error instanceof RejectedError) return 'rejected by policy';
  if (error instanceof NoSuchWayError) return error.message;
  return error instanceof DialError ? `${error.stage}: ${error.kind}` : 'the proxy could not carry out the request';
}

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  403: 'Forbidden',
  407: 'Proxy Authentication Required',
  408: 'Request Timeout',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  504: 'Gateway Timeout',
};

/** A complete answer, after which the connection closes. */
export function formatAnswer(status: number, message: string, [name, value]: readonly string[] = []): Buffer {
  const body = `${message}\n`;
  const header = name === undefined ? '' : `${name}: ${value}\r\n`;
  return Buffer.from(
    `HTTP/1.1 ${status} ${REASONS[status] ?? 'Error'}\r\n${header}Content-Type: text/plain; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const TARGETS_FIELD = 'gatehouse-targets';

/**
 * Fields of a `CONNECT` by which a client says that the target was chosen by others: the kernel then does not connect
 * to private addresses for it, whatever the name resolves to.
 */
export const PUBLIC_TARGETS_ONLY: Readonly<Record<string, string>> = { [TARGETS_FIELD]: 'public' };

export function wantsPublicTargets(headers: ReadonlyMap<string, string>): boolean {
  return headers.get(TARGETS_FIELD)?.toLowerCase() === 'public';
}

export const CHALLENGE_HEADER = 'Proxy-Authenticate';
export const CHALLENGE = 'Basic realm="proxy", charset="UTF-8"';
export const CONNECT_ACCEPTED = Buffer.from('HTTP/1.1 200 Connection established\r\n\r\n');
