import { isUtf8 } from 'node:buffer';

/** The path of a request, in one form for comparison and one for forwarding. */
export interface RequestTarget {
  /** Escapes decoded once, dot segments and empty segments removed. One character per byte. Begins with a slash. */
  path: string;
  /** Path and query for the target: unchanged where nothing had to be normalized. */
  forward: string;
  /** The path has an escaped slash or backslash, which servers interpret differently. */
  ambiguous: boolean;
}

const PERCENT = 37;
const DOT = 46;
const SLASH = 47;
const QUESTION = 63;
const HASH = 35;
const BACKSLASH = 92;
const DELETE = 127;
const UNRESERVED = /[A-Za-z0-9\-._~]/;

/**
 * Parses the target of a request in origin form (RFC 9112 3.2.1). Null for one that servers interpret differently:
 * control characters, spaces, bytes beyond ASCII that are not UTF-8, `#`, backslashes, an escaped NUL, an invalid escape,
 * and a path that leaves the root. UTF-8 is escaped, which means the same to every target (RFC 3987 3.1).
 */
export function readTarget(target: string): RequestTarget | null {
  if (target.charCodeAt(0) !== SLASH) return null;
  let end = target.length;
  let plain = true;
  let escaped = true;
  let before = 0;
  for (let at = 0; at < target.length; at++) {
    const code = target.charCodeAt(at);
    if (code <= 32 || code === DELETE || code === HASH || code === BACKSLASH) return null;
    if (code > DELETE) escaped = false;
    if (at > end) continue;
    if (code === QUESTION) end = at;
    else if (code === PERCENT || (before === SLASH && (code === SLASH || code === DOT))) plain = false;
    before = code;
  }
  if (!escaped) return isUtf8(Buffer.from(target, 'latin1')) ? readTarget(escapeBytes(target)) : null;
  if (plain) return { path: end === target.length ? target : target.slice(0, end), forward: target, ambiguous: false };
  return inOrder(target.slice(0, end), target.slice(end));
}

/** Escapes all bytes beyond ASCII. */
function escapeBytes(target: string): string {
  return target.replaceAll(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}

function inOrder(rawPath: string, query: string): RequestTarget | null {
  if (/%(?![0-9A-Fa-f]{2})|%00/.test(rawPath)) return null;
  const segments: string[] = [];
  const parts = rawPath.slice(1).split('/').map(decodeUnreserved);
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1;
    if (part === '..' && segments.pop() === undefined) return null;
    if (part === '..' || part === '.' || part === '') {
      if (last) segments.push('');
    } else segments.push(part);
  }
  const path = `/${segments.join('/')}`;
  return { path: decodeAll(path), forward: path + query, ambiguous: /%(?:2f|5c)/i.test(path) };
}

/** Decodes what means the same to every server (RFC 3986 6.2.2.2). */
function decodeUnreserved(segment: string): string {
  return segment.replaceAll(/%[0-9A-Fa-f]{2}/g, (escape) => {
    const character = decodeByte(escape);
    return UNRESERVED.test(character) ? character : escape;
  });
}

function decodeAll(path: string): string {
  return path.replaceAll(/%[0-9A-Fa-f]{2}/g, decodeByte);
}

function decodeByte(escape: string): string {
  return String.fromCharCode(Number.parseInt(escape.slice(1), 16));
}

/** A configured location in the form of `RequestTarget.path`, without a trailing slash. Null: invalid. */
export function readLocation(location: string): string | null {
  const escaped = location.replaceAll(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(character));
  const target = escaped.includes('?') ? null : readTarget(escaped);
  if (!target || target.ambiguous) return null;
  return target.path === '/' ? '/' : target.path.replace(/\/$/, '');
}
