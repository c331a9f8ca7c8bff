import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ApiClient } from './api-client.js';
import type { LiveChanges } from './live-changes.js';

export const ApiContext = createContext<ApiClient | null>(null);

/** The lists that have changed; null where nobody announces them. */
export const ChangesContext = createContext<LiveChanges | null>(null);

/** The client of the page's service. @throws Error outside of an ApiContext. */
export function useApi(): ApiClient {
  const api = useContext(ApiContext);
  if (api === null) throw new Error('no ApiContext above this component');
  return api;
}
