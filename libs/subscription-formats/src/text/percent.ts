const ESCAPES = /(?:%[0-9A-Fa-f]{2})+/g;

/** Percent-decodes (RFC 3986); a broken escape stays as written, because panels forget to encode a literal `%`. */
export function decodePercent(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(ESCAPES, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
  }
}

/** Percent-encodes everything but RFC 3986 unreserved characters. */
export function encodePercent(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
