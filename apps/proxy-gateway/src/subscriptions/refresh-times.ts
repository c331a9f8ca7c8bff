import type { IntervalSource, SubscriptionProfile } from '@gatehouse/contracts';

/** A new or changed subscription is fetched this soon by itself. */
export const FIRST_REFRESH_MS = 3_000;

const FIRST_RETRY_MS = 60_000;
const DAY_MS = 86_400_000;
/** What a provider may ask for; less would flood it with its own consent, more would leave nodes to rot. */
const MIN_PROVIDER_SEC = 900;
const MAX_PROVIDER_SEC = 7 * 86_400;

export interface RefreshRhythm {
  intervalSec: number;
  /** Attempts in a row that brought nothing. */
  failures: number;
  /** Milliseconds that the provider asked to be left alone for. */
  retryAfterMs: number | null;
}

/**
 * When the next refresh is due. After a success one interval, give or take a twentieth, so that subscriptions added
 * together drift apart; after failures 1, 2, 4... minutes, never later than the interval but for `Retry-After`.
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

/** The interval to go by from now on: a person's choice stands, else the provider's `profile-update-interval` does. */
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
