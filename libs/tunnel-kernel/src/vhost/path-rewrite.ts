/** What a target receives of a request's path. */
export interface RewrittenPath {
  /** Path and query. */
  forward: string;
  /** The beginning of the visitor's path that was replaced, for `X-Forwarded-Prefix`; empty: none. */
  prefix: string;
}

/**
 * Replaces the location at the beginning of a path. The path was found by its location, so it begins with as many segments;
 * its own spelling of them, such as their escapes, does not matter.
 *
 * @param forward path and query (`RequestTarget.forward`)
 * @param location as configured, without a trailing slash
 * @param replacement without a trailing slash; `/` removes the location
 */
export function rewritePath(forward: string, location: string, replacement: string): RewrittenPath {
  const question = forward.indexOf('?');
  const end = question < 0 ? forward.length : question;
  let at = 0;
  for (let left = location === '/' ? 0 : location.split('/').length - 1; left > 0; left -= 1) {
    const next = forward.indexOf('/', at + 1);
    at = next < 0 || next > end ? end : next;
  }
  const rest = forward.slice(at);
  const path = replacement === '/' ? rest : `${replacement}${rest}`;
  return { forward: path.startsWith('/') ? path : `/${path}`, prefix: forward.slice(0, at) };
}
