/** Milliseconds: longer than a lock is waited for, so that somebody who waits for a lock makes room in time. */
const WAIT_MS = 8_000;

/**
 * How many transactions run at once. Transactions wait for each other's locks, each with a connection in its hand: one row
 * that somebody holds would take all of them, and with them every request that only reads.
 */
export class TransactionSlots {
  private free: number;
  private readonly waitMs: number;
  private readonly waiting: (() => void)[] = [];

  constructor(size: number, waitMs = WAIT_MS) {
    this.free = size;
    this.waitMs = waitMs;
  }

  /** Rejects, as a pool without a free connection does, when there is no room in time. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await this.room();
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.free += 1;
    }
  }

  private room(): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.waiting.splice(this.waiting.indexOf(enter), 1);
        reject(new Error('timeout exceeded when trying to connect: too many transactions wait'));
      }, this.waitMs);
      this.waiting.push(enter);
    });
  }
}
