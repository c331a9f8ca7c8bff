import type { NewRuntimeLog } from './runtime-log-row.js';

export interface RuntimeLogQueueOptions {
  write(rows: readonly NewRuntimeLog[]): Promise<void>;
  /** Called once per outage; logging it adds one more row. */
  onFailure(error: unknown, waiting: number): void;
  onDropped(rows: number): void;
  capacity?: number;
  batch?: number;
  flushMs?: number;
}

const DEFAULTS = { capacity: 10_000, batch: 500, flushMs: 500 };
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;

/**
 * Rows on their way to the database, in batches. A full queue drops new rows and counts them, since logging must never
 * wait.
 */
export class RuntimeLogQueue {
  readonly #options: Required<RuntimeLogQueueOptions>;
  #rows: NewRuntimeLog[] = [];
  #dropped = 0;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();
  #retryMs = 0;
  #closed = false;

  constructor(options: RuntimeLogQueueOptions) {
    this.#options = { ...DEFAULTS, ...options };
  }

  add(row: NewRuntimeLog): void {
    if (this.#closed) return;
    if (this.#rows.length >= this.#options.capacity) {
      this.#dropped++;
      return;
    }
    this.#rows.push(row);
    this.#schedule(this.#options.flushMs);
  }

  /** Writes the rows of the queue; also resolves if the database does not accept them. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#drain());
    return this.#writing;
  }

  /** Writes once more and accepts nothing afterwards. */
  async close(): Promise<void> {
    await this.flush();
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  #schedule(ms: number): void {
    if (this.#timer !== null || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.flush();
    }, ms);
    this.#timer.unref();
  }

  async #drain(): Promise<void> {
    const { batch, write, onFailure, onDropped } = this.#options;
    while (this.#rows.length > 0) {
      const rows = this.#rows.slice(0, batch);
      try {
        await write(rows);
      } catch (error) {
        const first = this.#retryMs === 0;
        this.#waitLonger();
        if (first) onFailure(error, this.#rows.length);
        return;
      }
      this.#rows.splice(0, rows.length);
      this.#retryMs = 0;
    }
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0) onDropped(dropped);
  }

  #waitLonger(): void {
    this.#retryMs = this.#retryMs === 0 ? FIRST_RETRY_MS : Math.min(this.#retryMs * 2, LAST_RETRY_MS);
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#schedule(this.#retryMs);
  }
}
