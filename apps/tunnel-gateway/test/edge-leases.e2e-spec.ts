import { randomUUID } from 'node:crypto';
import { createTestDatabase, waitFor, type TestDatabase } from '@gatehouse/testing';
import type { TunnelState } from '@gatehouse/tunnel-kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EdgeDatabase } from '../src/common/edge-database.js';
import {
  EDGES_CHANNEL,
  readLeases,
  releaseLease,
  renewLease,
  sweepLeases,
  type EdgeLease,
} from '../src/common/edge-leases.js';
import { RunStatusWriter } from '../src/edge/run-status.js';
import { SERVICE } from '../src/service.js';

let database: TestDatabase;
let queries: EdgeDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await SERVICE.migrate({ databaseUrl: database.url });
  queries = new EdgeDatabase(database.url);
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
});
beforeEach(async () => {
  await queries.query('TRUNCATE tunnel_gateway_ops.edges, tunnel_gateway_ops.tunnel_states');
  await queries.query('UPDATE tunnel_gateway.tunnels SET run_status = 0');
});

function lease(rest: Partial<EdgeLease> = {}): EdgeLease {
  return {
    id: randomUUID(),
    edge: randomUUID(),
    name: 'one',
    worker: 0,
    workers: 1,
    version: '1.0.0',
    pid: 1,
    state: 'serving',
    publicAgents: null,
    publicHttp: null,
    publicHttps: null,
    peerAddress: null,
    agentsAddress: null,
    revision: 1,
    agents: 0,
    connections: 0,
    load: 0,
    ...rest,
  };
}

interface Reporter {
  lease: EdgeLease;
  unleased: number;
  say(states: Record<number, TunnelState['state']>, error?: string): Promise<void>;
  invalidate(): void;
}

/** A process that has a lease and reports states of tunnels. */
async function process(rest: Partial<EdgeLease> = {}, clients: number[] | null = null): Promise<Reporter> {
  const own = lease(rest);
  await renewLease(queries, own);
  const writer = new RunStatusWriter({
    queries,
    processId: own.id,
    clients: () => clients,
    onUnleased: () => (reporter.unleased += 1),
  });
  const reporter: Reporter = {
    lease: own,
    unleased: 0,
    say: (states, error) =>
      writer.write(
        Object.entries(states).map(([id, state]) => {
          return { id: Number(id), clientId: 1, state, port: 0, error: state === 'error' ? (error ?? 'taken') : null };
        }),
      ),
    invalidate: () => writer.invalidate(),
  };
  return reporter;
}

/** Of the tunnels 1 to 4. */
async function runStatus(): Promise<number[]> {
  const { rows } = await queries.query<{ run_status: number }>(
    'SELECT run_status FROM tunnel_gateway.tunnels ORDER BY id',
  );
  return rows.map(({ run_status: status }) => status);
}

const expire = (...ids: string[]): Promise<unknown> =>
  queries.query(
    `UPDATE tunnel_gateway_ops.edges SET lease_until = clock_timestamp() - interval '1 second' WHERE id = ANY ($1)`,
    [ids],
  );

