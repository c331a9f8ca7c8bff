import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writePrivately } from '@gatehouse/net';
import { writeBatches } from '@gatehouse/postgres';
import { applyBatch } from './apply-batch.js';
import type { Queries } from '../common/edge-database.js';
import { halveBatch, UnsentFlows, type FlowBatch } from './flow-batch.js';

const UNSENT = /^unsent-.*\.json$/;
/** An edge that was replaced may leave a file while this one runs. */
const RECOVER_EVERY = 60;
/** Which batches were counted is known for ten days (retention). One that is older may have been. */
const MAX_AGE_MS = 9 * 86_400_000;
/** A process that ends has seconds: a database that neither takes nor refuses the last batch must not cost it. */
const LAST_WRITE_MS = 2_000;

export interface FlowWriterOptions {
  queries: Queries;
  now: () => number;
  /** Puts what was counted since the last time into `unsent`. */
  collect(unsent: UnsentFlows): void;
  /** For files of batches that could not be written before a process ended. */
  folder: string;
  /** The database refuses these counts: they are in none of its totals. */
  onRefused: (batch: FlowBatch, error: unknown) => void;
}

/** Brings what was counted into the database: a batch a time, each once, nothing lost while the database is away. */
export class FlowWriter {
  private readonly options: FlowWriterOptions;
  private readonly unsent = new UnsentFlows();
  /** Sent, or about to be; whether it arrived is not known. It is the next to be sent, as it is. */
  private readonly batches: FlowBatch[] = [];
  private running: Promise<void> | null = null;
  /** Files whose batches are being written. */
  private leftover: string[] = [];
  private rounds = 0;

  constructor(options: FlowWriterOptions) {
    this.options = options;
  }

  /** Takes over what processes of this folder could not write before they ended. */
  async recover(): Promise<void> {
    const { folder } = this.options;
    const names = await readdir(folder).catch(() => []);
    const files = names.filter((name) => UNSENT.test(name)).map((name) => join(folder, name));
    for (const file of files.filter((each) => !this.leftover.includes(each))) {
      try {
        const found = JSON.parse(await readFile(file, 'utf8')) as FlowBatch[];
        const known = new Set(this.batches.map(({ id }) => id));
        this.batches.push(...found.filter(({ id }) => !known.has(id)));
        this.leftover.push(file);
      } catch {
        // Another process was quicker, or the file was damaged: there is nothing to count in it.
      }
    }
  }

  /** Takes what was counted, without writing it. */
  collect(): void {
    this.options.collect(this.unsent);
  }

  /** Collects and writes; who asks while that runs waits for it. @throws Error of the database; nothing is lost. */
  write(): Promise<void> {
    this.running ??= this.run().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  /** The last of it; what the database does not take goes into a file. */
  async close(): Promise<void> {
    const limit = Promise.withResolvers<never>();
    const timer = setTimeout(() => limit.reject(new Error('the database does not answer')), LAST_WRITE_MS);
    try {
      await Promise.race([this.writeLast(), limit.promise]);
    } catch {
      this.collect();
      while (!this.unsent.empty) this.batches.push(this.unsent.takeBatch(this.options.now()));
      const file = join(this.options.folder, `unsent-${randomUUID()}.json`);
      await writePrivately(file, JSON.stringify(this.batches));
      // What was in them is in the new one.
      for (const each of this.leftover.splice(0)) await rm(each, { force: true });
    } finally {
      clearTimeout(timer);
    }
  }

  private async writeLast(): Promise<void> {
    await this.running?.catch(() => undefined);
    await this.write();
    // What was counted while an older batch was on its way, and what one batch had no room for.
    while (!this.unsent.empty) await this.write();
  }

  private async run(): Promise<void> {
    const { queries, now, onRefused } = this.options;
    if (++this.rounds % RECOVER_EVERY === 0) await this.recover();
    this.collect();
    if (this.batches.length === 0 && !this.unsent.empty) this.batches.push(this.unsent.takeBatch(now()));
    this.refuseOld(now());
    await writeBatches(this.batches, {
      write: async (batch) => void (await applyBatch(queries, batch)),
      halve: halveBatch,
      setAside: onRefused,
    });
    for (const file of this.leftover.splice(0)) await rm(file, { force: true });
  }

  /** Such as a file of a machine that was off: it may have been counted before its process ended. */
  private refuseOld(now: number): void {
    const known = this.batches.splice(0);
    for (const batch of known) {
      if (now - batch.takenAt < MAX_AGE_MS) this.batches.push(batch);
      else this.options.onRefused(batch, new Error('these counts are older than what is known of earlier ones'));
    }
  }
}
