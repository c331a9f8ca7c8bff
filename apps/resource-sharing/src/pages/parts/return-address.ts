const MAX_LENGTH = 8_000;
const SCHEME = /^([a-z][a-z0-9+.-]*):/i;

/** A path of this site to continue with; undefined for anything that could lead to another site. */
export function ownPath(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > MAX_LENGTH) return undefined;
  // Browsers treat a backslash as a slash and drop tabs and line breaks: `/\evil.example` is another site.
  if (!/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text)) return undefined;
  const origin = 'http://own.invalid';
  if (!URL.canParse(text, origin)) return undefined;
  const { pathname, search, origin: found } = new URL(text, origin);
  return found === origin && !pathname.startsWith('//') ? `${pathname}${search}` : undefined;
}

/** The login page with the path to continue with. */
export function loginPath(returnTo: string | undefined, page: '/login' | '/register' = '/login'): string {
  return returnTo === undefined || returnTo === '/' ? page : `${page}?return_to=${encodeURIComponent(returnTo)}`;
}

/** The same path with one parameter of that name. */
export function withParameter(path: string, name: string, value: string): string {
  const { pathname, searchParams } = new URL(path, 'http://own.invalid');
  searchParams.set(name, value);
  return `${pathname}?${searchParams.toString()}`;
}

/** The account that an application expects at the login for its request (OpenID Connect Core section 3.1.2.1). */
export function loginHintOf(path: string | undefined): string | undefined {
  if (path === undefined || !isAuthorizePath(path)) return undefined;
  return new URL(path, 'http://own.invalid').searchParams.get('login_hint')?.slice(0, 200) || undefined;
}

/** Whether a path is the one on which users authorize applications. */
export function isAuthorizePath(path: string): boolean {
  return /^\/(?:openapi|oauth2)\/authorize(?:\?|$)/.test(path);
}

/**
 * What `form-action` has to allow besides this site: browsers also apply it to redirects after a form, and the one
 * after a consent leads to the application. Schemes only, because the application may redirect further.
 */
export function formTargetsOf(redirectUri: string | null | undefined): string {
  const scheme = SCHEME.exec(redirectUri ?? '')?.[1]?.toLowerCase();
  return scheme === undefined || scheme === 'https' ? 'https:' : `https: ${scheme}:`;
}
