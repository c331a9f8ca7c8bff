import { createDataSource, migrate, pendingMigrations, withClient } from '@gatehouse/persistence';
import {
  createTestDatabase,
  expectOldestReleases,
  expectSchemaInSync,
  expectSqlFilesInSync,
  type TestDatabase,
} from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVICE } from '../src/service.js';
import { SERVICE_VERSION } from '../src/service-version.js';
import { CreateClientLeases1763668802900 } from '../src/migrations/1763668802900-create-client-leases.js';
import { MIGRATIONS } from '../src/migrations/index.js';

/** [column, type, not null, default], as the data model's document lists them; `identity` is its PK. */
type ModelColumn = [string, string, boolean, string | null];

const TIME = 'timestamp with time zone';
const ID: ModelColumn = ['id', 'bigint', true, 'identity'];
const TIMES: ModelColumn[] = [
  ['created_at', TIME, false, null],
  ['updated_at', TIME, false, null],
];
/** Integers that outgrow 2^31. */
const counter = (name: string): ModelColumn => [name, 'bigint', false, '0'];
const text = (name: string, fallback: string | null = null): ModelColumn => [
  name,
  'text',
  false,
  fallback && `'${fallback}'::text`,
];
const needed = (name: string, fallback: string | null = null): ModelColumn => [
  name,
  'text',
  true,
  fallback && `'${fallback}'::text`,
];

const MODEL: Record<string, ModelColumn[]> = {
  users: [
    ID,
    needed('username'),
    needed('password_hash'),
    needed('role', 'user'),
    ['status', 'integer', true, '1'],
    ...TIMES,
  ],
  clients: [
    ID,
    needed('name'),
    needed('verify_key'),
    ['owner_user_id', 'bigint', true, null],
    ['rate_limit', 'integer', false, '0'],
    ['max_conn', 'integer', false, '0'],
    ['expire_at', TIME, false, null],
    ['status', 'integer', true, '1'],
    counter('inlet_flow'),
    counter('export_flow'),
    ...TIMES,
  ],
  tunnels: [
    ID,
    ['client_id', 'bigint', true, null],
    text('name'),
    needed('mode'),
    text('listen_ip', '0.0.0.0'),
    ['listen_port', 'integer', true, null],
    needed('target_addr'),
    ['status', 'integer', true, '1'],
    ['run_status', 'integer', true, '0'],
    counter('inlet_flow'),
    counter('export_flow'),
    ...TIMES,
  ],
  hosts: [
    ID,
    ['client_id', 'bigint', true, null],
    needed('host'),
    text('location', '/'),
    text('scheme', 'all'),
    needed('target_addr'),
    text('cert_path'),
    text('key_path'),
    ['auto_https', 'integer', false, '0'],
    ['status', 'integer', true, '1'],
    counter('inlet_flow'),
    counter('export_flow'),
    ...TIMES,
  ],
  ip_rules: [
    ID,
    needed('scope'),
    ['resource_id', 'bigint', false, '0'],
    needed('type'),
    needed('pattern'),
    needed('pattern_kind', 'exact'),
    ['priority', 'integer', false, '0'],
    text('remark'),
    ...TIMES,
  ],
  auth_policies: [
    ID,
    needed('resource_type'),
    ['resource_id', 'bigint', true, null],
    needed('type'),
    text('password'),
    text('callback_url'),
    ['enabled', 'integer', true, '1'],
    ['ttl_seconds', 'integer', false, '7200'],
    ...TIMES,
  ],
  flow_stats: [
    ID,
    needed('resource_type'),
    ['resource_id', 'bigint', true, null],
    counter('inlet_bytes'),
    counter('export_bytes'),
    ['updated_at', TIME, false, null],
  ],
  request_ips: [
    ID,
    needed('resource_type'),
    ['resource_id', 'bigint', true, null],
    needed('ip'),
    counter('hit_count'),
    ['last_seen_at', TIME, false, null],
  ],
  sessions: [
    ID,
    needed('token'),
    ['user_id', 'bigint', true, null],
    ['expires_at', TIME, false, null],
    ['created_at', TIME, false, null],
  ],
};
const UNIQUE = [
  'clients(verify_key)',
  'flow_stats(resource_type,resource_id)',
  'request_ips(resource_type,resource_id,ip)',
  'sessions(token)',
  'users(username)',
];

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
    await migrate(createDataSource(SERVICE.databaseConfig(database.url)));
  });
  afterAll(() => database.drop());

  it('has exactly the tables and columns of its document', async () => {
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

  it('matches the entities', async () => {
    const dataSource = createDataSource(SERVICE.databaseConfig(database.url));
    expect(await pendingMigrations(dataSource)).toEqual([]);
    await dataSource.initialize();
    await expectSchemaInSync(dataSource);
    await dataSource.destroy();
  });

  it.each([
    ['users', { username: 'x', password_hash: 'y' }, { role: 'root', status: 2 }],
    ['clients', { name: 'x', verify_key: 'y', owner_user_id: 1 }, { rate_limit: -1, max_conn: -1, status: 2 }],
    [
      'tunnels',
      { client_id: 1, mode: 'tcp', listen_port: 1, target_addr: 'x' },
      { mode: 'httpProxy', listen_port: 65_536, status: -1, run_status: 4 },
    ],
    ['hosts', { client_id: 1, host: 'x', target_addr: 'x' }, { scheme: 'h2', auto_https: 2, status: 2 }],
    [
      'ip_rules',
      { scope: 'global', type: 'allow', pattern: '*' },
      { scope: 'world', type: 'whitelist', pattern_kind: 'geoip' },
    ],
    [
      'auth_policies',
      { resource_type: 'host', resource_id: 1, type: 'basic' },
      { resource_type: 'user', type: 'page', enabled: 2, ttl_seconds: 2_592_001 },
    ],
    ['flow_stats', { resource_type: 'global', resource_id: 0 }, { resource_type: 'agent' }],
    ['request_ips', { resource_type: 'global', resource_id: 0, ip: 'x' }, { resource_type: 'agent' }],
  ])('refuses values it does not know in %s', async (table, row: object, wrong: object) => {
    for (const [column, value] of Object.entries(wrong)) {
      const fields = { ...row, [column]: value };
      const names = Object.keys(fields);
      const insert = withClient(database.url, (client) =>
        client.query(
          `INSERT INTO tunnel_gateway.${table} (${names.join(', ')}) VALUES (${names.map((_, i) => `$${i + 1}`).join(', ')})`,
          Object.values(fields),
        ),
      );
      await expect(insert).rejects.toThrow(`${table}_${column}_check`);
    }
  });
});

it('can be migrated down completely', async () => {
  await using database = await createTestDatabase();
  const dataSource = createDataSource(SERVICE.databaseConfig(database.url));
  await migrate(dataSource);
  await dataSource.initialize();
  const schemas = ['tunnel_gateway', 'tunnel_gateway_ops'];
  await expectSqlFilesInSync(dataSource, new URL('../data/sql/', import.meta.url), schemas);
  for (const _ of MIGRATIONS) await dataSource.undoLastMigration();
  const tables = (await dataSource.query(
    `SELECT table_name FROM information_schema.tables
     WHERE table_schema LIKE 'tunnel_gateway%' AND table_name <> 'migration_releases' ORDER BY 1`,
  )) as { table_name: string }[];
  expect(tables.map(({ table_name }) => table_name)).toEqual(['migrations', 'sql_files']);
  await dataSource.destroy();
});

it('says of each migration which older releases work with it', () => {
  expectOldestReleases(MIGRATIONS, { last: CreateClientLeases1763668802900, release: SERVICE_VERSION });
});
