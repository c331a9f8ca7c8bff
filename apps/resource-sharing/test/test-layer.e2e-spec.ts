import { createDataSource, migrate, withLayer } from '@gatehouse/persistence';
import { createTestDatabase, type TestDatabase } from '@gatehouse/testing';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LAYERED_TABLES, SHARED_TABLES } from '../src/data/test-layer.js';
import { SERVICE } from '../src/service.js';

let database: TestDatabase;
let sql: DataSource;

beforeAll(async () => {
  database = await createTestDatabase();
  sql = createDataSource(SERVICE.databaseConfig(database.url));
  await migrate(sql);
  await sql.initialize();
});
afterAll(async () => {
  await sql.destroy();
  await database.drop();
});

const read = <Row extends object>(text: string, values?: unknown[]): Promise<Row[]> => sql.query<Row[]>(text, values);

/** What is only in the layer, or only in the service, and why. */
const ONLY = {
  layer: new Set([
    // Whose share it is, and what comes of it.
    'shares column application_id',
    'shares column made_up',
    'shares index shares_application_id_idx',
    'shares trigger shares_mark_link_key',
  ]),
  service: new Set([
    // No notice is made of test events, and they are removed with the rest of the test data.
    'audit_events trigger audit_events_append_only',
    'audit_events trigger audit_events_no_truncate',
    'audit_events trigger audit_events_application',
    'audit_events trigger audit_events_notice',
    'audit_events trigger audit_events_unchained',
  ]),
};

const PARTS = `
  SELECT c.relname || ' column ' || a.attname AS part, concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull,
      a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid)) AS definition
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum WHERE c.oid = ANY ($1::regclass[])
  UNION ALL
  SELECT c.relname || ' constraint ' || k.conname, pg_get_constraintdef(k.oid)
    FROM pg_class c JOIN pg_constraint k ON k.conrelid = c.oid WHERE c.oid = ANY ($1::regclass[]) AND k.contype NOT IN ('t', 'n')
  UNION ALL
  SELECT c.relname || ' index ' || i.indexrelid::regclass::name, pg_get_indexdef(i.indexrelid)
    FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid WHERE c.oid = ANY ($1::regclass[])
  UNION ALL
  SELECT c.relname || ' trigger ' || t.tgname, pg_get_triggerdef(t.oid) || t.tgenabled::text
    FROM pg_class c JOIN pg_trigger t ON t.tgrelid = c.oid WHERE c.oid = ANY ($1::regclass[]) AND NOT t.tgisinternal`;

/** Definitions as if there were one schema, in which test accounts are accounts. */
async function partsOf(schema: string): Promise<Map<string, string>> {
  const tables = LAYERED_TABLES.map((table) => `${schema}.${table}`);
  const plain = (text: string): string =>
    text.replaceAll(/\bresource_sharing(?:_test)?\./g, '').replaceAll('test_accounts', 'site_accounts');
  const rows = await read<{ part: string; definition: string }>(PARTS, [tables]);
  return new Map(rows.map(({ part, definition }) => [plain(part), plain(definition)]));
}

