import { fieldError } from '../wire/field-error.js';

export const BUCKETS = ['minute', 'hour', 'day'] as const;
export type Bucket = (typeof BUCKETS)[number];

const DAY = 86_400_000;

interface BucketKind {
  table: string;
  ms: number;
  /** Default length of the shown period. */
  span: number;
}

/** Days are in UTC, so all buckets begin at multiples of their length. */
export const BUCKET_KINDS: Record<Bucket, BucketKind> = {
  minute: { table: 'tunnel_gateway_ops.flow_minutes', ms: 60_000, span: DAY },
  hour: { table: 'tunnel_gateway_ops.flow_hours', ms: 3_600_000, span: 30 * DAY },
  day: { table: 'tunnel_gateway_ops.flow_days', ms: DAY, span: 365 * DAY },
};

/** A little more than two days of minutes. */
const MAX_POINTS = 3_000;

/** Start times of buckets in milliseconds since the epoch. */
export interface BucketRange {
  first: number;
  last: number;
}

/** All buckets that overlap the period. @throws AppError VALIDATION_FAILED */
export function bucketRange(
  bucket: Bucket,
  said: { from?: string | undefined; to?: string | undefined },
  now: number,
): BucketRange {
  const { ms, span } = BUCKET_KINDS[bucket];
  const to = said.to === undefined ? now : Date.parse(said.to);
  const from = said.from === undefined ? to - span : Date.parse(said.from);
  if (from >= to) throw fieldError('from', 'must be before `to`');
  const first = Math.floor(from / ms) * ms;
  const last = Math.ceil(to / ms) * ms - ms;
  if ((last - first) / ms >= MAX_POINTS) throw fieldError('from', `must leave at most ${MAX_POINTS} points`);
  return { first, last };
}
