export interface Route {
  /** Empty for the first page. */
  page: string;
  query: Readonly<Record<string, string>>;
}

/** `#/nodes?search=x` is the page `nodes`. The part after `#` never reaches a server, so every page can be opened directly. */
export function parseHash(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s, 2);
  return { page: path.replace(/\/+$/, ''), query: Object.fromEntries(new URLSearchParams(query)) };
}

export function hrefTo(page: string, query: Readonly<Record<string, string | number>> = {}): string {
  const entries = Object.entries(query).map(([name, value]) => [name, String(value)]);
  const text = new URLSearchParams(entries).toString();
  return `#/${page}${text === '' ? '' : `?${text}`}`;
}
