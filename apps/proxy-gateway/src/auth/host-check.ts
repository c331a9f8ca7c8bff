import { isIP } from 'node:net';
import { AppError } from '@gatehouse/platform';
import type { RequestHandler } from 'express';

/**
 * Refuses requests for foreign names while no credential protects the service. A page can point its own name at this
 * address (DNS rebinding), and its browser then treats the service as same-origin. Only the Host header counts, because
 * the browser itself writes it.
 */
export function refuseForeignHosts(isOpen: () => boolean, names: readonly string[]): RequestHandler {
  const known = new Set(names.map((name) => name.toLowerCase()));
  return (request, _response, next) => {
    if (!isOpen() || isOwnHost(request.headers.host, known)) return next();
    next(new AppError('FORBIDDEN', 'While login is off, this name is not served; PROXY_GATEWAY_HOSTS can allow it'));
  };
}

/** Addresses cannot be rebound. `localhost` and names below it always mean this machine (RFC 6761 section 6.3). */
export function isOwnHost(host: string | undefined, known: ReadonlySet<string>): boolean {
  const url = URL.parse(`http://${host ?? ''}`);
  if (host === undefined || url === null || url.pathname !== '/' || url.username !== '') return false;
  const name = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost') || known.has(name);
}
