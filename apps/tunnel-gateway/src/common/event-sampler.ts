const EVERY_MS = 60_000;
const MAX_KEYS = 4_096;

interface Sample<T> {
  reportedAt: number;
  /** Number of events since then. */
  count: number;
  /** The last event. */
  latest: T;
}

/**
 * Reports the first event of a kind immediately, and then one per minute with the number of events that it stands for.
 */
export class EventSampler<T> {
  private readonly now: () => number;
  private readonly report: (latest: T, count: number) => void;
  private readonly samples = new Map<string, Sample<T>>();

  constructor(now: () => number, report: (latest: T, count: number) => void) {
    this.now = now;
    this.report = report;
  }

  count(key: string, count: number, latest: T): void {
    const known = this.samples.get(key);
    if (known) {
      known.count += count;
      known.latest = latest;
      return;
    }
    // If there are too many kinds, the oldest is reported early and dropped.
    const [oldest] = this.samples.keys();
    if (this.samples.size >= MAX_KEYS && oldest !== undefined) this.forget(oldest);
    this.samples.set(key, { reportedAt: this.now(), count: 0, latest });
    this.report(latest, count);
  }

  /** Reports events that are a minute old; must be called regularly. */
  release(): void {
    const now = this.now();
    for (const [key, sample] of this.samples) {
      if (now - sample.reportedAt < EVERY_MS) continue;
      if (sample.count === 0) this.samples.delete(key);
      else {
        this.report(sample.latest, sample.count);
        this.samples.set(key, { ...sample, reportedAt: now, count: 0 });
      }
    }
  }

  /** Reports all remaining events. */
  finish(): void {
    for (const key of this.samples.keys()) this.forget(key);
  }

  private forget(key: string): void {
    const sample = this.samples.get(key);
    this.samples.delete(key);
    if (sample && sample.count > 0) this.report(sample.latest, sample.count);
  }
}
