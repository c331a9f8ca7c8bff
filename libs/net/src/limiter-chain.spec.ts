import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LimiterChain } from './limiter-chain.js';
import { RateLimiter } from './rate-limiter.js';
import type { Throttle, ThrottleWaiter } from './relay-throttle.js';

const KIB = 1024;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** Sends without an end. */
class Sender implements ThrottleWaiter {
  waiting = 0;
  sent = 0;
  private readonly throttle: Throttle;

  constructor(throttle: Throttle) {
    this.throttle = throttle;
    this.next();
  }

  grant(bytes: number): void {
    this.waiting -= bytes;
    this.sent += bytes;
    if (this.waiting === 0) this.next();
  }

  leave(): void {
    this.throttle.leave(this);
  }

  private next(): void {
    for (;;) {
      const taken = this.throttle.take(64 * KIB);
      this.sent += taken;
      this.waiting = 64 * KIB - taken;
      if (this.waiting > 0) return this.throttle.enqueue(this);
    }
  }
}

/** Bytes per second of each sender in the next ten seconds. */
function rates(senders: readonly Sender[]): number[] {
  const before = senders.map(({ sent }) => sent);
  vi.advanceTimersByTime(10_000);
  return senders.map(({ sent }, index) => (sent - (before[index] ?? 0)) / 10);
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

function near(rate: number, limit: number): void {
  expect(rate / limit).toBeGreaterThan(0.999);
  expect(rate / limit).toBeLessThanOrEqual(1.001);
}

describe('a chain of two limits', () => {
  it.each([
    ['the first', 1_000, 5_000],
    ['the second', 5_000, 1_000],
    ['both alike', 1_000, 1_000],
  ])('carries what the stricter allows: %s', (_, first, second) => {
    const chain = new LimiterChain(new RateLimiter(first * KIB), new RateLimiter(second * KIB));
    const senders = [new Sender(chain), new Sender(chain)];
    rates(senders);
    const [one = 0, two = 0] = rates(senders);
    near(one + two, 1_000 * KIB);
    expect(one / two).toBeCloseTo(1, 1);
  });

  it('leaves to others of the second limit what the first does not let through', () => {
    const client = new RateLimiter(3_000 * KIB);
    const chain = new LimiterChain(new RateLimiter(500 * KIB), client);
    const senders = [new Sender(chain), new Sender(chain), new Sender(client)];
    rates(senders);
    const [one = 0, two = 0, other = 0] = rates(senders);
    near(one + two, 500 * KIB);
    near(other, 2_500 * KIB);
  });

  it('continues at the other limit when one is lifted or changed', () => {
    const [first, second] = [new RateLimiter(100 * KIB), new RateLimiter(1_000 * KIB)];
    const senders = [new Sender(new LimiterChain(first, second))];
    rates(senders);
    first.change(400 * KIB);
    rates(senders);
    near(sum(rates(senders)), 400 * KIB);
    first.lift();
    rates(senders);
    near(sum(rates(senders)), 1_000 * KIB);
  });

  it('blames only the limit that delays', () => {
    const [first, second] = [new RateLimiter(5_000 * KIB), new RateLimiter(100 * KIB)];
    const sender = new Sender(new LimiterChain(first, second));
    rates([sender]);
    expect([first.takeHeldBack(), second.takeHeldBack()]).toEqual([false, true]);
    sender.leave();
    second.takeHeldBack();
    expect([first.takeHeldBack(), second.takeHeldBack()]).toEqual([false, false]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('pauses parts until both let them pass, each resumed once', () => {
    const chain = new LimiterChain(new RateLimiter(64 * KIB), new RateLimiter(64 * KIB));
    expect(chain.pass(64 * KIB, vi.fn())).toBe(true);
    const resume = vi.fn();
    expect(chain.pass(64 * KIB, resume)).toBe(false);
    vi.advanceTimersByTime(900);
    expect(resume).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1_500);
    expect(resume).toHaveBeenCalledOnce();
  });

  it('gives datagrams back to the first that the second refuses', () => {
    const [first, second] = [new RateLimiter(64 * KIB), new RateLimiter(64 * KIB)];
    const chain = new LimiterChain(first, second);
    expect(second.tryTake(60 * KIB)).toBe(true);
    expect(chain.tryTake(10 * KIB)).toBe(false);
    expect(first.takeDemand().bytes).toBe(0);
    expect(first.tryTake(64 * KIB)).toBe(true);
  });
});
