import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createTestDatabase, type TestDatabase } from '@gatehouse/testing';
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDataSource } from '../data-source.js';
import { migrate } from '../migrations.js';
import { withClient } from '../pg-client.js';
import { backupDatabase } from './backup-database.js';
import { BackupError, readBackupHeader } from './backup-file.js';
import { parentsFirst } from './catalogue.js';
import { restoreDatabase } from './restore-database.js';

const SCHEMAS = ['shop', 'shop_ops'];

class CreateShop1700000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // "answers" comes before "questions" by name and after it by reference; "best" closes the circle.
    await runner.query(`CREATE TABLE questions (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text, best bigint,
      shout text GENERATED ALWAYS AS (upper(body)) STORED)`);
    await runner.query(`CREATE TABLE answers (
      id bigserial PRIMARY KEY, question_id bigint NOT NULL REFERENCES questions, reply_to bigint REFERENCES answers,
      big bigint, blob bytea, doc jsonb, at timestamptz, tags text[], price numeric, ratio double precision)`);
    await runner.query(`ALTER TABLE questions ADD FOREIGN KEY (best) REFERENCES answers DEFERRABLE`);
    await runner.query('CREATE SCHEMA shop_ops');
    await runner.query('CREATE TABLE shop_ops."Odd name" (id int PRIMARY KEY, note text)');
  }
  async down(): Promise<void> {
    await Promise.resolve();
  }
}
class AddStock1700000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE stock (id int PRIMARY KEY, count int NOT NULL)');
  }
  async down(): Promise<void> {
    await Promise.resolve();
  }
}
const MIGRATIONS = [CreateShop1700000000001, AddStock1700000000002];

const AWKWARD = 'tab\t newline\n backslash \\ \\N quote \' " é 漢 🙂 \r end\\.';

async function seed(url: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query('SET search_path = shop');
    await client.query('INSERT INTO questions (body) VALUES ($1), (NULL)', [AWKWARD]);
    await client.query(
      `INSERT INTO answers (question_id, reply_to, big, blob, doc, at, tags, price, ratio) VALUES
        (1, NULL, 9223372036854775807, $1, $2, '2026-01-02 03:04:05.678901+02', ARRAY['a,b', NULL, $3], 0.10, 0.1),
        (1, 1, NULL, NULL, NULL, 'infinity', NULL, 'NaN', 'Infinity')`,
      [Buffer.from([0, 1, 255, 10, 92]), JSON.stringify({ text: AWKWARD }), AWKWARD],
    );
    await client.query('UPDATE questions SET best = 2 WHERE id = 1');
    await client.query('INSERT INTO shop_ops."Odd name" VALUES (1, $1)', [AWKWARD]);
    await client.query('INSERT INTO stock SELECT n, n * 2 FROM generate_series(1, 50000) AS n');
  });
}

const contents = (url: string): Promise<unknown> =>
  withClient(url, async (client) => {
    const tables = ['shop.questions', 'shop.answers', 'shop_ops."Odd name"'];
    const found: unknown[] = [];
    for (const table of tables) found.push((await client.query(`SELECT t::text FROM ${table} AS t ORDER BY 1`)).rows);
    found.push((await client.query('SELECT count(*), sum(count) FROM shop.stock')).rows);
    return found;
  });

