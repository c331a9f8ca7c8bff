/** What stands for a secret wherever people read. */
export const MASK = '***';

/** A URL without what may be a credential: user, password, path, query and fragment. Providers' tokens come in any length. */
export function maskUrl(text: string): string {
  const url = URL.parse(text);
  if (!url) return MASK;
  const path = url.pathname === '/' ? '/' : `/${MASK}`;
  const credentials = url.username === '' && url.password === '' ? '' : `${MASK}@`;
  return `${url.protocol}//${credentials}${url.host}${path}${url.search === '' ? '' : `?${MASK}`}`;
}
