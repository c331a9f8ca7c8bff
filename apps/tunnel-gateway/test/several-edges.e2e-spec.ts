import { once } from 'node:events';
import { createServer as createHttpServer, request, type IncomingMessage, type Server } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { reservePort, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FirstOf } from './support/first-of.js';
import { Programs, type Started, type StartedEdge } from './support/programs.js';
import { ReadinessWatch } from './support/readiness-watch.js';
import { ask, caller, type AnyJson, type Caller } from './support/tunnel-world.js';

const PATIENT = { timeoutMs: 60_000 };

let programs: Programs;
let one: StartedEdge;
let two: StartedEdge;
let call: Caller;
let url: string;
let origin: Server;
let front: FirstOf;
beforeAll(async () => {
  programs = await Programs.create();
  one = await programs.edge('one', { TUNNEL_EDGE_PUBLIC_HOST: 'one.example.org' });
  two = await programs.edge('two');
  front = await FirstOf.listen(() => [two.channel, one.channel]);
  ({ call, url } = await programs.service({ channel: front.port }));
  origin = createHttpServer((_, response) => response.end('x'.repeat(1_000))).listen(0, '127.0.0.1');
  await once(origin, 'listening');
}, 120_000);
afterAll(async () => {
  origin.close();
  await programs.close();
  await front.close();
});

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;
const leases = (): Promise<AnyJson[]> =>
  programs.rows('SELECT * FROM tunnel_gateway_ops.edges WHERE lease_until > clock_timestamp() ORDER BY name');
const runStatusOf = async (id: number): Promise<number> => (await call('GET', `/tunnels/${id}`)).body.run_status;

const isFalse = (): boolean => false;
const isRefused = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';

/** Whether every edge has the newest configuration in force. */
async function isKnownEverywhere(): Promise<boolean> {
  const behind = await programs.rows(
    'SELECT 1 FROM tunnel_gateway_ops.edges e JOIN tunnel_gateway_ops.config_revision r ON e.revision < r.revision',
  );
  return behind.length === 0;
}

/** Ends a process without giving it a chance to say goodbye, together with its edge. */
async function killAtOnce({ child, exit }: Started, pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  child.kill('SIGKILL');
  process.kill(pid, 'SIGKILL');
  await exit;
}

/** One visit of a host at an edge, on a connection of its own. */
async function visit(edge: StartedEdge, host: string): Promise<string> {
  const sent = request({ host: '127.0.0.1', port: edge.http, headers: { host }, agent: false }).end();
  sent.on('error', () => undefined);
  const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream];
  let text = '';
  for await (const part of response) text += String(part);
  return text;
}

