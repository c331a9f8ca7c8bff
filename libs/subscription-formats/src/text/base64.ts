import { isUtf8 } from 'node:buffer';

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const WHITESPACE = /\s+/g;

/** Bytes of a base64 text in either alphabet, padded or not, wrapped or not; undefined when it is not base64. */
export function decodeBase64(text: string): Buffer | undefined {
  let compact = text;
  if (!BASE64.test(compact)) {
    compact = text.replace(WHITESPACE, '');
    if (!BASE64.test(compact)) return undefined;
  }
  const padding = compact.indexOf('=', compact.length - 2);
  const digits = padding === -1 ? compact.length : padding;
  // Four digits are three bytes; a single remaining digit is less than one.
  if (digits % 4 === 1) return undefined;
  return Buffer.from(compact, 'base64');
}

/** Like `decodeBase64`, as text; undefined when the bytes are not UTF-8. */
export function decodeBase64Text(text: string): string | undefined {
  const bytes = decodeBase64(text);
  if (bytes === undefined || !isUtf8(bytes)) return undefined;
  return bytes.toString('utf8');
}

export function encodeBase64Url(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64url');
}

export function encodeBase64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
