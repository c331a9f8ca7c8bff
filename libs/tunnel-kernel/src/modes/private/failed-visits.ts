import { networkOf } from '@gatehouse/net';

const WINDOW_MS = 60_000;
/** Wrong keys of one source that are answered without delay within a window. */
const AT_ONCE = 10;
const LATE_MS = 5_000;
const MAX_SOURCES = 10_000;

/**
 * Counts wrong keys by source; an IPv6 /64 is one source. Beyond ten in a minute, wrong keys are answered late. A right
 * key is never delayed: it has 256 bits, so guessing is hopeless, and a program with an old key must not lock out
 * others of its network.
 */
export class FailedVisits {
  private readonly now: () => number;
  private readonly failures = new Map<string, { count: number; since: number }>();

  constructor(now: () => number) {
    this.now = now;
  }

  /** Counts a wrong key. Returns the delay of its answer in milliseconds. */
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
