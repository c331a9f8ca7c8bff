import { networkOf } from '@gatehouse/net';

const WINDOW_MS = 60_000;
/** Wrong keys of one source in a window that are answered at once. */
const AT_ONCE = 10;
const LATE_MS = 5_000;
const MAX_SOURCES = 10_000;

/**
 * Who showed wrong keys lately; an IPv6 /64 counts as one source. Beyond ten in a minute, wrong keys are answered late. A
 * right key is never held back: it has 256 bits, so there is nothing to guess, and a program with an old key must not keep
 * out the others of its network.
 */
export class FailedVisits {
  private readonly now: () => number;
  private readonly failures = new Map<string, { count: number; since: number }>();

  constructor(now: () => number) {
    this.now = now;
  }

  /** Counts a wrong key. How long its answer is to wait, in milliseconds. */
  note(address: string): number {
    const source = networkOf(address);
    const known = this.failures.get(source);
    const isRecent = known !== undefined && this.now() - known.since < WINDOW_MS;
    const entry = isRecent ? known : { count: 0, since: this.now() };
    entry.count += 1;
    this.failures.delete(source);
    this.failures.set(source, entry);
    const [oldest] = this.failures.keys();
    if (this.failures.size > MAX_SOURCES && oldest !== undefined) this.failures.delete(oldest);
    return entry.count > AT_ONCE ? LATE_MS : 0;
  }
}
