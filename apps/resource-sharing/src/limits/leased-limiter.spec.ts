import type { JsonLogger } from '@gatehouse/platform';
import { describe, expect, it } from 'vitest';
import type { LimitRule } from './limit-rule.js';
import { LeasedLimiter } from './leased-limiter.js';
import { LimitStore, type Admission, type TokenAnswer, type TokenRequest } from './limit-store.js';

/** The limiter never admits single calls. */
abstract class LeasingStore extends LimitStore {
  admit(): Promise<Admission> {
    return Promise.reject(new Error('not to be asked'));
  }
}

/** Counts what it gives; nothing comes back with time. */
class CountingStore extends LeasingStore {
  readonly asked: TokenRequest[][] = [];
  private readonly given = new Map<string, number>();

  take(requests: readonly TokenRequest[]): Promise<TokenAnswer[]> {
    this.asked.push([...requests]);
    return Promise.resolve(
      requests.map(({ key, burst, cost, intervalMs }) => {
        const before = this.given.get(key) ?? 0;
        const room = burst - before;
        const granted = Math.min(room, cost);
        this.given.set(key, before + granted);
        return { granted, room, aheadMs: (before + granted) * intervalMs };
      }),
    );
  }
}

const rule = (name: string, quota: number): LimitRule => ({
  name,
  key: name,
  code: 'APP_RATE_LIMIT_EXCEEDED',
  scope: 'app',
  quota,
  windowMs: 60_000,
});
const silent = { warn: () => undefined } as unknown as JsonLogger;

describe('leased tokens', () => {
  it('add up to exactly the limit, and refusals name the limit that was reached', async () => {
    const limiter = new LeasedLimiter(new CountingStore(), silent);
    const leases = [limiter.lease(rule('wide', 1_000)), limiter.lease(rule('narrow', 30))];
    const results = await Promise.all(Array.from({ length: 100 }, async () => limiter.take(leases, performance.now())));
    expect(results.filter((denied) => denied === undefined)).toHaveLength(30);
    expect(new Set(results.map((denied) => denied?.rule.name))).toEqual(new Set([undefined, 'narrow']));
  });

  it('use the store rarely under load, for all keys at once', async () => {
    const store = new CountingStore();
    const limiter = new LeasedLimiter(store, silent);
    const leases = [limiter.lease(rule('one', 100_000)), limiter.lease(rule('other', 100_000))];
    for (let call = 0; call < 5_000; call++) await limiter.take(leases, performance.now());
    expect(store.asked.length).toBeLessThan(60);
    expect(store.asked[0]?.map(({ key }) => key)).toEqual(['one', 'other']);
  });

  it('keep the limit in this process when the store fails', async () => {
    const failing = new (class extends LeasingStore {
      take(): Promise<TokenAnswer[]> {
        return Promise.reject(new Error('away'));
      }
    })();
    const limiter = new LeasedLimiter(failing, silent);
    const leases = [limiter.lease(rule('one', 20))];
    const results: boolean[] = [];
    for (let call = 0; call < 30; call++) {
      results.push((await limiter.take(leases, performance.now())) === undefined);
    }
    expect(results.filter(Boolean)).toHaveLength(20);
  });
});
