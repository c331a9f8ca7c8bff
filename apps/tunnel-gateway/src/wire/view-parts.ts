/** Columns of the data model as they are shown: those that may be empty have what their default says. */
export function instant(time: Date | null): string | null {
  return time?.toISOString() ?? null;
}

export function flag(value: number | null): 0 | 1 {
  return value === 1 ? 1 : 0;
}
