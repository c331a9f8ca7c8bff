/** Replaces a secret wherever people read. */
export const MASK = '***';

/**
 * A URL without parts that may be credentials: user, password, path, query and fragment. Providers' tokens can have any
 * length.
 */
export function maskUrl(text: string): string {
  const url = URL.parse(text);
  if (!url) return MASK;
  const path = url.pathname === '/' ? '/' : `/${MASK}`;
  const credentials = url.username === '' && url.password === '' ? '' : `${MASK}@`;
  return `${url.protocol}//${credentials}${url.host}${path}${url.search === '' ? '' : `?${MASK}`}`;
}
