import type { Jobs } from '@gatehouse/jobs';
import { createDataSource, migrate } from '@gatehouse/persistence';
import { createTestDatabase, waitFor } from '@gatehouse/testing';
import type { TestDatabase } from '@gatehouse/testing';
import type { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SERVICE } from '../src/service.js';
import { RefreshSchedules } from '../src/subscriptions/refresh-schedules.js';

let database: TestDatabase;
let dataSource: DataSource;
let sent: number[];
let refused: number | null;
let former: string[];
/** Records what is sent to the queue. */
const jobs = {
  add: (_queue: string, { subscriptionId }: { subscriptionId: number }) => {
    if (subscriptionId === refused) return Promise.reject(new Error('the queue does not answer'));
    sent.push(subscriptionId);
    return Promise.resolve('');
  },
  schedulers: () => Promise.resolve(former),
  removeScheduler: (_queue: string, key: string) => {
    former = former.filter((other) => other !== key);
    return Promise.resolve(true);
  },
} as unknown as Jobs;
let running: RefreshSchedules[];

beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = createDataSource(SERVICE.databaseConfig(database.url, 'test'));
  await migrate(dataSource);
  await dataSource.initialize();
});
beforeEach(async () => {
  [sent, refused, former, running] = [[], null, [], []];
  await dataSource.query('DELETE FROM subscriptions');
});
afterEach(async () => {
  for (const schedules of running) await schedules.onModuleDestroy();
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

async function start(): Promise<RefreshSchedules> {
  const schedules = new RefreshSchedules(jobs, dataSource);
  running.push(schedules);
  await schedules.onApplicationBootstrap();
  return schedules;
}

/** Inserts rows with an SQL expression for the time when each is due, given `i`. */
const insert = (count: number, due: string, enabled = true): Promise<unknown> =>
  dataSource.query(
    `INSERT INTO subscriptions (name, sealed_url, type, interval_sec, enabled, next_refresh_at)
     SELECT 's' || i, '', 'auto', 3600, $2, ${due} FROM generate_series(1, $1) i`,
    [count, enabled],
  );
const count = async (where: string): Promise<number> =>
  (await dataSource.query(`SELECT count(*)::int AS n FROM subscriptions WHERE ${where}`))[0].n;

describe('schedules', () => {
  it('start quickly with five thousand, and send a few at a time however many are due', async () => {
    await insert(5_000, `now() - i * interval '1 second'`);
    const began = performance.now();
    await start();
    expect(performance.now() - began).toBeLessThan(1_000);
    await waitFor(() => sent.length === 25);
    expect(new Set(sent).size).toBe(25);
    expect(await count('dispatched_at IS NOT NULL')).toBe(25);
    // The ones that waited longest.
    expect(await count(`dispatched_at IS NOT NULL AND next_refresh_at < now() - interval '4970 seconds'`)).toBe(25);
  });

  it('keep a few dozen under way, over all processes', async () => {
    await insert(500, 'now()');
    await Promise.all([start(), start(), start(), start()]);
    await waitFor(() => sent.length >= 50);
    expect(new Set(sent).size).toBe(sent.length);
    const schedules = await start();
    schedules.wake();
    expect(await count('dispatched_at IS NOT NULL')).toBeLessThanOrEqual(100);
  });

  it('spread those without a time, over an hour at most', async () => {
    await insert(1_000, 'NULL');
    await start();
    expect(await count('next_refresh_at IS NULL')).toBe(0);
    expect(await count(`next_refresh_at < now() + interval '1 minute'`)).toBeLessThan(60);
    expect(await count(`next_refresh_at > now() + interval '61 minutes'`)).toBe(0);
  });

  it('send each once over all processes, and again only if it was lost', async () => {
    await insert(20, 'now()');
    await Promise.all([start(), start(), start()]);
    await waitFor(() => sent.length === 20);
    expect(new Set(sent).size).toBe(20);
    await dataSource.query(`UPDATE subscriptions SET dispatched_at = now() - interval '21 minutes' WHERE name = 's1'`);
    running[0]!.wake();
    await waitFor(() => sent.length === 21);
  });

  it('skip what is disabled or not due, and notice what becomes due', async () => {
    await insert(5, 'now()', false);
    await insert(5, `now() + interval '1 hour'`);
    const schedules = await start();
    await insert(1, 'now()');
    schedules.wake();
    await waitFor(() => sent.length > 0);
    expect(sent).toHaveLength(1);
  });

  it('try again if the queue failed', async () => {
    await insert(1, 'now()');
    [{ id: refused }] = await dataSource.query('SELECT id FROM subscriptions');
    const schedules = await start();
    await waitFor(async () => (await count('dispatched_at IS NULL')) === 1 && sent.length === 0);
    refused = null;
    schedules.wake();
    await waitFor(() => sent.length === 1);
  });

  it('replace the schedulers of earlier versions in the queue', async () => {
    former = ['subscription-1', 'subscription-2', 'something-else'];
    await start();
    await waitFor(() => former.length === 1);
    expect(former).toEqual(['something-else']);
  });
});
