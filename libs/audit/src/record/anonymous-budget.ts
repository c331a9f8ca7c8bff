const WINDOW_MS = 60_000;

/** Number of calls without credentials that are recorded individually. */
export class AnonymousBudget {
  private windowStart = 0;
  private taken = 0;
  private suppressed = 0;

  constructor(private readonly perMinute = 60) {}

  /** `suppressed`: the number of calls that were not allowed in the previous minute, reported once. */
  take(now: number): { allowed: boolean; suppressed: number } {
    let reported = 0;
    if (now - this.windowStart >= WINDOW_MS) {
      reported = this.suppressed;
      this.windowStart = now;
      this.taken = 0;
      this.suppressed = 0;
    }
    const allowed = this.taken++ < this.perMinute;
    if (!allowed) this.suppressed++;
    return { allowed, suppressed: reported };
  }
}
