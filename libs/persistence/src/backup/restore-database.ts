import { bilingual } from '@gatehouse/i18n';
import { quoteIdentifier } from '../data-source.js';
import { withClient, type PgConnection } from '../pg-client.js';
import { BackupReader } from './backup-file.js';
import { BackupError, type BackupHeader } from './backup-header.js';
import { fixTextFormat, qualified, readSchemas, readTables } from './catalogue.js';
import { checkBackupFile, type ProgressHandler } from './check-file.js';
import { clearAway, countRows, lockTables, refuseUsers, setAside, type RowCounts } from './former-data.js';
import { keyFingerprint } from './key-fingerprint.js';
import { checkTables, createPartitions, loadTable, setSequences, withoutTriggers } from './load-tables.js';
import { knownMigrations, SchemaBuilder } from './prepare-schemas.js';
import type { StoredData } from './stored-data.js';

export interface BackupDemands {
  /** The services of this version. */
  stored: readonly StoredData[];
  /** The secret keys that the services will have, or undefined to leave them unchecked. */
  keys?: readonly Buffer[];
  onProgress?: ProgressHandler;
}

/** A complete backup that this version can restore. */
export interface CheckedBackup {
  file: string;
  header: BackupHeader;
  /** The services with data in it. */
  stored: readonly StoredData[];
  /** Migrations that it lacks: they run after its rows are loaded. */
  migrations: string[];
}

export interface RestoreOptions {
  /** Replaces existing data; without it a database with data is refused. */
  force?: boolean;
  /** Called before data is replaced, with the number of rows of each service that has any. */
  onReplace?: (replaced: readonly ReplacedRows[]) => void;
  onProgress?: ProgressHandler;
}

export interface ReplacedRows {
  service: string;
  rows: number;
}

/** Checks a backup as far as possible without a database. @throws BackupError with advice. */
export async function checkBackup(file: string, demands: BackupDemands): Promise<CheckedBackup> {
  const header = await checkBackupFile(file, demands.onProgress);
  const stored = servicesOf(header, demands.stored);
  const migrations = checkMigrations(header, stored);
  if (demands.keys !== undefined) checkKeys(header, demands.keys);
  return { file, header, stored, migrations };
}

/**
 * Restores the services' data as of the moment of the backup, and migrates it to this version. Everything happens in
 * one transaction, so the database does not change until its end. The services must not run; the role has to own the
 * schemas and needs the right to create schemas in the database.
 * @throws BackupError with advice.
 */
export async function restoreDatabase(url: string, backup: CheckedBackup, options: RestoreOptions = {}): Promise<void> {
  const { file, header, stored } = backup;
  const reader = new BackupReader(file);
  try {
    const again = await reader.header();
    if (again.createdAt !== header.createdAt) {
      throw new BackupError(`${file} was replaced while it was read.`, `读取过程中 ${file} 被替换。`);
    }
    await SchemaBuilder.inTransaction(url, stored, async (builder, client) => {
      await fixTextFormat(client);
      const replaced = await prepare({ builder, client, header, stored, force: options.force === true });
      options.onReplace?.(replaced);
      await load({ builder, client, header, reader, onProgress: options.onProgress });
      await builder.migrate(() => true);
      await builder.applySqlFiles();
    });
  } finally {
    await reader.close();
  }
  await clearAway(
    url,
    stored.flatMap(({ schemas }) => schemas),
  );
  await analyze(url, header);
}

/** @throws BackupError for schemas that no service of this version has. */
function servicesOf(header: BackupHeader, stored: readonly StoredData[]): StoredData[] {
  const names = header.schemas.map(({ name }) => name);
  const unknown = names.filter((name) => !stored.some(({ schemas }) => schemas.includes(name)));
  if (unknown.length > 0) throw newer('schema', unknown);
  const strange = [...header.tables, ...header.partitions, ...header.sequences].find(
    ({ schema }) => !names.includes(schema),
  );
  if (strange !== undefined) {
    throw new BackupError(
      `The backup is damaged: ${qualified(strange)} belongs to none of its schemas.`,
      `备份已损坏：${qualified(strange)} 不属于其中任何 schema。`,
    );
  }
  return stored.filter(({ schemas }) => schemas.some((schema) => names.includes(schema)));
}

const FROM_LATER_VERSIONS = {
  schema: bilingual('it has the schema', '其中有 schema'),
  migrations: bilingual('it has the migrations', '其中有迁移'),
} as const;

function newer(kind: keyof typeof FROM_LATER_VERSIONS, names: readonly string[]): BackupError {
  const how = FROM_LATER_VERSIONS[kind];
  return new BackupError(
    `The backup was made by a newer Gatehouse (${how.en} ${names.join(', ')}): ` +
      'restore it with the version that made it, or a later one.',
    `该备份由更新版本的 Gatehouse 创建（${how['zh-CN']} ${names.join('、')}）：请用创建它的版本或更新的版本恢复。`,
  );
}

