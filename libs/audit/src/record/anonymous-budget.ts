const WINDOW_MS = 60_000;

/** How many calls without credentials are written down one by one. */
export class AnonymousBudget {
  private windowStart = 0;
  private taken = 0;
  private suppressed = 0;

  constructor(private readonly perMinute = 60) {}

  /** `suppressed`: how many of the minute before were not allowed, reported once. */
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
