/** Milliseconds. Longer than the wait for a lock, so a transaction that gives up on one makes room in time. */
const WAIT_MS = 8_000;

/**
 * Limits concurrent transactions, or statements of one kind. A transaction keeps its connection while it waits for a lock:
 * without a limit, one locked row could use up the whole pool, and then requests that only read would fail as well.
 */
export class TransactionSlots {
  private free: number;
  private readonly waitMs: number;
  private readonly waiting: (() => void)[] = [];

  constructor(size: number, waitMs = WAIT_MS) {
    this.free = size;
    this.waitMs = waitMs;
  }

  /** Rejects, like a pool without a free connection, if there is no room in time. */
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
        reject(new Error('timeout exceeded when trying to connect: too many others wait'));
      }, this.waitMs);
      this.waiting.push(enter);
    });
  }
}
