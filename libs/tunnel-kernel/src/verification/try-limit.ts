import { networkOf } from '@gatehouse/net';

const WINDOW_MS = 60_000;
const MAX_TRIES = 5;
const MAX_ENTRIES = 20_000;

/** Counter of guesses at secrets. */
export interface Tries {
  /** Counts a guess before it is checked, so that concurrent guesses count, too. False: too many. */
  take(policyId: number, address: string): boolean | Promise<boolean>;
  /** Takes a right guess back out of the count. */
  giveBack(policyId: number, address: string): void | Promise<void>;
  /** Seconds until the next try. */
  retryAfter(policyId: number, address: string): number | Promise<number>;
}

/** Five per minute for each policy and address, in this process. An IPv6 /64 counts as one address. */
export class TryLimit implements Tries {
  private readonly now: () => number;
  private readonly tries = new Map<string, { count: number; since: number }>();

  constructor(now: () => number) {
    this.now = now;
  }

  take(policyId: number, address: string): boolean {
    const key = keyOf(policyId, address);
    const known = this.tries.get(key);
    const recent = known !== undefined && this.now() - known.since < WINDOW_MS ? known : undefined;
    if (recent && recent.count >= MAX_TRIES) return false;
    this.tries.delete(key);
    this.tries.set(key, { count: (recent?.count ?? 0) + 1, since: recent?.since ?? this.now() });
    const [oldest] = this.tries.keys();
    if (this.tries.size > MAX_ENTRIES && oldest !== undefined) this.tries.delete(oldest);
    return true;
  }

  giveBack(policyId: number, address: string): void {
    const known = this.tries.get(keyOf(policyId, address));
    if (known && known.count > 0) known.count -= 1;
  }

  retryAfter(policyId: number, address: string): number {
    const known = this.tries.get(keyOf(policyId, address));
    return known ? Math.max(1, Math.ceil((known.since + WINDOW_MS - this.now()) / 1000)) : 1;
  }
}

function keyOf(policyId: number, address: string): string {
  return `${policyId} ${networkOf(address)}`;
}
