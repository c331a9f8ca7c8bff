import { createDataSource, migrate, pendingMigrations, withClient } from '@gatehouse/persistence';
import { createTestDatabase, expectSchemaInSync, type TestDatabase } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseConfig } from '../src/database.js';
import { MIGRATIONS } from '../src/migrations/index.js';

/** [column, type, not null, default], as the data model's document lists them; `identity` is its PK. */
const MODEL: Record<string, [string, string, boolean, string | null][]> = {
  users: [
    ['id', 'bigint', true, 'identity'],
    ['username', 'text', true, null],
    ['password_hash', 'text', true, null],
    ['role', 'text', true, "'user'::text"],
    ['status', 'integer', true, '1'],
    ['created_at', 'timestamp with time zone', false, null],
    ['updated_at', 'timestamp with time zone', false, null],
  ],
  sessions: [
    ['id', 'bigint', true, 'identity'],
    ['token', 'text', true, null],
    ['user_id', 'bigint', true, null],
    ['expires_at', 'timestamp with time zone', false, null],
    ['created_at', 'timestamp with time zone', false, null],
  ],
};
const UNIQUE = ['sessions(token)', 'users(username)'];

interface ColumnRow {
  table_name: string;
  column_name: string;
  data_type: string;
  is_nullable: string;
  column_default: string | null;
  is_identity: string;
}

describe('the data model', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await migrate(createDataSource(databaseConfig(database.url)));
  });
  afterAll(() => database.drop());

  it('has the tables and columns of its document and no other', async () => {
    const { rows } = await withClient(database.url, (client) =>
      client.query<ColumnRow>(
        "SELECT * FROM information_schema.columns WHERE table_schema = 'tunnel_gateway' ORDER BY table_name, ordinal_position",
      ),
    );
    const found: typeof MODEL = {};
    for (const row of rows) {
      const fallback = row.is_identity === 'YES' ? 'identity' : row.column_default;
      (found[row.table_name] ??= []).push([row.column_name, row.data_type, row.is_nullable === 'NO', fallback]);
    }
    expect(found).toEqual(MODEL);
  });

  it('has its unique constraints', async () => {
    const { rows } = await withClient(database.url, (client) =>
      client.query<{ name: string }>(
        `SELECT c.conrelid::regclass::text || '(' || string_agg(a.attname, ',' ORDER BY a.attnum) || ')' AS name
         FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
         WHERE c.contype = 'u' AND c.connamespace = 'tunnel_gateway'::regnamespace GROUP BY c.oid, c.conrelid`,
      ),
    );
    expect(rows.map(({ name }) => name.replace('tunnel_gateway.', '')).sort()).toEqual(UNIQUE);
  });

  it('agrees with the entities', async () => {
    const dataSource = createDataSource(databaseConfig(database.url));
    expect(await pendingMigrations(dataSource)).toEqual([]);
    await dataSource.initialize();
    await expectSchemaInSync(dataSource);
    await dataSource.destroy();
  });

  it('refuses values it does not know', async () => {
    const insert = (columns: string, values: string): Promise<unknown> =>
      withClient(database.url, (client) =>
        client.query(
          `INSERT INTO tunnel_gateway.users (username, password_hash, ${columns}) VALUES ('x', 'y', ${values})`,
        ),
      );
    await expect(insert('role', "'root'")).rejects.toThrow('users_role_check');
    await expect(insert('status', '2')).rejects.toThrow('users_status_check');
  });
});

it('goes back to nothing', async () => {
  await using database = await createTestDatabase();
  const dataSource = createDataSource(databaseConfig(database.url));
  await migrate(dataSource);
  await dataSource.initialize();
  for (const _ of MIGRATIONS) await dataSource.undoLastMigration();
  const tables = (await dataSource.query(
    "SELECT table_name FROM information_schema.tables WHERE table_schema LIKE 'tunnel_gateway%'",
  )) as { table_name: string }[];
  expect(tables.map(({ table_name }) => table_name)).toEqual(['migrations']);
  await dataSource.destroy();
});
