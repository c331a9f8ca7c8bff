import {
  createTestDatabase,
  peerOrSkip,
  startPgBouncer,
  startPostgres,
  type PgBouncer,
  type PostgresServer,
  type TestDatabase,
  waitFor,
} from '@gatehouse/testing';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { createDataSource, pgPool } from './data-source.js';
import { checkDatabaseServer, DatabaseServerError } from './database-server.js';
import { migrate, pendingMigrations } from './migrations.js';
import { notify, PgListener } from './pg-listener.js';

const source = (url: string): DataSource =>
  createDataSource({ url, schema: 'shop', entities: [], migrations: [], applicationName: 'server spec' });

function requirePeer(context: TestContext, name: string): string {
  return peerOrSkip(name) ?? context.skip(`${name} is not installed: npm run peers`);
}

describe('a PostgreSQL that is too old', () => {
  let server: PostgresServer | undefined;
  afterAll(() => server?.close());

  it('is refused with its version and the required one', async (context) => {
    requirePeer(context, 'postgres-13');
    server = await startPostgres({ program: 'postgres-13' });
    const refused = /^DATABASE_URL: the database is PostgreSQL 13\.\d+, and PostgreSQL 14 or later is needed$/;
    const { url } = server;
    for (const work of [() => migrate(source(url)), () => pendingMigrations(source(url))]) {
      const error = await work().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(DatabaseServerError);
      expect((error as Error).message).toMatch(refused);
    }
  });
});

describe('behind PgBouncer', () => {
  let database: TestDatabase;
  const bouncers: PgBouncer[] = [];
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(async () => {
    for (const bouncer of bouncers) await bouncer.close();
    await database.drop();
  });

  async function through(context: TestContext, mode: 'session' | 'transaction'): Promise<string> {
    const bouncer = await startPgBouncer({ program: requirePeer(context, 'pgbouncer'), url: database.url, mode });
    bouncers.push(bouncer);
    return bouncer.url;
  }

  it('everything that the services need works if it pools sessions', async (context) => {
    const url = await through(context, 'session');
    expect(await migrate(source(url))).toEqual([]);
    const dataSource = await source(url).initialize();
    const pool = pgPool(dataSource);
    const one = await pool.connect();
    const other = await pool.connect();
    try {
      expect((await one.query('SHOW search_path')).rows).toEqual([{ search_path: 'shop' }]);
      expect((await one.query('SHOW idle_in_transaction_session_timeout')).rows[0]).toEqual({
        idle_in_transaction_session_timeout: '1min',
      });
      const lock = { name: 'lock', text: 'SELECT pg_try_advisory_lock($1) AS free', values: [7] };
      expect((await one.query(lock)).rows).toEqual([{ free: true }]);
      expect((await other.query(lock)).rows).toEqual([{ free: false }]);
      await one.query('SELECT pg_advisory_unlock(7)');
      expect((await other.query(lock)).rows).toEqual([{ free: true }]);
    } finally {
      one.release(true);
      other.release(true);
    }
    const received: string[] = [];
    const listener = new PgListener({ url, applicationName: 'listener' });
    await listener.listen('news', (payload) => received.push(payload));
    await notify(dataSource.manager, 'news', 'hello');
    await waitFor(() => received.length > 0);
    expect(received).toEqual(['hello']);
    await listener.close();
    await dataSource.destroy();
  });

  it('a start is refused with the reason if it pools transactions', async (context) => {
    const url = await through(context, 'transaction');
    const error = await checkDatabaseServer(url).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DatabaseServerError);
    expect((error as Error).message).toMatch(/^DATABASE_URL: notifications \(LISTEN\) do not arrive/);
  });
});
