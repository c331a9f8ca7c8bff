import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RateLimiter } from './rate-limiter.js';
import type { ThrottleWaiter } from './relay-throttle.js';

const KIB = 1024;
const RATE = 1000 * KIB;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** Sends without an end, `chunk` after `chunk`. */
class Sender implements ThrottleWaiter {
  waiting = 0;
  sent = 0;
  readonly times: number[] = [];
  private readonly limiter: RateLimiter;
  private readonly chunk: number;

  constructor(limiter: RateLimiter, chunk = 64 * KIB) {
    this.limiter = limiter;
    this.chunk = chunk;
    this.next();
  }

  grant(bytes: number): void {
    this.waiting -= bytes;
    this.count(bytes);
    if (this.waiting === 0) this.next();
  }

  private next(): void {
    for (;;) {
      const taken = this.limiter.take(this.chunk);
      this.count(taken);
      this.waiting = this.chunk - taken;
      if (this.waiting > 0) return this.limiter.enqueue(this);
    }
  }

  private count(bytes: number): void {
    this.sent += bytes;
    if (bytes > 0) this.times.push(performance.now());
  }
}

describe('a rate limiter', () => {
  it.each([1 * KIB, 20 * KIB, RATE, 100_000 * KIB])('allows %d bytes a second after its burst', (rate) => {
    const limiter = new RateLimiter(rate);
    const sender = new Sender(limiter);
    expect(sender.sent).toBe(Math.max(rate, 64 * KIB));
    const before = sender.sent;
    vi.advanceTimersByTime(10_000);
    expect((sender.sent - before) / (rate * 10)).toBeGreaterThan(0.97);
    expect((sender.sent - before) / (rate * 10)).toBeLessThanOrEqual(1);
  });

  it('continues every 10 to 20 ms', () => {
    const sender = new Sender(new RateLimiter(RATE));
    vi.advanceTimersByTime(2000);
    const times = sender.times.filter((time) => time > (sender.times[0] ?? 0));
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(20);
  });

  it('gives equal shares to waiting connections, whatever the size of their chunks', () => {
    const limiter = new RateLimiter(RATE);
    limiter.take(RATE);
    const senders = [64 * KIB, 64 * KIB, 2 * KIB, 200].map((chunk) => new Sender(limiter, chunk));
    vi.advanceTimersByTime(10_000);
    const [first = 0, second = 0, small = 0, tiny = 0] = senders.map(({ sent }) => sent);
    expect(first / second).toBeCloseTo(1, 1);
    // Who has only a little to send at a time has its turn as often as the others.
    expect(small / first).toBeGreaterThan(0.5);
    expect(tiny / 200).toBeGreaterThan(900);
    expect(first + second + small + tiny).toBeLessThanOrEqual(RATE * 10);
    expect((first + second + small + tiny) / (RATE * 10)).toBeGreaterThan(0.97);
  });

  it('starves nobody among very many', () => {
    const limiter = new RateLimiter(RATE);
    limiter.take(RATE);
    const senders = Array.from({ length: 2000 }, () => new Sender(limiter));
    vi.advanceTimersByTime(10_000);
    const sent = senders.map((sender) => sender.sent);
    expect(Math.min(...sent)).toBeGreaterThan((RATE * 10) / 2000 / 2);
    expect(Math.max(...sent)).toBeLessThan(((RATE * 10) / 2000) * 2);
  });

  it('has no timer while nobody waits', () => {
    const limiter = new RateLimiter(RATE);
    limiter.take(RATE);
    expect(vi.getTimerCount()).toBe(0);
    const waiter = { waiting: 10, grant: () => undefined };
    limiter.enqueue(waiter);
    expect(vi.getTimerCount()).toBe(1);
    limiter.leave(waiter);
    expect(vi.getTimerCount()).toBe(0);
    limiter.pass(1000, () => undefined);
    vi.advanceTimersByTime(1000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not let later senders overtake', () => {
    const limiter = new RateLimiter(RATE);
    limiter.take(RATE);
    limiter.enqueue({ waiting: 10 * KIB, grant: () => undefined });
    expect(limiter.take(1)).toBe(0);
  });

  it('applies a new rate to waiting senders at once', () => {
    const limiter = new RateLimiter(KIB);
    const sender = new Sender(limiter);
    const before = sender.sent;
    limiter.change(RATE);
    vi.advanceTimersByTime(1000);
    expect((sender.sent - before) / RATE).toBeCloseTo(1, 1);
    const then = sender.sent;
    limiter.change(20 * KIB);
    // What a second of the rate before had left over is not a debt.
    vi.advanceTimersByTime(10_000);
    expect((sender.sent - then) / (200 * KIB)).toBeCloseTo(1, 0);
  });

  it('releases all waiting senders when the limit is removed', () => {
    const limiter = new RateLimiter(KIB);
    limiter.take(64 * KIB);
    const resumed = vi.fn();
    expect(limiter.pass(1_000_000, resumed)).toBe(false);
    limiter.lift();
    expect(resumed).toHaveBeenCalledOnce();
    expect(limiter.take(1_000_000)).toBe(1_000_000);
    expect(limiter.tryTake(1_000_000)).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('notifies each waiting sender once', () => {
    const limiter = new RateLimiter(RATE);
    const resumed = vi.fn();
    expect(limiter.pass(RATE, resumed)).toBe(true);
    expect(limiter.pass(100 * KIB, resumed)).toBe(false);
    vi.advanceTimersByTime(90);
    expect(resumed).not.toHaveBeenCalled();
    vi.advanceTimersByTime(30);
    expect(resumed).toHaveBeenCalledOnce();
    vi.advanceTimersByTime(1000);
    expect(resumed).toHaveBeenCalledOnce();
  });

  it('refuses datagrams above the burst', () => {
    const limiter = new RateLimiter(KIB);
    const sent = Array.from({ length: 100 }, () => limiter.tryTake(KIB)).filter(Boolean);
    expect(sent).toHaveLength(64);
    vi.advanceTimersByTime(2000);
    expect(limiter.tryTake(2 * KIB)).toBe(true);
    expect(limiter.tryTake(KIB)).toBe(false);
  });

  it('gives datagrams the share of one waiting sender and no more', () => {
    const limiter = new RateLimiter(RATE);
    limiter.take(RATE);
    const senders = [new Sender(limiter), new Sender(limiter)];
    let datagrams = 0;
    for (let ms = 0; ms < 10_000; ms++) {
      // Ten times as much as is allowed.
      for (let i = 0; i < 10; i++) if (limiter.tryTake(1000)) datagrams += 1000;
      vi.advanceTimersByTime(1);
    }
    const [first, second] = senders.map(({ sent }) => sent / (RATE * 10));
    expect(first).toBeCloseTo(1 / 3, 1);
    expect(second).toBeCloseTo(1 / 3, 1);
    expect(datagrams / (RATE * 10)).toBeCloseTo(1 / 3, 1);
    expect(datagrams + (senders[0]?.sent ?? 0) + (senders[1]?.sent ?? 0)).toBeLessThanOrEqual(RATE * 10);
    // Alone again, they have the whole rate, and nothing that was reserved for them is lost.
    for (const sender of senders) limiter.leave(sender);
    vi.advanceTimersByTime(1000);
    expect(limiter.tryTake(RATE)).toBe(true);
  });
});
