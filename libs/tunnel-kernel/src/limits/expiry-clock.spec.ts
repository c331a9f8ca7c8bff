import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ExpiryClock } from './expiry-clock.js';

const DAY_MS = 86_400_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function client(id: number, expiresAt: number | null) {
  return { id, userId: 1, enabled: true, expiresAt, rateLimit: 0, maxConnections: 0 };
}

describe('the clock of expiries', () => {
  it('fires once for each client at its exact time', () => {
    const notified: [number[], number][] = [];
    const start = Date.now();
    const clock = new ExpiryClock(Date.now, (ids) => notified.push([ids, Date.now() - start]));
    clock.apply([client(1, start + 5000), client(2, start + 5000), client(3, start + 7001), client(4, null)]);
    vi.advanceTimersByTime(60_000);
    expect(notified).toEqual([
      [[1, 2], 5000],
      [[3], 7001],
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('waits longer than a single timer can', () => {
    const notified = vi.fn();
    const clock = new ExpiryClock(Date.now, notified);
    clock.apply([client(1, Date.now() + 40 * DAY_MS)]);
    vi.advanceTimersByTime(40 * DAY_MS - 1);
    expect(notified).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(notified).toHaveBeenCalledWith([1]);
  });

  it('drops a postponed time, and follows an earlier one', () => {
    const notified = vi.fn();
    const clock = new ExpiryClock(Date.now, notified);
    const start = Date.now();
    expect(clock.apply([client(1, start + 1000), client(2, start - 1)])).toEqual([]);
    expect(clock.apply([client(1, start + 5000)])).toEqual([]);
    vi.advanceTimersByTime(2000);
    expect(notified).not.toHaveBeenCalled();
    expect(clock.apply([client(1, start + 1000)])).toEqual([1]);
    expect(clock.apply([client(1, start + 1000)])).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('keeps no timer after it was stopped', () => {
    const clock = new ExpiryClock(Date.now, () => undefined);
    clock.apply([client(1, Date.now() + 1000)]);
    clock.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});
