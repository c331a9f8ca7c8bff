/** A list without pages. */
export interface ItemList<T> {
  items: T[];
  total: number;
}

/** One page of a longer list. */
export interface Page<T> extends ItemList<T> {
  limit: number;
  offset: number;
}
