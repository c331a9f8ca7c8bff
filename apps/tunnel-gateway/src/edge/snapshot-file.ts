import { readFile } from 'node:fs/promises';
import { writePrivately } from '@gatehouse/net';
import type { ConfigRows } from '../common/config-rows.js';

const FORMAT = 1;

/** The last configuration, on disk: what an edge starts with when the database is away. */
export class SnapshotFile {
  private readonly file: string;
  private work: Promise<void> = Promise.resolve();
  private waiting: ConfigRows | null = null;

  constructor(file: string) {
    this.file = file;
  }

  /** Null where there is none, or none that this version can read. */
  async read(): Promise<ConfigRows | null> {
    try {
      const { format, rows } = JSON.parse(await readFile(this.file, 'utf8')) as { format: number; rows: ConfigRows };
      return format === FORMAT ? rows : null;
    } catch {
      // The first start, or a file that was damaged: the database has the same.
      return null;
    }
  }

  /** The last of those that come while one is being written is the next to be. */
  write(rows: ConfigRows): Promise<void> {
    const idle = this.waiting === null;
    this.waiting = rows;
    // Whoever asked for the one before heard how it failed.
    if (idle) this.work = this.work.catch(() => undefined).then(() => this.writeWaiting());
    return this.work;
  }

  private async writeWaiting(): Promise<void> {
    const rows = this.waiting;
    this.waiting = null;
    await writePrivately(this.file, JSON.stringify({ format: FORMAT, rows }));
  }
}