describe('run_status', () => {
  it('is the best state that any edge reports: running, else error, else waiting, else stopped', async () => {
    const [one, two] = [await process(), await process()];
    await one.say({ 1: 'running', 2: 'error', 3: 'waiting' });
    await two.say({ 1: 'error', 2: 'waiting', 3: 'waiting' });
    expect(await runStatus()).toEqual([1, 3, 2, 0]);
    await one.say({ 1: 'waiting', 3: 'running' });
    expect(await runStatus()).toEqual([3, 2, 1, 0]);
    await two.say({});
    expect(await runStatus()).toEqual([2, 0, 1, 0]);
  });

  it('is right after two edges have written the same tunnels at the same time, many times', async () => {
    const [one, two] = [await process(), await process()];
    for (let round = 0; round < 25; round += 1) {
      const [mine, other] = round % 2 === 0 ? (['running', 'waiting'] as const) : (['waiting', 'running'] as const);
      await Promise.all([
        one.say({ 1: mine, 2: other, 3: mine, 4: 'waiting' }),
        two.say({ 4: 'waiting', 3: other, 2: mine, 1: other }),
      ]);
      expect(await runStatus()).toEqual([1, 1, 1, 2]);
    }
  });

  it('forgets the reports of a process when its lease expires, and not before', async () => {
    const [one, two] = [await process(), await process()];
    await one.say({ 1: 'running', 2: 'running' });
    await two.say({ 1: 'waiting' });
    await expire(one.lease.id);
    expect(await runStatus()).toEqual([1, 1, 0, 0]);
    expect(await renewLease(queries, two.lease)).toMatchObject({ fresh: false, expired: true });
    await sweepLeases(queries);
    expect(await runStatus()).toEqual([2, 0, 0, 0]);
    expect((await readLeases(queries)).map(({ id }) => id)).toEqual([two.lease.id]);
  });

  it('is corrected by the next complete report, whichever process wrote it', async () => {
    const one = await process();
    await one.say({ 1: 'running' });
    await queries.query('UPDATE tunnel_gateway.tunnels SET run_status = 1 WHERE id = 4');
    await queries.query('UPDATE tunnel_gateway.tunnels SET run_status = 2 WHERE id = 1');
    one.invalidate();
    await one.say({ 1: 'running' });
    expect(await runStatus()).toEqual([1, 0, 0, 0]);
  });

  it('is written by each worker for its own clients only', async () => {
    const edge = randomUUID();
    const [even, odd] = [await process({ edge, worker: 0 }, [1]), await process({ edge, worker: 1 }, [2])];
    await even.say({ 1: 'running', 2: 'running', 3: 'running', 4: 'running' });
    expect(await runStatus()).toEqual([0, 1, 0, 1]);
    await odd.say({ 1: 'waiting', 3: 'waiting' });
    expect(await runStatus()).toEqual([2, 1, 2, 1]);
  });

  it('keeps the text of an error, and follows it', async () => {
    const one = await process();
    await one.say({ 1: 'error' }, 'the port is in use');
    await one.say({ 1: 'error' }, 'the port is not allowed');
    const { rows } = await queries.query('SELECT tunnel_id, status, error FROM tunnel_gateway_ops.tunnel_states');
    expect(rows).toEqual([{ tunnel_id: 1, status: 3, error: 'the port is not allowed' }]);
  });
});

describe('the lease of a process', () => {
  it('is taken, extended, and ended; each change but an extension is announced', async () => {
    const listener = queries.listener();
    await listener.connect();
    let heard = 0;
    listener.on('notification', () => (heard += 1));
    await listener.query(`LISTEN "${EDGES_CHANNEL}"`);
    const own = lease();
    expect(await renewLease(queries, own)).toEqual({ fresh: true, wanted: 'serving', expired: false });
    await waitFor(() => heard === 1);
    expect(await renewLease(queries, { ...own, agents: 7, load: 0.5 })).toMatchObject({ fresh: false });
    expect(await readLeases(queries)).toMatchObject([{ id: own.id, agents: 7, load: 0.5, state: 'serving' }]);
    await renewLease(queries, { ...own, state: 'draining' });
    await waitFor(() => heard === 2);
    await releaseLease(queries, own.id, false);
    await waitFor(() => heard === 3);
    expect(await readLeases(queries)).toEqual([]);
    await listener.end();
  });

  it('is not removed by someone whose own lease had ended: nobody could renew for a while', async () => {
    const [one, two] = [await process(), await process()];
    await two.say({ 1: 'running' });
    await expire(one.lease.id, two.lease.id);
    expect(await renewLease(queries, one.lease)).toMatchObject({ fresh: false, expired: false });
    expect(await renewLease(queries, two.lease)).toMatchObject({ fresh: false, expired: false });
    expect(await runStatus()).toEqual([1, 0, 0, 0]);
  });

  it('is taken again after it was removed, and only then can states be written', async () => {
    const one = await process();
    await one.say({ 1: 'running' });
    await expire(one.lease.id);
    await sweepLeases(queries);
    expect(await runStatus()).toEqual([0, 0, 0, 0]);
    await one.say({ 1: 'running', 2: 'running' });
    expect(one.unleased).toBe(1);
    expect(await renewLease(queries, one.lease)).toMatchObject({ fresh: true });
    await one.say({ 1: 'running', 2: 'running' });
    expect(await runStatus()).toEqual([1, 1, 0, 0]);
  });

  it('leaves the states to a process that replaces it, which then says what is so', async () => {
    const edge = randomUUID();
    const before = await process({ edge });
    await before.say({ 1: 'running', 2: 'running' });
    const next = await process({ edge, state: 'starting' });
    await releaseLease(queries, before.lease.id, true);
    expect(await runStatus()).toEqual([1, 1, 0, 0]);
    await next.say({ 1: 'running' });
    expect(await runStatus()).toEqual([1, 0, 0, 0]);
    await releaseLease(queries, next.lease.id, false);
    expect(await runStatus()).toEqual([0, 0, 0, 0]);
  });
});
