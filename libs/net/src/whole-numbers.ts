/** The largest whole number that JavaScript, JSON and the database all hold exactly: 2^53 - 1. Counters stop there. */
export const MAX_COUNT = Number.MAX_SAFE_INTEGER;

/** The sum of two counters, which stops at `MAX_COUNT`. */
export function addCounts(one: number, other: number): number {
  return Math.min(one + other, MAX_COUNT);
}