/** Returns the migrations that the backup lacks. @throws BackupError for those that this version lacks. */
function checkMigrations(header: BackupHeader, stored: readonly StoredData[]): string[] {
  const here = stored.flatMap(knownMigrations);
  const there = header.schemas.flatMap(({ migrations }) => migrations);
  const unknown = there.filter((name) => !here.includes(name));
  if (unknown.length > 0) throw newer('migrations', unknown);
  return here.filter((name) => !there.includes(name));
}

function checkKeys(header: BackupHeader, keys: readonly Buffer[]): void {
  const here = keys.map(keyFingerprint);
  if (header.keys.every((key) => here.includes(key))) return;
  throw new BackupError(
    'The backup was made with another secret key: put the secret.key that was saved with it into the home, ' +
      'or its text into GATEHOUSE_SECRET_KEY. With any other key its passwords, keys and certificates could not be read.',
    '该备份使用了另一个密钥：请将与它一同保存的 secret.key 放入数据目录，或将其内容设为 GATEHOUSE_SECRET_KEY。' +
      '使用其他密钥无法读取其中的密码、密钥和证书。',
  );
}

interface Preparation {
  builder: SchemaBuilder;
  client: PgConnection;
  header: BackupHeader;
  stored: readonly StoredData[];
  force: boolean;
}

/** Renames the existing schemas and creates those of the backup. Returns the rows that will be replaced. */
async function prepare({ builder, client, header, stored, force }: Preparation): Promise<ReplacedRows[]> {
  await refuseUsers(
    client,
    stored.map(({ service }) => service),
  );
  const names = stored.flatMap(({ schemas }) => schemas);
  await client.query(`SET LOCAL lock_timeout = '2s'`);
  await builder.keepMigrationsOut();
  await lockTables(client, names);
  const former = await readSchemas(client, names);
  const counts = await countRows(client, names);
  await setAside(client, names);
  const migrations = header.schemas.flatMap((schema) => schema.migrations);
  if (!force && [...counts.values()].some((rows) => rows > 0)) {
    const had = former.flatMap((schema) => schema.migrations);
    const initial = await builder.rehearse(async () => {
      await builder.migrate((name) => had.includes(name));
      return countRows(client, names);
    });
    refuseData(counts, initial, stored);
  }
  await builder.migrate((name) => migrations.includes(name));
  return rowsOfServices(counts, stored);
}

/** Rows that migrations insert do not count as data. */
function refuseData(counts: RowCounts, initial: RowCounts, stored: readonly StoredData[]): void {
  if ([...counts].every(([table, rows]) => rows <= (initial.get(table) ?? 0))) return;
  const rows = rowsOfServices(counts, stored);
  throw new BackupError(
    `The database is not empty (${rows.map((one) => `${one.service} ${one.rows} rows`).join(', ')}): ` +
      'restore with --force to replace what it has.',
    `数据库不为空（${rows.map((one) => `${one.service} ${one.rows} 行`).join('、')}）：如需替换现有数据，请加 --force。`,
  );
}

function rowsOfServices(counts: RowCounts, stored: readonly StoredData[]): ReplacedRows[] {
  return stored
    .map(({ service, schemas }) => {
      const own = [...counts].filter(([table]) => schemas.some((schema) => table.startsWith(`${schema}.`)));
      return { service, rows: own.reduce((sum, [, rows]) => sum + rows, 0) };
    })
    .filter(({ rows }) => rows > 0);
}

interface Loading {
  builder: SchemaBuilder;
  client: PgConnection;
  header: BackupHeader;
  reader: BackupReader;
  onProgress: ProgressHandler | undefined;
}

async function load({ builder, client, header, reader, onProgress }: Loading): Promise<void> {
  const names = header.schemas.map(({ name }) => name);
  await createPartitions(client, header);
  await checkTables(client, header);
  const tables = await readTables(client, names);
  await withoutTriggers(client, names, async () => {
    if (tables.length > 0) await client.query(`TRUNCATE ${tables.map(qualified).join(', ')}`);
    for (const table of header.tables) {
      await builder.useNamesOf(table.schema);
      await loadTable(client, reader, table, onProgress);
    }
    await reader.end();
  });
  await setSequences(client, header);
}

/** Without statistics the first queries would be planned for empty tables. */
async function analyze(url: string, header: BackupHeader): Promise<void> {
  const tables = header.tables.map(({ schema, name }) => `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`);
  if (tables.length > 0) await withClient(url, (client) => client.query(`ANALYZE ${tables.join(', ')}`));
}
