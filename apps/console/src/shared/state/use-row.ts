import { useApi } from '../api/api-context.js';
import { useResource } from './use-resource.js';

export interface Row<T> {
  row: T | undefined;
  /** Which version `row` is; it goes into the change. */
  etag: string | null;
  error: string | null;
  reload: () => void;
}

/** One row in its current state, with its ETag, so that a change does not overwrite someone else's. */
export function useRow<T>(path: string): Row<T> {
  const api = useApi();
  const { data, error, reload } = useResource((signal) => api.send<T>('GET', path, { signal }), [path]);
  return { row: data?.body, etag: data?.headers.get('etag') ?? null, error, reload };
}
