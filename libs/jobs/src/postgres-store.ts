import { bilingual } from '@gatehouse/i18n';
import { PgListener, withClient } from '@gatehouse/persistence';
import { KEEP_ALIVE, prepareSession } from '@gatehouse/postgres';
import {
  assertSchemaCompatibility,
  createPostgresBackend,
  runMigrations,
  SchemaMigrationRequiredError,
  type BackendFactory,
  type ConnectionOptions,
  type IQueueBackend,
} from 'bullmq';
import pg from 'pg';
import { JobsUnavailableError } from './job-errors.js';
import type { QueueStore } from './queue-store.js';
import { SharedNotifications } from './shared-notifications.js';

const SCHEMA = 'bullmq';
/** Maximum number of connections of a process. None is kept: workers and event streams share the process's listener. */
const MAX_POOL_SIZE = 3;

/** Connections to PostgreSQL that a process opens at most for its queues: one for each, and one for what is added meanwhile. */
export function jobsPoolSize(queues: number): number {
  return Math.min(queues + 1, MAX_POOL_SIZE);
}

export interface PostgresStoreOptions {
  url: string;
  /** How many queues use it. */
  queues: number;
  /** The listener of the process; without it one is created for the queues. */
  listener?: PgListener | undefined;
  applicationName: string;
  autoMigrate: boolean;
  onError: (error: Error) => void;
}

/** One pool for everything BullMQ does in this process; idle connections are closed. */
export function createPostgresStore(options: PostgresStoreOptions): QueueStore {
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: jobsPoolSize(options.queues),
    // Shorter than the pauses between the workers' checks: between them an idle service keeps no backend for this.
    idleTimeoutMillis: 2_000,
    connectionTimeoutMillis: 10_000,
    ...KEEP_ALIVE,
    onConnect: prepareSession({ search_path: SCHEMA }),
  });
  pool.on('error', options.onError);
  // Every queue, worker and event stream adds its own listeners to the one pool.
  pool.setMaxListeners(0);
  const listener = options.listener ?? ownListener(options);
  const connection = new SharedNotifications(pool, listener);
  return {
    kind: 'postgres',
    // BullMQ declares its connection options for Redis only.
    connection: connection as unknown as ConnectionOptions,
    factory: createPostgresBackend as unknown as BackendFactory<IQueueBackend, ConnectionOptions>,
    prepare: () => prepare(options),
    ping: async () => {
      await pool.query('SELECT 1');
    },
    close: async () => {
      if (listener !== options.listener) await listener.close();
      await pool.end();
    },
  };
}

function ownListener({ url, applicationName, onError }: PostgresStoreOptions): PgListener {
  return new PgListener({ url, applicationName: `${applicationName} listener`, onError });
}

/** Brings BullMQ's schema up to date; processes that start together take turns under its advisory lock. */
export async function migrateJobs(databaseUrl: string): Promise<void> {
  await withClient(databaseUrl, (client) => runMigrations(client, SCHEMA));
}

const NOT_MIGRATED = bilingual(
  'its schema is not migrated: run the migrate command, or set AUTO_MIGRATE=true',
  '其 schema 未迁移：请运行 migrate 命令，或设置 AUTO_MIGRATE=true',
);

async function prepare({ url, autoMigrate }: PostgresStoreOptions): Promise<void> {
  try {
    if (autoMigrate) await migrateJobs(url);
    else await withClient(url, (client) => assertSchemaCompatibility(client, SCHEMA));
  } catch (cause) {
    const { message } = cause as Error;
    const reason = cause instanceof SchemaMigrationRequiredError ? NOT_MIGRATED : bilingual(message, message);
    throw new JobsUnavailableError(
      `The job queues in the database (DATABASE_URL) cannot be used: ${reason.en}.`,
      `无法使用数据库（DATABASE_URL）中的任务队列：${reason['zh-CN']}。`,
      { cause },
    );
  }
}
