import type { ThrottlerStorage } from '@nestjs/throttler';

/** What a storage knows about a key after counting one more hit. */
export interface WindowState {
  readonly hits: number;
  /** Milliseconds until the window ends. */
  readonly remainingMs: number;
}

/** Counts hits in windows that begin with the first hit of a key. */
export interface WindowCounter {
  hit(key: string, windowMs: number): Promise<WindowState>;
}

type Result = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/**
 * @nestjs/throttler's storage on top of a fixed-window counter: constant cost whatever the limit. The library's own
 * storage keeps a timestamp per hit and filters all of them on every request. A key over its limit is blocked until its
 * window ends; a longer block duration is not supported.
 */
export class FixedWindowStorage implements ThrottlerStorage {
  private readonly counter: WindowCounter;

  constructor(counter: WindowCounter) {
    this.counter = counter;
  }

  async increment(key: string, ttl: number, limit: number, _block: number, throttler: string): Promise<Result> {
    const { hits, remainingMs } = await this.counter.hit(`${throttler}:${key}`, ttl);
    const seconds = Math.max(1, Math.ceil(remainingMs / 1_000));
    const isBlocked = hits > limit;
    return { totalHits: hits, timeToExpire: seconds, isBlocked, timeToBlockExpire: isBlocked ? seconds : 0 };
  }
}
