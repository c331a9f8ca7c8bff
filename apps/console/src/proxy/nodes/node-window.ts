import type { NodeView } from '@gatehouse/contracts';

/** Nodes are read in chunks of this size, whose borders do not move with each row that is scrolled. */
const CHUNK = 100;
/** Nodes that are kept although they are out of sight. */
const KEPT = 2_000;

/** The pages of `GET /proxies` that contain the rows from `first` up to and without `last`. */
export function chunksOf(first: number, last: number): { limit: number; offset: number }[] {
  const begin = Math.floor(first / CHUNK);
  const end = Math.max(begin + 1, Math.ceil(last / CHUNK));
  return Array.from({ length: end - begin }, (_, index) => ({ limit: CHUNK, offset: (begin + index) * CHUNK }));
}

/** Adds nodes to those that are known; after many of them only the newest are kept. */
export function keepNodes(
  known: ReadonlyMap<number, NodeView>,
  nodes: readonly NodeView[],
): ReadonlyMap<number, NodeView> {
  const next = known.size > KEPT ? new Map<number, NodeView>() : new Map(known);
  for (const node of nodes) next.set(node.id, node);
  return next;
}
