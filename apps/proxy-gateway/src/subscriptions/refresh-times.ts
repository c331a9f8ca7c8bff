import type { IntervalSource, SubscriptionProfile } from '@gatehouse/contracts';

/** How soon a new or changed subscription is fetched. */
export const FIRST_REFRESH_MS = 3_000;

const FIRST_RETRY_MS = 60_000;
const DAY_MS = 86_400_000;
/**
 * The bounds for a provider's interval: a shorter one would flood it with requests, a longer one would leave nodes
 * outdated.
 */
const MIN_PROVIDER_SEC = 900;
const MAX_PROVIDER_SEC = 7 * 86_400;

export interface RefreshRhythm {
  intervalSec: number;
  /** Attempts in a row that failed. */
  failures: number;
  /** How long the provider asked to wait. */
  retryAfterMs: number | null;
}

/**
 * When the next refresh is due. After a success that is one interval, plus or minus 5 %, so that subscriptions added
 * together drift apart. After failures it is 1, 2, 4... minutes, but never later than the interval, except for
 * `Retry-After`.
 */
export function nextRefreshAt(
  { intervalSec, failures, retryAfterMs }: RefreshRhythm,
  now: Date,
  random: () => number = Math.random,
): Date {
  const intervalMs = intervalSec * 1000;
  if (failures === 0) return new Date(now.getTime() + intervalMs * (0.95 + 0.1 * random()));
  const backoff = Math.min(intervalMs, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 30)) * (0.8 + 0.2 * random());
  return new Date(now.getTime() + Math.max(backoff, Math.min(retryAfterMs ?? 0, DAY_MS)));
}

/** The interval from now on: the user's choice, otherwise the provider's `profile-update-interval`. */
export function settleInterval(
  current: { intervalSec: number; intervalSource: IntervalSource },
  profile: SubscriptionProfile | null,
): { intervalSec: number; intervalSource: IntervalSource } {
  const hours = profile?.update_interval_hours ?? null;
  const { intervalSec, intervalSource } = current;
  if (intervalSource === 'user' || hours === null) return { intervalSec, intervalSource };
  const wanted = Math.round(hours * 3600);
  return { intervalSec: Math.min(MAX_PROVIDER_SEC, Math.max(MIN_PROVIDER_SEC, wanted)), intervalSource: 'provider' };
}
