import type { SubscriptionProfile } from '@gatehouse/contracts';
import { describe, expect, it } from 'vitest';
import { nextRefreshAt, settleInterval } from './refresh-times.js';

const now = new Date('2030-01-01T00:00:00Z');
const after = (failures: number, random: number, more: { intervalSec?: number; retryAfterMs?: number } = {}): number =>
  (nextRefreshAt({ intervalSec: 3600, failures, retryAfterMs: null, ...more }, now, () => random).getTime() -
    now.getTime()) /
  1000;

describe('nextRefreshAt', () => {
  it('is an interval from now, plus or minus 5 %', () => {
    expect([after(0, 0), after(0, 0.5), after(0, 0.999_999)]).toEqual([3420, 3600, expect.closeTo(3780, 0)]);
  });

  it('doubles from a minute while attempts fail, up to the interval', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 1_000].map((failures) => after(failures, 1))).toEqual([
      60, 120, 240, 480, 960, 1920, 3600, 3600, 3600,
    ]);
    expect(after(1, 0)).toBe(48);
    expect(after(5, 1, { intervalSec: 60 })).toBe(60);
  });

  it('waits for as long as a provider asks, a day at most', () => {
    expect(after(1, 1, { retryAfterMs: 7_200_000 })).toBe(7_200);
    expect(after(1, 1, { retryAfterMs: 1_000 })).toBe(60);
    expect(after(1, 1, { retryAfterMs: 1e12 })).toBe(86_400);
  });
});

describe('settleInterval', () => {
  const profile = (hours: number | null) => ({ update_interval_hours: hours }) as SubscriptionProfile;

  it.each([
    ['user', 24, { intervalSec: 3600, intervalSource: 'user' }],
    ['default', 24, { intervalSec: 86_400, intervalSource: 'provider' }],
    ['provider', 12, { intervalSec: 43_200, intervalSource: 'provider' }],
    ['default', null, { intervalSec: 3600, intervalSource: 'default' }],
    ['default', 0.01, { intervalSec: 900, intervalSource: 'provider' }],
    ['default', 8_000, { intervalSec: 604_800, intervalSource: 'provider' }],
  ] as const)('%s, provider says %s', (intervalSource, hours, expected) => {
    expect(settleInterval({ intervalSec: 3600, intervalSource }, profile(hours))).toEqual(expected);
  });
});
