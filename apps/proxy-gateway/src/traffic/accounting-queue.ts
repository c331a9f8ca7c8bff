import { writeBatches } from '@gatehouse/postgres';
import { AccountingBatch, DEFAULT_LIMITS } from './accounting-batch.js';
import type { AccountingLimits, GroupBytes } from './accounting-batch.js';
import type { KernelRecords } from '../kernel-process/kernel-events.js';

export interface AccountingQueueOptions {
  /** Writes one batch. Called again with the same batch and sequence until it resolves. */
  write: (batch: AccountingBatch, sequence: number) => Promise<void>;
  /** A write failed and is repeated in `retryMs`. */
  onFailure: (error: unknown, retryMs: number) => void;
  /** The database refuses this part of a batch; the rest was written, or will be. */
  onLost: (error: unknown, batch: AccountingBatch) => void;
  onDropped: (rows: number) => void;
  limits?: AccountingLimits;
  /** The longest time before a write begins. */
  delayMs?: number;
}

interface NumberedBatch {
  batch: AccountingBatch;
  sequence: number;
}

const RETRY_MS = [250, 500, 1_000, 2_000, 5_000] as const;
/** Enough rows to write without waiting for the timer. */
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
  /** Batches that are being written. Such a batch stays unchanged and keeps its number. */
  readonly #numbered: NumberedBatch[] = [];
  #closed = false;

  constructor(options: AccountingQueueOptions) {
    this.#options = options;
    this.#pending = new AccountingBatch(options.limits ?? DEFAULT_LIMITS);
  }

  /** Records with one source go into one batch together with that source. */
  add({ closed, traffic, source, kernel = null }: KernelRecords, keepLogs: boolean): void {
    if (source) this.#pending.addSource(source);
    for (const record of closed) this.#pending.addRecord(kernel === null ? record : { ...record, kernel }, keepLogs);
    for (const delta of traffic) this.#pending.addDelta(delta);
    this.#schedule();
  }

  /** Bytes of a group's finished flows that are not stored yet. */
  waitingFor(group: string): GroupBytes {
    const sum = { upload: 0, download: 0 };
    for (const { groups } of [...this.#numbered.map(({ batch }) => batch), this.#pending]) {
      sum.upload += groups.get(group)?.upload ?? 0;
      sum.download += groups.get(group)?.download ?? 0;
    }
    return sum;
  }

  /**
   * Writes everything added so far.
   * @returns false if the database did not accept it; the rest is tried again later.
   */
  async flush(): Promise<boolean> {
    this.#clearTimer();
    if (this.#writing !== null) await this.#writing;
    while (this.#numbered.length > 0 || !this.#pending.isEmpty()) {
      if (!(await this.#writeNext())) return false;
    }
    return true;
  }

  /** Tries a last time; no timer runs afterwards. */
  async close(): Promise<boolean> {
    this.#closed = true;
    return this.flush();
  }

  #schedule(): void {
    if (this.#closed || this.#writing !== null) return;
    if (this.#numbered.length === 0 && this.#pending.isEmpty()) return;
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
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
      this.#schedule();
    });
    return this.#writing;
  }

  #number(batch: AccountingBatch): NumberedBatch {
    return { batch, sequence: ++this.#sequence };
  }

  async #write(): Promise<boolean> {
    const { write, onLost, onFailure, onDropped } = this.#options;
    if (this.#numbered.length === 0) {
      this.#numbered.push(this.#number(this.#pending));
      this.#pending = new AccountingBatch(this.#options.limits ?? DEFAULT_LIMITS);
    }
    let dropped = 0;
    try {
      await writeBatches(this.#numbered, {
        write: async ({ batch, sequence }) => {
          await write(batch, sequence);
          dropped += batch.droppedLogs;
        },
        halve: ({ batch }) => {
          const halves = batch.halve();
          return halves && [this.#number(halves[0]), this.#number(halves[1])];
        },
        setAside: ({ batch }, error) => onLost(error, batch),
      });
    } catch (error) {
      this.#failures++;
      onFailure(error, this.#waitMs());
      return false;
    }
    this.#failures = 0;
    if (dropped > 0) onDropped(dropped);
    return true;
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
