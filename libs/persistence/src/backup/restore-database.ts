import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { quoteIdentifier } from '../data-source.js';
import { withClient, type PgClient } from '../pg-client.js';
import { BackupError, BackupReader, type BackupHeader, type BackupTable } from './backup-file.js';
import { fixTextFormat, qualified, readSchemas, readTables, type TableShape } from './catalogue.js';
import { MeasuredStream } from './measured-stream.js';

export interface RestoreOptions {
  /** Replace the rows the database has; without it a database with rows is refused. */
  force?: boolean;
}

/**
 * Loads a backup into schemas that have exactly its migrations, all of it or nothing, in one transaction. The services
 * must not run. Raises BackupError with the way out; returns the backup's header.
 */
export async function restoreDatabase(url: string, file: string, options: RestoreOptions = {}): Promise<BackupHeader> {
  const reader = new BackupReader(file);
  try {
    const header = await reader.header();
    // Closing the connection rolls back, whatever state a failed COPY left it in.
    await withClient(url, (client) => restore(client, reader, header, options.force ?? false));
    return header;
  } finally {
    await reader.close();
  }
}

async function restore(client: PgClient, reader: BackupReader, header: BackupHeader, force: boolean): Promise<void> {
  await fixTextFormat(client);
  await client.query(`BEGIN; SET LOCAL lock_timeout = '2s'`);
  await checkMigrations(client, header);
  const tables = await readTables(
    client,
    header.schemas.map(({ name }) => name),
  );
  checkTables(tables, header);
  await lockTables(client, tables);
  if (force) await emptyTables(client, tables);
  else await refuseRows(client, tables);
  await relaxReferences(client);
  for (const table of header.tables) await loadTable(client, reader, table);
  await reader.end();
  for (const { schema, name, value, called } of header.sequences) {
    await client.query('SELECT setval($1::regclass, $2::bigint, $3)', [qualified({ schema, name }), value, called]);
  }
  await client.query('COMMIT');
}

async function checkMigrations(client: PgClient, header: BackupHeader): Promise<void> {
  const present = await readSchemas(
    client,
    header.schemas.map(({ name }) => name),
  );
  for (const { name, migrations } of header.schemas) {
    const here = present.find((schema) => schema.name === name)?.migrations ?? [];
    const missing = migrations.filter((migration) => !here.includes(migration));
    const extra = here.filter((migration) => !migrations.includes(migration));
    if (missing.length > 0) {
      throw new BackupError(
        `The schema ${name} lacks migrations that the backup has (${missing.join(', ')}): ` +
          'migrate the database first, with a version of Gatehouse at least as new as the one that made the backup.',
      );
    }
    if (extra.length > 0) {
      throw new BackupError(
        `The schema ${name} has migrations that the backup lacks (${extra.join(', ')}): ` +
          'restore into a database migrated only as far as the backup, and migrate on afterwards.',
      );
    }
  }
}

function checkTables(tables: readonly TableShape[], header: BackupHeader): void {
  const here = new Map(tables.map((table) => [qualified(table), table]));
  for (const table of header.tables) {
    const columns = here.get(qualified(table))?.columns ?? [];
    const missing = table.columns.filter((column) => !columns.includes(column));
    if (missing.length > 0) {
      throw new BackupError(
        `The table ${qualified(table)} of the backup does not fit: no column ${missing.join(', ')}.`,
      );
    }
  }
}

async function lockTables(client: PgClient, tables: readonly TableShape[]): Promise<void> {
  if (tables.length === 0) return;
  try {
    await client.query(`LOCK TABLE ${tables.map(qualified).join(', ')} IN ACCESS EXCLUSIVE MODE`);
  } catch (cause) {
    if ((cause as { code?: string }).code !== '55P03') throw cause;
    throw new BackupError('The database is in use: stop the services before restoring.', { cause });
  }
}

/** All tables in one statement: the references among them are no obstacle then. */
async function emptyTables(client: PgClient, tables: readonly TableShape[]): Promise<void> {
  if (tables.length > 0) await client.query(`TRUNCATE ${tables.map(qualified).join(', ')}`);
}

async function refuseRows(client: PgClient, tables: readonly TableShape[]): Promise<void> {
  for (const table of tables) {
    const { rowCount } = await client.query(`SELECT 1 FROM ${qualified(table)} LIMIT 1`);
    if (rowCount === 0) continue;
    throw new BackupError(
      `The database is not empty (${table.schema}.${table.name} has rows): restore with --force to replace what it has.`,
    );
  }
}

/**
 * Rows of a consistent snapshot fit together. A superuser loads them without triggers; for others the tables come
 * parents first and deferrable references wait for the commit.
 */
async function relaxReferences(client: PgClient): Promise<void> {
  const { rows } = await client.query<{ superuser: boolean }>(
    'SELECT rolsuper AS superuser FROM pg_roles WHERE rolname = current_user',
  );
  await client.query(
    rows[0]?.superuser === true ? 'SET LOCAL session_replication_role = replica' : 'SET CONSTRAINTS ALL DEFERRED',
  );
}

async function loadTable(client: PgClient, reader: BackupReader, table: BackupTable): Promise<void> {
  const columns = table.columns.map(quoteIdentifier).join(', ');
  const sink = client.query(copyFrom(`COPY ${qualified(table)} (${columns}) FROM STDIN`));
  const measured = new MeasuredStream();
  try {
    await pipeline(Readable.from(reader.take(table.bytes), { objectMode: false }), measured, sink);
  } catch (cause) {
    if (cause instanceof BackupError) throw cause;
    const { code, message } = cause as Error & { code?: string };
    throw new BackupError(
      `The rows of ${table.schema}.${table.name} could not be loaded: ${code === undefined ? message : `error ${code}`}.`,
      { cause },
    );
  }
  const { rowCount } = sink;
  if (measured.digest() !== table.sha256 || measured.rows !== table.rows || rowCount !== table.rows) {
    throw new BackupError(
      `The backup is damaged: the rows of ${table.schema}.${table.name} are not those that were saved.`,
    );
  }
}
