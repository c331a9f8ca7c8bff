import { readFile } from 'node:fs/promises';
import { writePrivately } from '@gatehouse/net';
import type { ConfigRows } from '../common/config-rows.js';

const FORMAT = 1;

/** The last configuration on disk, for starts while the database is away. */
export class SnapshotFile {
  private readonly file: string;
  private work: Promise<void> = Promise.resolve();
  private waiting: ConfigRows | null = null;

  constructor(file: string) {
    this.file = file;
  }

  /** Null if there is none that this version can read. */
  async read(): Promise<ConfigRows | null> {
    try {
      const { format, rows } = JSON.parse(await readFile(this.file, 'utf8')) as { format: number; rows: ConfigRows };
      return format === FORMAT ? rows : null;
    } catch {
      // The first start, or a damaged file: the database has the same content.
      return null;
    }
  }

  /** Of several calls during a write, only the last one is written. */
  write(rows: ConfigRows): Promise<void> {
    const idle = this.waiting === null;
    this.waiting = rows;
    // The earlier caller got the error.
    if (idle) this.work = this.work.catch(() => undefined).then(() => this.writeWaiting());
    return this.work;
  }

  private async writeWaiting(): Promise<void> {
    const rows = this.waiting;
    this.waiting = null;
    await writePrivately(this.file, JSON.stringify({ format: FORMAT, rows }));
  }
}
