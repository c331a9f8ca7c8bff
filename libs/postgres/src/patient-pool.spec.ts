import { EventEmitter } from 'node:events';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { patientPool } from './patient-pool.js';

/** What the pool needs of a client, without a server. */
class FakeClient extends EventEmitter {
  readonly _queryable = true;

  connect(connected: (error: Error | null) => void): void {
    connected(null);
  }

  end(ended?: () => void): void {
    ended?.();
  }
}

const Pool = patientPool(pg.Pool);
const newPool = (): pg.Pool =>
  new Pool({ max: 10, Client: FakeClient as unknown as typeof pg.Client } as pg.PoolConfig);

/** Asks for a connection; `taken` has it as soon as there is one. */
function ask(pool: pg.Pool): { taken?: pg.PoolClient } {
  const asked: { taken?: pg.PoolClient } = {};
  void pool.connect().then((client) => (asked.taken = client));
  return asked;
}

describe('a patient pool', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const settle = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

  it('gives one connection to statements that come together, in their order', async () => {
    const pool = newPool();
    const first = await pool.connect();
    const asked = [ask(pool), ask(pool), ask(pool)];
    let former = first;
    for (const [index, next] of asked.entries()) {
      await settle(1);
      expect(asked.findIndex(({ taken }) => taken === undefined)).toBe(index);
      former.release();
      await settle();
      expect(next.taken).toBe(first);
      former = next.taken ?? first;
    }
    expect(pool.totalCount).toBe(1);
  });

  it('counts a free connection as taken when another caller is about to get it', async () => {
    const pool = newPool();
    (await pool.connect()).release();
    const asked = [ask(pool), ask(pool)];
    await settle(1);
    expect(asked.map(({ taken }) => taken !== undefined)).toEqual([true, false]);
    expect(pool.totalCount).toBe(1);
  });

  it('opens a further one for a statement that would wait for a long one, and one at a time', async () => {
    const pool = newPool();
    await pool.connect();
    const asked = [ask(pool), ask(pool)];
    await settle(49);
    expect(pool.totalCount).toBe(1);
    await settle(1);
    expect(pool.totalCount).toBe(2);
    expect(asked.map(({ taken }) => taken !== undefined)).toEqual([true, false]);
  });

  it('lets nobody wait for more than 120 ms, even if others take turns', async () => {
    const pool = newPool();
    let busy = await pool.connect();
    const turns = Array.from({ length: 10 }, () => ask(pool));
    const last = ask(pool);
    for (let i = 0; i < 6; i++) {
      await settle(20);
      busy.release();
      await settle();
      busy = turns[i]?.taken ?? busy;
    }
    expect(last.taken).toBeDefined();
    expect(last.taken).not.toBe(busy);
  });

  it('opens what it needs at once when there is much to do, and is patient again later', async () => {
    const pool = newPool();
    let busy = await pool.connect();
    for (let i = 0; i < 60; i++) {
      const next = ask(pool);
      busy.release();
      await settle();
      busy = next.taken ?? busy;
    }
    expect(pool.totalCount).toBe(1);
    await pool.connect();
    expect(pool.totalCount).toBe(2);
    await settle(10_000);
    ask(pool);
    await settle();
    expect(pool.totalCount).toBe(2);
  });

  it('does not let anybody wait once it has ended', async () => {
    const pool = newPool();
    const busy = await pool.connect();
    const late = expect(pool.connect()).rejects.toThrow('after calling end');
    void pool.end();
    busy.release();
    await settle();
    await late;
  });
});
