import { randomUUID } from 'node:crypto';
import { Jobs } from '@gatehouse/jobs';
import { createDataSource, UnitOfWork, withClient } from '@gatehouse/persistence';
import { createLogger, rootModule } from '@gatehouse/platform';
import { createTestDatabase, waitFor, type TestDatabase } from '@gatehouse/testing';
import { NestFactory } from '@nestjs/core';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WorkerModule } from '../src/app.module.js';
import { SERVICE } from '../src/service.js';
import { applyBatch } from '../src/edge/apply-batch.js';
import { EdgeDatabase } from '../src/common/edge-database.js';
import type { FlowBatch, FlowShare } from '../src/edge/flow-batch.js';
import { Retention } from '../src/retention/retention.js';
import { FlowRollup } from '../src/rollup/flow-rollup.js';
import { readSettings } from '../src/settings.js';

const MINUTE = 60_000;
const TABLES = ['flow_minutes', 'flow_hours', 'flow_days'];
/** One minute before a new day of UTC. */
const EVE = Date.UTC(2026, 4, 1) - MINUTE;

let database: TestDatabase;
let queries: EdgeDatabase;
let closing: (() => Promise<unknown>)[];
beforeEach(async () => {
  closing = [];
  database = await createTestDatabase({
    template: { key: 'tunnel_gateway', prepare: (url) => SERVICE.migrate({ databaseUrl: url }).then(() => undefined) },
  });
  queries = new EdgeDatabase(database.url);
});
afterEach(async () => {
  for (const close of closing) await close();
  await queries.close();
  await database.drop();
});

/** A worker's connections of its own. */
async function unitOfWork(): Promise<UnitOfWork> {
  const dataSource = await createDataSource(SERVICE.databaseConfig(database.url)).initialize();
  closing.push(() => dataSource.destroy());
  return new UnitOfWork(dataSource);
}

/** Two clients of two users, four tunnels, two hosts. */
function share(number: number): FlowShare {
  const kind = number % 3 === 0 ? 'host' : 'tunnel';
  const clientId = 1 + (number % 2);
  return {
    kind,
    id: 1 + (number % 4),
    clientId,
    userId: clientId,
    inlet: number,
    export: number * 3,
    connections: 1,
  };
}

async function add(count: number, at = (number: number) => EVE + number * 1_000): Promise<void> {
  for (let number = 1; number <= count; number++) {
    const batch: FlowBatch = {
      id: randomUUID(),
      takenAt: at(number),
      flows: [share(number), share(number + 1)],
      visitors: [],
    };
    await applyBatch(queries, batch);
  }
}

type Sums = Record<string, { inlet: number; export: number }>;

async function sumsOf(sql: string): Promise<Sums> {
  const { rows } = await queries.query<{ what: string; inlet: number; export: number }>(sql);
  return Object.fromEntries(rows.map(({ what, inlet, export: out }) => [what, { inlet, export: out }]));
}

const BY_RESOURCE = `resource_type || ' ' || resource_id AS what, sum(inlet_bytes)::bigint AS inlet,
  sum(export_bytes)::bigint AS export`;

async function expectExact(): Promise<void> {
  const totals = await sumsOf(`SELECT ${BY_RESOURCE} FROM tunnel_gateway.flow_stats GROUP BY 1`);
  expect(Object.keys(totals).length).toBeGreaterThan(5);
  for (const table of TABLES) {
    expect(await sumsOf(`SELECT ${BY_RESOURCE} FROM tunnel_gateway_ops.${table} GROUP BY 1`), table).toEqual(totals);
    // Of every bucket: everybody's is the users', the clients', and that of tunnels and hosts together.
    const { rows } = await queries.query(
      `SELECT starts_at FROM tunnel_gateway_ops.${table} GROUP BY starts_at HAVING
         sum(inlet_bytes) <> 4 * sum(inlet_bytes) FILTER (WHERE resource_type = 'global') OR
         sum(inlet_bytes) FILTER (WHERE resource_type = 'client') <> sum(inlet_bytes) FILTER (WHERE resource_type = 'global') OR
         sum(inlet_bytes) FILTER (WHERE resource_type = 'user') <> sum(inlet_bytes) FILTER (WHERE resource_type = 'global') OR
         sum(connections) <> 4 * sum(connections) FILTER (WHERE resource_type = 'global')`,
    );
    expect(rows, table).toEqual([]);
  }
}

async function waiting(): Promise<number> {
  const { rows } = await queries.query<{ n: number }>(
    'SELECT count(*) AS n FROM tunnel_gateway_ops.flow_batches WHERE NOT rolled_up',
  );
  return rows[0]?.n ?? -1;
}

