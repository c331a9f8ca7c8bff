/** Columns as they are shown: null becomes the column's default. */
export function instant(time: Date | null): string | null {
  return time?.toISOString() ?? null;
}

export function flag(value: number | null): 0 | 1 {
  return value === 1 ? 1 : 0;
}
