import { createTestDatabase, type TestDatabase } from '@gatehouse/testing';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createDataSource, type DataSourceConfig } from '../src/data-source.js';
import { migrate } from '../src/migrations.js';
import { withClient } from '../src/pg-client.js';
import {
  checkBackup,
  restoreDatabase,
  type BackupDemands,
  type ReplacedRows,
  type RestoreOptions,
} from '../src/backup/restore-database.js';
import type { StoredData } from '../src/backup/stored-data.js';

export const SCHEMAS = ['shop', 'shop_ops'];

export class CreateShop1700000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // "answers" comes before "questions" by name and after it by reference; "best" closes the circle.
    await runner.query(`CREATE TABLE questions (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text, best bigint,
      shout text GENERATED ALWAYS AS (upper(body)) STORED)`);
    await runner.query(`CREATE TABLE answers (
      id bigserial PRIMARY KEY, question_id bigint NOT NULL REFERENCES questions, reply_to bigint REFERENCES answers,
      big bigint, blob bytea, doc jsonb, at timestamptz, tags text[], price numeric, ratio double precision)`);
    await runner.query(`ALTER TABLE questions ADD FOREIGN KEY (best) REFERENCES answers`);
    await runner.query('CREATE SCHEMA shop_ops');
    await runner.query('CREATE TABLE shop_ops."Odd name" (id int PRIMARY KEY, note text)');
    // A row that comes with the table, and one that a migration inserts beside a deferred check of it.
    await runner.query('CREATE TABLE counter (id int PRIMARY KEY, count int NOT NULL)');
    await runner.query(`CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM 1 FROM shop.counter; RETURN NULL; END $$`);
    await runner.query(`CREATE CONSTRAINT TRIGGER counter_looked AFTER INSERT OR UPDATE ON counter
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION look()`);
    await runner.query('INSERT INTO counter VALUES (1, 0)');
    // Never changed, removed or emptied.
    await runner.query('CREATE TABLE journal (id bigserial PRIMARY KEY, entry text NOT NULL)');
    await runner.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE EXCEPTION 'the journal is never changed'; END $$`);
    await runner.query(`CREATE TRIGGER journal_kept BEFORE UPDATE OR DELETE ON journal
      FOR EACH ROW EXECUTE FUNCTION refuse()`);
    await runner.query(`CREATE TRIGGER journal_not_emptied BEFORE TRUNCATE ON journal
      FOR EACH STATEMENT EXECUTE FUNCTION refuse()`);
    // Days are made by the service, so a fresh schema has none; leftovers go to the default.
    await runner.query('CREATE TABLE visits (at timestamptz NOT NULL, who text) PARTITION BY RANGE (at)');
    await runner.query('CREATE TABLE visits_default PARTITION OF visits DEFAULT');
  }
  async down(): Promise<void> {
    await Promise.resolve();
  }
}
export class AddStock1700000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE stock (id int PRIMARY KEY, count int NOT NULL)');
    await runner.query('ALTER TABLE counter ADD COLUMN note text');
    await runner.query(`UPDATE counter SET note = 'counted ' || count`);
    await runner.query(`INSERT INTO counter VALUES (2, 0, 'second')`);
  }
  async down(): Promise<void> {
    await Promise.resolve();
  }
}
export const MIGRATIONS = [CreateShop1700000000001, AddStock1700000000002];
export const DAY = 'visits_20260102';

export const database = (url: string, migrations: DataSourceConfig['migrations'] = MIGRATIONS): DataSourceConfig => {
  return { url, schema: 'shop', searchPath: ['shop_ops'], entities: [], migrations, applicationName: 'spec' };
};
export const stored = (migrations = MIGRATIONS): StoredData => ({
  service: 'shop',
  schemas: SCHEMAS,
  database: (url, applicationName) => ({ ...database(url, migrations), applicationName }),
  invariants: [],
});
/** Resolves with what was replaced, and the migrations that the backup lacked. */
export async function restore(
  url: string,
  file: string,
  { stored: services = [stored()], keys, ...options }: RestoreOptions & Partial<BackupDemands> = {},
): Promise<{ replaced: ReplacedRows[]; migrations: string[] }> {
  const backup = await checkBackup(file, { stored: services, ...(keys === undefined ? {} : { keys }) });
  const replaced: ReplacedRows[] = [];
  await restoreDatabase(url, backup, { ...options, onReplace: (rows) => replaced.push(...rows) });
  return { replaced, migrations: backup.migrations };
}

export const AWKWARD = 'tab\t newline\n backslash \\ \\N quote \' " é 漢 🙂 \r end\\.';

export async function seed(url: string): Promise<void> {
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
    await client.query(`INSERT INTO journal (entry) VALUES ('first'), ('second')`);
    await client.query('UPDATE counter SET count = 7 WHERE id = 1');
    await client.query(
      `CREATE TABLE ${DAY} PARTITION OF visits FOR VALUES FROM ('2026-01-02 00:00Z') TO ('2026-01-03 00:00Z')`,
    );
    await client.query(`INSERT INTO visits VALUES ('2026-01-02 23:59:59.999Z', 'ann'), ('2026-03-01', 'bob')`);
    await client.query('INSERT INTO stock SELECT n, n * 2 FROM generate_series(1, 50000) AS n');
  });
}

export const contents = (url: string): Promise<unknown> =>
  withClient(url, async (client) => {
    const tables = [
      'shop.questions',
      'shop.answers',
      'shop_ops."Odd name"',
      'shop.counter',
      'shop.journal',
      'shop.visits',
    ];
    const found: unknown[] = [];
    for (const table of tables)
      found.push(
        (await client.query(`SELECT t.tableoid::regclass::text AS place, t::text FROM ${table} AS t ORDER BY 2`)).rows,
      );
    found.push((await client.query('SELECT count(*), sum(count) FROM shop.stock')).rows);
    return found;
  });

/** A migrated shop without anything of its own. */
export const freshShop = (): Promise<TestDatabase> =>
  createTestDatabase({
    template: {
      key: 'backup_spec',
      prepare: (url) => migrate(createDataSource(database(url))).then(() => undefined),
    },
  });
