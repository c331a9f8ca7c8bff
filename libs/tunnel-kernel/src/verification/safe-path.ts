const MAX_LENGTH = 2048;

/** A safe target for a redirect: a path of this host, and nothing that browsers take for another host (`//`, `/\`). */
export function safePath(path: string | null | undefined): string {
  if (!path || path.length > MAX_LENGTH || !/^\/(?![/\\])[\x21-\x7e]*$/.test(path) || path.includes('\\')) return '/';
  const url = URL.parse(path, 'http://this.invalid');
  // Removing dot segments may produce `//`.
  if (!url || url.origin !== 'http://this.invalid' || /^\/\/|^\/__gw(?:\/|$)/.test(url.pathname)) return '/';
  return path;
}
