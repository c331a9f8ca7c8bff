const ESCAPES = /(?:%[0-9A-Fa-f]{2})+/g;

/** Percent-decodes (RFC 3986). A broken escape stays unchanged, because some panels do not encode a literal `%`. */
export function decodePercent(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(ESCAPES, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
  }
}

/** Percent-encodes everything except the unreserved characters of RFC 3986. */
export function encodePercent(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
