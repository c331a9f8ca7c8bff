import type pg from 'pg';

/** Opening a connection takes 10 to 50 ms, depending on the machine: one that is free again before is the better choice. */
const STATEMENT_MS = 50;
/** A statement waits no longer than this, even while others end. */
const PATIENCE_MS = 120;
/** Waits in succession; a service without work looks into all of its queues at once. */
const MOST_WAITS = 60;
const WAITS_PER_MS = 6 / 1_000;

/**
 * One connection stays, so that a service without work opens none again and again. The others are closed before the next time
 * that such a service looks into its queues, every 10 and 15 seconds: they would be in use for ever.
 */
export const KEPT_CONNECTIONS = { min: 1, idleTimeoutMillis: 4_000 } as const;

type PoolClass = typeof pg.Pool;
type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: () => void) => void;

/**
 * A pool that has a short patience before it opens a further connection. Each one is a process of the server with several MiB
 * of its own, and a service that has little to do then keeps one of them. Waits are few: under load, a pool opens what it needs
 * at once.
 */
export function patientPool(Pool: PoolClass): PoolClass {
  return class PatientPool extends Pool {
    private readonly waiting: (() => void)[] = [];
    private stalled: NodeJS.Timeout | undefined;
    private credit = MOST_WAITS;
    private creditAt = performance.now();

    constructor(options?: pg.PoolConfig) {
      super(options);
      // The connection is free when this has returned.
      this.on('release', () => this.next());
    }

    override connect(): Promise<pg.PoolClient>;
    override connect(connected: Connected): void;
    override connect(connected?: Connected): Promise<pg.PoolClient> | undefined {
      if (!this.mayWait()) {
        if (connected === undefined) return super.connect();
        super.connect(connected);
        return undefined;
      }
      const turn = this.turn();
      if (connected === undefined) return turn.then(() => super.connect());
      void turn.then(() => super.connect(connected));
      return undefined;
    }

    /** Whether a connection may become free soon, and the pool could open another one. */
    private mayWait(): boolean {
      const { idleCount, waitingCount, totalCount, options } = this;
      // Somebody who takes an idle one gets it in the next turn of the event loop.
      const isFree = idleCount > waitingCount;
      if (this.ending || isFree || totalCount === 0 || totalCount >= options.max) return false;
      const now = performance.now();
      this.credit = Math.min(MOST_WAITS, this.credit + (now - this.creditAt) * WAITS_PER_MS);
      this.creditAt = now;
      if (this.credit < 1) return false;
      this.credit -= 1;
      return true;
    }

    private turn(): Promise<void> {
      return new Promise((resolve) => {
        const go = (): void => {
          clearTimeout(timer);
          this.waiting.splice(this.waiting.indexOf(go), 1);
          resolve();
        };
        const timer = setTimeout(go, PATIENCE_MS);
        this.waiting.push(go);
        this.stalled ??= setTimeout(() => this.next(), STATEMENT_MS);
      });
    }

    /** The first one gets a connection: a free one, or a further one if all are busy for long. */
    private next(): void {
      clearTimeout(this.stalled);
      this.waiting[0]?.();
      this.stalled = this.waiting.length > 0 ? setTimeout(() => this.next(), STATEMENT_MS) : undefined;
    }
  };
}
