/** Entries of one run of a kernel, from first to last inclusive. */
export interface SpoolRange {
  spool: string;
  first: number;
  last: number;
}

/** Appends a range, or extends the last one if the new range follows it directly. */
export function addRange(ranges: SpoolRange[], range: SpoolRange): void {
  const before = ranges.at(-1);
  if (before?.spool === range.spool && before.last + 1 === range.first) before.last = range.last;
  else ranges.push({ ...range });
}
