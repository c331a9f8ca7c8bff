/** A page of a list with cursors, as it was read last. */
export interface WindowPage<T> {
  /** Where it begins; null: at the first row. */
  cursor: string | null;
  rows: readonly T[];
  /** Where the next one begins; null: this is the last. */
  next: string | null;
}

/** Which pages have the rows from `first` up to and without `last`, both included. */
export function pagesBetween<T>(
  pages: readonly WindowPage<T>[],
  first: number,
  last: number,
): { from: number; to: number } {
  let end = 0;
  const ends = pages.map(({ rows }) => (end += rows.length));
  const pageOf = (row: number): number => {
    const index = ends.findIndex((rowEnd) => row < rowEnd);
    return index < 0 ? Math.max(0, pages.length - 1) : index;
  };
  const from = pageOf(first);
  return { from, to: Math.max(from, pageOf(last - 1)) };
}

/**
 * Puts a page in its place. What follows is kept only if it still begins where this page ends: rows would be missing
 * otherwise. It is read again when the reader comes near.
 */
export function withPage<T>(
  pages: readonly WindowPage<T>[],
  index: number,
  page: WindowPage<T>,
): readonly WindowPage<T>[] {
  const after = pages.slice(index + 1);
  return [...pages.slice(0, index), page, ...(after[0]?.cursor === page.next ? after : [])];
}

/** All rows that are loaded. One that has moved between two readings is shown where it was read last. */
export function rowsOf<T>(pages: readonly WindowPage<T>[], keyOf: (row: T) => string | number): readonly T[] {
  const [only] = pages;
  if (only !== undefined && pages.length === 1) return only.rows;
  const rows = new Map<string | number, T>();
  for (const row of pages.flatMap((page) => page.rows)) {
    rows.delete(keyOf(row));
    rows.set(keyOf(row), row);
  }
  return [...rows.values()];
}