describe('two edges on one database', () => {
  it('each have a lease, with name, version, addresses and load', async () => {
    await waitFor(async () => (await leases()).every(({ state }) => state === 'serving'), PATIENT);
    const [first, second] = await leases();
    expect(first).toMatchObject({
      name: 'one',
      worker: 0,
      workers: 1,
      version: expect.stringMatching(/^\d+\.\d+/),
      public_agents: `one.example.org:${one.agents}`,
      public_http: `one.example.org:${one.http}`,
    });
    expect(second).toMatchObject({ name: 'two', public_agents: null, agents: 0, connections: 0 });
    expect(first.edge).not.toBe(second.edge);
    expect(first.load).toBeGreaterThanOrEqual(0);
    expect(first.load).toBeLessThanOrEqual(1);
  });

  it('agree on run_status: a tunnel that one of them cannot serve keeps running at the other', async () => {
    const { body: client } = await call('POST', '/clients', { name: 'agrees' });
    const target = createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1');
    const agents = [programs.agent(client.key, one.agents), programs.agent(client.key, two.agents)];
    await waitFor(() => agents.every(({ status }) => status.state === 'online'), PATIENT);
    await programs.rows(`
      CREATE TABLE seen (tunnel_id bigint, status integer);
      CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO seen VALUES (NEW.id, NEW.run_status); RETURN NULL; END $$;
      CREATE TRIGGER see AFTER UPDATE OF run_status ON tunnel_gateway.tunnels FOR EACH ROW EXECUTE FUNCTION see()`);
    const { body: tunnel } = await call('POST', '/tunnels', {
      client_id: client.id,
      mode: 'tcp',
      listen_ip: '127.0.0.1',
      listen_port: await reservePort(),
      target_addr: `127.0.0.1:${portOf(target)}`,
    });
    // Both listen on one machine, so one of them finds the port taken.
    const states = async (): Promise<number[]> =>
      (await programs.rows('SELECT status FROM tunnel_gateway_ops.tunnel_states WHERE tunnel_id = $1', [tunnel.id]))
        .map(({ status }) => status as number)
        .sort((a, b) => a - b);
    await waitFor(async () => (await states()).join() === '1,3', PATIENT);
    await waitFor(async () => (await runStatusOf(tunnel.id)) === 1, PATIENT);
    // Each has written its states as a whole at least once more by then.
    const [first] = await leases();
    const isLater = ({ lease_until: until }: AnyJson): boolean => until > first.lease_until.getTime() + 11_000;
    await waitFor(async () => (await leases()).filter(isLater).length === 2, PATIENT);
    const seen = await programs.rows('SELECT status FROM seen WHERE tunnel_id = $1 AND status <> 3', [tunnel.id]);
    expect(seen).toEqual([{ status: 1 }]);
    expect(await states()).toEqual([1, 3]);
    expect((await call('GET', `/tunnels/${tunnel.id}`)).body).toMatchObject({ run_status: 1, error: null });
    expect(await ask(tunnel.listen_port, 'hello')).toBe('hello');
    for (const agent of agents) await agent.stop();
    target.close();
  }, 90_000);

  it('count each byte once, at the same time, for the same client', async () => {
    const { body: client } = await call('POST', '/clients', { name: 'counted' });
    const agents = [programs.agent(client.key, one.agents), programs.agent(client.key, two.agents)];
    await waitFor(() => agents.every(({ status }) => status.state === 'online'), PATIENT);
    const { body: host } = await call('POST', '/hosts', {
      client_id: client.id,
      host: 'counted.example.org',
      target_addr: `http://127.0.0.1:${portOf(origin)}`,
    });
    await waitFor(isKnownEverywhere, PATIENT);
    const visits = 40;
    const answers = await Promise.all(
      Array.from({ length: visits }, (_, turn) => visit(turn % 2 === 0 ? one : two, 'counted.example.org')),
    );
    expect(new Set(answers)).toEqual(new Set(['x'.repeat(1_000)]));
    // The totals, beside the sum of all batches.
    const counted = (): Promise<AnyJson[]> =>
      programs.rows(
        `SELECT s.resource_type AS of, s.inlet_bytes::int AS inlet, s.export_bytes::int AS export, b.*
         FROM tunnel_gateway.flow_stats s CROSS JOIN (
           SELECT sum(f.connections)::int AS visits, sum(f.inlet)::int AS "allInlet", sum(f.export)::int AS "allExport"
           FROM tunnel_gateway_ops.flow_batches b CROSS JOIN LATERAL
             jsonb_to_recordset(b.flows) AS f (kind text, id bigint, inlet bigint, export bigint, connections bigint)
           WHERE f.kind = 'host' AND f.id = $1
         ) AS b
         WHERE (s.resource_type, s.resource_id) IN (('host', $1), ('client', $2)) ORDER BY 1`,
        [host.id, client.id],
      );
    await waitFor(async () => {
      const [row] = await counted();
      return row?.visits === visits && row.export > 1_000 * visits;
    }, PATIENT);
    const [ofClient, ofHost] = await counted();
    expect(ofHost).toMatchObject({ of: 'host', inlet: ofHost.allInlet, export: ofHost.allExport });
    expect(ofClient).toEqual({ ...ofHost, of: 'client' });
    // Each request has the same length.
    expect(ofHost.inlet % visits).toBe(0);
    for (const agent of agents) await agent.stop();
  }, 90_000);

  it('hold a traffic quota together, report it once, and serve again when it is raised', async () => {
    const { body: client } = await call('POST', '/clients', {
      name: 'quota',
      traffic_quota: 50_000,
      quota_period: 'month',
    });
    expect(client).toMatchObject({
      traffic_quota: 50_000,
      quota_period: 'month',
      period_traffic: 0,
      quota_used_up: false,
    });
    const agents = [programs.agent(client.key, one.agents), programs.agent(client.key, two.agents)];
    await waitFor(() => agents.every(({ status }) => status.state === 'online'), PATIENT);
    await call('POST', '/hosts', {
      client_id: client.id,
      host: 'quota.example.org',
      target_addr: `http://127.0.0.1:${portOf(origin)}`,
    });
    await waitFor(isKnownEverywhere, PATIENT);
    const stored = async (): Promise<AnyJson> => (await call('GET', `/clients/${client.id}`)).body;
    const statusAt = async (edge: StartedEdge): Promise<number> => {
      const sent = request({ port: edge.http, headers: { host: 'quota.example.org' }, agent: false }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
      return response.statusCode ?? 0;
    };
    // Neither carries as much as the quota.
    const statuses = await Promise.all(Array.from({ length: 80 }, (_, turn) => statusAt(turn % 2 === 0 ? one : two)));
    expect(new Set(statuses)).toContain(200);
    await waitFor(async () => (await statusAt(one)) === 503 && (await statusAt(two)) === 503, PATIENT);
    const usedUp = await waitFor(async () => {
      const view = await stored();
      return view.quota_used_up && view;
    }, PATIENT);
    expect(usedUp.quota_resets_at).toMatch(/^\d{4}-\d\d-01T00:00:00.000Z$/);
    // One statement: the last batches may be on their way.
    const exact = await programs.rows(
      `SELECT s.inlet_bytes + s.export_bytes = q.used AS exact FROM tunnel_gateway.flow_stats s
       JOIN tunnel_gateway_ops.traffic_quotas q USING (resource_type, resource_id) WHERE q.resource_id = $1`,
      [client.id],
    );
    expect(exact).toEqual([{ exact: true }]);
    const events = async (): Promise<AnyJson[]> => (await call('GET', `/events?type=limit.traffic`)).body.items;
    await waitFor(async () => (await events()).length > 0, PATIENT);

    await call('PATCH', `/clients/${client.id}`, { traffic_quota: 5_000_000 });
    await waitFor(async () => (await statusAt(one)) === 200 && (await statusAt(two)) === 200, PATIENT);
    expect(await events()).toMatchObject([
      {
        type: 'limit.traffic',
        resource_type: 'client',
        resource_id: client.id,
        owner_user_id: client.owner_user_id,
        data: { bytes: 50_000, period: 'month' },
      },
    ]);
    for (const agent of agents) await agent.stop();
  }, 90_000);

  it('are listed with their revision, which says whether a change has reached them', async () => {
    await call('POST', '/clients', { name: 'reaches' });
    const listed = await waitFor(async () => {
      const { status, body } = await call('GET', '/edges');
      expect(status).toBe(200);
      return body.items.every(({ up_to_date: isNewest }: AnyJson) => isNewest) && body;
    }, PATIENT);
    const [{ revision }] = await programs.rows('SELECT revision::int FROM tunnel_gateway_ops.config_revision');
    expect(listed).toMatchObject({
      revision,
      items: [
        {
          name: 'one',
          state: 'serving',
          drain: false,
          revision,
          public_addresses: { agents: `one.example.org:${one.agents}` },
          processes: [{ worker: 0, state: 'serving', revision }],
        },
        { name: 'two', state: 'serving', public_addresses: null, revision },
      ],
    });
  });

  it('are drained one at a time: visitors end in peace, nobody new comes, and it serves again when asked', async () => {
    const { body: client } = await call('POST', '/clients', { name: 'drains' });
    const slow = createHttpServer((_, response) => {
      response.write('begun ');
      slow.on('go on', () => void response.write('and more '));
    }).listen(0, '127.0.0.1');
    const agent = programs.agent(client.key, two.agents);
    const { body: tunnel } = await call('POST', '/tunnels', {
      client_id: client.id,
      mode: 'secret',
      target_addr: '127.0.0.1:22',
    });
    await call('POST', '/hosts', {
      client_id: client.id,
      host: 'drained.example.org',
      target_addr: `http://127.0.0.1:${portOf(slow)}`,
    });
    await waitFor(async () => (await runStatusOf(tunnel.id)) === 1 && (await isKnownEverywhere()), PATIENT);
    const edgeOf = async (name: string): Promise<AnyJson> =>
      (await call('GET', '/edges')).body.items.find((edge: AnyJson) => edge.name === name);
    const { id } = await edgeOf('two');
    const visitor = request({ port: two.http, headers: { host: 'drained.example.org' }, agent: false }).end();
    visitor.on('error', () => undefined);
    const [answer] = (await once(visitor, 'response')) as [IncomingMessage];
    await once(answer, 'data');

    expect((await call('POST', `/edges/${id}/drain`)).body).toMatchObject({ id, drain: true });
    await waitFor(async () => (await edgeOf('two')).state === 'draining', PATIENT);
    expect((await call('POST', `/edges/${(await edgeOf('one')).id}/drain`)).body).toMatchObject({ code: 'conflict' });
    await waitFor(() => visit(two, 'counted.example.org').then(isFalse, isRefused), PATIENT);
    const ready = await fetch(`http://127.0.0.1:${two.health}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([503, { problems: ['the edge is drained'] }]);
    expect((await fetch(`http://127.0.0.1:${two.health}/healthz`)).status).toBe(503);
    // The visitor from before is still there.
    const more = once(answer, 'data');
    slow.emit('go on');
    await more;
    visitor.destroy();
    await waitFor(async () => (await edgeOf('two')).state === 'drained', PATIENT);
    await waitFor(async () => (await runStatusOf(tunnel.id)) === 2 && agent.status.state !== 'online', PATIENT);

    expect((await call('POST', `/edges/${id}/serve`)).body).toMatchObject({ id, drain: false });
    await waitFor(async () => (await edgeOf('two')).state === 'serving', PATIENT);
    await waitFor(async () => (await runStatusOf(tunnel.id)) === 1, PATIENT);
    expect((await fetch(`http://127.0.0.1:${two.health}/readyz`)).status).toBe(200);
    await agent.stop();
    slow.closeAllConnections();
    slow.close();
  }, 120_000);

  it('are for administrators, and named by UUIDs', async () => {
    expect((await call('POST', '/edges/1/drain')).body).toMatchObject({ status: 400 });
    const unknown = '00000000-0000-4000-8000-000000000000';
    expect((await call('POST', `/edges/${unknown}/drain`)).body).toMatchObject({ code: 'not_found' });
    const { body: key } = await call('POST', '/api-keys', {
      name: 'reader',
      scopes: ['read', 'write'],
      current_password: 'correct horse battery',
    });
    expect((await caller(url, { 'x-api-key': key.key })('GET', '/edges')).status).toBe(403);
  });

  it('forget a killed edge and its reports within seconds; a service that was connected to it goes to the other one', async () => {
    const { body: client } = await call('POST', '/clients', { name: 'forgets' });
    const agent = programs.agent(client.key, two.agents);
    const { body: tunnel } = await call('POST', '/tunnels', {
      client_id: client.id,
      mode: 'secret',
      target_addr: '127.0.0.1:22',
    });
    // Without an agent at the other edge.
    await waitFor(async () => (await runStatusOf(tunnel.id)) === 1, PATIENT);
    const [, { edge, pid }] = await leases();
    const watch = await ReadinessWatch.begin(url);
    await killAtOnce(two, pid);
    const killed = Date.now();
    await waitFor(async () => (await call('GET', `/clients/${client.id}/connections`)).status === 200, PATIENT);
    await waitFor(async () => (await leases()).length === 1, PATIENT);
    await waitFor(async () => (await runStatusOf(tunnel.id)) === 2, PATIENT);
    expect(Date.now() - killed).toBeLessThan(20_000);
    expect(await programs.rows('SELECT 1 FROM tunnel_gateway_ops.tunnel_states WHERE edge = $1', [edge])).toEqual([]);
    await agent.stop();
    expect(await watch.end()).toEqual([]);

    // With the same home it is the same edge.
    two = await programs.edge('two');
    await waitFor(async () => (await leases()).some((lease) => lease.edge === edge && lease.pid !== pid), PATIENT);
  }, 90_000);
});
