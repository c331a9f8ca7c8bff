import { useEffect, useState } from 'preact/hooks';
import { useApi } from '../api/api-context.js';
import type { Query } from '../api/api-client.js';
import { FIRST_CURSOR, type CursorPage } from './cursor.js';
import { useDebounced } from './use-debounced.js';
import { useResource } from './use-resource.js';

export interface CursorList<T> {
  /** Undefined until the first answer. */
  rows: readonly T[] | undefined;
  /** Of all pages, where the service counts them. */
  total: number | undefined;
  /** For `CursorPager`. */
  pager: { page: CursorPage; next: string | null; onChange: (page: CursorPage) => void };
  sort: string;
  setSort: (sort: string) => void;
  error: string | null;
  reload: () => void;
}

interface CursorListOptions {
  /** As the API's `sort` says it. */
  sort?: string;
  everyMs?: number;
  /** What the rows are about (see ResourceOptions). */
  areas?: readonly string[];
}

/** A list that is read page by page with cursors. Another filter or order starts again at the first page. */
export function useCursorList<T>(path: string, filter: Query, options: CursorListOptions = {}): CursorList<T> {
  const api = useApi();
  const [page, setPage] = useState(FIRST_CURSOR);
  const [sort, setSort] = useState(options.sort ?? '');
  const asked = JSON.stringify(filter);
  const settled = useDebounced(asked);
  const restart = (): void => setPage((before) => ({ ...FIRST_CURSOR, limit: before.limit }));
  // A cursor belongs to the filter that it was given for.
  const [filterOfPage, setFilterOfPage] = useState(settled);
  useEffect(() => {
    if (filterOfPage === settled) return;
    setFilterOfPage(settled);
    restart();
  }, [settled]);
  const { data, error, reload } = useResource(
    (signal) => {
      const query = { ...(JSON.parse(filterOfPage) as Query), sort, limit: page.limit, cursor: page.cursor };
      return api.get<{ items: T[]; next_cursor: string | null; total?: number }>(path, query, signal);
    },
    [path, filterOfPage, page, sort],
    { ...(options.everyMs !== undefined && { everyMs: options.everyMs }), areas: options.areas },
  );
  return {
    rows: data?.items,
    total: data?.total,
    pager: { page, next: data?.next_cursor ?? null, onChange: setPage },
    sort,
    setSort: (next) => {
      setSort(next);
      restart();
    },
    error,
    reload,
  };
}
