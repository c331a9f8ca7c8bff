import { reservePorts } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TunnelWorld, type Answer, type Caller } from './support/tunnel-world.js';

const PORTS = 10;

let world: TunnelWorld;
let range: { first: number; last: number };
beforeAll(async () => {
  // And one beyond the range, for the administrator.
  const first = await reservePorts(PORTS + 1);
  range = { first, last: first + PORTS - 1 };
  world = await TunnelWorld.start({
    PORT_RANGE: `${range.first}-${range.last}`,
    TUNNEL_MAX_CLIENTS_PER_USER: '2',
    TUNNEL_MAX_TUNNELS_PER_USER: '3',
    TUNNEL_MAX_HOSTS_PER_USER: '1',
    TUNNEL_MAX_RULES_PER_USER: '2',
  });
});
afterAll(() => world.close());

const FULL = { status: 409, code: 'quota_exceeded' };

describe('a user', () => {
  it('cannot exceed the limit of any kind, even with concurrent requests', async () => {
    const { call, id } = await world.user('ada');
    const eve = await world.user('eve');
    const many = async (path: string, body: (index: number) => object): Promise<number[]> => {
      const answers = await Promise.all([0, 1, 2, 3, 4].map((index) => call('POST', path, body(index))));
      for (const { status, body: problem } of answers) if (status !== 201) expect(problem).toMatchObject(FULL);
      return answers.flatMap(({ status, body: made }) => (status === 201 ? [made.id] : []));
    };
    const clients = await many('/clients', () => ({ name: 'x' }));
    expect(clients).toHaveLength(2);
    const [client_id] = clients;
    await world.assign({ id }, 'example.org');
    const target_addr = '127.0.0.1:80';
    expect(await many('/tunnels', () => ({ client_id, mode: 'secret', target_addr }))).toHaveLength(3);
    expect(await many('/hosts', (index) => ({ client_id, host: `a${index}.example.org`, target_addr }))).toHaveLength(
      1,
    );
    const about = { scope: 'user', resource_id: id, type: 'deny' };
    const rules = await many('/ip-rules', (index) => ({ ...about, pattern: `192.0.2.${index}` }));
    expect(rules).toHaveLength(2);
    // What is removed leaves room, others have theirs, and administrators are not counted.
    await call('DELETE', `/ip-rules/${rules[0]}`);
    expect((await call('POST', '/ip-rules', { ...about, pattern: '192.0.2.99' })).status).toBe(201);
    expect((await eve.call('POST', '/clients', { name: 'x' })).status).toBe(201);
    for (const name of ['a', 'b', 'c']) expect((await world.admin('POST', '/clients', { name })).status).toBe(201);
    expect((await world.admin('POST', '/clients', { name: 'd', owner_user_id: id })).status).toBe(201);
  });

  it('gets ports of the configured range only', async () => {
    const beyond = range.last + 1;
    const { call } = await world.user('bob');
    const client = await world.client({}, call);
    const make = (listen_port: number, by: Caller = call): Promise<Answer> =>
      by('POST', '/tunnels', {
        client_id: client.id,
        mode: 'tcp',
        listen_ip: '127.0.0.1',
        listen_port,
        target_addr: '127.0.0.1:80',
      });
    for (const port of [range.first - 1, beyond, 1_023]) expect((await make(port)).status, `${port}`).toBe(403);
    const made = await make(range.first + 5);
    expect(made.status).toBe(201);
    expect((await call('PATCH', `/tunnels/${made.body.id}`, { listen_port: beyond })).status).toBe(403);
    const given = await make(beyond, world.admin);
    expect(given.status).toBe(201);
    // What an administrator gave stays, whatever else is changed.
    expect((await call('PATCH', `/tunnels/${given.body.id}`, { name: 'web' })).status).toBe(200);
  });

  it('can lower the traffic quota of a client, and set those of their tunnels, but not their own', async () => {
    const { call, id } = await world.user('dan');
    const client = await world.client({ traffic_quota: 1_000, quota_period: 'month', owner_user_id: id });
    const change = (body: object): Promise<Answer> => call('PATCH', `/clients/${client.id}`, body);
    for (const looser of [
      { traffic_quota: 1_001 },
      { traffic_quota: 0 },
      { quota_period: 'day' },
      { period_traffic: 0 },
    ]) {
      expect((await change(looser)).status, JSON.stringify(looser)).toBe(403);
    }
    expect((await change({ traffic_quota: 999 })).body).toMatchObject({ traffic_quota: 999, quota_period: 'month' });
    const { body: tunnel } = await call('POST', '/tunnels', {
      client_id: client.id,
      mode: 'secret',
      target_addr: '127.0.0.1:80',
      traffic_quota: 10,
    });
    expect(tunnel).toMatchObject({ traffic_quota: 10, quota_period: 'total', quota_resets_at: null });
    const { body: changed } = await call('PATCH', `/tunnels/${tunnel.id}`, { quota_period: 'day' });
    expect(changed.quota_resets_at).toMatch(/T00:00:00.000Z$/);
    expect((await call('PATCH', `/users/${id}`, { traffic_quota: 0 })).status).toBe(403);
    expect((await world.admin('PATCH', `/users/${id}`, { traffic_quota: 7 })).body).toMatchObject({ traffic_quota: 7 });
    // Without a quota there is nothing that a period could be of.
    const refused = await world.admin('PATCH', `/users/${(await world.user('eli')).id}`, { quota_period: 'day' });
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ field: 'quota_period' }] } });
    for (const bad of [
      { traffic_quota: -1 },
      { traffic_quota: 1.5 },
      { quota_period: 'week' },
      { period_traffic: 1 },
    ]) {
      expect((await world.admin('PATCH', `/clients/${client.id}`, bad)).status, JSON.stringify(bad)).toBe(422);
    }
    // A quota goes with what it is about.
    await call('DELETE', `/clients/${client.id}`);
    expect(await world.rows('SELECT resource_type AS of FROM tunnel_gateway_ops.traffic_quotas')).toEqual([
      { of: 'user' },
    ]);
  });

  it('can make their own limits stricter but not looser', async () => {
    const { call, id } = await world.user('cyd');
    const limits = { rate_limit: 100, max_conn: 10, expire_at: '2040-01-01T00:00:00Z' };
    const client = await world.client({ ...limits, owner_user_id: id });
    const change = (body: object): Promise<Answer> => call('PATCH', `/clients/${client.id}`, body);
    for (const looser of [
      { rate_limit: 101 },
      { rate_limit: 0 },
      { max_conn: 0 },
      { expire_at: null },
      { expire_at: '2041-01-01T00:00:00Z' },
    ]) {
      expect((await change(looser)).status, JSON.stringify(looser)).toBe(403);
    }
    expect((await change({ rate_limit: 50, max_conn: 5, expire_at: '2039-01-01T00:00:00Z' })).status).toBe(200);
    expect((await change({ rate_limit: 100 })).status).toBe(403);
    expect((await world.admin('PATCH', `/clients/${client.id}`, { rate_limit: 0 })).body.rate_limit).toBe(0);
  });
});
