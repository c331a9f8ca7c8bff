import type { NodeIds, NodePage, NodeView } from '@gatehouse/contracts';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { useDebounced } from '../../shared/state/use-debounced.js';
import { useResource } from '../../shared/state/use-resource.js';
import type { NodeFilter } from './node-filter.js';
import { chunksOf, keepNodes } from './node-window.js';

/** A row of the list; `node` is there once it has been read. */
export interface NodeRow {
  id: number;
  node: NodeView | undefined;
}

export interface NodeList {
  /** All that match, in order; undefined until the first answer. */
  ids: readonly number[] | undefined;
  rows: readonly NodeRow[] | undefined;
  error: string | null;
  /** Which rows can be seen: from `first` up to and without `last`. */
  look: (first: number, last: number) => void;
  /** Reads everything again. */
  reload: () => void;
  /** Reads what can be seen again, in the order that it has. */
  refresh: () => void;
}

const LIST_MS = 15_000;
const ROWS_MS = 5_000;

/** All nodes that match by their ids, and the nodes themselves as far as they are scrolled to. */
export function useNodes(filter: NodeFilter): NodeList {
  const api = useApi();
  const asked = useDebounced(JSON.stringify(filter));
  const [range, setRange] = useState({ first: 0, last: 0 });
  const [known, setKnown] = useState<ReadonlyMap<number, NodeView>>(new Map());
  const conditions = JSON.parse(asked) as NodeFilter;
  const list = useResource((signal) => api.get<NodeIds>('/proxies/ids', conditions, signal), [asked], {
    everyMs: LIST_MS,
    areas: ['nodes'],
  });
  const chunks = chunksOf(range.first, range.last);
  const seen = useResource(
    async (signal) => {
      const pages = chunks.map((page) => api.get<NodePage>('/proxies', { ...conditions, ...page }, signal));
      return (await Promise.all(pages)).flatMap(({ items }) => items);
    },
    [asked, JSON.stringify(chunks), list.data],
    { everyMs: ROWS_MS, areas: ['nodes', 'node-health'] },
  );
  useEffect(() => {
    if (seen.data) setKnown((before) => keepNodes(before, seen.data!));
  }, [seen.data]);
  const ids = list.data?.ids;
  return {
    ids,
    rows: ids?.map((id) => ({ id, node: known.get(id) })),
    error: list.error ?? seen.error,
    look: useCallback((first: number, last: number) => setRange({ first, last }), []),
    reload: list.reload,
    refresh: seen.reload,
  };
}
