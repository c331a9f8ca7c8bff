/** One page of a list. */
export interface CursorPage<T> {
  items: T[];
  /** Goes into `cursor` of the next request; null: there is nothing more. */
  next_cursor: string | null;
}
