/** Upper ends in microseconds: from 100 µs in steps of the fourth root of 2, 84 of them, up to 2.5 minutes. */
const BOUNDS = Array.from({ length: 84 }, (_, step) => Math.round(100 * 2 ** (step / 4)));

export const BUCKETS = BOUNDS.length;

/** The bucket of a latency: nine percent off at most. */
export function bucketOf(microseconds: number): number {
  if (microseconds <= 100) return 0;
  return Math.min(BUCKETS - 1, Math.ceil(Math.log2(microseconds / 100) * 4 - 1e-6));
}

/** The latency in milliseconds that the given part of the calls did not exceed; 0 without calls. */
export function quantileMs(buckets: readonly number[], part: number): number {
  const total = buckets.reduce((sum, count) => sum + count, 0);
  if (total === 0) return 0;
  let left = Math.ceil(total * part);
  const index = buckets.findIndex((count) => (left -= count) <= 0);
  return (BOUNDS[index] ?? 0) / 1_000;
}
