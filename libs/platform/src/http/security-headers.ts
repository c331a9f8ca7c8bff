import type { NextFunction, Request, Response } from 'express';

/** Every value is fixed, so they are set from one list: the answer of an API needs no policy computed per request. */
const HEADERS: readonly (readonly [string, string])[] = [
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['X-Permitted-Cross-Domain-Policies', 'none'],
];

const ONE_YEAR = 'max-age=31536000';

/** Security headers of every answer. Pages that need scripts or styles replace the Content-Security-Policy themselves. */
export function securityHeaders(request: Request, response: Response, next: NextFunction): void {
  for (const [name, value] of HEADERS) response.setHeader(name, value);
  if (request.secure) response.setHeader('Strict-Transport-Security', ONE_YEAR);
  next();
}

/** Policy for a page whose scripts, styles and images all come from this service. */
export const PAGE_POLICY =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'self'";