describe('backup and restore', () => {
  let source: TestDatabase;
  let target: TestDatabase;
  let folder: string;
  let file: string;

  const dataSource = (url: string, migrations = MIGRATIONS): DataSource =>
    createDataSource({ url, schema: 'shop', entities: [], migrations, applicationName: 'spec' });

  beforeAll(async () => {
    source = await createTestDatabase();
    await migrate(dataSource(source.url));
    await seed(source.url);
  });
  afterAll(() => source.drop());
  beforeEach(async () => {
    target = await createTestDatabase({
      template: { key: 'backup_spec', prepare: (url) => migrate(dataSource(url)).then(() => undefined) },
    });
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-backup-'));
    file = join(folder, 'gatehouse.backup');
  });
  afterEach(async () => {
    await target.drop();
    rmSync(folder, { recursive: true });
  });

  const save = () => backupDatabase(source.url, file, { schemas: SCHEMAS });

  it('restores every row of every type, and new rows go on from the saved sequences', async () => {
    const header = await save();
    expect(header.schemas).toEqual([
      { name: 'shop', migrations: ['CreateShop1700000000001', 'AddStock1700000000002'] },
      { name: 'shop_ops', migrations: [] },
    ]);
    expect(header.tables.map(({ name, rows }) => `${name} ${rows}`).toSorted((a, b) => a.localeCompare(b))).toEqual([
      'answers 2',
      'Odd name 1',
      'questions 2',
      'stock 50000',
    ]);
    expect(await readBackupHeader(file)).toEqual(header);
    await restoreDatabase(target.url, file);
    expect(await contents(target.url)).toEqual(await contents(source.url));
    const next = await withClient(target.url, (client) =>
      client.query(`INSERT INTO shop.questions (body) VALUES ('new') RETURNING id, shout`),
    );
    expect(next.rows).toEqual([{ id: 3, shout: 'NEW' }]);
    const reply = await withClient(target.url, (client) =>
      client.query('INSERT INTO shop.answers (question_id) VALUES (3) RETURNING id'),
    );
    expect(reply.rows).toEqual([{ id: 3 }]);
  });

  it('leaves one private file and nothing else, and none when it fails', async () => {
    await save();
    expect(readdirSync(folder)).toEqual(['gatehouse.backup']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    rmSync(file);
    await expect(backupDatabase(source.url, file, { schemas: ['nowhere'] })).rejects.toBeInstanceOf(BackupError);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('saves one moment, whatever is written meanwhile', async () => {
    let writing = true;
    const writer = withClient(source.url, async (client) => {
      for (let id = 100_000; writing; id += 1) {
        await client.query(`WITH s AS (INSERT INTO shop.stock VALUES (${id}, 0))
          INSERT INTO shop_ops."Odd name" VALUES (${id}, 'pair')`);
      }
    });
    try {
      const { tables } = await save();
      const rows = new Map(tables.map((table) => [table.name, table.rows]));
      expect((rows.get('stock') ?? 0) - 50_000).toBe((rows.get('Odd name') ?? 0) - 1);
    } finally {
      writing = false;
      await writer;
      await withClient(source.url, (client) =>
        client.query('DELETE FROM shop.stock WHERE id >= 100000; DELETE FROM shop_ops."Odd name" WHERE id >= 100000'),
      );
    }
  });

  it('refuses a database with rows, and replaces them when forced', async () => {
    await save();
    await withClient(target.url, (client) => client.query('INSERT INTO shop.stock VALUES (7, 7)'));
    await expect(restoreDatabase(target.url, file)).rejects.toThrow(/not empty \(shop.stock has rows\)/);
    await restoreDatabase(target.url, file, { force: true });
    expect(await contents(target.url)).toEqual(await contents(source.url));
  });

  it('restores through a role that is not a superuser', async () => {
    await save();
    const role = `keeper_${target.name}`;
    await withClient(target.url, async (client) => {
      await client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'keeper'`);
      for (const schema of SCHEMAS) await client.query(`ALTER SCHEMA ${schema} OWNER TO ${role}`);
      for (const table of ['shop.questions', 'shop.answers', 'shop.stock', 'shop.migrations', 'shop_ops."Odd name"']) {
        await client.query(`ALTER TABLE ${table} OWNER TO ${role}`);
      }
    });
    const url = new URL(target.url);
    url.username = role;
    url.password = 'keeper';
    await restoreDatabase(url.href, file);
    expect(await contents(target.url)).toEqual(await contents(source.url));
    await withClient(target.url, (client) =>
      client.query(`REASSIGN OWNED BY ${role} TO CURRENT_USER; DROP OWNED BY ${role}; DROP ROLE ${role}`),
    );
  });

  it.each([
    ['cut short', () => truncateSync(file, Math.floor(statSync(file).size / 2))],
    ['changed in a row', () => rewrite((text) => text.replace('49999\t99998', '49999\t99999'))],
    ['short of a row', () => rewrite((text) => text.replace('\n49999\t99998', ''))],
    ['longer than its header says', () => rewrite((text) => `${text}more`)],
    ['not a backup', () => writeFileSync(file, gzipSync('{"format":"other"}\n'))],
    ['not even compressed', () => writeFileSync(file, 'hello')],
    ['of a later format', () => rewrite((text) => text.replace('"version":1', '"version":2'))],
  ])('refuses a file that is %s and changes nothing', async (_, damage) => {
    await save();
    damage();
    const before = await contents(target.url);
    await expect(restoreDatabase(target.url, file)).rejects.toBeInstanceOf(BackupError);
    expect(await contents(target.url)).toEqual(before);
  });

  const rewrite = (change: (text: string) => string): void => {
    const text = gunzipSync(readFileSync(file)).toString('utf8');
    expect(change(text)).not.toBe(text);
    writeFileSync(file, gzipSync(change(text)));
  };

  it('refuses a database whose migrations differ, and restores one brought to the same state', async () => {
    await save();
    await using older = await createTestDatabase();
    await migrate(dataSource(older.url), { only: ['CreateShop1700000000001'] });
    await expect(restoreDatabase(older.url, file)).rejects.toThrow(
      /lacks migrations that the backup has \(AddStock1700000000002\)/,
    );
    await backupDatabase(older.url, join(folder, 'older'), { schemas: SCHEMAS });
    await expect(restoreDatabase(target.url, join(folder, 'older'))).rejects.toThrow(
      /has migrations that the backup lacks \(AddStock1700000000002\)/,
    );
    expect(await migrate(dataSource(older.url))).toEqual(['AddStock1700000000002']);
    await restoreDatabase(older.url, file);
    expect(await contents(older.url)).toEqual(await contents(source.url));
  });

  it('asks for the services to be stopped when they use the tables', async () => {
    await save();
    await withClient(target.url, async (user) => {
      await user.query('BEGIN; SELECT * FROM shop.stock');
      await expect(restoreDatabase(target.url, file)).rejects.toThrow('stop the services');
    });
  });

  it('says which file is missing', async () => {
    await expect(restoreDatabase(target.url, join(folder, 'absent'))).rejects.toThrow(/absent is not a usable backup/);
  });
});

describe('parentsFirst', () => {
  it('puts referred tables before those that refer to them, and ends on a cycle', () => {
    const tables = [{ oid: 1 }, { oid: 2 }, { oid: 3 }, { oid: 4 }];
    const chain = [
      { child: 1, parent: 3 },
      { child: 3, parent: 4 },
      { child: 2, parent: 1 },
      { child: 2, parent: 99 },
    ];
    expect(parentsFirst(tables, chain).map(({ oid }) => oid)).toEqual([4, 3, 1, 2]);
    const cycle = [...chain, { child: 4, parent: 1 }];
    expect(parentsFirst(tables, cycle)).toHaveLength(4);
  });
});
