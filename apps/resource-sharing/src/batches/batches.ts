import { AppError } from '@gatehouse/platform';

/** How concurrent calls are executed together. */
export interface BatchWork<Item, Answer> {
  /** Executes all items or, if it rejects, none of them; returns the answers in their order. */
  run(items: readonly Item[]): Promise<readonly Answer[]>;
  /** After a batch of several was rejected: whether to try each item separately. */
  splits(error: unknown): boolean;
  /** Items with the same key never share a batch. */
  keyOf(item: Item): unknown;
  /** Whether further items are about to arrive. The batch waits for them, but at most five milliseconds. */
  expects?(): boolean;
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** How many calls a batch has at most. */
export const MAX_BATCH_SIZE = 32;
/** Number of concurrent batches; a second one starts only beside one that takes long. */
const MAX_RUNNING = 4;
const LONG_MS = 50;
/** How long to wait for items that are about to arrive. */
const EXPECT_MS = 5;
/** How many items may wait for a database that hangs. */
const MOST_WAITING = 10_000;

/**
 * Collects the calls that arrive during a batch and executes them as the next one. A single call starts at once, and
 * nothing waits for calls that may never arrive. Keys take turns, so that a key with many waiting calls does not delay
 * the others.
 */
export class Batches<Item, Answer> {
  private readonly waiting = new Map<unknown, Waiting<Item, Answer>[]>();
  private count = 0;
  private running = 0;
  private startedAt = 0;
  private expectingSince: number | undefined;
  private scheduled = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly work: BatchWork<Item, Answer>;

  constructor(work: BatchWork<Item, Answer>) {
    this.work = work;
  }

  /** True while a batch is running or calls are waiting. */
  get busy(): boolean {
    return this.running > 0 || this.waiting.size > 0;
  }

  /** Returns the answer for this item. Rejects with SERVICE_UNAVAILABLE if too many calls are waiting. */
  submit(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.count >= MOST_WAITING) return reject(tooMany());
      this.count += 1;
      const key = this.work.keyOf(item);
      const waiting = this.waiting.get(key);
      if (waiting === undefined) this.waiting.set(key, [{ item, resolve, reject }]);
      else waiting.push({ item, resolve, reject });
      this.schedule();
    });
  }

  /** Reads what has already arrived, so that it joins the batch. */
  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.start();
    });
  }

  private start(): void {
    if (this.waiting.size === 0 || this.running >= MAX_RUNNING) return;
    const now = performance.now();
    const left = Math.max(this.beside(now), this.expecting(now));
    if (left > 0) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.start(), left);
      return;
    }
    this.expectingSince = undefined;
    this.running += 1;
    this.startedAt = now;
    void this.carryOut(this.take());
    if (this.waiting.size > 0) this.start();
  }

  /** Milliseconds until a batch may start beside the one that started last. */
  private beside(now: number): number {
    return this.running === 0 ? 0 : this.startedAt + LONG_MS - now;
  }

  private expecting(now: number): number {
    if (this.work.expects?.() !== true) return 0;
    this.expectingSince ??= now;
    return this.expectingSince + EXPECT_MS - now;
  }

  /** The first call of every key, up to the size of a batch; the keys then move to the end. */
  private take(): Waiting<Item, Answer>[] {
    const taken: Waiting<Item, Answer>[] = [];
    for (const [key, waiting] of [...this.waiting].slice(0, MAX_BATCH_SIZE)) {
      taken.push(waiting.shift() as Waiting<Item, Answer>);
      this.waiting.delete(key);
      if (waiting.length > 0) this.waiting.set(key, waiting);
    }
    this.count -= taken.length;
    return taken;
  }

  private async carryOut(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    let failure: { error: unknown } | undefined;
    try {
      settle(batch, await this.work.run(batch.map(({ item }) => item)));
    } catch (error) {
      failure = { error };
    }
    this.running -= 1;
    if (this.waiting.size > 0) this.schedule();
    if (failure !== undefined) await this.afterFailure(batch, failure.error);
  }

  private async afterFailure(batch: readonly Waiting<Item, Answer>[], error: unknown): Promise<void> {
    if (batch.length === 1 || !this.work.splits(error)) {
      for (const { reject } of batch) reject(error);
      return;
    }
    await Promise.all(
      batch.map(async (one) => {
        try {
          settle([one], await this.work.run([one.item]));
        } catch (cause) {
          one.reject(cause);
        }
      }),
    );
  }
}

function settle<Item, Answer>(batch: readonly Waiting<Item, Answer>[], answers: readonly Answer[]): void {
  if (answers.length !== batch.length) throw new Error(`${batch.length} calls have ${answers.length} answers`);
  batch.forEach(({ resolve }, index) => resolve(answers[index] as Answer));
}

function tooMany(): AppError {
  return new AppError('SERVICE_UNAVAILABLE', 'Too many calls are already waiting', {
    retryAfterSeconds: 1,
    level: 'warn',
  });
}

/** SQLSTATE of errors that end the connection, or after which the outcome is unknown. */
const ENDS = /^(?:08|25P0[345]|3D|40003|53|57P|58|XX)/;

/**
 * PostgreSQL undid the statement and the connection lives, so it had no effect. Recognized by the code, for servers
 * translate the word ERROR.
 */
export function wasUndone(error: unknown): boolean {
  const { severity, code } = error as { severity?: unknown; code?: unknown };
  return severity !== undefined && typeof code === 'string' && !ENDS.test(code);
}
