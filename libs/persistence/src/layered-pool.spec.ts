import { prepareSession } from '@gatehouse/postgres';
import { createTestDatabase, peerOrSkip, startPgBouncer, type TestDatabase } from '@gatehouse/testing';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDataSource, pgPool } from './data-source.js';
import { layeredPool, layerOfWork, withLayer } from './layered-pool.js';
import { UnitOfWork } from './unit-of-work.js';

let database: TestDatabase;
let source: DataSource;

beforeAll(async () => {
  database = await createTestDatabase();
  source = layeredSource(database.url);
  await source.initialize();
  for (const schema of ['plain', 'layered']) {
    await source.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.words (word text)`);
    await source.query(`INSERT INTO ${schema}.words VALUES ('${schema}')`);
  }
  await source.query(`CREATE TABLE plain.behind (word text); INSERT INTO plain.behind VALUES ('behind')`);
});
afterAll(async () => {
  await source.destroy();
  await database.drop();
});

const layeredSource = (url: string): DataSource =>
  createDataSource({
    url,
    schema: 'plain',
    entities: [],
    migrations: [],
    applicationName: 'layers',
    layer: { searchPath: ['layered'], sqlFiles: [], sqlFolder: new URL('file:///nowhere/'), setting: 'layers.who' },
  });

/** The pool alone: TypeORM keeps a connection of its own. */
function layeredPoolOf(url: string): pg.Pool {
  const connect = (path: string) => prepareSession({ search_path: path });
  const options = { onConnect: connect('layered,plain'), max: 1 };
  const Pool = layeredPool(pg.Pool, { setting: 'layers.who' }, options as pg.PoolConfig);
  return new Pool({ connectionString: url, max: 1, onConnect: connect('plain') } as pg.PoolConfig);
}

const WORD = 'SELECT word FROM words';
const connections = async (): Promise<number> =>
  (
    await source.query<{ n: number }[]>(
      `SELECT count(*)::integer AS n FROM pg_stat_activity WHERE application_name = 'layers layer'`,
    )
  )[0]?.n ?? 0;

describe('a data source with a layer', () => {
  it('opens no connection for it before there is work in it', async () => {
    expect(await source.query(WORD)).toEqual([{ word: 'plain' }]);
    expect(await connections()).toBe(0);
  });

  it('finds its tables first, and the others behind them, whichever way the work asks', async () => {
    const unitOfWork = new UnitOfWork(source);
    const ask = async (): Promise<unknown[]> => [
      await source.query(WORD),
      (await pgPool(source).query(WORD)).rows,
      (await pgPool(source).query({ name: 'word', text: WORD })).rows,
      await source.transaction((tx) => tx.query(WORD)),
      await unitOfWork.run(async (tx) => tx.query(WORD)),
    ];
    const layered = [{ word: 'layered' }];
    expect(await withLayer('ann', ask)).toEqual(Array.from({ length: 5 }, () => layered));
    expect(await ask()).toEqual(Array.from({ length: 5 }, () => [{ word: 'plain' }]));
    expect(await withLayer('ann', () => source.query('SELECT word FROM behind'))).toEqual([{ word: 'behind' }]);
    expect(await withLayer('ann', () => withLayer(undefined, ask))).toEqual(await ask());
  });

  it('tells each connection for whom the work is, at every work', async () => {
    const mine = `SELECT current_setting('layers.who', true) AS who`;
    const asked = Array.from({ length: 20 }, (_, index) => `user ${index}`);
    const ask = async (): Promise<unknown[]> =>
      Promise.all(
        asked.map((who) => withLayer(who, async () => (await source.query<{ who: string }[]>(mine))[0]?.who)),
      );
    // Without it, one connection would be enough: the pool waits a moment before it opens another one.
    const [begun, hold] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const held = withLayer('ann', () =>
      new UnitOfWork(source).run(async (tx) => {
        await tx.query(mine);
        begun.resolve();
        await hold.promise;
      }),
    );
    await begun.promise;
    expect(await ask()).toEqual(asked);
    hold.resolve();
    await held;
    expect(await ask()).toEqual(asked);
    expect(await connections()).toBe(2);
    expect(await source.query(mine)).toEqual([{ who: null }]);
  });

  it('leaves connections to the work outside, however much there is in the layer', async () => {
    const unitOfWork = new UnitOfWork(source);
    const hold = Promise.withResolvers<void>();
    const held = Array.from({ length: 12 }, () => withLayer('ann', () => unitOfWork.run(() => hold.promise)));
    expect(await Promise.all(Array.from({ length: 12 }, () => unitOfWork.run((tx) => tx.query(WORD))))).toHaveLength(
      12,
    );
    hold.resolve();
    await Promise.all(held);
  });

  it('keeps its place over waits, and ends with the work', async () => {
    await withLayer('ann', async () => {
      await source.query(WORD);
      expect(layerOfWork()).toBe('ann');
    });
    expect(layerOfWork()).toBeUndefined();
  });

  it('works behind PgBouncer that pools sessions: no connection keeps the layer of the one before', async (context) => {
    const program = peerOrSkip('pgbouncer') ?? context.skip('pgbouncer is not installed: npm run peers');
    const settings = { default_pool_size: '1' };
    const bouncer = await startPgBouncer({ program, url: database.url, mode: 'session', settings });
    const ask = `SELECT word, current_setting('layers.who', true) AS who FROM words`;
    try {
      // One connection of the server, which the next client gets.
      for (const who of ['ann', 'bob']) {
        const inside = layeredPoolOf(bouncer.url);
        expect((await withLayer(who, () => inside.query(ask))).rows).toEqual([{ word: 'layered', who }]);
        await inside.end();
        const outside = layeredPoolOf(bouncer.url);
        const [row] = (await outside.query<{ word: string; who: string | null }>(ask)).rows;
        expect([row?.word, row?.who || null]).toEqual(['plain', null]);
        await outside.end();
      }
    } finally {
      await bouncer.close();
    }
  });
});
