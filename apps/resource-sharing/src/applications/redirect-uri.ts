import type { ApplicationKind } from '../credentials/credential-records.js';

const MAX_LENGTH = 2_000;

/** Schemes that a browser executes or opens itself instead of passing them to an application. */
const FORBIDDEN_SCHEMES = new Set(
  [
    'about blob chrome chrome-extension content data file filesystem ftp ftps geo gopher intent jar javascript mailto',
    'moz-extension resource sms tel urn vbscript view-source ws wss',
  ]
    .join(' ')
    .split(' '),
);

const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)(?::\d{1,5})?(?=[/?]|$)/;
const PORT = /:\d{1,5}$/;

/** The reason why an address cannot be registered, or undefined. RFC 9700 section 2.1, RFC 8252 section 7. */
export function redirectUriProblem(uri: string, kind: ApplicationKind): string | undefined {
  if (uri.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`;
  if (!/^[\x21-\x7e]+$/.test(uri) || /["<>\\^`{|}*]/.test(uri)) return 'has characters that are not allowed in a URL';
  if (!URL.canParse(uri)) return 'must be an absolute URL';
  const { protocol, username, password } = new URL(uri);
  const scheme = protocol.slice(0, -1);
  if (!uri.toLowerCase().startsWith(`${scheme}:`)) return 'must be an absolute URL';
  if (FORBIDDEN_SCHEMES.has(scheme)) return `must not use the scheme ${scheme}`;
  if (uri.includes('#')) return 'must not have a fragment';
  if (username !== '' || password !== '') return 'must not contain a user name';
  return schemeProblem(uri, scheme, kind);
}

function schemeProblem(uri: string, scheme: string, kind: ApplicationKind): string | undefined {
  if (scheme === 'https') return /^https:\/\/[^/?]/i.test(uri) ? undefined : 'has no host';
  if (scheme === 'http') return LOOPBACK.test(uri) ? undefined : 'must use https, except on a loopback address';
  if (kind !== 'native') return 'must use https; custom schemes are only for native applications';
  return scheme.includes('.') ? undefined : 'must use a scheme that is a reversed domain name, such as com.example.app';
}

/**
 * The registered address that a request names: it must be equal, except for the loopback port of a native application.
 */
export function matchRedirectUri(
  given: string,
  registered: readonly string[],
  kind: ApplicationKind,
): string | undefined {
  if (registered.includes(given)) return given;
  if (kind !== 'native' || redirectUriProblem(given, kind) !== undefined) return undefined;
  const wanted = withoutPort(given);
  if (wanted === undefined) return undefined;
  return registered.some((uri) => withoutPort(uri) === wanted) ? given : undefined;
}

/** A loopback address without its port; undefined for any other. RFC 8252 section 7.3. */
function withoutPort(uri: string): string | undefined {
  const origin = LOOPBACK.exec(uri)?.[0];
  return origin === undefined ? undefined : origin.replace(PORT, '') + uri.slice(origin.length);
}
