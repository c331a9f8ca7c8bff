/**
 * What the list of nodes can be narrowed to, and its order, as `GET /proxies` names it; empty: not narrowed. It stands in
 * the address, so that other pages can link to a part of the list, and reloading keeps it.
 */
export type NodeFilter = {
  search: string;
  country: string;
  type: string;
  subscription_id: string;
  enabled: string;
  alive: string;
  source: string;
  tag: string;
  sort: string;
};

export const NO_FILTER: NodeFilter = {
  search: '',
  country: '',
  type: '',
  subscription_id: '',
  enabled: '',
  alive: '',
  source: '',
  tag: '',
  sort: 'id',
};

export function isNarrowed(filter: NodeFilter): boolean {
  return Object.entries(filter).some(([name, value]) => name !== 'sort' && value !== '');
}
