import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { applyBatch } from './apply-batch.js';
import type { Queries } from './edge-database.js';
import { UnsentFlows, type FlowBatch } from './flow-batch.js';
import { writePrivately } from './snapshot-file.js';

const UNSENT = /^unsent-.*\.json$/;

export interface FlowWriterOptions {
  queries: Queries;
  now: () => number;
  /** Puts what was counted since the last time into `unsent`. */
  collect(unsent: UnsentFlows): void;
  /** For files of batches that could not be written before a process ended. */
  folder: string;
}

/** Brings what was counted into the database: a batch a time, each once, nothing lost while the database is away. */
export class FlowWriter {
  private readonly options: FlowWriterOptions;
  private readonly unsent = new UnsentFlows();
  /** Sent, or about to be; whether it arrived is not known. It is the next to be sent, as it is. */
  private batches: FlowBatch[] = [];
  private running: Promise<void> | null = null;
  /** Files whose batches are being written. */
  private leftover: string[] = [];

  constructor(options: FlowWriterOptions) {
    this.options = options;
  }

  /** Takes over what processes of this folder could not write before they ended. */
  async recover(): Promise<void> {
    const { folder } = this.options;
    const names = await readdir(folder).catch(() => []);
    for (const file of names.filter((name) => UNSENT.test(name)).map((name) => join(folder, name))) {
      try {
        this.batches.push(...(JSON.parse(await readFile(file, 'utf8')) as FlowBatch[]));
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
    await this.running?.catch(() => undefined);
    try {
      await this.write();
      // What was counted while an older batch was on its way.
      if (!this.unsent.empty) await this.write();
    } catch {
      if (!this.unsent.empty) this.batches.push(this.unsent.takeBatch(this.options.now()));
      const file = join(this.options.folder, `unsent-${randomUUID()}.json`);
      await writePrivately(file, JSON.stringify(this.batches));
    }
  }

  private async run(): Promise<void> {
    const { queries, now } = this.options;
    this.collect();
    if (this.batches.length === 0 && !this.unsent.empty) this.batches.push(this.unsent.takeBatch(now()));
    for (let batch = this.batches[0]; batch; batch = this.batches[0]) {
      await applyBatch(queries, batch);
      this.batches.shift();
    }
    for (const file of this.leftover.splice(0)) await rm(file, { force: true });
  }
}
