import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writePrivately } from '@gatehouse/net';
import { writeBatches } from '@gatehouse/postgres';
import { applyBatch } from './apply-batch.js';
import type { QuotaTracker } from './quota-tracker.js';
import type { Queries } from '../common/edge-database.js';
import { halveBatch, UnsentFlows, type FlowBatch } from './flow-batch.js';

const UNSENT = /^unsent-.*\.json$/;
/** A replaced edge may leave a file while this one runs. */
const RECOVER_EVERY = 60;
/** The ids of counted batches are kept for ten days (retention); an older batch may have been counted. */
const MAX_AGE_MS = 9 * 86_400_000;
/** A process has only seconds to end, so a database that does not answer must not use them up. */
const LAST_WRITE_MS = 2_000;

export interface FlowWriterOptions {
  queries: Queries;
  now: () => number;
  /** Moves the counters since the last call into `unsent`. */
  collect(unsent: UnsentFlows): void;
  /** Absent: nobody has a traffic quota. */
  quotas?: Pick<QuotaTracker, 'counted' | 'afterWrite' | 'whileAway'>;
  /** Folder for batches that could not be written before a process ended. */
  folder: string;
  /** The database refuses these counters, so they are missing in its totals. */
  onRefused: (batch: FlowBatch, error: unknown) => void;
}

/** Writes counters into the database, one batch at a time and each once; nothing is lost while the database is away. */
export class FlowWriter {
  private readonly options: FlowWriterOptions;
  private readonly unsent = new UnsentFlows();
  /** Batches that were sent, possibly without success. They are sent again unchanged. */
  private readonly batches: FlowBatch[] = [];
  private running: Promise<void> | null = null;
  /** Files whose batches are being written. */
  private leftover: string[] = [];
  private rounds = 0;

  constructor(options: FlowWriterOptions) {
    this.options = options;
  }

  /** Takes over the files of earlier processes. */
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
        // Another process was faster, or the file is damaged: there is nothing to count.
      }
    }
  }

  /** Collects the counters without writing them. */
  collect(): void {
    this.options.collect(this.unsent);
  }

  /** Collects and writes; concurrent calls wait for the running one. @throws Error of the database; nothing is lost. */
  write(): Promise<void> {
    this.running ??= this.run().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  /** Writes the last counters; what the database does not accept goes into a file. */
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
      // The new file includes them.
      for (const each of this.leftover.splice(0)) await rm(each, { force: true });
    } finally {
      clearTimeout(timer);
    }
  }

  private async writeLast(): Promise<void> {
    await this.running?.catch(() => undefined);
    await this.write();
    // Counters that arrived during an older batch, and what one batch could not hold.
    while (!this.unsent.empty) await this.write();
  }

  private async run(): Promise<void> {
    const { now, quotas } = this.options;
    if (++this.rounds % RECOVER_EVERY === 0) await this.recover();
    this.collect();
    if (this.batches.length === 0 && !this.unsent.empty) this.batches.push(this.unsent.takeBatch(now()));
    this.refuseOld(now());
    try {
      await this.writeAll();
      await quotas?.afterWrite(this.unsent);
    } catch (error) {
      quotas?.whileAway(this.unsent);
      throw error;
    }
  }

  private async writeAll(): Promise<void> {
    const { queries, onRefused, quotas } = this.options;
    await writeBatches(this.batches, {
      write: async (batch) => {
        const counted = await applyBatch(queries, batch);
        quotas?.counted(counted);
      },
      halve: halveBatch,
      setAside: onRefused,
    });
    for (const file of this.leftover.splice(0)) await rm(file, { force: true });
  }

  /** For files of a machine that was off: they may have been counted before its process ended. */
  private refuseOld(now: number): void {
    const known = this.batches.splice(0);
    for (const batch of known) {
      if (now - batch.takenAt < MAX_AGE_MS) this.batches.push(batch);
      else this.options.onRefused(batch, new Error('these counts are older than what is known of earlier ones'));
    }
  }
}
