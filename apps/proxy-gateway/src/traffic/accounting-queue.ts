import type { ConnectionRecord, TrafficDelta } from '@gatehouse/proxy-kernel';
import { AccountingBatch, DEFAULT_LIMITS } from './accounting-batch.js';
import type { AccountingLimits } from './accounting-batch.js';

export interface AccountingQueueOptions {
  /** Writes one batch. Called with the same batch and sequence again until it resolves. */
  write(batch: AccountingBatch, sequence: number): Promise<void>;
  /** A write failed and is tried again in `retryMs`. */
  onFailure(error: unknown, retryMs: number): void;
  /** Whether an error would come again however often the batch is sent, so that the batch must not block the others. */
  isHopeless(error: unknown): boolean;
  /** Such a batch was given up. */
  onLost(error: unknown, batch: AccountingBatch): void;
  onDropped(rows: number): void;
  limits?: AccountingLimits;
  /** Longest time that something waits before its write begins. */
  delayMs?: number;
}

const RETRY_MS = [250, 500, 1_000, 2_000, 5_000] as const;
/** Enough for a worthwhile statement: no need to wait for the clock. */
const FULL_BATCH = 2_000;

/**
 * Collects what the kernel says and writes it in batches, one at a time. While the database is away the figures pile up
 * in one batch whose size is bounded; a batch whose write failed stays as it was, so that a repeat can be recognised.
 */
export class AccountingQueue {
  readonly #options: AccountingQueueOptions;
  #pending: AccountingBatch;
  #sequence = 0;
  #failures = 0;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<boolean> | null = null;
  #stuck: AccountingBatch | null = null;
  #closed = false;

  constructor(options: AccountingQueueOptions) {
    this.#options = options;
    this.#pending = new AccountingBatch(options.limits ?? DEFAULT_LIMITS);
  }

  addRecords(records: readonly ConnectionRecord[], keepLogs: boolean): void {
    for (const record of records) this.#pending.addRecord(record, keepLogs);
    this.#schedule();
  }

  addDelta(delta: TrafficDelta): void {
    this.#pending.addDelta(delta);
    this.#schedule();
  }

  /**
   * Writes everything that has come so far.
   * @returns false when the database would not take it; what is left is tried again later.
   */
  async flush(): Promise<boolean> {
    this.#clearTimer();
    if (this.#writing !== null) await this.#writing;
    while (this.#stuck !== null || !this.#pending.isEmpty()) {
      if (!(await this.#writeNext())) return false;
    }
    return true;
  }

  /** Last attempt; after it no timer runs. */
  async close(): Promise<boolean> {
    this.#closed = true;
    return this.flush();
  }

  #schedule(): void {
    if (this.#closed || this.#writing !== null) return;
    if (this.#stuck === null && this.#pending.isEmpty()) return;
    if (this.#failures === 0 && this.#pending.logs.length >= FULL_BATCH) {
      this.#clearTimer();
      void this.#writeNext();
      return;
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#writeNext();
    }, this.#waitMs());
  }

  #waitMs(): number {
    if (this.#failures === 0) return this.#options.delayMs ?? 250;
    return RETRY_MS[Math.min(this.#failures, RETRY_MS.length) - 1] ?? 5_000;
  }

  #writeNext(): Promise<boolean> {
    this.#writing ??= this.#write(this.#take()).finally(() => {
      this.#writing = null;
      this.#schedule();
    });
    return this.#writing;
  }

  #take(): AccountingBatch {
    if (this.#stuck !== null) return this.#stuck;
    const batch = this.#pending;
    this.#pending = new AccountingBatch(this.#options.limits ?? DEFAULT_LIMITS);
    this.#sequence++;
    return batch;
  }

  async #write(batch: AccountingBatch): Promise<boolean> {
    try {
      await this.#options.write(batch, this.#sequence);
    } catch (error) {
      if (!this.#options.isHopeless(error)) {
        this.#stuck = batch;
        this.#failures++;
        this.#options.onFailure(error, this.#waitMs());
        return false;
      }
      this.#options.onLost(error, batch);
    }
    this.#stuck = null;
    this.#failures = 0;
    if (batch.droppedLogs > 0) this.#options.onDropped(batch.droppedLogs);
    return true;
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
