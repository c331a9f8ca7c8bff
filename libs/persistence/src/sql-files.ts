import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { quoteIdentifier } from './data-source.js';
import type { PgConnection } from './pg-client.js';

/** Says which files a schema has, by checksum. Part of the schema's state as the migrations table is, so backups leave it out. */
export const SQL_FILES_TABLE = 'sql_files';

/** Functions and triggers of a service: statements that may run any number of times. */
export interface SqlFile {
  readonly name: string;
  readonly text: string;
  /** SHA-256 of name and text, hex. */
  readonly checksum: string;
}

/** The files of this program are not there, or not those of its version. The message says what to do. */
export class SqlFilesError extends Error {
  override readonly name = 'SqlFilesError';
}

/**
 * The `.sql` files of a folder in the order in which they are applied, which is that of their names.
 * @throws SqlFilesError where they cannot be read
 */
export function readSqlFiles(folder: URL): SqlFile[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.sql'));
    return names.toSorted().map((name) => {
      const text = readFileSync(new URL(name, folder), 'utf8').replaceAll('\r\n', '\n');
      return { name, text, checksum: sha256(`${name}\0${text}`) };
    });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SqlFilesError(
      `the SQL files in ${fileURLToPath(folder)} cannot be read (${why}): install Gatehouse again`,
      {
        cause,
      },
    );
  }
}

/** One checksum of all files: another one when a file is changed, added or removed. */
export function checksumOf(files: readonly SqlFile[]): string {
  return sha256(files.map(({ checksum }) => checksum).join('\n'));
}

/**
 * A migration that changes nothing. It says that this version of the service has SQL files with this checksum, so that a
 * service with older files refuses the database, as it does for every migration that it does not know.
 */
export abstract class SqlVersion implements MigrationInterface {
  abstract readonly name: string;
  /** `checksumOf` the service's files. */
  abstract readonly sqlChecksum: string;

  async up(): Promise<void> {
    await Promise.resolve();
  }

  async down(_queryRunner: QueryRunner): Promise<void> {
    await Promise.resolve();
  }
}

/** @throws SqlFilesError naming both checksums where the newest `SqlVersion` is not that of the files. */
export function checkSqlVersion(files: readonly SqlFile[], migrations: readonly MigrationInterface[]): void {
  // By what it has: a service and a tool may each have loaded a copy of the class.
  const said = migrations.filter((migration): migration is SqlVersion => 'sqlChecksum' in migration).at(-1);
  const found = checksumOf(files);
  if (said?.sqlChecksum === found) return;
  throw new SqlFilesError(
    `the SQL files have the checksum ${found}, and the newest migration that names one says ` +
      `${said?.sqlChecksum ?? 'nothing'} (${said?.name ?? 'there is none'}): install Gatehouse again, or, where you changed them, ` +
      'add a migration with their checksum',
  );
}

/** Names of the files that the schema lacks or has in another version, and whether it has one that is gone. */
export async function changedSqlFiles(
  client: PgConnection,
  schema: string,
  files: readonly SqlFile[],
): Promise<{ changed: SqlFile[]; removed: string[] }> {
  const table = tableIn(schema);
  const { rows } = await client.query<{ present: string | null }>('SELECT to_regclass($1)::text AS present', [table]);
  if (rows[0]?.present == null) return { changed: [...files], removed: [] };
  const had = await client.query<{ name: string; checksum: string }>(`SELECT name, checksum FROM ${table}`);
  const checksums = new Map(had.rows.map(({ name, checksum }) => [name, checksum]));
  const changed = files.filter(({ name, checksum }) => checksums.get(name) !== checksum);
  const removed = [...checksums.keys()].filter((name) => files.every((file) => file.name !== name));
  return { changed, removed };
}

/**
 * Runs the files that have changed, in the transaction that is open on the connection, with the search path that it has.
 * Returns their names. What a removed file made stays until a migration drops it.
 */
export async function applySqlFiles(
  client: PgConnection,
  schema: string,
  files: readonly SqlFile[],
): Promise<string[]> {
  const { changed, removed } = await changedSqlFiles(client, schema, files);
  if (changed.length === 0 && removed.length === 0) return [];
  const table = tableIn(schema);
  await client.query(`CREATE TABLE IF NOT EXISTS ${table} (
    name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`);
  await client.query(`DELETE FROM ${table} WHERE name = ANY ($1)`, [removed]);
  for (const { name, text, checksum } of changed) {
    await client.query(text);
    await client.query(
      `INSERT INTO ${table} (name, checksum) VALUES ($1, $2)
       ON CONFLICT (name) DO UPDATE SET checksum = excluded.checksum, applied_at = now()`,
      [name, checksum],
    );
  }
  return changed.map(({ name }) => name);
}

function tableIn(schema: string): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(SQL_FILES_TABLE)}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
