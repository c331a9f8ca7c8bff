/** Entries of one run of a kernel, both ends included. */
export interface SpoolRange {
  spool: string;
  first: number;
  last: number;
}

/** Adds a range to those before it; one that follows the last makes that one longer. */
export function addRange(ranges: SpoolRange[], range: SpoolRange): void {
  const before = ranges.at(-1);
  if (before?.spool === range.spool && before.last + 1 === range.first) before.last = range.last;
  else ranges.push({ ...range });
}
