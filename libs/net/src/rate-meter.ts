/** Turns a growing total into a rate per second, sampled by its owner. */
export class RateMeter {
  private total: number;
  private sampledAt: number;
  private current = 0;

  constructor(now: number, total = 0) {
    this.sampledAt = now;
    this.total = total;
  }

  /** Per second between the last two samples. */
  get rate(): number {
    return this.current;
  }

  /** Answers how much `total` grew since the sample before. */
  sample(total: number, now: number): number {
    const grown = total - this.total;
    const elapsed = now - this.sampledAt;
    if (elapsed > 0) this.current = Math.round((grown * 1000) / elapsed);
    this.total = total;
    this.sampledAt = now;
    return grown;
  }
}
