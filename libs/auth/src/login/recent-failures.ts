interface Entry {
  count: number;
  endsAt: number;
}

const MAX_ENTRIES = 20_000;

/**
 * Failures that this process has seen, available at once: those in the database arrive late during a storm. Limited in
 * number: the oldest are forgotten first, and then count only in the database.
 */
export class RecentFailures {
  private readonly entries = new Map<string, Entry>();

  note(key: string, windowSeconds: number): void {
    const present = this.entryOf(key);
    if (present !== undefined) {
      present.count += 1;
      return;
    }
    const [oldest] = this.entries.keys();
    if (this.entries.size >= MAX_ENTRIES && oldest !== undefined) this.entries.delete(oldest);
    this.entries.set(key, { count: 1, endsAt: performance.now() + windowSeconds * 1_000 });
  }

  forget(key: string): void {
    this.entries.delete(key);
  }

  countOf(key: string): number {
    return this.entryOf(key)?.count ?? 0;
  }

  secondsLeft(key: string): number {
    return Math.max(0, (this.entryOf(key)?.endsAt ?? 0) - performance.now()) / 1_000;
  }

  private entryOf(key: string): Entry | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined || entry.endsAt > performance.now()) return entry;
    this.entries.delete(key);
    return undefined;
  }
}
