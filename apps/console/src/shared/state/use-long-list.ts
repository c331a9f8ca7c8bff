import { useRef, useState } from 'preact/hooks';
import { useResource } from './use-resource.js';

export interface LongList<T> {
  /** What is loaded so far, from the first row on; undefined until the first answer. */
  rows: readonly T[] | undefined;
  /** Of all rows, loaded or not. */
  total: number;
  error: string | null;
  /** Loads the same rows again. */
  reload: () => void;
  /** Loads what follows. */
  more: () => void;
}

interface LongListOptions {
  everyMs?: number;
  /** What the rows are about (see ResourceOptions). */
  areas?: readonly string[];
}

/** Rows of one request: as many as the service gives. */
export const LONG_LIST_PAGE = 500;
/** More rows are narrowed down by a search, not scrolled through. */
const MAX_ROWS = 20_000;

/** A list that is read further as the reader scrolls. Other `deps` start it again. */
export function useLongList<T>(
  load: (offset: number, signal: AbortSignal) => Promise<{ items: T[]; total: number }>,
  deps: readonly unknown[],
  { everyMs, areas }: LongListOptions = {},
): LongList<T> {
  const asked = JSON.stringify(deps);
  const [wish, setWish] = useState({ asked, rows: LONG_LIST_PAGE });
  const wanted = wish.asked === asked ? wish.rows : LONG_LIST_PAGE;
  const known = useRef<{ asked: string; rows: readonly T[] }>({ asked, rows: [] });
  const isGrowing = useRef(false);
  const { data, error, reload } = useResource(
    async (signal) => {
      const rows = isGrowing.current && known.current.asked === asked ? [...known.current.rows] : [];
      isGrowing.current = false;
      let total = 0;
      for (let isMore = true; isMore;) {
        const page = await load(rows.length, signal);
        rows.push(...page.items);
        total = page.total;
        isMore = page.items.length > 0 && rows.length < Math.min(wanted, total);
      }
      if (!signal.aborted) known.current = { asked, rows };
      return { rows, total };
    },
    [asked, wanted],
    { ...(everyMs !== undefined && { everyMs }), areas },
  );
  const more = (): void => {
    if (data === undefined || data.rows.length >= Math.min(data.total, MAX_ROWS)) return;
    isGrowing.current = true;
    setWish({ asked, rows: data.rows.length + LONG_LIST_PAGE });
  };
  return { rows: data?.rows, total: data?.total ?? 0, error, reload, more };
}
