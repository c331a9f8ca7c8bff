const MAX_LENGTH = 2048;

/** Where a visitor is sent back to: a path of this very host and nothing that a browser takes for another (`//`, `/\`). */
export function safePath(path: string | null | undefined): string {
  if (!path || path.length > MAX_LENGTH || !/^\/(?![/\\])[\x21-\x7e]*$/.test(path) || path.includes('\\')) return '/';
  const url = URL.parse(path, 'http://this.invalid');
  // Dot segments may make `//` of it.
  if (!url || url.origin !== 'http://this.invalid' || /^\/\/|^\/__gw(?:\/|$)/.test(url.pathname)) return '/';
  return path;
}
