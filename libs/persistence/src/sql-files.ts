import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bilingual, BilingualError } from '@gatehouse/i18n';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { quoteIdentifier } from './data-source.js';
import type { PgConnection } from './pg-client.js';

/**
 * The files of a schema, by checksum. This is state of the schema, like the migrations table, so backups leave it out.
 */
export const SQL_FILES_TABLE = 'sql_files';

/** Functions and triggers of a service: statements that may run any number of times. */
export interface SqlFile {
  readonly name: string;
  readonly text: string;
  /** SHA-256 of name and text, hex. */
  readonly checksum: string;
}

/** The files of this program are missing, or are not those of its version. The message gives advice. */
export class SqlFilesError extends BilingualError {
  override readonly name = 'SqlFilesError';
}

/**
 * The `.sql` files of a folder in the order in which they are applied, which is that of their names. @throws
 * SqlFilesError if they cannot be read
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
      bilingual(
        `the SQL files in ${fileURLToPath(folder)} cannot be read (${why}): install Gatehouse again`,
        `无法读取 ${fileURLToPath(folder)} 中的 SQL 文件（${why}）：请重新安装 Gatehouse`,
      ),
      { cause },
    );
  }
}

/** The SQL files of one schema, and the names that they find. */
export interface SqlSet {
  readonly schema: string;
  readonly searchPath: string;
  readonly files: readonly SqlFile[];
  /** A change of one file applies all of them: later ones replace functions of earlier ones. */
  readonly together?: boolean;
}

/** One checksum of all files: it changes when a file is changed, added or removed. */
export function checksumOf(files: readonly SqlFile[]): string {
  return sha256(files.map(({ checksum }) => checksum).join('\n'));
}

/**
 * A migration without an effect. It records that this version of the service has SQL files with this checksum, so that
 * a service with older files refuses the database, or leaves its functions and triggers alone, as for every unknown
 * migration.
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

/** @throws SqlFilesError with both checksums if the newest `SqlVersion` is not that of the files */
export function checkSqlVersion(files: readonly SqlFile[], migrations: readonly MigrationInterface[]): void {
  // Compared by its properties: a service and a tool may each have loaded a copy of the class.
  const said = migrations.filter((migration): migration is SqlVersion => 'sqlChecksum' in migration).at(-1);
  const found = checksumOf(files);
  if (said?.sqlChecksum === found) return;
  throw new SqlFilesError(
    bilingual(
      `the SQL files have the checksum ${found}, and the newest migration that names one says ` +
        `${said?.sqlChecksum ?? 'nothing'} (${said?.name ?? 'there is none'}): install Gatehouse again, or, where you changed them, ` +
        'add a migration with their checksum',
      `SQL 文件的校验和为 ${found}，而最新的迁移（${said?.name ?? '无'}）中为 ${said?.sqlChecksum ?? '无'}：` +
        '请重新安装 Gatehouse；如果修改过这些文件，请添加包含其校验和的迁移',
    ),
  );
}

/** Names of the files that the schema lacks or has in another version, and whether it has one that was removed. */
export async function changedSqlFiles(
  client: PgConnection,
  { schema, files, together = false }: Omit<SqlSet, 'searchPath'>,
): Promise<{ changed: SqlFile[]; removed: string[] }> {
  const table = tableIn(schema);
  const { rows } = await client.query<{ present: string | null }>('SELECT to_regclass($1)::text AS present', [table]);
  if (rows[0]?.present == null) return { changed: [...files], removed: [] };
  const had = await client.query<{ name: string; checksum: string }>(`SELECT name, checksum FROM ${table}`);
  const checksums = new Map(had.rows.map(({ name, checksum }) => [name, checksum]));
  const changed = files.filter(({ name, checksum }) => checksums.get(name) !== checksum);
  const removed = [...checksums.keys()].filter((name) => files.every((file) => file.name !== name));
  return { changed: together && changed.length + removed.length > 0 ? [...files] : changed, removed };
}

/**
 * Runs the changed files in the open transaction of the connection, and leaves it their search path. Returns their
 * names. Objects of a removed file stay until a migration drops them.
 */
export async function applySqlFiles(client: PgConnection, set: SqlSet): Promise<string[]> {
  const { changed, removed } = await changedSqlFiles(client, set);
  if (changed.length === 0 && removed.length === 0) return [];
  await client.query(`SET LOCAL search_path = ${set.searchPath}`);
  const table = tableIn(set.schema);
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
