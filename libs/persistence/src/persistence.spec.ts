import { mayPass } from '@gatehouse/postgres';
import { createTestDatabase, waitFor, type TestDatabase } from '@gatehouse/testing';
import { Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource, type EntityManager } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ChannelFeed } from './channel-feed.js';
import { createDataSource, pgPool } from './data-source.js';
import { SilentProxy } from '../test/silent-proxy.js';
import { PersistenceModule } from './persistence.module.js';
import { withClient } from './pg-client.js';
import { notify, PgListener } from './pg-listener.js';
import { afterCommit, UnitOfWork } from './unit-of-work.js';

let database: TestDatabase;
let dataSource: DataSource;
const poolErrors: Error[] = [];
const config = () => ({
  url: database.url,
  schema: 'ledger',
  searchPath: ['ledger_ops'],
  entities: [],
  migrations: [],
  applicationName: 'persistence spec',
  onPoolError: (error: Error) => poolErrors.push(error),
});

beforeAll(async () => {
  database = await createTestDatabase();
  await withClient(database.url, (client) =>
    client.query('CREATE SCHEMA ledger; CREATE SCHEMA ledger_ops; CREATE TABLE ledger.entries (id int PRIMARY KEY)'),
  );
  dataSource = await createDataSource(config()).initialize();
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

const cutConnections = (application: string): Promise<unknown> =>
  withClient(database.url, (client) =>
    client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [application]),
  );

describe('createDataSource', () => {
  it('resolves names in its own schemas, under its own name', async () => {
    const [row] = (await dataSource.query(
      `SELECT current_schemas(false)::text AS path, current_setting('application_name') AS name`,
    )) as { path: string; name: string }[];
    expect(row).toEqual({ path: '{ledger,ledger_ops}', name: 'persistence spec' });
  });

  it('survives the loss of idle connections and reports it', async () => {
    await dataSource.query('SELECT 1');
    await cutConnections('persistence spec');
    await waitFor(() => poolErrors.length > 0);
    expect(await dataSource.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('survives the loss of a connection whose user is not listening; the next query reports it', async () => {
    const client = await pgPool(dataSource).connect();
    const ended = new Promise((resolve) => client.once('end', resolve));
    await cutConnections('persistence spec');
    await ended;
    await expect(client.query('SELECT 1')).rejects.toThrow();
    client.release();
    expect(await dataSource.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('shares the pool with named prepared statements', async () => {
    const statement = { name: 'double', text: 'SELECT $1::bigint * 2 AS doubled', values: [21] };
    expect((await pgPool(dataSource).query(statement)).rows).toEqual([{ doubled: 42 }]);
  });
});

describe('UnitOfWork', () => {
  const unit = (): UnitOfWork => new UnitOfWork(dataSource);
  beforeEach(() => dataSource.query('TRUNCATE ledger.entries'));
  const ids = () => dataSource.query('SELECT id FROM entries ORDER BY id');

  it('commits, then runs the hooks in order, then resolves', async () => {
    const steps: string[] = [];
    const result = await unit().run(async (tx) => {
      await tx.query('INSERT INTO entries VALUES (1)');
      afterCommit(tx, async () => {
        steps.push(`first sees ${JSON.stringify(await ids())}`);
      });
      afterCommit(tx, () => void steps.push('second'));
      steps.push('work');
      return 'result';
    });
    expect(result).toBe('result');
    expect(steps).toEqual(['work', 'first sees [{"id":1}]', 'second']);
  });

  it('rolls everything back when the work fails, and runs no hook', async () => {
    const hook = vi.fn();
    const failed = unit().run(async (tx) => {
      await tx.query('INSERT INTO entries VALUES (1)');
      afterCommit(tx, hook);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(await ids()).toEqual([]);
    expect(hook).not.toHaveBeenCalled();
  });

  it('runs no hook when the commit itself fails', async () => {
    await dataSource.query(
      'CREATE TABLE IF NOT EXISTS ledger.late (id int UNIQUE DEFERRABLE INITIALLY DEFERRED); TRUNCATE ledger.late',
    );
    const hook = vi.fn();
    const failed = unit().run(async (tx) => {
      await tx.query('INSERT INTO late VALUES (1), (1)');
      afterCommit(tx, hook);
    });
    await expect(failed).rejects.toThrow('duplicate key');
    expect(hook).not.toHaveBeenCalled();
  });

  it('logs a hook that fails, runs the next ones, and still resolves', async () => {
    const logged = vi.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const next = vi.fn();
    await unit().run(async (tx) => {
      await tx.query('INSERT INTO entries VALUES (1)');
      afterCommit(tx, () => Promise.reject(new Error('broken hook')));
      afterCommit(tx, next);
    });
    expect(next).toHaveBeenCalledTimes(1);
    expect(logged).toHaveBeenCalledTimes(1);
    expect(await ids()).toEqual([{ id: 1 }]);
  });

  it.each([
    ['its next statement', (tx: EntityManager) => tx.query('SELECT 1')],
    ['its commit', () => Promise.resolve()],
  ])('may be tried again when its connection ends before %s', async (_, next) => {
    const work = new UnitOfWork(dataSource).run(async (tx) => {
      await tx.query('SELECT 1');
      await cutConnections('persistence spec');
      await waitFor(() => tx.queryRunner?.isReleased === true);
      await next(tx);
    });
    const error: unknown = await work.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(mayPass(error)).toBe(true);
  });

  it('runs at the requested isolation level', async () => {
    const level = await unit().run((tx) => tx.query('SHOW transaction_isolation'), { isolation: 'SERIALIZABLE' });
    expect(level).toEqual([{ transaction_isolation: 'serializable' }]);
  });

  it('refuses a hook outside of a unit of work', () => {
    expect(() => afterCommit(dataSource.manager, () => undefined)).toThrow(TypeError);
  });
});

describe('PgListener', () => {
  let listener: PgListener;
  const errors: Error[] = [];
  beforeEach(() => {
    errors.length = 0;
    listener = new PgListener({
      url: database.url,
      applicationName: 'spec listener',
      onError: (error) => errors.push(error),
    });
  });
  afterEach(() => listener.close());

  it('receives committed notifications on its own channels only, and none after unlistening', async () => {
    const received: string[] = [];
    const stop = await listener.listen('prices', (payload) => received.push(payload));
    await listener.listen('Other "channel"', (payload) => received.push(`other ${payload}`));
    await dataSource.transaction(async (tx) => {
      await notify(tx, 'prices', 'a');
      await notify(tx, 'elsewhere', 'x');
    });
    await dataSource
      .transaction(async (tx) => {
        await notify(tx, 'prices', 'never');
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    await notify(dataSource, 'Other "channel"', 'b');
    await waitFor(() => received.length === 2);
    await stop();
    await notify(dataSource, 'prices', 'late');
    await notify(dataSource, 'Other "channel"', 'c');
    await waitFor(() => received.length === 3);
    expect(received).toEqual(['a', 'other b', 'other c']);
  });

  it('reconnects after its connection was cut and reports a possible gap', async () => {
    const received: string[] = [];
    const gap = vi.fn();
    await listener.listen('prices', (payload) => received.push(payload), gap);
    await cutConnections('spec listener');
    await waitFor(() => gap.mock.calls.length === 1);
    await notify(dataSource, 'prices', 'again');
    await waitFor(() => received.length === 1);
    expect(errors.length).toBeGreaterThan(0);
  });

  it('notices a connection that has gone silent, connects again, and reports a gap', async () => {
    const proxy = new SilentProxy(database.url);
    const quick = new PgListener({ url: await proxy.listen(), applicationName: 'quick listener', beatMs: 100 });
    const received: string[] = [];
    const gap = vi.fn();
    await quick.listen('prices', (payload) => received.push(payload), gap);
    proxy.silence();
    await waitFor(() => gap.mock.calls.length === 1);
    await notify(dataSource, 'prices', 'after');
    await waitFor(() => received.length === 1);
    await quick.close();
    await proxy.close();
  });

  it('renews caches that would otherwise be kept forever', async () => {
    const renewed = vi.fn();
    const stop = await listener.listen('prices', () => undefined, renewed, { renewMs: 20 });
    await waitFor(() => renewed.mock.calls.length > 2);
    await stop();
    const { length } = renewed.mock.calls;
    await cutConnections('nobody');
    expect(renewed.mock.calls.length).toBe(length);
  });

  it('calls the other handlers when one throws', async () => {
    const received: string[] = [];
    await listener.listen('prices', () => {
      throw new Error('bad handler');
    });
    await listener.listen('prices', (payload) => received.push(payload));
    await notify(dataSource, 'prices', 'a');
    await waitFor(() => received.length === 1);
    expect(errors.map(({ message }) => message)).toEqual(['bad handler']);
  });

  it('refuses a payload that PostgreSQL would refuse, and listening after closing', async () => {
    await expect(notify(dataSource, 'prices', 'é'.repeat(4_000))).rejects.toThrow(RangeError);
    await notify(dataSource, 'prices', 'x'.repeat(7_999));
    await listener.close();
    await expect(listener.listen('prices', () => undefined)).rejects.toThrow('closed');
  });
});

describe('ChannelFeed', () => {
  class PriceFeed extends ChannelFeed {
    constructor(listener: PgListener) {
      super(listener, 'prices', 'every price');
    }
  }

  it('passes each notification to all followers, and replaces those that a lost connection missed', async () => {
    const listener = new PgListener({ url: database.url, applicationName: 'spec feed' });
    const feed = new PriceFeed(listener);
    const first: string[] = [];
    const second: string[] = [];
    const stop = feed.follow((price) => first.push(price));
    feed.follow((price) => second.push(price));
    await feed.onApplicationBootstrap();
    await notify(dataSource, 'prices', 'a');
    await waitFor(() => second.length === 1);
    stop();
    await cutConnections('spec feed');
    await waitFor(() => second.length === 2);
    await feed.beforeApplicationShutdown();
    await listener.close();
    expect([first, second]).toEqual([['a'], ['a', 'every price']]);
  });
});

describe('PersistenceModule', () => {
  it('provides what services need and closes every connection at shutdown', async () => {
    class AppModule {}
    Module({ imports: [PersistenceModule.forRoot({ ...config(), applicationName: 'module spec' })] })(AppModule);
    const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
    expect(await app.get(UnitOfWork).run((tx) => tx.query('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    await app.get(PgListener).listen('prices', () => undefined);
    await app.close();
    expect(app.get(DataSource).isInitialized).toBe(false);
    await waitFor(async () => {
      const open = await dataSource.query(`SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'module spec%'`);
      return (open as unknown[]).length === 0;
    });
  });
});
