import type { FlowCount } from './accounting-batch.js';

/** The columns that every hourly table has. */
export const COUNTS = ['requests', 'errors', 'upload', 'download'] as const;

/** Writers that lock their rows in the same order cannot deadlock. */
export function inKeyOrder<T>(buckets: ReadonlyMap<string, T>): T[] {
  return [...buckets].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, bucket]) => bucket);
}

export const hourDate = (bucket: { hour: number }): Date => new Date(bucket.hour);

export function countArrays(buckets: readonly FlowCount[]): unknown[][] {
  const counts = COUNTS.map((count) => buckets.map((bucket) => bucket[count]));
  return [...counts, buckets.map((bucket) => new Date(bucket.lastSeenAt))];
}

export function countParameters(first: number): string {
  const bigints = COUNTS.map((_, index) => `$${first + index}::bigint[]`);
  return [...bigints, `$${first + COUNTS.length}::timestamptz[]`].join(', ');
}

export function addExcluded(table: string): string {
  const sums = COUNTS.map((count) => `${count} = ${table}.${count} + excluded.${count}`);
  return [...sums, `last_seen_at = greatest(${table}.last_seen_at, excluded.last_seen_at)`].join(', ');
}
