import { useEffect, useRef } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { hrefTo, parseHash } from '../../shared/state/route.js';
import { useAction } from '../../shared/state/use-action.js';

/**
 * Opens the row that the page's address names, once for each name: links to a row work from everywhere.
 *
 * @param path of the rows in the API
 * @param id as the address has it
 */
export function useNamedRow<T>(path: string, id: string | undefined, onFound: (row: T) => void): void {
  const api = useApi();
  const { run } = useAction();
  const latest = useRef(onFound);
  latest.current = onFound;
  useEffect(() => {
    if (id === undefined || !/^\d{1,15}$/.test(id)) return;
    const abort = new AbortController();
    void run(async () => {
      const row = await api.get<T>(`${path}/${id}`);
      if (!abort.signal.aborted) latest.current(row);
    });
    return () => abort.abort();
  }, [path, id]);
}

/** Takes the row out of the address, when its dialog was closed. */
export function leaveRow(): void {
  const { page, query } = parseHash(location.hash);
  if (query['id'] === undefined && query['new'] === undefined) return;
  const { id: _id, show: _show, new: _new, ...rest } = query;
  history.replaceState(null, '', hrefTo(page, rest));
  dispatchEvent(new HashChangeEvent('hashchange'));
}

/** Puts a row into the address, whose dialog has opened. */
export function nameRow(id: number): void {
  const { page, query } = parseHash(location.hash);
  history.replaceState(null, '', hrefTo(page, { ...query, id }));
}
