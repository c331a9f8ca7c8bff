import type { IncomingHttpHeaders } from 'node:http';

/** How a field of a visitor's request is treated. Fields that are not in the table go to the target unchanged. */
type Treatment =
  /** Belongs to this connection, or is written by the gateway (RFC 9110 7.6.1). */
  | 'dropped'
  | 'host'
  | 'contentLength'
  | 'transferEncoding'
  | 'connection'
  | 'upgrade'
  | 'expect'
  | 'cookie'
  | 'forwardedFor'
  | 'forwardedProto'
  | 'forwardedHost'
  | 'forwardedPort';

const TREATMENTS = new Map<string, Treatment>([
  ['host', 'host'],
  ['content-length', 'contentLength'],
  ['transfer-encoding', 'transferEncoding'],
  ['connection', 'connection'],
  ['upgrade', 'upgrade'],
  ['expect', 'expect'],
  ['cookie', 'cookie'],
  ['x-forwarded-for', 'forwardedFor'],
  ['x-forwarded-proto', 'forwardedProto'],
  ['x-forwarded-host', 'forwardedHost'],
  ['x-forwarded-port', 'forwardedPort'],
  ['x-real-ip', 'dropped'],
  ['forwarded', 'dropped'],
  ['keep-alive', 'dropped'],
  ['proxy-connection', 'dropped'],
  ['proxy-authorization', 'dropped'],
  ['te', 'dropped'],
  ['trailer', 'dropped'],
  ['http2-settings', 'dropped'],
]);
/** Fields that `Connection` may not remove: those for routing, authentication and framing. */
const PROTECTED = /^(?:host|authorization|cookie|content-length|transfer-encoding|forwarded|x-real-ip|x-forwarded-.*)$/;

/** The fields of a request, sorted by their treatment. */
export interface RequestFields {
  /** Fields that go to the target: name, value, name, value … */
  kept: string[];
  host: string | null;
  contentLength: string | null;
  transferEncoding: string | null;
  connection: string | null;
  upgrade: string | null;
  expect: string | null;
  forwardedFor: string | null;
  forwardedProto: string | null;
  forwardedHost: string | null;
  forwardedPort: string | null;
  /** Size of all received fields: names, values, and four bytes each. */
  bytes: number;
  /** A singleton field appears twice. */
  repeated: boolean;
}

/**
 * Sorts raw fields (name, value, name, value …). Names with an underscore are dropped: servers behind a CGI interface
 * cannot distinguish them from those with a dash. Pseudo fields of HTTP/2 are skipped.
 */
export function sortFields(raw: readonly string[]): RequestFields {
  const fields = emptyFields();
  let cookieAt = -1;
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? '';
    const value = raw[at + 1] ?? '';
    if (name.charCodeAt(0) === 58) continue;
    fields.bytes += name.length + value.length + 4;
    const lower = name.toLowerCase();
    const treatment = TREATMENTS.get(lower);
    if (treatment === undefined) {
      if (!name.includes('_') && !lower.startsWith('x-forwarded-')) fields.kept.push(name, value);
    } else if (treatment === 'cookie') {
      // HTTP/2 may split it into several fields; HTTP/1.1 needs one (RFC 9113 8.2.3).
      if (cookieAt < 0) cookieAt = fields.kept.push(name, value) - 1;
      else fields.kept[cookieAt] += `; ${value}`;
    } else if (treatment !== 'dropped') note(fields, treatment, value);
  }
  return fields;
}

/**
 * Removes cookies of these names, also with the prefix `__Host-` (RFC 6265bis 4.1.3.2), and leaves the others
 * unchanged. Cookies ignore ports: a browser sends those of a console to every server of the same name.
 */
export function withholdCookies(fields: RequestFields, names: readonly string[]): void {
  const { kept } = fields;
  for (let at = 0; at + 1 < kept.length; at += 2) {
    const value = kept[at + 1] ?? '';
    if (kept[at]?.toLowerCase() !== 'cookie' || !names.some((name) => value.includes(name))) continue;
    const left = value.split(';').filter((pair) => !isNamed(pair, names));
    if (left.length === 0) kept.splice(at, 2);
    else kept[at + 1] = left.join(';').trimStart();
    return;
  }
}

function isNamed(pair: string, names: readonly string[]): boolean {
  const [name = ''] = pair.split('=', 1);
  return names.includes(name.trim().replace(/^__Host-/i, ''));
}

function emptyFields(): RequestFields {
  return {
    kept: [],
    host: null,
    contentLength: null,
    transferEncoding: null,
    connection: null,
    upgrade: null,
    expect: null,
    forwardedFor: null,
    forwardedProto: null,
    forwardedHost: null,
    forwardedPort: null,
    bytes: 0,
    repeated: false,
  };
}

function note(fields: RequestFields, treatment: Exclude<Treatment, 'dropped' | 'cookie'>, value: string): void {
  const before = fields[treatment];
  if (before === null) fields[treatment] = value;
  else if (treatment === 'connection' || treatment === 'forwardedFor' || treatment === 'upgrade') {
    fields[treatment] = `${before}, ${value}`;
  } else if (!treatment.startsWith('forwarded')) fields.repeated = true;
}

/**
 * Removes the fields that `Connection` lists as belonging to the connection (RFC 9110 7.6.1). False: it lists a
 * protected one.
 */
export function dropNamedByConnection(fields: RequestFields): boolean {
  const { connection } = fields;
  if (connection === null || connection === 'keep-alive' || connection === 'close') return true;
  const names = new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
  for (const name of names) if (PROTECTED.test(name.replaceAll('_', '-'))) return false;
  fields.kept = without(fields.kept, (name) => names.has(name));
  return true;
}

/** The first value of a field that goes to the target; `name` in lower case. */
export function firstField({ kept }: RequestFields, name: string): string | undefined {
  for (let at = 0; at + 1 < kept.length; at += 2) {
    const field = kept[at] ?? '';
    if (field.length === name.length && field.toLowerCase() === name) return kept[at + 1];
  }
  return undefined;
}

export function isGrpc(fields: RequestFields): boolean {
  return firstField(fields, 'content-type')?.startsWith('application/grpc') === true;
}

/** `drop` is called with names in lower case. */
export function without(fields: readonly string[], drop: (name: string) => boolean): string[] {
  const left: string[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = fields[at] ?? '';
    if (!drop(name.toLowerCase())) left.push(name, fields[at + 1] ?? '');
  }
  return left;
}

/** As in `node:http`: lower case, repeated fields joined. */
export function asHeaders(fields: readonly string[]): IncomingHttpHeaders {
  const headers: Record<string, string> = {};
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = (fields[at] ?? '').toLowerCase();
    const value = fields[at + 1] ?? '';
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined;
    // The first one counts, as in node:http: two of them could be read as two users.
    if (before !== undefined && name === 'authorization') continue;
    Object.defineProperty(headers, name, {
      value: before === undefined ? value : `${before}, ${value}`,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return headers;
}
