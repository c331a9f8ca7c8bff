/**
 * Headers of every answer, names and values alternating. Pages with scripts or styles set their own
 * Content-Security-Policy.
 */
export const SECURITY_HEADERS: readonly string[] = Object.entries({
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'X-Permitted-Cross-Domain-Policies': 'none',
}).flat();

/** Header of answers over TLS, for a year. */
export const STRICT_TRANSPORT: readonly string[] = ['Strict-Transport-Security', 'max-age=31536000'];

/** Policy for a page whose scripts, styles and images all come from this service. */
export const PAGE_POLICY =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'self'";
