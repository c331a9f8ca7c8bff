import { useMemo, useRef, useState } from 'preact/hooks';
import type { Query } from '../api/api-client.js';
import { useApi } from '../api/api-context.js';
import { pagesBetween, rowsOf, withPage, type WindowPage } from './cursor-window.js';
import { useDebounced } from './use-debounced.js';
import { useResource } from './use-resource.js';

export interface CursorWindow<T> {
  /** What is loaded so far, from the first row on; undefined until the first answer. */
  rows: readonly T[] | undefined;
  /** Rows that the reader sees. */
  seen: readonly T[];
  sort: string;
  setSort: (sort: string) => void;
  error: string | null;
  reload: () => void;
  /** For `VirtualTable`. */
  onEnd: () => void;
  onView: (first: number, last: number) => void;
}

interface CursorWindowOptions {
  /** As the API's `sort` says it. */
  sort?: string;
  everyMs?: number;
  /** What the rows are about (see ResourceOptions). */
  areas?: readonly string[];
}

interface Loaded<T> {
  asked: string;
  pages: readonly WindowPage<T>[];
}

/** As many as the services give at once. */
const PAGE = 200;

/**
 * A list with cursors that is read further as the reader scrolls, however long it is. Only the pages that the reader sees
 * are read again. Another filter or order starts again at the first row.
 */
export function useCursorWindow<T extends { id: number }>(
  path: string,
  filter: Query,
  { sort: firstSort = '', everyMs, areas }: CursorWindowOptions = {},
): CursorWindow<T> {
  const api = useApi();
  const [sort, setSort] = useState(firstSort);
  const asked = useDebounced(JSON.stringify([path, { ...filter, sort }]));
  const loaded = useRef<Loaded<T>>({ asked: '', pages: [] });
  const [view, setView] = useState({ first: 0, last: 0 });
  /** Counts how often the reader came to the end. */
  const [ends, setEnds] = useState(0);
  const isGrowing = useRef(false);
  const known = loaded.current.asked === asked ? loaded.current.pages : [];
  const { from, to } = pagesBetween(known, view.first, view.last);
  const read = async (pages: readonly WindowPage<T>[], index: number, signal: AbortSignal) => {
    const [of, query] = JSON.parse(asked) as [string, Query];
    const cursor = index === 0 ? null : (pages[index - 1]?.next ?? null);
    if (index > 0 && cursor === null) return pages;
    const page = { ...query, limit: PAGE, cursor };
    const { items, next_cursor: next } = await api.get<{ items: T[]; next_cursor: string | null }>(of, page, signal);
    return withPage(pages, index, { cursor, rows: items, next });
  };
  const { data, error, reload } = useResource(
    async (signal): Promise<Loaded<T>> => {
      let pages = loaded.current.asked === asked ? loaded.current.pages : [];
      for (let index = from; index <= to; index++) pages = await read(pages, index, signal);
      if (isGrowing.current) pages = await read(pages, pages.length, signal);
      if (!signal.aborted) {
        isGrowing.current = false;
        loaded.current = { asked, pages };
      }
      return { asked, pages };
    },
    [asked, ends, from, to],
    { ...(everyMs !== undefined && { everyMs }), areas },
  );
  const rows = useMemo(() => data && rowsOf(data.pages, ({ id }) => id), [data]);
  return {
    rows,
    seen: rows?.slice(view.first, view.last) ?? [],
    sort,
    setSort,
    error,
    reload,
    onEnd: () => {
      if (!known.at(-1)?.next) return;
      isGrowing.current = true;
      setEnds((before) => before + 1);
    },
    onView: (first, last) => setView({ first, last }),
  };
}
