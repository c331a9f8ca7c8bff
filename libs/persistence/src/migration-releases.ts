import { bilingual, BilingualError } from '@gatehouse/i18n';
import type { MigrationInterface } from 'typeorm';
import { quoteIdentifier } from './data-source.js';
import type { PgConnection } from './pg-client.js';

/**
 * What migrations say about older versions. This is state of the schema, like the migrations table, so backups leave it out.
 */
export const RELEASES_TABLE = 'migration_releases';

/** A released version of the program, such as 0.3.0. */
export type Release = `${number}.${number}.${number}`;

/** A migration that says which older versions still work with the schema after it. */
export interface ReleasedMigration extends MigrationInterface {
  /**
   * The oldest release that works with the schema after this migration. A migration that only adds: the last release. One
   * that takes something away: the first release that no longer uses it.
   */
  readonly oldestRelease: Release;
}

/** The database has migrations that this version does not know. */
export interface NewerSchema {
  readonly schema: string;
  /** Their names, oldest first. */
  readonly migrations: readonly string[];
  /** The newest version that ran one of them. */
  readonly release: string;
  /** The oldest version that works with all of them. */
  readonly oldestRelease: string;
}

/**
 * A newer version of the program has migrated the database, and this one cannot work with it; the message names the unknown
 * migrations and, where they say it, the version to start.
 */
export class NewerSchemaError extends BilingualError {
  override readonly name = 'NewerSchemaError';

  constructor(
    readonly schema: string,
    readonly unknown: readonly string[],
    said: Pick<NewerSchema, 'release' | 'oldestRelease'> | null = null,
  ) {
    const names = unknown.join(', ');
    const migrations = unknown.length === 1 ? 'a migration' : `${unknown.length} migrations`;
    const [why, what] = said
      ? [
          `${said.release} changed the schema, and versions before ${said.oldestRelease} cannot work with it`,
          `Start ${said.oldestRelease} or later`,
        ]
      : ['it was used by a newer version', 'Start that version again'];
    const [reason, remedy] = said
      ? [
          `${said.release} 版修改了该 schema，早于 ${said.oldestRelease} 的版本无法使用它`,
          `请启动 ${said.oldestRelease} 或更高版本`,
        ]
      : ['较新的版本使用过它', '请重新启动该版本'];
    super(
      bilingual(
        `the database has ${migrations} in the schema ${schema} that this version does not know (${names}): ${why}. ` +
          `${what}, or restore a backup that was made before the upgrade`,
        `数据库的 schema ${schema} 中有 ${unknown.length} 个此版本不认识的迁移（${unknown.join('、')}）：` +
          `${reason}。${remedy}，或恢复升级前的备份`,
      ),
    );
  }
}

/**
 * Compares what the database has with what this version knows. Returns null if nothing is unknown.
 * @throws NewerSchemaError unless every unknown migration says that this release works with it, and this version has none
 * that the database lacks: which of them would come first, nobody has tried.
 */
export async function newerSchemaOf(
  client: PgConnection,
  { schema, release }: { schema: string; release: string | undefined },
  { done, listed }: { done: readonly string[]; listed: readonly string[] },
): Promise<NewerSchema | null> {
  const unknown = done.filter((name) => !listed.includes(name));
  if (unknown.length === 0) return null;
  const said = await readReleases(client, schema, unknown);
  if (said === null || listed.some((name) => !done.includes(name))) throw new NewerSchemaError(schema, unknown);
  if (release === undefined || compareReleases(release, said.oldestRelease) < 0) {
    throw new NewerSchemaError(schema, unknown, said);
  }
  return { schema, migrations: unknown, ...said };
}

/**
 * Writes what the migrations say, before they run: an older service that starts in between must find it. A migration that
 * turned out to need a newer version than it said is corrected by a later version of the program, and never back.
 */
export async function recordReleases(
  client: PgConnection,
  schema: string,
  release: string | undefined,
  migrations: readonly MigrationInterface[],
): Promise<void> {
  const said = migrations.filter((migration): migration is ReleasedMigration => 'oldestRelease' in migration);
  if (release === undefined || said.length === 0) return;
  const table = tableIn(schema);
  await client.query(`CREATE TABLE IF NOT EXISTS ${table} (
    migration text PRIMARY KEY, release text NOT NULL, oldest_release text NOT NULL)`);
  await client.query(
    `INSERT INTO ${table} AS known (migration, release, oldest_release)
     SELECT migration, $1, oldest FROM unnest($2::text[], $3::text[]) AS said (migration, oldest)
     ON CONFLICT (migration) DO UPDATE SET oldest_release = excluded.oldest_release
       WHERE string_to_array(excluded.oldest_release, '.')::int[] > string_to_array(known.oldest_release, '.')::int[]`,
    [release, said.map(({ name, constructor }) => name ?? constructor.name), said.map((one) => one.oldestRelease)],
  );
}

/** Null: one of them says nothing. */
async function readReleases(
  client: PgConnection,
  schema: string,
  migrations: readonly string[],
): Promise<Pick<NewerSchema, 'release' | 'oldestRelease'> | null> {
  const table = tableIn(schema);
  const found = await client.query<{ present: string | null }>('SELECT to_regclass($1)::text AS present', [table]);
  if (found.rows[0]?.present == null) return null;
  const { rows } = await client.query<{ release: string; oldest: string }>(
    `SELECT release, oldest_release AS oldest FROM ${table} WHERE migration = ANY ($1)`,
    [migrations],
  );
  if (rows.length < migrations.length) return null;
  const newest = (releases: string[]): string => releases.toSorted(compareReleases).at(-1) ?? '';
  return {
    release: newest(rows.map(({ release }) => release)),
    oldestRelease: newest(rows.map(({ oldest }) => oldest)),
  };
}

/** Negative: `one` is older. What follows the three numbers, as in 0.3.0-rc.1, does not count. */
export function compareReleases(one: string, other: string): number {
  const [left, right] = [numbersOf(one), numbersOf(other)];
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
}

function numbersOf(release: string): [number, number, number] {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)/.exec(release) ?? [];
  return [Number(major ?? 0), Number(minor ?? 0), Number(patch ?? 0)];
}

function tableIn(schema: string): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(RELEASES_TABLE)}`;
}
