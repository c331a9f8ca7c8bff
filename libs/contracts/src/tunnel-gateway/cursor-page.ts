/** One page of a list. */
export interface CursorPage<T> {
  items: T[];
  /** Send it as `cursor` of the next request; null: this is the last page. */
  next_cursor: string | null;
}
