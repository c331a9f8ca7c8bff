/** A list that is short enough to come whole. */
export interface ItemList<T> {
  items: T[];
  total: number;
}

/** One page of a longer list. */
export interface Page<T> extends ItemList<T> {
  limit: number;
  offset: number;
}
