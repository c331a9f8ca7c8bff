const BASE_MS = 500;
const CAP_MS = 30_000;

/**
 * How long to wait before the next attempt: full jitter over a doubling range, so that agents that lost their server at
 * the same moment come back spread out.
 */
export class Backoff {
  private readonly random: () => number;
  private attempts = 0;

  /** `random`: from 0 to below 1. */
  constructor(random: () => number) {
    this.random = random;
  }

  next(atLeastMs = 0): number {
    const range = Math.min(CAP_MS, BASE_MS * 2 ** this.attempts);
    this.attempts = Math.min(this.attempts + 1, 16);
    return atLeastMs + this.random() * range;
  }

  reset(): void {
    this.attempts = 0;
  }
}
