import type { IncomingHttpHeaders } from 'node:http';
import type { VisitorRequest } from '../access/visitor-verifier.js';

type Asked = Pick<VisitorRequest, 'scheme' | 'headers'>;

/** Another site may have set one of the same name for a wider domain. */
const MAX_VALUES = 4;
const OWN = /^(?:__Host-)?gw(?:c|[vs]_\d+)$/;

/** Uses the prefix that only this very host can set, where possible (RFC 6265bis 4.1.3.2). */
export function cookieName({ scheme }: Pick<Asked, 'scheme'>, name: string): string {
  return scheme === 'https' ? `__Host-${name}` : name;
}

/** The values of this name that the visitor sent. */
export function cookieValues({ headers }: Pick<Asked, 'headers'>, name: string): string[] {
  const values: string[] = [];
  for (const [key, value] of cookiesOf(headers)) {
    if (key === name && values.length < MAX_VALUES) values.push(value);
  }
  return values;
}

/** `Cookie` without the gateway's own; null if nothing is left, undefined if there was nothing to remove. */
export function foreignCookies(headers: IncomingHttpHeaders): string | null | undefined {
  const all = cookiesOf(headers);
  const foreign = all.filter(([name]) => !OWN.test(name));
  if (foreign.length === all.length) return undefined;
  return foreign.length === 0 ? null : foreign.map(([name, value]) => (name ? `${name}=${value}` : value)).join('; ');
}

/** Without `maxAge` (seconds) it ends with the browser session. */
export function setCookie(asked: Asked, name: string, value: string, maxAge?: number): [string, string] {
  const parts = [`${cookieName(asked, name)}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Lax'];
  if (asked.scheme === 'https') parts.push('Secure');
  if (maxAge !== undefined) parts.push(`Max-Age=${maxAge}`);
  return ['set-cookie', parts.join('; ')];
}

function cookiesOf({ cookie = '' }: IncomingHttpHeaders): [string, string][] {
  return cookie.split(';').flatMap((part): [string, string][] => {
    const text = part.trim();
    const equals = text.indexOf('=');
    return text === '' ? [] : [equals < 0 ? ['', text] : [text.slice(0, equals).trim(), text.slice(equals + 1).trim()]];
  });
}
