/** Fields of an answer that belong to the connection to the target (RFC 9110 7.6.1). `trailer` is looked at apart. */
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

/** The fields of an answer as a visitor gets them. */
export interface ResponseFields {
  /** Name, value, name, value … */
  fields: string[];
  /** Null: the answer does not say how long it is. */
  contentLength: string | null;
  /** Names of fields that follow the body, as the target says. */
  trailer: string | null;
}

/**
 * Takes names and values as the parser has them: bytes, or, of an HTTP/2 target, an object. An answer that can have no body
 * must not say how long it is (RFC 9110 8.6): visitors over HTTP/2 take it for malformed.
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

/** Name, value, name, value … of what follows a body. */
export function readTrailers(raw: unknown): string[] {
  const all = asTexts(raw);
  const fields: string[] = [];
  for (let at = 0; at + 1 < all.length; at += 2) {
    const name = all[at] ?? '';
    const lower = name.toLowerCase();
    // They speak of the message as a whole, which has been acted upon by now (RFC 9110 6.5.1).
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
  // Not its length: without it the end of the answer would be somewhere else.
  names.delete('content-length');
  const { fields } = read;
  read.fields = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = fields[at] ?? '';
    if (!names.has(name.toLowerCase())) read.fields.push(name, fields[at + 1] ?? '');
  }
}

/** Bytes of a head in the form of HTTP/1.1. */
export function headBytes(statusText: string, fields: readonly string[]): number {
  let bytes = 17 + statusText.length;
  for (const part of fields) bytes += part.length + 2;
  return bytes;
}
