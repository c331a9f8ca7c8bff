/** A token bucket: `burst` at once, `ratePerSecond` over time. Time is passed in, in milliseconds. */
export class TokenBucket {
  private readonly ratePerMs: number;
  private readonly burst: number;
  private tokens: number;
  private updatedAt: number;

  /** @throws RangeError for a rate or burst that is not positive. */
  constructor(ratePerSecond: number, burst: number, now: number) {
    if (!(ratePerSecond > 0) || !(burst > 0)) throw new RangeError('rate and burst must be positive');
    this.ratePerMs = ratePerSecond / 1000;
    this.burst = burst;
    this.tokens = burst;
    this.updatedAt = now;
  }

  /** Takes `count` tokens if they are there. */
  take(count: number, now: number): boolean {
    this.refill(now);
    if (this.tokens < count) return false;
    this.tokens -= count;
    return true;
  }

  /** Takes `count` tokens, into debt if need be, and answers how many milliseconds to wait before going on. */
  charge(count: number, now: number): number {
    this.refill(now);
    this.tokens -= count;
    return this.tokens >= 0 ? 0 : Math.ceil(-this.tokens / this.ratePerMs);
  }

  private refill(now: number): void {
    // A clock that steps back gives nothing and takes nothing.
    if (now > this.updatedAt) {
      this.tokens = Math.min(this.burst, this.tokens + (now - this.updatedAt) * this.ratePerMs);
    }
    this.updatedAt = now;
  }
}
