/** One page of a list. */
export interface CursorPage<T> {
  items: T[];
  /** Pass it as `cursor` for the next page; null on the last page. */
  next_cursor: string | null;
}
