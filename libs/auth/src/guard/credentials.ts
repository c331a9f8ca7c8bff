import { AppError } from '@gatehouse/platform';
import type { IncomingHttpHeaders } from 'node:http';

/** The one secret that a request presents in its headers. Raises CREDENTIALS_CONFLICT for two different ones. */
export function presentedSecret(headers: IncomingHttpHeaders): string | undefined {
  const bearer = bearerOf(headers.authorization);
  const header = headers['x-api-key'];
  const apiKey = typeof header === 'string' ? header.trim() || undefined : header?.join(',');
  if (bearer !== undefined && apiKey !== undefined && bearer !== apiKey) {
    throw new AppError('CREDENTIALS_CONFLICT', 'Send either Authorization or X-API-Key, not two different credentials');
  }
  return bearer ?? apiKey;
}

/** RFC 6750 section 2.1; another scheme counts as no credential of ours. */
function bearerOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const match = /^bearer +([\w.~+/=-]+) *$/i.exec(authorization);
  return match?.[1];
}
