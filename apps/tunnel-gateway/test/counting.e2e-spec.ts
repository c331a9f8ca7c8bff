import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, waitFor, type TestDatabase } from '@gatehouse/testing';
import type { FlowDelta } from '@gatehouse/tunnel-kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVICE } from '../src/service.js';
import { applyBatch } from '../src/edge/apply-batch.js';
import { EdgeDatabase, type Queries } from '../src/common/edge-database.js';
import { UnsentFlows, type FlowBatch } from '../src/edge/flow-batch.js';
import { FlowWriter } from '../src/edge/flow-writer.js';

let database: TestDatabase;
let queries: EdgeDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  await SERVICE.migrate({ databaseUrl: database.url });
  queries = new EdgeDatabase(database.url);
  folder = mkdtempSync(join(tmpdir(), 'counting-'));
  await queries.query(`INSERT INTO tunnel_gateway.users (username, password_hash) VALUES ('u', 'x')`);
  await queries.query(
    `INSERT INTO tunnel_gateway.clients (name, verify_key, owner_user_id) SELECT 'c' || n, n, 1 FROM generate_series(1, 2) n`,
  );
  await queries.query(
    `INSERT INTO tunnel_gateway.tunnels (client_id, mode, listen_port, target_addr)
     SELECT 1 + n % 2, 'tcp', n, 'x' FROM generate_series(1, 4) n`,
  );
});
afterAll(async () => {
  await queries.close();
  await database.drop();
  rmSync(folder, { recursive: true });
});

const onRefused = (_batch: FlowBatch, error: unknown): void => {
  throw error;
};
const delta = (id: number, clientId: number, upload: number): FlowDelta => ({
  resource: { kind: 'tunnel', id },
  clientId,
  upload,
  download: upload * 2,
  connections: 1,
});

function batchOf(...deltas: FlowDelta[]): FlowBatch {
  const unsent = new UnsentFlows();
  for (const each of deltas) {
    unsent.add(each, 1);
    unsent.addVisitor(
      { resource: each.resource, clientId: each.clientId, address: '192.0.2.1', hits: 1 },
      1,
      Date.now(),
    );
  }
  return unsent.takeBatch(Date.now());
}

async function inlet(type: string, id: number): Promise<number> {
  const { rows } = await queries.query<{ inlet_bytes: number }>(
    'SELECT inlet_bytes FROM tunnel_gateway.flow_stats WHERE resource_type = $1 AND resource_id = $2',
    [type, id],
  );
  return rows[0]?.inlet_bytes ?? 0;
}

/** Answers are lost on the way back as often as not: what was done is done. */
function lossy(): Queries {
  let calls = 0;
  return {
    async query<R extends object>(text: string, values?: unknown[]) {
      calls += 1;
      if (calls % 3 === 0) throw new Error('refused');
      const result = await queries.query<R>(text, values);
      if (calls % 3 === 1) throw new Error('the answer is lost');
      return result;
    },
  };
}

/** A session that locks a table, so that writers wait. */
async function lock(table: string): Promise<{ release(): Promise<void> }> {
  const client = queries.listener();
  await client.connect();
  await client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  return { release: () => client.end() };
}

/** Whether a session waits for a row that another one has locked. */
async function waits(): Promise<boolean> {
  const sql = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  return (await queries.query(sql)).rows.length > 0;
}

