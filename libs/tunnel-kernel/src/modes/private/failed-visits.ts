const WINDOW_MS = 60_000;
const MAX_FAILURES = 10;
const MAX_ADDRESSES = 10_000;

/** Who showed wrong keys lately. A key has 256 bits; this keeps those who try from costing more than a connection. */
export class FailedVisits {
  private readonly now: () => number;
  private readonly failures = new Map<string, { count: number; since: number }>();

  constructor(now: () => number) {
    this.now = now;
  }

  isBlocked(address: string): boolean {
    const known = this.failures.get(address);
    if (!known) return false;
    if (this.now() - known.since < WINDOW_MS) return known.count >= MAX_FAILURES;
    this.failures.delete(address);
    return false;
  }

  note(address: string): void {
    const known = this.failures.get(address);
    if (known && this.now() - known.since < WINDOW_MS) known.count += 1;
    else {
      this.failures.delete(address);
      this.failures.set(address, { count: 1, since: this.now() });
    }
    const [oldest] = this.failures.keys();
    if (this.failures.size > MAX_ADDRESSES && oldest !== undefined) this.failures.delete(oldest);
  }
}
