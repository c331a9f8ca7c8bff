/** What the list of nodes can be narrowed to, as `GET /proxies` names it; empty: not narrowed. */
export interface NodeFilter {
  search: string;
  country: string;
  type: string;
  subscription_id: string;
  enabled: string;
  alive: string;
  source: string;
  tag: string;
}

export const NO_FILTER: NodeFilter = {
  search: '',
  country: '',
  type: '',
  subscription_id: '',
  enabled: '',
  alive: '',
  source: '',
  tag: '',
};

/** Takes from an address what it knows, so that other pages can link to a part of the list. */
export function filterFrom(query: Readonly<Record<string, string>>): NodeFilter {
  const known = Object.keys(NO_FILTER) as (keyof NodeFilter)[];
  return { ...NO_FILTER, ...Object.fromEntries(known.flatMap((key) => (query[key] ? [[key, query[key]]] : []))) };
}
