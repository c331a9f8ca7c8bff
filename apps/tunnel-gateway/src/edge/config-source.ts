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
  /** Folder of the snapshot. */
  folder: string;
  /** Called with a new configuration; resolves when it is in force. */
  onRows(): Promise<void>;
}

/** The configuration to serve: from the database, or the last known one while it is away. */
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
      load: (everything) => this.load(everything),
      onFailure: options.presence.failed,
    });
  }

  /** First read: from the database, else from the snapshot; otherwise waits for one of them. */
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

  /** Something may have changed; `everything`: the database may be another one. */
  news(everything: boolean): Promise<void> {
    return this.reloading.news(everything);
  }

  /** Checks for changes that no notification announced. */
  async check(): Promise<void> {
    const { database, presence } = this.options;
    try {
      const revision = await readRevision(database);
      if (revision !== this.rows?.revision || this.source === 'snapshot') await this.news(false);
    } catch (error) {
      presence.failed(error);
    }
  }

  /** Resolves when no read is running. */
  stop(): Promise<void> {
    return this.reloading.stop();
  }

  private async load(everything: boolean): Promise<void> {
    const { database, presence } = this.options;
    const known = this.source === 'database' && !everything ? this.rows : null;
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
