/** The largest whole number that JavaScript, JSON and the database all hold exactly: 2^53 - 1. Counters stop there. */
export const MAX_COUNT = Number.MAX_SAFE_INTEGER;

/** The sum of two counters, which stops at `MAX_COUNT`. */
export function addCounts(one: number, other: number): number {
  return Math.min(one + other, MAX_COUNT);
}

/**
 * A `bigint` of the database as a number. One outside ±(2^53 - 1) becomes that bound: it is never rounded to another
 * number, and a list does not fail for a single counter.
 */
export function parseBigInt(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  return value > 0 ? MAX_COUNT : -MAX_COUNT;
}
