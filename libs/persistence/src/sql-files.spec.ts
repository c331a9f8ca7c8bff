import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createTestDatabase, type TestDatabase } from '@gatehouse/testing';
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { backupDatabase } from './backup/backup-database.js';
import { checkBackup, restoreDatabase } from './backup/restore-database.js';
import { createDataSource, type DataSourceConfig } from './data-source.js';
import { migrate, pendingMigrations } from './migrations.js';
import { withClient } from './pg-client.js';
import { checksumOf, readSqlFiles, SqlVersion } from './sql-files.js';

class CreateParcels1700000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE parcels (id int PRIMARY KEY, grams int)');
    await runner.query('CREATE FUNCTION price(grams int) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$');
  }
  async down(): Promise<void> {
    await Promise.resolve();
  }
}

let database: TestDatabase;
let folder: string;
let version = 1;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-sql-'));
  write({ price: 2, factor: 10 });
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await withClient(database.url, (client) => client.query('DROP SCHEMA IF EXISTS post CASCADE'));
});

const body = (name: string, result: number): string =>
  `CREATE OR REPLACE FUNCTION ${name}(grams int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN ${result}; END $$;`;

function write(results: Record<string, number>): void {
  for (const [name, result] of Object.entries(results)) {
    const triggers = `DROP TRIGGER IF EXISTS parcels_kept ON parcels;
      CREATE CONSTRAINT TRIGGER parcels_kept AFTER DELETE ON parcels FOR EACH ROW EXECUTE FUNCTION keep();`;
    const trigger = `CREATE OR REPLACE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE EXCEPTION 'kept'; END $$; ${triggers}`;
    writeFileSync(join(folder, `${name}.sql`), name === 'price' ? body(name, result) + trigger : body(name, result));
  }
}

/** The config of a service whose newest migration says which files there are now. */
function config(checksum?: string): DataSourceConfig {
  const sqlFolder = pathToFileURL(`${folder}/`);
  const name = `UseSql170000000000${++version}`;
  const said = checksum ?? checksumOf(readSqlFiles(sqlFolder));
  const Version = class extends SqlVersion {
    name = name;
    sqlChecksum = said;
  };
  Object.defineProperty(Version, 'name', { value: name });
  versions.push(Version);
  const migrations = [CreateParcels1700000000001, ...versions];
  return { url: database.url, schema: 'post', entities: [], migrations, sqlFolder, applicationName: 'spec' };
}
const versions: (new () => MigrationInterface)[] = [];
beforeEach(() => {
  versions.length = 0;
  version = 1;
});
const source = (checksum?: string): DataSource => createDataSource(config(checksum));

interface Applied {
  price: number;
  files: string[];
  at: string;
}
const applied = (url = database.url): Promise<Applied | undefined> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<Applied>(
      `SELECT post.price(1) AS price, array_agg(name ORDER BY name) AS files, max(applied_at)::text AS at FROM post.sql_files`,
    );
    return rows[0];
  });

it('SQL files are applied after the migrations, and again only when they change', async () => {
  const first = source();
  expect(await migrate(first)).toEqual(['CreateParcels1700000000001', 'UseSql1700000000002']);
  const before = await applied();
  expect(before).toMatchObject({ price: 2, files: ['factor.sql', 'price.sql'] });
  expect(await migrate(first)).toEqual([]);
  expect(await applied()).toEqual(before);
  write({ price: 3 });
  expect(await migrate(source())).toEqual(['UseSql1700000000003']);
  expect(await applied()).toMatchObject({ price: 3 });
  rmSync(join(folder, 'factor.sql'));
  await migrate(source());
  expect(await applied()).toMatchObject({ files: ['price.sql'] });
});

it('SQL files of an older version do not change the database', async () => {
  const older = config();
  await migrate(createDataSource(older));
  write({ price: 3 });
  await migrate(source());
  write({ price: 2 });
  const refused = 'that this version does not know (UseSql1700000000003)';
  await expect(migrate(createDataSource(older))).rejects.toThrow(refused);
  await expect(pendingMigrations(createDataSource(older))).rejects.toThrow(refused);
  expect(await applied()).toMatchObject({ price: 3 });
});

it('SQL files of an older version do not replace the newer ones that it works with', async () => {
  const older = { ...config(), release: '0.2.0' };
  await migrate(createDataSource(older));
  write({ price: 3 });
  const newer = config();
  for (const Version of versions.slice(-1)) Object.assign(Version.prototype, { oldestRelease: '0.2.0' });
  await migrate(createDataSource({ ...newer, release: '0.3.0' }));
  write({ price: 2 });
  expect(await migrate(createDataSource(older))).toEqual([]);
  expect(await pendingMigrations(createDataSource(older))).toEqual([]);
  expect(await applied()).toMatchObject({ price: 3 });
});

it('SQL files that differ from the newest migration are refused, with the checksum that it should have', async () => {
  await expect(migrate(source('of other files'))).rejects.toThrow(
    `the SQL files have the checksum ${checksumOf(readSqlFiles(pathToFileURL(`${folder}/`)))}, and the newest migration`,
  );
  expect(
    await withClient(database.url, (client) => client.query(`SELECT to_regnamespace('post') AS post`)),
  ).toMatchObject({ rows: [{ post: null }] });
});

it('missing SQL files are named', async () => {
  const gone = { ...config(), sqlFolder: pathToFileURL(`${folder}/gone/`) };
  await expect(migrate(createDataSource(gone))).rejects.toThrow(`the SQL files in ${folder}/gone/ cannot be read`);
});

it('SQL files leave nothing behind if one of them fails', async () => {
  await migrate(source());
  write({ factor: 11 });
  writeFileSync(join(folder, 'price.sql'), 'SELECT no_such_function()');
  await expect(migrate(source())).rejects.toThrow('no_such_function');
  const { rows } = await withClient(database.url, (client) => client.query('SELECT post.factor(1)'));
  expect(rows).toEqual([{ factor: 10 }]);
  write({ price: 4 });
  await migrate(source());
  expect(await applied()).toMatchObject({ price: 4 });
});

it('SQL files are applied once by processes that start together', async () => {
  const together = config();
  const names = await Promise.all([1, 2, 3].map(() => migrate(createDataSource(together))));
  expect(names.flat()).toHaveLength(2);
  expect(await applied()).toMatchObject({ price: 2 });
});

it('SQL files are those of this version after a restore, whatever the backup had', async () => {
  const file = join(folder, 'gatehouse.backup');
  await migrate(source());
  await withClient(database.url, (client) => client.query('INSERT INTO post.parcels VALUES (1, 5)'));
  await backupDatabase(database.url, file, { schemas: ['post'] });
  for (const price of [2, 7]) {
    write({ price });
    const stored = config();
    const database = (url: string): DataSourceConfig => ({ ...stored, url });
    await using target = await createTestDatabase();
    const checked = await checkBackup(file, {
      stored: [{ service: 'post', schemas: ['post'], database, invariants: [] }],
    });
    await restoreDatabase(target.url, checked);
    expect(await applied(target.url)).toMatchObject({ price, files: ['factor.sql', 'price.sql'] });
    await expect(withClient(target.url, (client) => client.query('DELETE FROM post.parcels'))).rejects.toThrow('kept');
    expect(await pendingMigrations(createDataSource(database(target.url)))).toEqual([]);
  }
});
