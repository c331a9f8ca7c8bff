import type { RecordedDetail, RecordList } from '@gatehouse/tunnel-kernel';

/** Lists of several processes as one, newest first. */
export function mergeRequests<T extends Pick<RecordedDetail, 'id'>>(
  lists: readonly (Omit<RecordList, 'items'> & { items: readonly T[] })[],
  limit: number,
): Omit<RecordList, 'items'> & { items: T[] } {
  const ends = lists.flatMap(({ items, isCut }) => (isCut ? [items.at(-1)?.id ?? ''] : []));
  // A list that was cut says nothing about requests older than its last one, so the merged list ends there, too.
  const end = ends.reduce((latest, id) => (id > latest ? id : latest), '');
  const all = lists.flatMap(({ items }) => items).filter(({ id }) => id >= end);
  const items = all.sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, limit);
  return { items, isCut: ends.length > 0 && items.length < limit };
}
