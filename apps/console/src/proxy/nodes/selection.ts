/** The rows that are selected, and where the last click was. */
export interface Selection {
  ids: ReadonlySet<number>;
  /** A range goes from here to the row that is clicked with the shift key. */
  anchor: number | null;
}

export const NONE_SELECTED: Selection = { ids: new Set(), anchor: null };

/**
 * Selects a row or takes it out. With `isRange` all rows between the last click and this one become like this one.
 *
 * @param order all rows as they are shown
 */
export function toggle({ ids, anchor }: Selection, order: readonly number[], id: number, isRange: boolean): Selection {
  const isOn = !ids.has(id);
  const from = isRange && anchor !== null ? order.indexOf(anchor) : -1;
  const to = order.indexOf(id);
  const changed = from < 0 || to < 0 ? [id] : order.slice(Math.min(from, to), Math.max(from, to) + 1);
  const next = new Set(ids);
  for (const one of changed) {
    if (isOn) next.add(one);
    else next.delete(one);
  }
  return { ids: next, anchor: id };
}

/** Selects all rows, or none where all are selected. */
export function toggleAll({ ids }: Selection, order: readonly number[]): Selection {
  return order.every((id) => ids.has(id)) ? NONE_SELECTED : { ids: new Set(order), anchor: null };
}

/** What is selected of the rows that are shown, in their order: nothing happens to a row that is out of sight. */
export function selectedOf({ ids }: Selection, order: readonly number[]): number[] {
  return ids.size === 0 ? [] : order.filter((id) => ids.has(id));
}
