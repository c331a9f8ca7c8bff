/** The place of a row that is dropped into a gap, counted without the row itself. Gap 0 is above the first row. */
export function moveTarget(from: number, gap: number): number {
  return gap > from ? gap - 1 : gap;
}

/** A list with one row at another place. */
export function withMoved<T>(rows: readonly T[], from: number, to: number): T[] {
  const rest = rows.filter((_, index) => index !== from);
  const row = rows[from];
  return row === undefined ? rest : [...rest.slice(0, to), row, ...rest.slice(to)];
}
