import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createTestDatabase, type TestDatabase } from '@gatehouse/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { contents, database, freshShop, MIGRATIONS, restore, SCHEMAS, seed, stored } from '../../test/shop.js';
import { createDataSource } from '../data-source.js';
import { migrate, pendingMigrations } from '../migrations.js';
import { withClient } from '../pg-client.js';
import { backupDatabase, type BackupOptions } from './backup-database.js';
import { BackupError, type BackupHeader } from './backup-header.js';
import { checkBackup, restoreDatabase } from './restore-database.js';

describe('a restore', () => {
  let source: TestDatabase;
  let target: TestDatabase;
  let folder: string;
  let file: string;

  beforeAll(async () => {
    source = await freshShop();
    await seed(source.url);
  });
  afterAll(() => source.drop());
  beforeEach(async () => {
    target = await freshShop();
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-restore-'));
    file = join(folder, 'gatehouse.backup');
  });
  afterEach(async () => {
    await target.drop();
    rmSync(folder, { recursive: true });
  });

  const save = (options: BackupOptions = {}) => backupDatabase(source.url, file, { schemas: SCHEMAS, ...options });
  const rewrite = (change: (text: string) => string): void => {
    const text = gunzipSync(readFileSync(file)).toString('utf8');
    expect(change(text)).not.toBe(text);
    writeFileSync(file, gzipSync(change(text)));
  };
  const rewriteHeader = (change: (header: BackupHeader & Record<string, unknown>) => unknown): void =>
    rewrite((text) => {
      const end = text.indexOf('\n');
      const header = JSON.parse(text.slice(0, end)) as BackupHeader & Record<string, unknown>;
      change(header);
      return JSON.stringify(header) + text.slice(end);
    });
  const schemasOf = (url: string) =>
    withClient(url, async (client) => {
      const found = await client.query<{ name: string }>(
        `SELECT nspname AS name FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname NOT IN ('public', 'information_schema') ORDER BY 1`,
      );
      return found.rows.map(({ name }) => name);
    });

  it('needs no existing schema, and ignores rows that migrations inserted', async () => {
    await save();
    await using empty = await createTestDatabase();
    await restoreDatabase(empty.url, await checkBackup(file, { stored: [stored()] }));
    await restore(target.url, file);
    for (const { url } of [empty, target]) expect(await contents(url)).toEqual(await contents(source.url));
    expect(await schemasOf(empty.url)).toEqual(SCHEMAS);
  });

  it('refuses a database with rows, and replaces them when forced', async () => {
    await save();
    await withClient(target.url, (client) =>
      client.query(`INSERT INTO shop.stock VALUES (7, 7); INSERT INTO shop.journal (entry) VALUES ('mine');
        CREATE SCHEMA bullmq; CREATE TABLE bullmq.job (id int)`),
    );
    const before = await contents(target.url);
    await expect(restore(target.url, file)).rejects.toThrow('The database is not empty (shop 4 rows)');
    expect(await contents(target.url)).toEqual(before);
    expect(await restore(target.url, file, { force: true })).toEqual({
      replaced: [{ service: 'shop', rows: 4 }],
      migrations: [],
    });
    expect(await contents(target.url)).toEqual(await contents(source.url));
    // Jobs were about the former rows.
    expect(await schemasOf(target.url)).toEqual(SCHEMAS);
  });

  it('leaves triggers and references as the migrations created them', async () => {
    await save();
    const made = (url: string) =>
      withClient(url, async (client) => {
        const triggers = await client.query(
          `SELECT tgrelid::regclass::text, tgname, tgenabled FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2`,
        );
        const references = await client.query(
          `SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
            WHERE connamespace = 'shop'::regnamespace AND contype <> 'n' ORDER BY 1, 2`,
        );
        return [triggers.rows, references.rows];
      });
    const before = await made(target.url);
    await restore(target.url, file);
    expect(await made(target.url)).toEqual(before);
    await withClient(target.url, async (client) => {
      await expect(client.query('TRUNCATE shop.journal')).rejects.toThrow('never changed');
      await expect(client.query('UPDATE shop.questions SET best = 99')).rejects.toThrow('foreign key');
    });
  });

  it('works for the owner of a database who is not a superuser', async () => {
    await save();
    const role = `keeper_${target.name}`;
    await using owned = await createTestDatabase();
    await withClient(owned.url, (client) =>
      client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'keeper'; ALTER DATABASE ${owned.name} OWNER TO ${role}`),
    );
    const url = Object.assign(new URL(owned.url), { username: role, password: 'keeper' }).href;
    try {
      await migrate(createDataSource(database(url)));
      await withClient(url, (client) => client.query('INSERT INTO shop.stock VALUES (7, 7)'));
      await restore(url, file, { force: true });
      expect(await contents(url)).toEqual(await contents(source.url));
      await backupDatabase(url, join(folder, 'again'), { schemas: SCHEMAS });
      await restore(url, join(folder, 'again'), { force: true });
      expect(await contents(url)).toEqual(await contents(source.url));
    } finally {
      await owned.drop();
      await withClient(target.url, (client) => client.query(`DROP ROLE ${role}`));
    }
  });

  it.each([
    ['cut short', () => truncateSync(file, Math.floor(statSync(file).size / 2))],
    ['without its last bytes', () => truncateSync(file, statSync(file).size - 1)],
    ['changed in a row', () => rewrite((text) => text.replace('49999\t99998', '49999\t99999'))],
    ['short of a row', () => rewrite((text) => text.replace('\n49999\t99998', ''))],
    ['longer than its header says', () => rewrite((text) => `${text}more`)],
    ['not a backup', () => writeFileSync(file, gzipSync('{"format":"other"}\n'))],
    ['not even compressed', () => writeFileSync(file, 'hello')],
    ['of a later format', () => rewriteHeader((header) => (header.version = 3))],
    ['of tables without names', () => rewriteHeader((header) => (header.tables = [{} as never]))],
    [
      'about to run statements',
      () =>
        rewriteHeader(({ partitions }) => Object.assign(partitions[0] ?? {}, { bound: 'DEFAULT; DROP SCHEMA shop' })),
    ],
    ['of a table elsewhere', () => rewriteHeader(({ tables }) => Object.assign(tables[0] ?? {}, { schema: 'public' }))],
  ])('refuses a file that is %s and changes nothing', async (_, damage) => {
    await save();
    damage();
    const before = await contents(target.url);
    await expect(restore(target.url, file, { force: true })).rejects.toBeInstanceOf(BackupError);
    expect(await contents(target.url)).toEqual(before);
  });

  it('keeps the former rows if it fails halfway', async () => {
    await save();
    await withClient(target.url, (client) => client.query('INSERT INTO shop.stock VALUES (7, 7)'));
    const before = await contents(target.url);
    // Rows that nothing but the database can find wrong, and only at the end.
    await withClient(source.url, (client) =>
      client.query(`ALTER TABLE shop.questions DROP CONSTRAINT questions_best_fkey;
        UPDATE shop.questions SET best = 4711 WHERE id = 2`),
    );
    try {
      await save();
    } finally {
      await withClient(source.url, (client) =>
        client.query(`UPDATE shop.questions SET best = NULL WHERE id = 2;
          ALTER TABLE shop.questions ADD FOREIGN KEY (best) REFERENCES shop.answers`),
      );
    }
    await expect(restore(target.url, file, { force: true })).rejects.toThrow(
      'rows of shop.questions refer to rows that it does not have',
    );
    expect(await contents(target.url)).toEqual(before);
    expect(await schemasOf(target.url)).toEqual(SCHEMAS);
  });

  it('migrates the backup of an older version', async () => {
    await using older = await createTestDatabase();
    await migrate(createDataSource(database(older.url, MIGRATIONS.slice(0, 1))));
    await withClient(older.url, (client) => client.query('UPDATE shop.counter SET count = 5'));
    await backupDatabase(older.url, file, { schemas: SCHEMAS });
    const plan = await restore(target.url, file);
    expect(plan.migrations).toEqual(['AddStock1700000000002']);
    const { rows } = await withClient(target.url, (client) => client.query('SELECT * FROM shop.counter ORDER BY id'));
    expect(rows).toEqual([
      { id: 1, count: 5, note: 'counted 5' },
      { id: 2, count: 0, note: 'second' },
    ]);
    expect(await pendingMigrations(createDataSource(database(target.url)))).toEqual([]);
    // Into the older version's own database, too.
    await restore(older.url, file, { force: true });
    expect(await pendingMigrations(createDataSource(database(older.url)))).toEqual([]);
  });

  it('refuses the backup of a newer version by name', async () => {
    await save();
    const before = await contents(target.url);
    const older = [stored(MIGRATIONS.slice(0, 1))];
    await expect(restore(target.url, file, { stored: older, force: true })).rejects.toThrow(
      /made by a newer Gatehouse \(it has the migrations AddStock1700000000002\)/,
    );
    await expect(restore(target.url, file, { stored: [{ ...stored(), schemas: ['shop'] }] })).rejects.toThrow(
      /made by a newer Gatehouse \(it has the schema shop_ops\)/,
    );
    expect(await contents(target.url)).toEqual(before);
  });

  it('refuses a backup that was made with another secret key', async () => {
    const [key, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const header = await save({ keys: [key] });
    expect(JSON.stringify(header)).not.toContain(key.toString('base64'));
    for (const keys of [[], [other]]) {
      await expect(restore(target.url, file, { keys })).rejects.toThrow('made with another secret key');
    }
    await restore(target.url, file, { keys: [other, key] });
    // One that was made without knowing its key is accepted.
    await save();
    await restore(target.url, file, { keys: [other], force: true });
  });

  it('asks to stop the services if they use the tables, or are only connected', async () => {
    await save();
    await withClient(target.url, async (user) => {
      await user.query('BEGIN; SELECT * FROM shop.stock');
      await expect(restore(target.url, file)).rejects.toThrow('stop the services');
      await user.query(`COMMIT; SET application_name = 'shop jobs'`);
      await expect(restore(target.url, file)).rejects.toThrow('in use (shop): stop the services');
    });
    await restore(target.url, file);
  });

  it('names the missing file', async () => {
    await expect(restore(target.url, join(folder, 'absent'))).rejects.toThrow(/absent is not a usable backup/);
  });
});
