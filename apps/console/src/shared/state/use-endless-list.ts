import { useEffect, useRef, useState } from 'preact/hooks';
import { useApi } from '../api/api-context.js';
import type { Query } from '../api/api-client.js';
import { messageOf } from '../api/api-error.js';
import { mergeNewest, type LoadedRows } from './merge-newest.js';
import { useDebounced } from './use-debounced.js';
import { useResource } from './use-resource.js';

/** A page of a list with cursors, newest first. */
export interface CursorAnswer<T> {
  items: T[];
  next_cursor: string | null;
}

export interface EndlessList<T, A> {
  /** What is loaded so far, from the newest on; undefined until the first answer. */
  rows: readonly T[] | undefined;
  /** The last answer about the newest rows, for what it says about the whole list. */
  answer: A | undefined;
  /** Older rows exist, and there is room for them. */
  hasMore: boolean;
  loading: boolean;
  error: string | null;
  reload: () => void;
  /** Loads the next older rows. */
  more: () => void;
}

interface EndlessListOptions<T> {
  keyOf: (row: T) => string | number;
  /** How often the newest rows are read. */
  everyMs: number;
  maxRows: number;
}

/** As many as the service gives at once. */
const PAGE = 500;
/** New rows between two looks; if there are more, the list starts again at its head. */
const HEAD = 100;

/** A list with cursors that grows at its head by itself, and at its end as the reader scrolls. Another query starts it again. */
export function useEndlessList<T, A extends CursorAnswer<T>>(
  path: string,
  query: Query,
  { keyOf, everyMs, maxRows }: EndlessListOptions<T>,
): EndlessList<T, A> {
  const api = useApi();
  const settled = useDebounced(JSON.stringify(query));
  const loaded = useRef<{ of: string; list: LoadedRows<T> } | null>(null);
  const [list, setList] = useState<LoadedRows<T> | undefined>(undefined);
  const show = ({ rows, next }: LoadedRows<T>): void => {
    // A page may stay open for days.
    const shown = { rows: rows.length > maxRows ? rows.slice(0, maxRows) : rows, next };
    loaded.current = { of: settled, list: shown };
    setList(shown);
  };
  const read = (limit: number, cursor: string | null, signal: AbortSignal): Promise<A> =>
    api.get<A>(path, { ...(JSON.parse(settled) as Query), limit, cursor }, signal);
  const readHead = async (signal: AbortSignal): Promise<A> => {
    const known = loaded.current?.of === settled ? loaded.current.list : null;
    let answer = await read(known === null ? PAGE : HEAD, null, signal);
    // Older rows may have come while the head was read.
    const now = known === null ? null : loaded.current!.list;
    let merged = now === null ? headOf(answer) : mergeNewest(now, headOf(answer), keyOf);
    if (merged === null) {
      answer = await read(PAGE, null, signal);
      merged = headOf(answer);
    }
    if (!signal.aborted && merged !== now) show(merged);
    return answer;
  };
  const head = useResource(readHead, [path, settled], { everyMs });
  const tail = useTail(settled, async (signal) => {
    const known = loaded.current?.list;
    if (known === undefined || known.next === null || loaded.current?.of !== settled) return;
    const { items, next_cursor: next } = await read(PAGE, known.next, signal);
    const now = loaded.current;
    // The head may have started again meanwhile.
    if (signal.aborted || now?.of !== settled || now.list.next !== known.next) return;
    show({ rows: [...now.list.rows, ...items], next });
  });
  const isCurrent = loaded.current?.of === settled;
  const hasMore = isCurrent && list !== undefined && list.next !== null && list.rows.length < maxRows;
  return {
    rows: list?.rows,
    answer: head.data,
    hasMore,
    loading: tail.loading,
    error: head.error ?? tail.error,
    reload: () => {
      head.reload();
      tail.clear();
    },
    more: () => {
      if (hasMore) tail.start();
    },
  };
}

function headOf<T>({ items, next_cursor: next }: CursorAnswer<T>): LoadedRows<T> {
  return { rows: items, next };
}

/** Reads older rows, one request at a time; another query ends the one that runs. */
function useTail(query: string, load: (signal: AbortSignal) => Promise<void>) {
  const [state, setState] = useState<{ loading: boolean; error: string | null }>({ loading: false, error: null });
  const running = useRef<AbortController | null>(null);
  useEffect(
    () => () => {
      running.current?.abort();
      running.current = null;
      setState({ loading: false, error: null });
    },
    [query],
  );
  const start = async (): Promise<void> => {
    if (running.current !== null) return;
    const abort = (running.current = new AbortController());
    setState({ loading: true, error: null });
    let error: string | null = null;
    try {
      await load(abort.signal);
    } catch (problem) {
      error = messageOf(problem);
    }
    if (abort.signal.aborted) return;
    running.current = null;
    setState({ loading: false, error });
  };
  return { ...state, start: () => void start(), clear: () => setState((before) => ({ ...before, error: null })) };
}
