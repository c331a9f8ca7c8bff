import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource, MigrationInterface } from 'typeorm';
import {
  configOf,
  layerPathOf,
  MIGRATIONS_TABLE,
  quoteIdentifier,
  schemaOf,
  searchPathOf,
  urlOf,
  usePatience,
  type DataSourceConfig,
} from './data-source.js';
import { checkDatabaseServer } from './database-server.js';
import { newerSchemaOf, recordReleases, type NewerSchema } from './migration-releases.js';
import { withClient, type PgConnection } from './pg-client.js';
import { MIGRATION_PATIENCE } from '@gatehouse/postgres';
import type { Layer } from './layered-pool.js';
import { isLockTimeout } from './sql-errors.js';
import {
  applySqlFiles,
  changedSqlFiles,
  checkSqlVersion,
  readSqlFiles,
  type SqlFile,
  type SqlSet,
} from './sql-files.js';

/** How long a process waits while another one migrates. */
const TURN_MS = 600_000;
const LOCK_ATTEMPTS = 60;
const LOCK_PAUSE_MS = 2_000;

/** First half of the advisory lock's key; the second is the schema's hash. */
export const LOCK_CLASS = 0x6761_7465;

export interface SchemaCheckOptions {
  /** Called when a newer version has migrated the database in a way that this one can work with. */
  onNewer?: (newer: NewerSchema) => void;
}

export interface MigrateOptions extends SchemaCheckOptions {
  /** Runs only these of the pending migrations: before a restore, a database is brought to the state of the backup. */
  only?: readonly string[];
}

/**
 * Creates the schema and runs the migrations that are missing, then the SQL files that have changed; returns the names of
 * the migrations. An advisory lock makes processes that start together take turns: the later ones find nothing left to do.
 * A database that a newer version has migrated is left as it is, its functions and triggers included.
 * @throws NewerSchemaError and changes nothing when this version cannot work with a newer one's migrations, SqlFilesError when the SQL files are not those of this version, DatabaseServerError when its server cannot be used.
 */
export async function migrate(dataSource: DataSource, { only, onNewer }: MigrateOptions = {}): Promise<string[]> {
  const schema = schemaOf(dataSource);
  await checkDatabaseServer(urlOf(dataSource));
  return withClient(urlOf(dataSource), async (client) => {
    await client.query(`SET lock_timeout = ${TURN_MS}`);
    await client.query('SELECT pg_advisory_lock($1, hashtext($2))', [LOCK_CLASS, schema]);
    const done = await appliedMigrations(client, schema);
    if (!dataSource.isInitialized) usePatience(dataSource, MIGRATION_PATIENCE);
    // The lock ends with the client's session.
    return whileInitialized(dataSource, async () => {
      const all = dataSource.migrations;
      const config = configOf(dataSource);
      const newer = await newerSchemaOf(
        client,
        { schema, release: config?.release },
        { done, listed: all.map(nameOf) },
      );
      if (newer) {
        onNewer?.(newer);
        return [];
      }
      const sets = only === undefined ? sqlSetsOf(dataSource) : [];
      await client.query(`CREATE SCHEMA IF NOT EXISTS ${quoteIdentifier(schema)}`);
      await recordReleases(client, schema, config?.release, all);
      const chosen = only === undefined ? all : all.filter((migration) => only.includes(nameOf(migration)));
      Object.assign(dataSource, { migrations: chosen });
      try {
        await withoutLongLocks(() => dataSource.runMigrations());
        await withoutLongLocks(() => runSqlFiles(client, sets));
        return (await appliedMigrations(client, schema)).filter((name) => !done.includes(name));
      } finally {
        Object.assign(dataSource, { migrations: all });
      }
    });
  });
}

/** Waits briefly for locks, and retries, because all later requests queue behind one that waits for a whole table. */
async function withoutLongLocks(work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (attempt === LOCK_ATTEMPTS || !isLockTimeout(error)) throw error;
      await delay(LOCK_PAUSE_MS);
    }
  }
}

/**
 * Those of the service's schema, and those of its layer. None where the service has no folder of them.
 * @throws SqlFilesError where the folder is not of the version that the migrations say.
 */
export function sqlSetsOf(dataSource: DataSource): SqlSet[] {
  const config = configOf(dataSource);
  if (config?.sqlFolder === undefined) return [];
  const { schema, sqlFolder, layer } = config;
  const files = readSqlFiles(sqlFolder);
  const ownFiles = layer === undefined ? [] : readSqlFiles(layer.sqlFolder);
  checkSqlVersion([...files, ...ownFiles], dataSource.migrations);
  const own = { schema, searchPath: searchPathOf(config), files };
  return layer === undefined ? [own] : [own, layerSet(config, layer, [...files.filter(isIn(layer)), ...ownFiles])];
}

const isIn =
  ({ sqlFiles }: Layer) =>
  ({ name }: SqlFile): boolean =>
    sqlFiles.includes(name);

/** Functions and triggers belong to the schema of the tables, which the views of the layer stand before. */
function layerSet(config: DataSourceConfig, layer: Layer, files: readonly SqlFile[]): SqlSet {
  const schema = layer.searchPath.at(-1) as string;
  return { schema, searchPath: layerPathOf(config, { searchPath: [schema] }), files, together: true };
}

async function runSqlFiles(client: PgConnection, sets: readonly SqlSet[]): Promise<void> {
  let changes = 0;
  for (const set of sets) {
    const { changed, removed } = await changedSqlFiles(client, set);
    changes += changed.length + removed.length;
  }
  if (changes === 0) return;
  await client.query('BEGIN');
  try {
    const { lockMs } = MIGRATION_PATIENCE;
    await client.query(`SET LOCAL lock_timeout = ${lockMs}`);
    for (const set of sets) await applySqlFiles(client, set);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

export function nameOf({ name, constructor }: MigrationInterface): string {
  return name ?? constructor.name;
}

/**
 * Names of the pending migrations, in order; for an absent schema, all of them.
 * @throws NewerSchemaError when this version cannot work with a newer one's migrations, DatabaseServerError if its server is
 * unusable.
 */
export async function pendingMigrations(
  dataSource: DataSource,
  { onNewer }: SchemaCheckOptions = {},
): Promise<string[]> {
  const schema = schemaOf(dataSource);
  await checkDatabaseServer(urlOf(dataSource));
  const listed = await whileInitialized(dataSource, () => Promise.resolve(dataSource.migrations.map(nameOf)));
  return withClient(urlOf(dataSource), async (client) => {
    const done = await appliedMigrations(client, schema);
    const newer = await newerSchemaOf(client, { schema, release: configOf(dataSource)?.release }, { done, listed });
    if (newer) onNewer?.(newer);
    return listed.filter((name) => !done.includes(name));
  });
}

/** Names of the migrations a schema has, oldest first. */
export async function appliedMigrations(client: PgConnection, schema: string): Promise<string[]> {
  const table = `${quoteIdentifier(schema)}.${quoteIdentifier(MIGRATIONS_TABLE)}`;
  const { rows } = await client.query<{ present: string | null }>('SELECT to_regclass($1)::text AS present', [table]);
  if (rows[0]?.present == null) return [];
  const names = await client.query<{ name: string }>(`SELECT name FROM ${table} ORDER BY id`);
  return names.rows.map(({ name }) => name);
}

async function whileInitialized<T>(dataSource: DataSource, work: () => Promise<T>): Promise<T> {
  if (dataSource.isInitialized) return work();
  await dataSource.initialize();
  try {
    return await work();
  } finally {
    await dataSource.destroy();
  }
}