describe('the tables of test mode', () => {
  it('each table of the service is named as layered or as shared', async () => {
    const rows = await read<{ name: string }>(`SELECT relname AS name FROM pg_class
      WHERE relnamespace = 'resource_sharing'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
        AND relname NOT IN ('migrations', 'migration_releases', 'sql_files')`);
    const named: string[] = [...LAYERED_TABLES, ...SHARED_TABLES];
    expect(named.toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
  });

  it('have the columns, checks, keys, indexes, references and triggers of those of the service', async () => {
    const [service, layer] = [await partsOf('resource_sharing'), await partsOf('resource_sharing_test')];
    expect(service.size).toBeGreaterThan(150);
    for (const part of ONLY.layer) {
      expect([part, layer.has(part), service.has(part)]).toEqual([part, true, false]);
      layer.delete(part);
    }
    for (const part of ONLY.service) {
      expect([part, layer.has(part), service.has(part)]).toEqual([part, false, true]);
      service.delete(part);
    }
    expect(Object.fromEntries(layer)).toEqual(Object.fromEntries(service));
  });

  it('their views have the columns of the tables that they stand for', async () => {
    const columns = async (relation: string): Promise<string[]> =>
      (
        await read<{ name: string }>(
          `SELECT attname || ' ' || format_type(atttypid, atttypmod) AS name FROM pg_attribute
           WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY 1`,
          [relation],
        )
      ).map(({ name }) => name);
    const accounts = (await columns('resource_sharing.site_accounts')).filter((name) => name !== 'password_hash text');
    expect(await columns('resource_sharing_test.site_accounts')).toEqual(accounts);
    expect(await columns('resource_sharing_test_view.shares')).toEqual(await columns('resource_sharing.shares'));
    const events = await columns('resource_sharing.application_events');
    expect(await columns('resource_sharing_test.application_events')).toEqual(events);
  });

  it('number their rows as no row of the service', async () => {
    const rows = await read<{ name: string; first: number }>(
      `SELECT sequencename AS name, start_value AS first FROM pg_sequences WHERE schemaname = 'resource_sharing_test'`,
    );
    expect(rows.map(({ name }) => name).toSorted()).toEqual([
      'audit_events_id_seq',
      'messages_id_seq',
      'risk_events_id_seq',
      'shares_id_seq',
      'test_accounts_id_seq',
      'title_subscriptions_id_seq',
      'titles_id_seq',
    ]);
    for (const { name, first } of rows) expect([name, first]).toEqual([name, 1_000_000_000_000]);
  });

  it('have the functions of the service, apart from those that differ on purpose', async () => {
    const functions = async (schema: string): Promise<Map<string, string>> => {
      const rows = await read<{ name: string; definition: string }>(
        `SELECT proname AS name, pg_get_functiondef(oid) AS definition FROM pg_proc WHERE pronamespace = $1::regnamespace
         AND prokind = 'f'`,
        [schema],
      );
      return new Map(
        rows.map(({ name, definition }) => [name, definition.replaceAll(/\bresource_sharing(?:_test)?\./g, '')]),
      );
    };
    const [service, layer] = [await functions('resource_sharing'), await functions('resource_sharing_test')];
    const different = [...layer].filter(([name, definition]) => service.get(name) !== definition).map(([name]) => name);
    expect(different.toSorted()).toEqual([
      'count_unlock',
      'count_unlock_as_usual',
      'empty_test_data',
      'is_emptying',
      'is_subscriber',
      'is_wanted',
      'keep_ledger_account',
      'make_test_shares',
      'mark_link_key',
      'open_test_account',
      'plain_link_key',
      'refuse_change_of_ledger',
      'set_test_points',
      'shut_test_shares',
      'test_application',
    ]);
    expect(layer.get('count_unlock_as_usual')?.replace('count_unlock_as_usual', 'count_unlock')).toBe(
      service.get('count_unlock'),
    );
  });
});

/** Rows of every table of the service, in any order. */
async function checksums(): Promise<Record<string, string | null>> {
  const found: Record<string, string | null> = {};
  for (const table of [...LAYERED_TABLES, ...SHARED_TABLES]) {
    const [row] = await read<{ sum: string | null }>(
      `SELECT md5(string_agg(t::text, E'\\n' ORDER BY t::text)) AS sum FROM resource_sharing.${table} t`,
    );
    found[table] = row?.sum ?? null;
  }
  return found;
}

describe('work in the layer', () => {
  let owner: number;
  let applications: number[];

  const inTestMode = <Row extends object>(application: number, text: string, values?: unknown[]): Promise<Row[]> =>
    withLayer(String(application), () => read<Row>(text, values));
  const open = async (application: number): Promise<number> => {
    const text = 'SELECT open_test_account($1, $2, 1000) AS id';
    return (await inTestMode<{ id: number }>(application, text, [application, owner]))[0]?.id ?? 0;
  };
  const unlock = async (application: number, account: number, slug: string): Promise<string | undefined> => {
    const [row] = await inTestMode<{ outcome: string }>(
      application,
      `SELECT outcome FROM unlock_shares(ARRAY[$1::bigint], ARRAY[$2::uuid], '{false}', ARRAY[$3::bigint], '{null}',
         '{null}', '{true}', 'UTC', 3, 10)`,
      [account, slug, application],
    );
    return row?.outcome;
  };
  const madeUp = async (application: number): Promise<Map<string, string>> => {
    const rows = await read<{ name: string; slug: string }>(
      'SELECT made_up AS name, slug FROM resource_sharing_test.shares WHERE application_id = $1',
      [application],
    );
    return new Map(rows.map(({ name, slug }) => [name, slug]));
  };

  beforeAll(async () => {
    const [account] = await read<{ id: number }>(
      `INSERT INTO site_accounts (username, nickname, password_hash) VALUES ('ann', 'Ann', 'none') RETURNING id`,
    );
    owner = account?.id ?? 0;
    const made = await read<{ id: number }>(
      `INSERT INTO applications (client_id, name, owner_id, kind, allowed_scopes)
       SELECT 'app_' || n, 'One of two', $1, 'confidential', '{unlock}' FROM generate_series(1, 2) n RETURNING id`,
      [owner],
    );
    applications = made.map(({ id }) => id);
  });

  it('has points, shares and unlocks of its own, and leaves every table of the service as it was', async () => {
    const before = await checksums();
    const [first = 0, second = 0] = applications;
    const account = await open(first);
    expect(await open(first)).toBe(account);
    const shares = await madeUp(first);
    const outcomes: Record<string, string | undefined> = {};
    for (const [name, slug] of shares) outcomes[name] = await unlock(first, account, slug);
    expect(outcomes).toEqual({
      free: 'free',
      cheap: 'points',
      dear: 'insufficient',
      official: 'points',
      withdrawn: 'none',
      too_fast: 'too_fast',
      paused: 'paused',
      blocked: 'blocked',
    });
    await inTestMode(first, `SELECT check_in($1, false, 5, false, 'UTC')`, [account]);
    const balance = 'SELECT balance FROM ledger_accounts WHERE user_id = $1';
    expect(await inTestMode(first, balance, [account])).toEqual([{ balance: 985 }]);
    await inTestMode(first, 'SELECT set_test_points($1, 3)', [account]);
    expect(await inTestMode(first, balance, [account])).toEqual([{ balance: 3 }]);
    expect(await checksums()).toEqual(before);

    // Another application has a test account of its own for the user, and finds none of these shares.
    const other = await open(second);
    expect(other).not.toBe(account);
    for (const slug of shares.values()) expect(await unlock(second, other, slug)).toBe('none');
    expect(await read(balance, [account])).toEqual([]);
  });

  it('sees no shares without an application, and can make none', async () => {
    const count = (): Promise<object[]> => read('SELECT count(*)::integer AS n FROM shares');
    expect(await withLayer('', count)).toEqual([{ n: 0 }]);
    const insert = `INSERT INTO shares (owner_id, movie_id, kind, link_key, url) SELECT owner_id, movie_id, kind, 'x', 'x'
      FROM resource_sharing_test.shares LIMIT 1`;
    await expect(withLayer('', () => read(insert))).rejects.toThrow('application_id');
  });

  it('takes a link that another application tries, and not one of its own twice', async () => {
    const insert = `INSERT INTO shares (owner_id, movie_id, kind, link_key, url)
      SELECT t.id, m.id, '115', '115:tried', 'https://115.com/s/tried' FROM test_accounts t, titles m
      WHERE t.application_id = test_application() AND NOT is_made_up LIMIT 1
      ON CONFLICT (link_key) WHERE deleted_at IS NULL DO NOTHING RETURNING plain_link_key(link_key) AS key`;
    const [first = 0, second = 0] = applications;
    for (const application of [first, second]) {
      await open(application);
      expect(await inTestMode(application, insert)).toEqual([{ key: '115:tried' }]);
      expect(await inTestMode(application, insert)).toEqual([]);
    }
  });

  it('keeps its ledger, too, until an application is emptied: then nothing is left of that one', async () => {
    const [first = 0, second = 0] = applications;
    const accounts = [await open(first), await open(second)];
    const schema = 'resource_sharing_test';
    await expect(read(`DELETE FROM ${schema}.ledger_entries`)).rejects.toThrow('never changed');
    await expect(read(`UPDATE ${schema}.ledger_transactions SET ref = 'x'`)).rejects.toThrow('never changed');
    await expect(read(`DELETE FROM ${schema}.ledger_accounts`)).rejects.toThrow('never removed');
    await read(`SELECT ${schema}.empty_test_data($1)`, [first]);
    const left = async (account: number): Promise<number[]> => {
      const places = [
        ...['ledger_entries', 'ledger_accounts', 'unlocks', 'check_ins', 'risk_states', 'audit_events'].map(
          (table) => `SELECT user_id FROM ${schema}.${table}`,
        ),
        `SELECT owner_id FROM ${schema}.shares`,
        `SELECT id FROM ${schema}.test_accounts`,
      ];
      const counts = places.map((place) => `(SELECT count(*) FROM (${place}) p (id) WHERE id = $1)::integer`);
      const [row] = await read<{ counts: number[] }>(`SELECT ARRAY[${counts.join(', ')}] AS counts`, [account]);
      return row?.counts ?? [];
    };
    expect(await left(accounts[0] as number)).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
    expect(await madeUp(first)).toEqual(new Map());
    expect((await left(accounts[1] as number)).slice(0, 2)).toEqual([1, 1]);
    const unbalanced = `SELECT t.id FROM ${schema}.ledger_transactions t LEFT JOIN ${schema}.ledger_entries e
      ON e.transaction_id = t.id GROUP BY t.id HAVING count(e.amount) <> 2 OR sum(e.amount) <> 0`;
    expect(await read(unbalanced)).toEqual([]);
    // And it begins again.
    expect(await open(first)).not.toBe(accounts[0]);
  });
});
