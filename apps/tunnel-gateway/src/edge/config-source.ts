import { join } from 'node:path';
import type { TunnelLogger } from '@gatehouse/tunnel-kernel';
import { readConfigRows } from './config-changes.js';
import { readAllRows, readRevision, type ConfigRows } from '../common/config-rows.js';
import type { DatabasePresence } from './database-presence.js';
import type { EdgeDatabase } from '../common/edge-database.js';
import type { EdgeStatus } from '../common/edge-ipc.js';
import { Reloading } from './reloading.js';
import { SnapshotFile } from './snapshot-file.js';

const FIRST_RETRY_MS = 500;

export interface ConfigSourceOptions {
  database: EdgeDatabase;
  presence: DatabasePresence;
  logger: TunnelLogger;
  /** Of the snapshot. */
  folder: string;
  /** There are others than before; resolves when they are in force. */
  onRows(): Promise<void>;
}

/** What is to be served: as the database says, and as it said last while it is away. */
export class ConfigSource {
  private readonly options: ConfigSourceOptions;
  private readonly snapshot: SnapshotFile;
  private readonly reloading: Reloading;
  rows: ConfigRows | null = null;
  source: EdgeStatus['source'] = 'database';

  constructor(options: ConfigSourceOptions) {
    this.options = options;
    this.snapshot = new SnapshotFile(join(options.folder, 'snapshot.json'));
    this.reloading = new Reloading({
      load: (anew) => this.load(anew),
      onFailure: options.presence.failed,
    });
  }

  /** Reads it for the first time: from the database, else from the snapshot, else it waits for one of them. */
  async prepare(): Promise<void> {
    const { database, presence, logger } = this.options;
    for (;;) {
      try {
        return this.take(await database.snapshot(readAllRows));
      } catch (error) {
        presence.failed(error);
      }
      this.rows = await this.snapshot.read();
      if (this.rows) {
        this.source = 'snapshot';
        return logger.warn('the configuration is the last snapshot', { revision: this.rows.revision });
      }
      await new Promise((resolve) => setTimeout(resolve, FIRST_RETRY_MS));
    }
  }

  /** Something may have changed; `anew`: the database may be another one. */
  news(anew: boolean): Promise<void> {
    return this.reloading.news(anew);
  }

  /** Whether there is news that nobody told of. */
  async check(): Promise<void> {
    const { database, presence } = this.options;
    try {
      const revision = await readRevision(database);
      if (revision !== this.rows?.revision || this.source === 'snapshot') await this.news(false);
    } catch (error) {
      presence.failed(error);
    }
  }

  /** Resolves when nothing is read any more. */
  stop(): Promise<void> {
    return this.reloading.stop();
  }

  private async load(anew: boolean): Promise<void> {
    const { database, presence } = this.options;
    const known = this.source === 'database' && !anew ? this.rows : null;
    const rows = await database.snapshot((queries) => readConfigRows(queries, known));
    presence.answered();
    if (rows === known) return;
    this.take(rows);
    await this.options.onRows();
  }

  private take(rows: ConfigRows): void {
    this.rows = rows;
    this.source = 'database';
    this.snapshot.write(rows).catch((error: unknown) => {
      this.options.logger.error('the snapshot of the configuration cannot be written', { error: String(error) });
    });
  }
}
