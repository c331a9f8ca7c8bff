/** What is loaded of a list that grows at its head, newest first. */
export interface LoadedRows<T> {
  rows: readonly T[];
  /** Where the list goes on; null at its end. */
  next: string | null;
}

/**
 * Puts a newly read head before the rows that are known already.
 *
 * @returns the same object if nothing is new; null if rows may be missing between the head and what is known
 */
export function mergeNewest<T>(
  known: LoadedRows<T>,
  head: LoadedRows<T>,
  keyOf: (row: T) => string | number,
): LoadedRows<T> | null {
  const last = head.rows.at(-1);
  if (last === undefined || head.next === null) return head;
  const lastKey = keyOf(last);
  const place = known.rows.findIndex((row) => keyOf(row) === lastKey);
  if (place < 0) return null;
  const isSame =
    place === head.rows.length - 1 && head.rows.every((row, index) => keyOf(row) === keyOf(known.rows[index]!));
  return isSame ? known : { rows: [...head.rows, ...known.rows.slice(place + 1)], next: known.next };
}