describe('counter batches', () => {
  it('count once on all levels, however often they are sent', async () => {
    const batch = batchOf(delta(1, 2, 10), delta(2, 1, 5), delta(3, 2, 1));
    expect(await applyBatch(queries, batch)).toEqual([]);
    expect(await applyBatch(queries, batch)).toBeNull();
    const sums = [inlet('global', 0), inlet('user', 1), inlet('client', 1), inlet('client', 2), inlet('tunnel', 1)];
    expect(await Promise.all(sums)).toEqual([16, 16, 5, 11, 10]);
    const { rows } = await queries.query(
      `SELECT resource_type, resource_id, hit_count FROM tunnel_gateway.request_ips ORDER BY resource_type, resource_id`,
    );
    expect(rows).toContainEqual({ resource_type: 'client', resource_id: 2, hit_count: 2 });
    expect(rows).toContainEqual({ resource_type: 'global', resource_id: 0, hit_count: 3 });
    const { rows: clients } = await queries.query(
      'SELECT inlet_flow, export_flow FROM tunnel_gateway.clients ORDER BY id',
    );
    expect(clients).toEqual([
      { inlet_flow: 5, export_flow: 10 },
      { inlet_flow: 11, export_flow: 22 },
    ]);
  });

  it('are exact when answers are lost and several edges write', async () => {
    const before = await inlet('global', 0);
    const began = new Date();
    await queries.query(
      `INSERT INTO tunnel_gateway_ops.traffic_quotas (resource_type, resource_id, bytes, period)
       VALUES ('user', 1, 500, 'month'), ('client', 2, 1, 'day'), ('tunnel', 2, 100000, 'total')`,
    );
    const writers = [1, 2, 3].map((number) => {
      let left = 40;
      const writer = new FlowWriter({
        onRefused,
        queries: lossy(),
        now: Date.now,
        collect: (unsent) => {
          if (left-- > 0) unsent.add(delta(1 + (left % 4), 1 + ((1 + left) % 2), 7), 1);
        },
        folder: join(folder, String(number)),
      });
      return { writer, done: () => left < 0 };
    });
    await Promise.all(
      writers.map(async ({ writer, done }) => {
        while (!done()) await writer.write().catch(() => undefined);
      }),
    );
    // What is left goes into a file, which another process takes over.
    for (const [index, { writer }] of writers.entries()) {
      await writer.close();
      const heir = new FlowWriter({
        onRefused,
        queries,
        now: Date.now,
        collect: () => undefined,
        folder: join(folder, String(index + 1)),
      });
      await heir.recover();
      await heir.close();
    }
    expect((await inlet('global', 0)) - before).toBe(3 * 40 * 7);
    const { rows } = await queries.query<{ same: boolean }>(
      `SELECT (SELECT sum(inlet_bytes) FROM tunnel_gateway.flow_stats WHERE resource_type = 'client') =
              (SELECT sum(inlet_bytes) FROM tunnel_gateway.flow_stats WHERE resource_type = 'tunnel') AS same`,
    );
    expect(rows[0]?.same).toBe(true);
    const { rows: quotas } = await queries.query(
      `SELECT q.resource_type AS of, q.used, s.bytes = q.used AS exact FROM tunnel_gateway_ops.traffic_quotas q CROSS JOIN LATERAL (
         SELECT sum(f.inlet + f.export)::bigint AS bytes FROM tunnel_gateway_ops.flow_batches b
         CROSS JOIN LATERAL jsonb_to_recordset(b.flows) AS f (kind text, id bigint, "clientId" bigint, "userId" bigint, inlet bigint, export bigint)
         WHERE b.applied_at > $1 AND q.resource_id = CASE q.resource_type WHEN 'user' THEN f."userId" WHEN 'client' THEN f."clientId" ELSE f.id END
       ) AS s ORDER BY 1`,
      [began],
    );
    expect(quotas).toMatchObject([{ exact: true }, { exact: true }, { of: 'user', used: 3 * 40 * 7 * 3, exact: true }]);
    // However often answers were lost, each is reported once.
    const { rows: events } = await queries.query(
      `SELECT resource_type AS of, resource_id AS id, owner_user_id AS owner, data ->> 'bytes' AS bytes
       FROM tunnel_gateway_ops.events WHERE type = 'limit.traffic' ORDER BY 1`,
    );
    expect(events).toEqual([
      { of: 'client', id: 2, owner: 1, bytes: '1' },
      { of: 'user', id: 1, owner: 1, bytes: '500' },
    ]);
  });

  it('begin again with each period, and a late batch of an earlier one does not count', async () => {
    await queries.query('DELETE FROM tunnel_gateway_ops.traffic_quotas');
    await queries.query(
      `INSERT INTO tunnel_gateway_ops.traffic_quotas (resource_type, resource_id, bytes, period, used, counted_at)
       VALUES ('client', 1, 50, 'day', 49, '2026-01-31T23:59:59Z'), ('user', 1, 50, 'month', 49, '2026-01-31T23:59:59Z'),
         ('tunnel', 1, 50, 'total', 49, '2026-01-31T23:59:59Z')`,
    );
    const count = async (at: string): Promise<unknown> => {
      const share = { kind: 'tunnel' as const, id: 1, clientId: 1, userId: 1, inlet: 1, export: 2, connections: 0 };
      const counted = await applyBatch(queries, {
        id: randomUUID(),
        takenAt: Date.parse(at),
        flows: [share],
        visitors: [],
      });
      const all = (counted ?? []).toSorted((a, b) => a.kind.localeCompare(b.kind));
      return all.map(({ used, resetsAt }) => [used, resetsAt === null ? null : new Date(resetsAt).toISOString()]);
    };
    const [march, next] = ['2026-03-01T00:00:00.000Z', '2026-02-02T00:00:00.000Z'];
    expect(await count('2026-02-01T00:00:00Z')).toEqual([
      [3, next],
      [52, null],
      [3, march],
    ]);
    expect(await count('2026-01-31T23:59:58Z')).toEqual([
      [3, next],
      [55, null],
      [3, march],
    ]);
    expect(await count('2026-02-02T01:00:00Z')).toEqual([
      [3, '2026-02-03T00:00:00.000Z'],
      [58, null],
      [6, march],
    ]);
  });

  it('are written to a file in time by a process whose database hangs, and count once', async () => {
    const before = await inlet('global', 0);
    const place = join(folder, 'hanging');
    const locked = await lock('tunnel_gateway.flow_stats');
    let left = 1;
    const collect = (unsent: UnsentFlows): void => {
      if (left-- > 0) unsent.add(delta(1, 2, 100), 1);
    };
    const writer = new FlowWriter({ onRefused, queries, now: Date.now, collect, folder: place });
    const from = performance.now();
    await writer.close();
    expect(performance.now() - from).toBeLessThan(4_000);
    expect(readdirSync(place)).toHaveLength(1);
    await locked.release();
    const heir = new FlowWriter({ onRefused, queries, now: Date.now, collect: () => undefined, folder: place });
    await heir.recover();
    await heir.write();
    expect((await inlet('global', 0)) - before).toBe(100);
    expect(readdirSync(place)).toEqual([]);
  });

  it('do not grow in number, however often processes end without a database', async () => {
    const place = join(folder, 'away');
    const away: Queries = { query: () => Promise.reject(new Error('refused')) };
    for (const upload of [1, 2, 3, 4, 5]) {
      let left = 1;
      const collect = (unsent: UnsentFlows): void => {
        if (left-- > 0) unsent.add(delta(1, 2, upload), 1);
      };
      const writer = new FlowWriter({ onRefused, queries: away, now: Date.now, collect, folder: place });
      await writer.recover();
      await writer.close();
    }
    const files = readdirSync(place);
    expect(files).toHaveLength(1);
    expect(JSON.parse(readFileSync(join(place, files[0] ?? ''), 'utf8'))).toHaveLength(5);
  });

  it('are split so that one statement can take their addresses, and lose none', async () => {
    const hits = async (): Promise<number> => {
      const { rows } = await queries.query<{ hits: number }>(
        `SELECT coalesce(sum(hit_count), 0)::int AS hits FROM tunnel_gateway.request_ips WHERE resource_type = 'tunnel'`,
      );
      return rows[0]?.hits ?? 0;
    };
    const [before, bytes] = [await hits(), await inlet('global', 0)];
    const sizes: number[] = [];
    const watched: Queries = {
      query: (text, values = []) => {
        if (typeof values[3] === 'string') sizes.push((JSON.parse(values[3]) as unknown[]).length);
        return queries.query(text, values);
      },
    };
    let left = 1;
    const collect = (unsent: UnsentFlows): void => {
      if (left-- <= 0) return;
      unsent.add(delta(1, 2, 3), 1);
      for (let n = 0; n < 25_000; n++) {
        const address = `2001:db8::${n.toString(16)}`;
        unsent.addVisitor({ resource: { kind: 'tunnel', id: 1 }, clientId: 2, address, hits: 1 }, 1, Date.now());
      }
    };
    const writer = new FlowWriter({
      onRefused,
      queries: watched,
      now: Date.now,
      collect,
      folder: join(folder, 'many'),
    });
    while (sizes.reduce((sum, size) => sum + size, 0) < 25_000) await writer.write();
    expect(sizes).toEqual([10_000, 10_000, 5_000]);
    expect([(await hits()) - before, (await inlet('global', 0)) - bytes]).toEqual([25_000, 3]);
  });

  it('for deleted rows count for all others, and bring no addresses back', async () => {
    await queries.query(
      `INSERT INTO tunnel_gateway.tunnels (id, client_id, mode, listen_port, target_addr) VALUES (77, 1, 'tcp', 77, 'x')`,
    );
    const late = batchOf(delta(77, 1, 5));
    await queries.query('DELETE FROM tunnel_gateway.tunnels WHERE id = 77');
    const before = await inlet('global', 0);
    expect(await applyBatch(queries, late)).not.toBeNull();
    expect((await inlet('global', 0)) - before).toBe(5);
    const { rows } = await queries.query(
      `SELECT ip FROM tunnel_gateway.request_ips WHERE resource_type = 'tunnel' AND resource_id = 77`,
    );
    expect(rows).toEqual([]);
  });

  it('older than those already known are not counted', async () => {
    const before = await inlet('global', 0);
    const place = join(folder, 'old');
    const refused: string[] = [];
    const old = { ...batchOf(delta(1, 2, 9)), takenAt: Date.now() - 9 * 86_400_000 };
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'unsent-1.json'), JSON.stringify([old]));
    const writer = new FlowWriter({
      queries,
      now: Date.now,
      collect: () => undefined,
      folder: place,
      onRefused: ({ id }) => refused.push(id),
    });
    await writer.recover();
    await writer.write();
    expect([(await inlet('global', 0)) - before, refused, readdirSync(place)]).toEqual([0, [old.id], []]);
  });

  it('that the database refuses are set aside, so that all others are counted', async () => {
    const [before, others] = [await inlet('global', 0), await inlet('client', 1)];
    const place = join(folder, 'refused');
    const refused: FlowBatch[] = [];
    let left = 1;
    const collect = (unsent: UnsentFlows): void => {
      if (left-- <= 0) return;
      for (const id of [1, 2, 3, 4]) unsent.add(delta(id, 1 + (id % 2), 10), 1);
      // No text of PostgreSQL holds this character.
      const hit = { resource: { kind: 'tunnel', id: 1 }, clientId: 2, address: '192.0.2.\0', hits: 1 } as const;
      unsent.addVisitor(hit, 1, Date.now());
    };
    const writer = new FlowWriter({
      queries,
      now: Date.now,
      collect,
      folder: place,
      onRefused: (batch) => refused.push(batch),
    });
    await writer.write();
    expect([(await inlet('global', 0)) - before, (await inlet('client', 1)) - others]).toEqual([40, 20]);
    expect(refused).toMatchObject([{ flows: [], visitors: [{ ip: '192.0.2.\0' }] }]);
    await writer.write();
    await writer.close();
    expect(refused).toHaveLength(1);
  });

  it('stop at the largest number that every reader can represent, and continue from there', async () => {
    const most = Number.MAX_SAFE_INTEGER;
    for (const _ of [1, 2]) await applyBatch(queries, batchOf(delta(4, 1, most), delta(4, 1, most)));
    expect([await inlet('tunnel', 4), await inlet('client', 1), await inlet('global', 0)]).toEqual([most, most, most]);
    await queries.query(`UPDATE tunnel_gateway.tunnels SET inlet_flow = 1653313644454215700 WHERE id = 4`);
    await applyBatch(queries, batchOf(delta(4, 1, 1)));
    const { rows } = await queries.query('SELECT inlet_flow::text AS kept FROM tunnel_gateway.tunnels WHERE id = 4');
    expect(rows).toEqual([{ kept: String(most) }]);
    await queries.query('UPDATE tunnel_gateway.flow_stats SET inlet_bytes = 0, export_bytes = 0');
  });

  it('of a replaced edge are found by the edge that serves', async () => {
    const before = await inlet('global', 0);
    const place = join(folder, 'replaced');
    const serving = new FlowWriter({ onRefused, queries, now: Date.now, collect: () => undefined, folder: place });
    await serving.recover();
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'unsent-1.json'), JSON.stringify([batchOf(delta(1, 2, 9))]));
    for (let round = 0; round < 60; round++) await serving.write();
    expect((await inlet('global', 0)) - before).toBe(9);
    expect(readdirSync(place)).toEqual([]);
  });

  it('do not block the deletion of a client', async () => {
    await queries.query(
      `INSERT INTO tunnel_gateway.clients (id, name, verify_key, owner_user_id) VALUES (90, 'going', 'going', 1)`,
    );
    await queries.query(
      `INSERT INTO tunnel_gateway.tunnels (id, client_id, mode, listen_port, target_addr) VALUES (90, 90, 'tcp', 90, 'x')`,
    );
    const remover = queries.listener();
    await remover.connect();
    await remover.query('BEGIN; SELECT 1 FROM tunnel_gateway.clients WHERE id = 90 FOR UPDATE');
    const applied = applyBatch(queries, batchOf(delta(90, 90, 1)));
    await waitFor(waits);
    await remover.query('DELETE FROM tunnel_gateway.clients WHERE id = 90; COMMIT');
    expect(await applied).not.toBeNull();
    await applyBatch(queries, batchOf(delta(4, 1, 1)));
    await remover.query('BEGIN; SELECT 1 FROM tunnel_gateway.tunnels WHERE id = 4 FOR UPDATE');
    const again = applyBatch(queries, batchOf(delta(4, 1, 1)));
    await waitFor(waits);
    await remover.query('DELETE FROM tunnel_gateway.tunnels WHERE id = 4; COMMIT');
    expect(await again).not.toBeNull();
    await remover.end();
  });

  it('cause no reload of the configuration', async () => {
    const revision = async (): Promise<unknown> =>
      (await queries.query('SELECT revision FROM tunnel_gateway_ops.config_revision')).rows[0];
    const before = await revision();
    await applyBatch(queries, batchOf(delta(1, 2, 1)));
    await queries.query('UPDATE tunnel_gateway.tunnels SET run_status = 1');
    expect(await revision()).toEqual(before);
    await queries.query('UPDATE tunnel_gateway.tunnels SET status = 0');
    expect(await revision()).toEqual({ revision: Number((before as { revision: number }).revision) + 1 });
  });
});
