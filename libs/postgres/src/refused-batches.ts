import { isRefusedData } from './database-errors.js';

/** Refusals that are followed to the row. If there are more, what is left of the batch is set aside whole. */
const MAX_REFUSALS = 256;

export interface BatchSteps<B> {
  /** Rejects when the batch was not written, in which case none of it was. */
  write: (batch: B) => Promise<void>;
  /** Two batches that say the same together; null: there is one row left in it. */
  halve: (batch: B) => readonly [B, B] | null;
  /** The database refuses this; the rest was, or will be, written. Logs and counts it. */
  setAside: (batch: B, error: unknown) => void;
}

/**
 * Writes the batches of a queue, oldest first, and takes each out when it is written. A batch that the database refuses
 * is replaced by its halves until the rows that are to blame are found and set aside, so that they hold up nobody
 * else's. Rejects on any other error; what is left in the queue can be written later, as it is.
 */
export async function writeBatches<B>(queue: B[], { write, halve, setAside }: BatchSteps<B>): Promise<void> {
  let refusals = 0;
  for (let batch = queue[0]; batch !== undefined; batch = queue[0]) {
    try {
      await write(batch);
      queue.shift();
    } catch (error) {
      if (!isRefusedData(error)) throw error;
      refusals += 1;
      const halves = refusals > MAX_REFUSALS ? null : halve(batch);
      if (halves === null) setAside(batch, error);
      queue.splice(0, 1, ...(halves ?? []));
    }
  }
}

/** `BatchSteps.halve` for rows. */
export function halveRows<T>(rows: readonly T[]): [readonly T[], readonly T[]] | null {
  if (rows.length < 2) return null;
  const middle = Math.ceil(rows.length / 2);
  return [rows.slice(0, middle), rows.slice(middle)];
}