describe('totals by minute, hour and day', () => {
  it('contain every batch once, in the minute in which it was counted', async () => {
    await add(90);
    const rollup = new FlowRollup(await unitOfWork());
    expect(await rollup.run()).toBe(90);
    expect(await rollup.run()).toBe(0);
    await expectExact();
    const { rows } = await queries.query(
      `SELECT starts_at, connections FROM tunnel_gateway_ops.flow_days WHERE resource_type = 'global' ORDER BY 1`,
    );
    expect(rows).toEqual([
      { starts_at: new Date('2026-04-30T00:00:00Z'), connections: 59 * 2 },
      { starts_at: new Date('2026-05-01T00:00:00Z'), connections: 31 * 2 },
    ]);
  });

  it('are exact with two concurrent workers while batches arrive', async () => {
    const workers = [new FlowRollup(await unitOfWork()), new FlowRollup(await unitOfWork())];
    let coming = true;
    const work = async (rollup: FlowRollup): Promise<number> => {
      let all = 0;
      for (;;) {
        const last = !coming;
        const added = await rollup.step(3);
        all += added;
        if (last && added === 0) return all;
      }
    };
    const working = workers.map(work);
    await add(120);
    coming = false;
    const added = await Promise.all(working);
    expect(added.reduce((sum, each) => sum + each)).toBe(120);
    await expectExact();
  });

  it('are exact when workers are killed during a rollup', async () => {
    await add(40);
    const blocker = new pg.Client({ connectionString: database.url });
    await blocker.connect();
    closing.push(() => blocker.end());
    // The worker has marked its batches and stops where it adds them.
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE tunnel_gateway_ops.flow_days IN EXCLUSIVE MODE');
    const victim = new FlowRollup(await unitOfWork()).run();
    const fate = expect(victim).rejects.toThrow();
    const pid = await waitFor(async () => {
      const found = await blocker.query<{ pid: number }>(
        `SELECT pid FROM pg_locks WHERE NOT granted AND relation = 'tunnel_gateway_ops.flow_days'::regclass`,
      );
      return found.rows[0]?.pid ?? false;
    });
    await blocker.query('SELECT pg_terminate_backend($1)', [pid]);
    await fate;
    await blocker.query('ROLLBACK');
    expect(await waiting()).toBe(40);
    expect(await new FlowRollup(await unitOfWork()).run()).toBe(40);
    await expectExact();
  });
});

describe('the worker', () => {
  const start = async () => {
    const settings = readSettings({ DATABASE_URL: database.url, GATEHOUSE_HOME: '/nonexistent' });
    const logger = createLogger({ name: 'worker test', settings });
    const root = rootModule({ module: WorkerModule.forRoot(settings) }, logger);
    const worker = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
    closing.unshift(() => worker.close());
    return worker;
  };

  it('rolls up on its own; repeating a job changes nothing, also after a restart', async () => {
    await add(10);
    const first = await start();
    await waitFor(async () => (await waiting()) === 0, { timeoutMs: 15_000 });
    const ask = (jobs: Jobs) => jobs.addAndWait('flow-rollup', { requestedAt: 1 }, { timeoutMs: 15_000 });
    expect(await ask(first.get(Jobs))).toEqual({ batches: 0 });
    await closing.shift()?.();
    await add(5);
    const [second, third] = [await start(), await start()];
    await Promise.all([ask(second.get(Jobs)), ask(third.get(Jobs))]);
    await waitFor(async () => (await waiting()) === 0, { timeoutMs: 15_000 });
    await expectExact();
  });
});

describe('retention', () => {
  it('deletes old rows, but no batch that has not been added up', async () => {
    const ago = (days: number) => Date.now() - days * 86_400_000;
    await add(1, () => ago(401));
    await add(1, () => ago(41));
    await add(1, () => ago(3));
    await add(1, () => ago(1));
    const work = await unitOfWork();
    await queries.query(`UPDATE tunnel_gateway_ops.flow_batches SET applied_at = taken_at`);
    const retention = new Retention(work);
    expect(await retention.sweep()).toMatchObject({ batches: 0 });
    await new FlowRollup(work).run();
    await withClient(database.url, async (client) => {
      await client.query(`INSERT INTO tunnel_gateway.users (username, password_hash) VALUES ('u', 'x')`);
      await client.query(
        `INSERT INTO tunnel_gateway.sessions (token, user_id, expires_at)
         VALUES ('old', 1, now() - interval '1 s'), ('new', 1, now() + interval '1 h')`,
      );
      await client.query(
        `INSERT INTO tunnel_gateway.request_ips (resource_type, resource_id, ip, last_seen_at)
         SELECT 'tunnel', 1, n::text, to_timestamp(n) FROM generate_series(1, 10003) n`,
      );
    });
    expect(await retention.sweep()).toMatchObject({ batches: 2, emptied: 1, sessions: 1, addresses: 3 });
    const left = async (sql: string) => (await queries.query(sql)).rows;
    const buckets = (table: string) =>
      left(`SELECT count(*) AS n FROM tunnel_gateway_ops.${table} WHERE resource_type = 'global'`);
    expect(await Promise.all(TABLES.map(buckets))).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]]);
    expect(await left('SELECT token FROM tunnel_gateway.sessions')).toEqual([{ token: 'new' }]);
    expect(await left('SELECT min(ip::int) AS first FROM tunnel_gateway.request_ips')).toEqual([{ first: 4 }]);
  });
});
