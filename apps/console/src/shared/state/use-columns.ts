import { useState } from 'preact/hooks';

/** The stored choice, without what there is no column for; the default without a choice. */
export function readColumns(stored: string | null, known: readonly string[], defaults: readonly string[]): string[] {
  try {
    const names: unknown = JSON.parse(stored ?? 'null');
    if (Array.isArray(names)) return known.filter((id) => names.includes(id));
  } catch {
    // Written by something else: as without a choice.
  }
  return [...defaults];
}

/** Which columns of a table a reader wants to see, kept in this browser. */
export function useColumns(
  table: string,
  known: readonly string[],
  defaults: readonly string[],
): [readonly string[], (chosen: readonly string[]) => void] {
  const key = `gatehouse.columns.${table}`;
  const [chosen, setChosen] = useState(() => readColumns(localStorage.getItem(key), known, defaults));
  const choose = (next: readonly string[]): void => {
    const ordered = known.filter((id) => next.includes(id));
    localStorage.setItem(key, JSON.stringify(ordered));
    setChosen(ordered);
  };
  return [chosen, choose];
}
