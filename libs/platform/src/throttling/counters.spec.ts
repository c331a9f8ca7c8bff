import { createDataSource, pgPool } from '@gatehouse/persistence';
import { createTestDatabase, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FixedWindowStorage, type WindowCounter } from './fixed-window.js';
import { MemoryWindowCounter } from './memory-counter.js';
import { createThrottleTable, dropThrottleTable, PostgresWindowCounter } from './postgres-counter.js';

interface Backend {
  counter: WindowCounter;
  close: () => Promise<void>;
}

async function postgres(): Promise<Backend> {
  const database = await createTestDatabase();
  const config = { url: database.url, schema: 'public', entities: [], migrations: [], applicationName: 'test' };
  const dataSource = await createDataSource(config).initialize();
  await createThrottleTable(dataSource);
  const close = async (): Promise<void> => {
    await dropThrottleTable(dataSource);
    await dataSource.destroy();
    await database.drop();
  };
  return { counter: new PostgresWindowCounter(pgPool(dataSource)), close };
}

const memory = (): Promise<Backend> =>
  Promise.resolve({ counter: new MemoryWindowCounter(), close: () => Promise.resolve() });

describe.each([
  ['memory', memory],
  ['PostgreSQL', postgres],
])('fixed windows in %s', (_name, open) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await open();
  });
  afterAll(() => backend.close());

  it('count every hit once, also concurrent ones', async () => {
    const states = await Promise.all(Array.from({ length: 50 }, () => backend.counter.hit('busy', 60_000)));
    expect(states.map(({ hits }) => hits).sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    for (const { remainingMs } of states) {
      expect(remainingMs).toBeGreaterThan(50_000);
      expect(remainingMs).toBeLessThanOrEqual(60_000);
    }
  });

  it('keep keys apart', async () => {
    await backend.counter.hit('one', 60_000);
    expect((await backend.counter.hit('two', 60_000)).hits).toBe(1);
  });

  it('start again when a window ends', async () => {
    await backend.counter.hit('brief', 100);
    await backend.counter.hit('brief', 100);
    await waitFor(async () => (await backend.counter.hit('brief', 100)).hits === 1, { intervalMs: 120 });
  });

  it('block above the limit, not at it', async () => {
    const storage = new FixedWindowStorage(backend.counter);
    const results = [];
    for (let hit = 0; hit < 3; hit++) results.push(await storage.increment('k', 60_000, 2, 0, 'default'));
    expect(results.map(({ isBlocked }) => isBlocked)).toEqual([false, false, true]);
    expect(results[2]?.timeToBlockExpire).toBe(60);
  });
});

it('the memory of counters is limited', async () => {
  const counter = new MemoryWindowCounter(100);
  for (let key = 0; key < 1_000; key++) await counter.hit(`k${key}`, 60_000);
  expect(counter.size).toBeLessThanOrEqual(100);
  expect((await counter.hit('k999', 60_000)).hits).toBe(2);
});
