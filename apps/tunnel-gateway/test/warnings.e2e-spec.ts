import { reservePort } from '@gatehouse/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TunnelWorld, type AnyJson, type Caller } from './support/tunnel-world.js';

let world: TunnelWorld;
let ann: { call: Caller; id: number };
beforeAll(async () => {
  world = await TunnelWorld.start();
  ann = await world.user('ann');
});
afterAll(() => world.close());

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
const codes = async (call: Caller): Promise<string[]> =>
  (await call('GET', '/dashboard')).body.warnings.map(({ code }: AnyJson) => code).toSorted();

it('each user gets warnings about their own rows', async () => {
  expect(await codes(ann.call)).toEqual([]);
  const client = await world.client({ expire_at: inDays(3) }, ann.call);
  await world.client({ expire_at: inDays(30) }, ann.call);
  const over = await world.client({ name: 'over' });
  await world.rows(`UPDATE tunnel_gateway.clients SET expire_at = now() - interval '1 day' WHERE id = $1`, [over.id]);
  await world.assign(ann, 'example.org');
  const hosts = [];
  for (const name of ['a', 'b', 'c']) {
    const body = { client_id: client.id, host: `${name}.example.org`, target_addr: '127.0.0.1:80', auto_https: 1 };
    hosts.push((await ann.call('POST', '/hosts', body)).body.id);
  }
  const certificate = (host: number, from: string, to: string): Promise<unknown> =>
    world.rows(
      `INSERT INTO tunnel_gateway_ops.certificates (host_id, source, chain, sealed_key, not_before, not_after)
       VALUES ($1, 'upload', '', '', $2, $3)`,
      [host, from, to],
    );
  await certificate(hosts[0], inDays(-80), inDays(10));
  await certificate(hosts[1], inDays(-90), inDays(-1));
  await certificate(hosts[2], inDays(-10), inDays(80));
  await world.rows(
    `INSERT INTO tunnel_gateway_ops.acme_states (host_id, next_at, failures, last_error) VALUES ($1, now(), 2, 'no such name')
     ON CONFLICT (host_id) DO UPDATE SET failures = 2, last_error = 'no such name'`,
    [hosts[2]],
  );
  await world.rows(
    `INSERT INTO tunnel_gateway_ops.webhooks (owner_user_id, name, url, sealed_secret, failing_since)
     VALUES ($1, 'chat', 'https://example.org', '', now())`,
    [ann.id],
  );
  const own = [
    'certificate_expired',
    'certificate_expiring',
    'certificate_failed',
    'client_expiring',
    'webhook_failing',
  ];
  expect(await codes(ann.call)).toEqual(own);
  expect(await codes(world.admin)).toEqual([...own, 'client_expired'].toSorted());
  const { warnings } = (await ann.call('GET', '/dashboard')).body;
  expect(warnings.find(({ code }: AnyJson) => code === 'certificate_failed')).toMatchObject({
    message: 'no certificate was issued for c.example.org: no such name',
    resource: { kind: 'host', id: hosts[2] },
  });
});

it('a warning names tunnels through which everyone can reach the network of an agent', async () => {
  const client = await world.client({});
  const tunnel = async (more: object): Promise<number> => {
    const body = { client_id: client.id, listen_port: await reservePort(), target_addr: '', ...more };
    const made = await world.admin('POST', '/tunnels', body);
    expect(made).toMatchObject({ status: 201 });
    return made.body.id;
  };
  const open = [await tunnel({ mode: 'socks5' }), await tunnel({ mode: 'http_proxy' })];
  const guarded = await tunnel({ mode: 'mix_proxy' });
  const policy = {
    resource_type: 'tunnel',
    resource_id: guarded,
    type: 'basic',
    users: [{ username: 'b', password: 'long enough 1' }],
  };
  expect(await world.admin('POST', '/auth-policies', policy)).toMatchObject({ status: 201 });
  await tunnel({ mode: 'socks5', listen_ip: '127.0.0.1' });
  await tunnel({ mode: 'tcp', target_addr: '127.0.0.1:80' });
  const named = async (): Promise<number[]> =>
    (await world.admin('GET', '/dashboard')).body.warnings
      .filter(({ code }: AnyJson) => code === 'tunnel_open_proxy')
      .map(({ resource }: AnyJson) => resource.id);
  expect(await named()).toEqual(open);
  // Visitors of tunnels have no requests, so a rule that denies some keeps nobody out.
  const ofRequests = { scope: 'client', resource_id: client.id, type: 'deny', pattern_kind: 'any', pattern: '*' };
  const denies = { ...ofRequests, paths: ['/admin'] };
  expect((await world.admin('POST', '/ip-rules', denies)).status).toBe(201);
  expect(await named()).toEqual(open);
  const rule = { scope: 'tunnel', resource_id: open[0], type: 'deny', pattern: '0.0.0.0/0', pattern_kind: 'cidr' };
  expect((await world.admin('POST', '/ip-rules', rule)).status).toBe(201);
  expect(await named()).toEqual([open[1]]);
});
