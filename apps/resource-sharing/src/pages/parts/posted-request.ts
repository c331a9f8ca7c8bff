import type { Request } from 'express';
import { isAuthorizePath } from './return-address.js';

/**
 * The path to which a POST of an application leads that is an authorization request (OpenID Connect Core section 3.1.2.1)
 * and no form of this site: it changes nothing, whoever sends it. Undefined for every other request.
 */
export function postedRequest({ method, path, body }: Request): string | undefined {
  if (method !== 'POST' || !isAuthorizePath(path) || typeof body !== 'object' || body === null) return undefined;
  const given = body as Record<string, unknown>;
  if (!Object.hasOwn(given, 'client_id') || Object.hasOwn(given, 'decision')) return undefined;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) {
    // Repeated parameters stay repeated, and are refused like those of an address.
    for (const one of [value].flat()) if (typeof one === 'string') query.append(name, one);
  }
  return `${path}?${query.toString()}`;
}
