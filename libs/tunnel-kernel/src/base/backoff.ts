/** In milliseconds: range of the first attempt, and the upper bound. */
export interface BackoffRange {
  firstMs: number;
  mostMs: number;
}

const TO_SERVER: BackoffRange = { firstMs: 500, mostMs: 30_000 };

/**
 * How long to wait before the next attempt: full jitter over a doubling range, so that agents that lost their server at
 * the same moment come back spread out.
 */
export class Backoff {
  private readonly random: () => number;
  private readonly range: BackoffRange;
  private attempts = 0;

  /** `random`: from 0 to below 1. */
  constructor(random: () => number, range = TO_SERVER) {
    this.random = random;
    this.range = range;
  }

  /** `spreadMs`: the range is not smaller than that. */
  next(atLeastMs = 0, spreadMs = 0): number {
    const range = Math.max(spreadMs, Math.min(this.range.mostMs, this.range.firstMs * 2 ** this.attempts));
    this.attempts = Math.min(this.attempts + 1, 16);
    return atLeastMs + this.random() * range;
  }

  reset(): void {
    this.attempts = 0;
  }
}
