/**
 * Fields of an answer that belong to the connection to the target (RFC 9110 7.6.1). `trailer` is handled separately.
 */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
  'trailer',
  'http2-settings',
]);

/** The fields of an answer as they are sent to the visitor. */
export interface ResponseFields {
  /** Name, value, name, value … */
  fields: string[];
  /** Null: the answer does not announce its length. */
  contentLength: string | null;
  /** Names of announced trailers. */
  trailer: string | null;
}

/**
 * Accepts names and values as the parser delivers them: bytes or, from an HTTP/2 target, an object. An answer that
 * cannot have a body must not announce a length (RFC 9110 8.6): clients of HTTP/2 treat it as malformed.
 */
export function readResponseFields(raw: unknown, status = 200): ResponseFields {
  const all = asTexts(raw);
  const read: ResponseFields = { fields: [], contentLength: null, trailer: null };
  let connection: string | null = null;
  for (let at = 0; at + 1 < all.length; at += 2) {
    const name = all[at] ?? '';
    const value = all[at + 1] ?? '';
    const lower = name.toLowerCase();
    if (lower === 'content-length') {
      if (status < 200 || status === 204) continue;
      read.contentLength = value;
    }
    if (lower === 'trailer') read.trailer = value;
    if (lower === 'connection') connection = connection === null ? value : `${connection},${value}`;
    else if (!HOP_BY_HOP.has(lower) && lower.charCodeAt(0) !== 58) read.fields.push(name, value);
  }
  if (connection !== null && !/^(?:keep-alive|close)$/i.test(connection)) dropNamed(read, connection);
  return read;
}

/** Trailers: name, value, name, value … */
export function readTrailers(raw: unknown): string[] {
  const all = asTexts(raw);
  const fields: string[] = [];
  for (let at = 0; at + 1 < all.length; at += 2) {
    const name = all[at] ?? '';
    const lower = name.toLowerCase();
    // These describe the whole message and have been processed by now (RFC 9110 6.5.1).
    if (HOP_BY_HOP.has(lower) || lower === 'content-length' || lower === 'host' || lower.startsWith(':')) continue;
    fields.push(name, all[at + 1] ?? '');
  }
  return fields;
}

/** Name, value, name, value … */
function asTexts(raw: unknown): string[] {
  if (Array.isArray(raw)) return raw.map(asText);
  if (typeof raw !== 'object' || raw === null) return [];
  return Object.entries(raw).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap((one) => [name, asText(one)]),
  );
}

function asText(value: unknown): string {
  return Buffer.isBuffer(value) ? value.toString('latin1') : String(value);
}

function dropNamed(read: ResponseFields, connection: string): void {
  const names = new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
  // The length must stay: without it the answer would end elsewhere.
  names.delete('content-length');
  const { fields } = read;
  read.fields = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = fields[at] ?? '';
    if (!names.has(name.toLowerCase())) read.fields.push(name, fields[at + 1] ?? '');
  }
}

/** Size of a head in the form of HTTP/1.1, in bytes. */
export function headBytes(statusText: string, fields: readonly string[]): number {
  let bytes = 17 + statusText.length;
  for (const part of fields) bytes += part.length + 2;
  return bytes;
}
