import { bilingual } from '@gatehouse/i18n';
import { PgListener, TransactionSlots, withClient, withLayer } from '@gatehouse/persistence';
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

/** The schema of the queues of all services. */
export const JOBS_SCHEMA = 'bullmq';
/** Maximum number of statements of a process's queues at a time: all workers look for jobs at the same moment. */
const MAX_STATEMENTS = 2;

export interface PostgresStoreOptions {
  url: string;
  /** The pool of the process, if its connections find the tables of the queues; without it one is created. */
  pool?: pg.Pool | undefined;
  /** The listener of the process; without it one is created for the queues. */
  listener?: PgListener | undefined;
  applicationName: string;
  autoMigrate: boolean;
  onError: (error: Error) => void;
}

/** One pool for everything BullMQ does in this process: that of the process, or one of its own. */
export function createPostgresStore(options: PostgresStoreOptions): QueueStore {
  const pool = options.pool ?? ownPool(options);
  const listener = options.listener ?? ownListener(options);
  const slots = new TransactionSlots(MAX_STATEMENTS);
  const queries = {
    // The queues of work in a layer are those of all.
    query: (text: string, values?: unknown[]) =>
      slots.use(() => withLayer(undefined, () => pool.query(text, values) as Promise<pg.QueryResult>)),
  };
  const connection = new SharedNotifications(queries, listener);
  return {
    kind: 'postgres',
    // BullMQ declares its connection options for Redis only.
    connection: connection as unknown as ConnectionOptions,
    factory: createPostgresBackend as unknown as BackendFactory<IQueueBackend, ConnectionOptions>,
    prepare: () => prepare(options),
    ping: async () => {
      await queries.query('SELECT 1');
    },
    close: async () => {
      if (listener !== options.listener) await listener.close();
      if (pool !== options.pool) await pool.end();
    },
  };
}

function ownPool({ url, applicationName, onError }: PostgresStoreOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: applicationName,
    max: MAX_STATEMENTS,
    idleTimeoutMillis: 2_000,
    connectionTimeoutMillis: 10_000,
    ...KEEP_ALIVE,
    onConnect: prepareSession({ search_path: JOBS_SCHEMA }),
  });
  pool.on('error', onError);
  return pool;
}

function ownListener({ url, applicationName, onError }: PostgresStoreOptions): PgListener {
  return new PgListener({ url, applicationName: `${applicationName} listener`, onError });
}

/** Brings BullMQ's schema up to date; processes that start together take turns under its advisory lock. */
export async function migrateJobs(databaseUrl: string): Promise<void> {
  await withClient(databaseUrl, (client) => runMigrations(client, JOBS_SCHEMA));
}

const NOT_MIGRATED = bilingual(
  'its schema is not migrated: run the migrate command, or set AUTO_MIGRATE=true',
  '其 schema 未迁移：请运行 migrate 命令，或设置 AUTO_MIGRATE=true',
);

async function prepare({ url, autoMigrate }: PostgresStoreOptions): Promise<void> {
  try {
    if (autoMigrate) await migrateJobs(url);
    else await withClient(url, (client) => assertSchemaCompatibility(client, JOBS_SCHEMA));
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
