import { mayPass } from '@gatehouse/postgres';
import { createTestDatabase, waitFor, type TestDatabase } from '@gatehouse/testing';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SilentProxy } from '../test/silent-proxy.js';
import { createDataSource, type DataSourceConfig } from './data-source.js';
import { withClient } from './pg-client.js';
import { UnitOfWork } from './unit-of-work.js';

let database: TestDatabase;
const open: DataSource[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  await withClient(database.url, (client) =>
    client.query('CREATE TABLE accounts (id int PRIMARY KEY, balance int); INSERT INTO accounts VALUES (1, 0), (2, 0)'),
  );
});
afterAll(async () => {
  for (const dataSource of open) await dataSource.destroy();
  await database.drop();
});

async function service(config: Partial<DataSourceConfig> = {}): Promise<DataSource> {
  const base = { url: database.url, schema: 'public', entities: [], migrations: [], applicationName: 'patience spec' };
  const dataSource = await createDataSource({ ...base, ...config }).initialize();
  open.push(dataSource);
  return dataSource;
}

const addTo = (dataSource: DataSource, account: number) => (): Promise<unknown> =>
  new UnitOfWork(dataSource).run((tx) =>
    tx.query('UPDATE accounts SET balance = balance + 1 WHERE id = $1', [account]),
  );

it('a session has limits for statements, locks and dead peers', async () => {
  const dataSource = await service();
  const [limits] = (await dataSource.query(
    `SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
      current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('tcp_keepalives_idle') AS asks`,
  )) as object[];
  expect(limits).toEqual({ statement: '30s', lock: '5s', idle: '1min', asks: '30' });
});

it('reads are answered while all writers wait for one locked row', async () => {
  const dataSource = await service({ patience: { statementMs: 60_000, lockMs: 60_000 } });
  const unit = new UnitOfWork(dataSource);
  let done = 0;
  const add = async (): Promise<void> => {
    await unit.run((tx) => tx.query('UPDATE accounts SET balance = balance + 1 WHERE id = 1'));
    done += 1;
  };
  await withClient(database.url, async (holder) => {
    await holder.query('BEGIN; SELECT * FROM accounts WHERE id = 1 FOR UPDATE');
    const waiting = Promise.all(Array.from({ length: 20 }, add));
    await waitFor(async () => {
      const { rows } = await holder.query(`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`);
      return rows.length > 0;
    });
    for (let read = 0; read < 20; read += 1) await dataSource.query('SELECT balance FROM accounts WHERE id = 2');
    expect(done).toBe(0);
    await holder.query('ROLLBACK');
    await waiting;
  });
  expect(done).toBe(20);
});

it('a transaction stops waiting for a lock, and reports that a later attempt may succeed', async () => {
  const dataSource = await service({ patience: { statementMs: 60_000, lockMs: 100 } });
  await withClient(database.url, async (holder) => {
    await holder.query('BEGIN; SELECT * FROM accounts WHERE id = 1 FOR UPDATE');
    await expect(addTo(dataSource, 1)()).rejects.toSatisfy(mayPass);
    await holder.query('ROLLBACK');
  });
  await addTo(dataSource, 1)();
});

it('a transaction reports that the service is busy if no connection is free in time', async () => {
  const dataSource = await service({ poolSize: 1, connectionTimeoutMs: 500 });
  const runner = dataSource.createQueryRunner();
  await runner.connect();
  const busy: unknown = await dataSource.query('SELECT 1').catch((error: unknown) => error);
  expect(mayPass(busy)).toBe(true);
  await runner.release();
});

it('work is repeated after a deadlock', async () => {
  const dataSource = await service();
  const unit = new UnitOfWork(dataSource);
  const before = (await dataSource.query('SELECT sum(balance)::int AS sum FROM accounts')) as { sum: number }[];
  // Each has its first row before either asks for its second.
  const first = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let runs = 0;
  const cross = (from: number, to: number): Promise<void> =>
    unit.run(async (tx) => {
      runs += 1;
      await tx.query('UPDATE accounts SET balance = balance + 1 WHERE id = $1', [from]);
      first[from - 1]?.resolve();
      await first[to - 1]?.promise;
      await tx.query('UPDATE accounts SET balance = balance + 1 WHERE id = $1', [to]);
    });
  await Promise.all([cross(1, 2), cross(2, 1)]);
  expect(runs).toBe(3);
  const after = (await dataSource.query('SELECT sum(balance)::int AS sum FROM accounts')) as { sum: number }[];
  expect((after[0]?.sum ?? 0) - (before[0]?.sum ?? 0)).toBe(4);
});

it('a connection whose server is silent is dropped, and others are used', async () => {
  const proxy = new SilentProxy(database.url);
  const url = await proxy.listen();
  const dataSource = await service({ url, poolSize: 1, patience: { statementMs: 200, lockMs: 200, silenceMs: 100 } });
  const [{ pid }] = (await dataSource.query('SELECT pg_backend_pid() AS pid')) as [{ pid: number }];
  proxy.silence();
  await expect(addTo(dataSource, 1)()).rejects.toSatisfy(mayPass);
  // Its limits are short for a busy machine: what is asked again is answered by another connection.
  const now = await waitFor(async () => {
    const [row] = (await dataSource.query('SELECT pg_backend_pid() AS pid')) as { pid: number }[];
    return row?.pid;
  });
  expect(now).not.toBe(pid);
  await dataSource.destroy();
  open.splice(open.indexOf(dataSource), 1);
  await proxy.close();
});
