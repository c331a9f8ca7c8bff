import { join } from 'node:path';
import { guardPromise } from '@gatehouse/net';
import { ConfigFeed } from '../config-feed.js';
import { readRevision, type ClientRow, type HostRow, type TunnelRow } from '../../common/config-rows.js';
import { EdgeDatabase, type Queries } from '../../common/edge-database.js';
import { Reloading } from '../reloading.js';
import { SnapshotFile } from '../snapshot-file.js';
import { Dealing, type DealingRows } from './dealing.js';

const POLL_MS = 10_000;
const FIRST_RETRY_MS = 500;

interface RevisedRows extends DealingRows {
  revision: number;
}

export interface DoorConfigOptions {
  databaseUrl: string;
  /** Where workers write the last configuration that they read. */
  folder: string;
  count: number;
  onProblem(message: string): void;
}

/** The part of the configuration that decides which worker serves what. */
export class DoorConfig {
  private readonly options: DoorConfigOptions;
  private readonly database: EdgeDatabase;
  private readonly reloading: Reloading;
  private readonly feed: ConfigFeed;
  private timer: NodeJS.Timeout | null = null;
  private revision = -1;
  private closed = false;
  dealing: Dealing;

  constructor(options: DoorConfigOptions) {
    this.options = options;
    this.dealing = new Dealing({ clients: [], tunnels: [], hosts: [] }, options.count);
    this.database = new EdgeDatabase(options.databaseUrl);
    this.reloading = new Reloading({
      load: (everything) => this.load(everything),
      // Workers report the problem; the assignment stays as it was.
      onFailure: (error) => options.onProblem(error instanceof Error ? error.message : String(error)),
    });
    this.feed = new ConfigFeed({
      database: this.database,
      onNews: (everything) => guardPromise(null, this.reloading.news(everything)),
      onChallenges: () => undefined,
      onGrants: () => undefined,
      onProblem: (problem) => options.onProblem(problem),
    });
  }

  /** Reads it from the database, else from the last snapshot; otherwise waits for one of them. */
  async prepare(): Promise<void> {
    const snapshot = new SnapshotFile(join(this.options.folder, 'snapshot.json'));
    while (!this.closed) {
      await this.reloading.news();
      if (this.revision >= 0) return;
      const rows = await snapshot.read();
      // The revision is ignored: the database may not be the one of the snapshot.
      if (rows) return this.deal(rows);
      await new Promise((resolve) => setTimeout(resolve, FIRST_RETRY_MS));
    }
  }

  start(): void {
    guardPromise(null, this.feed.start());
    this.timer = setInterval(() => guardPromise(null, this.reloading.news()), POLL_MS);
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.timer) clearInterval(this.timer);
    await this.reloading.stop();
    await this.feed.close();
    await this.database.close();
  }

  private async load(everything: boolean): Promise<void> {
    if (!everything && (await readRevision(this.database)) === this.revision) return;
    const rows = await this.database.snapshot(readDealingRows);
    this.revision = rows.revision;
    this.deal(rows);
  }

  private deal(rows: DealingRows): void {
    this.dealing = new Dealing(rows, this.options.count);
  }
}

/** The same rows as `readConfigRows`, with fewer columns. */
async function readDealingRows(queries: Queries): Promise<RevisedRows> {
  const rows = async <R extends object>(sql: string): Promise<R[]> => (await queries.query<R>(sql)).rows;
  const revision = await readRevision(queries);
  return {
    revision,
    clients: await rows<Pick<ClientRow, 'id' | 'keyHash' | 'previousKeyHash'>>(`
      SELECT c.id, c.verify_key AS "keyHash", o.previous_verify_key AS "previousKeyHash" FROM tunnel_gateway.clients c
        LEFT JOIN tunnel_gateway_ops.client_options o ON o.client_id = c.id ORDER BY c.id`),
    tunnels: await rows<Pick<TunnelRow, 'id' | 'clientId'>>(
      'SELECT id, client_id AS "clientId" FROM tunnel_gateway.tunnels WHERE status = 1',
    ),
    hosts: await rows<Pick<HostRow, 'clientId' | 'host' | 'location' | 'scheme' | 'certPath'>>(`
      SELECT client_id AS "clientId", host, coalesce(location, '/') AS location, coalesce(scheme, 'all') AS scheme,
        cert_path AS "certPath" FROM tunnel_gateway.hosts WHERE status = 1 ORDER BY id`),
  };
}
