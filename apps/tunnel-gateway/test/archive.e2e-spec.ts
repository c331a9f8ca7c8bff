import { reservePort, reservePorts, waitFor } from '@gatehouse/testing';
import { formatAgentKey, parseAgentKey } from '@gatehouse/tunnel-kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caller, TunnelWorld, type AnyJson } from './support/tunnel-world.js';

let world: TunnelWorld;
let key: string;
let ports: number[];
beforeAll(async () => {
  world = await TunnelWorld.start();
  ports = [await reservePorts(2), await reservePort()];
  const ann = await world.user('ann');
  await world.user('vera', 'viewer');
  const gone = await world.client({}, ann.call);
  const client = await world.client(
    {
      name: 'attic',
      rate_limit: 100,
      expire_at: '2099-01-01T00:00:00Z',
      encrypt: false,
      traffic_quota: 9_000_000_000_000,
      quota_period: 'day',
    },
    ann.call,
  );
  key = client.key;
  await world.client({ status: 0 });
  await world.admin('DELETE', `/clients/${gone.id}`);
  const target = await world.echo();
  const make = async (path: string, body: object): Promise<AnyJson> => {
    const { status, body: made } = await world.admin('POST', path, body);
    if (status !== 201) throw new Error(JSON.stringify(made));
    return made;
  };
  const tunnel = await make('/tunnels', {
    client_id: client.id,
    name: 'echo',
    mode: 'tcp',
    listen_ip: '127.0.0.1',
    listen_port: ports[0],
    port_count: 2,
    target_addr: `127.0.0.1:${target}`,
  });
  await make('/tunnels', {
    client_id: client.id,
    mode: 'secret',
    target_addr: '127.0.0.1:22',
    proxy_protocol: 2,
    rate_limit: 77,
  });
  await make('/domains', { name: 'example.org', user_id: ann.id });
  expect((await ann.call('POST', '/domains', { name: 'shop.example.com' })).status).toBe(201);
  const host = await make('/hosts', {
    client_id: client.id,
    host: '*.example.org',
    location: '/api',
    strict_path: true,
    target_addr: 'http://127.0.0.1:80,http://127.0.0.1:81#weight=2',
    request_headers: { 'X-A': '1' },
    rewrite_host: 'inner',
    rewrite_path: '/v2',
    sticky: true,
    max_body_bytes: 1_048_576,
    error_page: '<h1>{status}</h1>\n',
    compress: true,
    redirect: { to: 'https://www.example.org/', status: 308, keep_path: false },
    health_check: {
      type: 'http',
      path: '/live',
      expected_status: '204',
      interval_seconds: 60,
      timeout_seconds: 3,
      healthy_threshold: 1,
      unhealthy_threshold: 5,
    },
    record_requests: 'full',
  });
  await make('/ip-rules', {
    scope: 'global',
    type: 'deny',
    pattern: '192.0.2.0/24',
    pattern_kind: 'cidr',
    priority: 3,
  });
  await make('/ip-rules', { scope: 'user', resource_id: ann.id, type: 'deny', pattern: '192.0.2.1', remark: 'loud' });
  await make('/ip-rules', { scope: 'host', resource_id: host.id, type: 'allow', pattern: '127.0.0.1', paths: ['/a'] });
  await make('/ip-rules', {
    scope: 'user',
    resource_id: ann.id,
    type: 'deny',
    pattern: '!AS1',
    pattern_kind: 'asn',
    methods: ['GET', 'PUT'],
  });
  // Nobody answers there: what a list has is not in an archive anyway.
  const list = { url: 'http://127.0.0.1:9/office.txt', allow_private: true, interval_minutes: 30 };
  await make('/address-lists', { name: 'office', ...list });
  await make('/ip-rules', {
    scope: 'host',
    resource_id: host.id,
    type: 'deny',
    pattern: 'office',
    pattern_kind: 'list',
  });
  const users = [{ username: 'eve', password: 'let me in' }];
  await make('/auth-policies', { resource_type: 'host', resource_id: host.id, type: 'basic', users, ttl_seconds: 60 });
  await make('/auth-policies', {
    resource_type: 'tunnel',
    resource_id: tunnel.id,
    type: 'password',
    password: 'open',
    enabled: 0,
  });
  const callback = { type: 'callback', callback_url: 'https://auth.example.org/', copy_headers: ['x-user'] };
  await make('/auth-policies', { resource_type: 'client', resource_id: client.id, ...callback });
  await make('/webhooks', {
    name: 'chat',
    url: 'https://hooks.example.org/x',
    event_types: ['tunnel.failed'],
    status: 0,
  });
});
afterAll(() => world.close());

const archiveOf = async (from: TunnelWorld, hashes: boolean): Promise<AnyJson> =>
  (await from.admin('GET', `/transfer/export?hashes=${hashes}`)).body;

/** The parts that are equal after a restore; the first administrator may differ. */
function comparable({ exported_at: _at, users, ...archive }: AnyJson): AnyJson {
  return {
    ...archive,
    users: users.map((user: AnyJson) => (user.username === 'admin' ? { id: user.id, username: 'admin' } : user)),
  };
}

const copy = <T>(value: T): T => structuredClone(value);
const restore = (to: TunnelWorld, archive: object): ReturnType<TunnelWorld['admin']> =>
  to.admin('POST', '/transfer/restore', { archive });

describe('an archive of everything', () => {
  it('restores an empty gateway completely, with keys and passwords', async () => {
    const archive = await archiveOf(world, true);
    expect(archive.clients).toHaveLength(2);
    expect(archive.domains).toMatchObject([
      { name: 'example.org', method: 'assigned', verified_at: expect.any(String) },
      { name: 'shop.example.com', method: 'dns', verified_at: null },
    ]);
    expect(JSON.stringify(archive)).not.toContain('gatehouse-verify');
    await using other = await TunnelWorld.start();
    const { status, body } = await restore(other, archive);
    expect(body).toMatchObject({ restored: 21 });
    expect(status).toBe(200);
    expect(body.changed.filter(({ kind }: AnyJson) => kind === 'domain')).toMatchObject([
      { note: 'has a new record to publish' },
    ]);
    expect(comparable(await archiveOf(other, true))).toEqual(comparable(archive));
    // It works: the agent comes with its old secret (keys name the gateway, too), ann logs in with her old password, the next id is free.
    const { secret } = parseAgentKey(key);
    await other.online(formatAgentKey({ secret, fingerprint: other.edges.fingerprint }));
    const login = await caller(other.gateway.url, {})('POST', '/auth/login', {
      username: 'ann',
      password: 'correct horse battery',
    });
    expect(login.status).toBe(200);
    const next = await other.client();
    expect(archive.clients.map(({ id }: AnyJson) => id)).not.toContain(next.id);
    expect((await other.admin('GET', '/webhooks')).body.items).toHaveLength(1);
  });

  it('has no secrets, and includes hashes only on request', async () => {
    const [plain, hashed] = [await archiveOf(world, false), await archiveOf(world, true)];
    expect(JSON.stringify(plain)).not.toMatch(/argon2|sealed|whsec|verify_key|password_hash|sha256:/);
    expect(JSON.stringify(hashed)).not.toMatch(/sealed_|whsec|let me in/);
    expect(hashed.clients[0].verify_key).toMatch(/^[0-9a-f]{64}$/);
  });

  it('includes hashes only for logins, and only logins can restore it', async () => {
    const proof = { name: 'all', scopes: ['admin'], current_password: 'correct horse battery' };
    const { key: secret } = (await world.admin('POST', '/api-keys', proof)).body;
    const program = caller(world.gateway.url, { authorization: `Bearer ${secret}` });
    expect((await program('GET', '/transfer/export')).status).toBe(200);
    expect((await program('GET', '/transfer/export?hashes=true')).status).toBe(403);
    const archive = { format: 'gatehouse.tunnel-gateway', version: 1 };
    const user = { id: 900, username: 'intruder', role: 'admin', status: 1 };
    for (const users of [[], [user]]) {
      expect((await program('POST', '/transfer/restore', { archive: { ...archive, users } })).status).toBe(403);
    }
    expect((await world.admin('GET', '/users?q=intruder')).body.items).toEqual([]);
    expect((await restore(world, archive)).status).toBe(200);
  });

  it('shows the events of a deleted user to nobody', async () => {
    await world.rows(
      `INSERT INTO tunnel_gateway_ops.events (type, owner_user_id, message) VALUES ('host.updated', 901, 'of before')`,
    );
    const user = { id: 901, username: 'successor', role: 'user', status: 1 };
    const archive = { format: 'gatehouse.tunnel-gateway', version: 1, users: [user] };
    const { status, body } = await restore(world, archive);
    expect(status).toBe(200);
    expect(body.changed).toMatchObject([{ kind: 'user', id: 901, new_id: expect.any(Number) }]);
    expect(body.changed[0].new_id).not.toBe(901);
  });

  it('without hashes creates new keys and admits nobody who is unknown', async () => {
    await using other = await TunnelWorld.start();
    const { body } = await restore(other, await archiveOf(world, false));
    const changed = (kind: string): AnyJson[] => body.changed.filter((row: AnyJson) => row.kind === kind);
    expect(changed('client').map(({ note }) => note)).toEqual(['has a new key', 'has a new key']);
    expect(changed('tunnel')).toMatchObject([{ note: 'has a new key for its visitors', secret: expect.any(String) }]);
    expect(changed('webhook')[0].secret).toMatch(/^whsec_/);
    expect(changed('auth_policy').map(({ note }) => note)).toContain('lets nobody in: set its passwords');
    const attic = (await other.admin('GET', '/clients')).body.items.find(({ name }: AnyJson) => name === 'attic');
    expect(attic).toMatchObject({ traffic_quota: 9_000_000_000_000, quota_period: 'day', period_traffic: 0 });
    const { secret } = changed('client').find(({ new_id: id }) => id === attic.id);
    await other.online(secret);
    const old = other.agent(key);
    await waitFor(() => old.history.some(({ state }) => state !== 'online' && state !== 'connecting'));
    expect(old.agent.status.state).not.toBe('online');
    for (const password of ['correct horse battery', '!', '']) {
      const login = await caller(other.gateway.url, {})('POST', '/auth/login', { username: 'ann', password });
      expect(login.status).toBeGreaterThanOrEqual(400);
    }
  });

  it('reports a missing secret of an OAuth client, and admits nobody until it is set', async () => {
    await using other = await TunnelWorld.start();
    const archive = await archiveOf(world, false);
    const [{ id: clientId }] = archive.clients;
    const server = { authorizationEndpoint: 'https://id.example.org/a', tokenEndpoint: 'https://id.example.org/t' };
    archive.auth_policies.push({
      id: 777,
      resource_type: 'client',
      resource_id: clientId,
      type: 'oauth',
      callback_url: null,
      enabled: 1,
      ttl_seconds: 60,
      copy_headers: [],
      allow_private: false,
      oauth: { issuer: 'https://id.example.org', clientId: 'gateway', server },
      has_secret: true,
    });
    const { status, body } = await restore(other, archive);
    expect(status, JSON.stringify(body)).toBe(200);
    const reported = body.changed.find(({ id, kind }: AnyJson) => id === 777 && kind === 'auth_policy');
    expect(reported.note).toBe('lets nobody in: set its secret');
    const policy = (await other.admin('GET', `/auth-policies/${reported.new_id}`)).body;
    expect(policy.oauth).toMatchObject({ client_id: 'gateway', has_client_secret: false });
    const again = (await archiveOf(other, true)).auth_policies.find(({ type }: AnyJson) => type === 'oauth');
    expect(again.has_secret).toBe(true);
  });

  it('gets other ids if its own are taken', async () => {
    await using other = await TunnelWorld.start();
    const mine = await other.client({ name: 'mine' });
    await other.client({ name: 'mine too' });
    const archive = await archiveOf(world, true);
    const { status, body } = await restore(other, archive);
    expect(status).toBe(200);
    const moved = body.changed.filter(({ kind }: AnyJson) => kind === 'client');
    expect(moved.length).toBeGreaterThan(0);
    const attic = (await other.admin('GET', '/clients')).body.items.find(({ name }: AnyJson) => name === 'attic');
    const tunnels = (await other.admin('GET', '/tunnels')).body.items;
    expect(tunnels.map(({ client_id: id }: AnyJson) => id)).toEqual([attic.id, attic.id]);
    expect((await other.admin('GET', `/clients/${mine.id}`)).body.name).toBe('mine');
  });

  it('is restored completely or not at all', async () => {
    await using other = await TunnelWorld.start();
    const archive = await archiveOf(world, true);
    const before = comparable(await archiveOf(other, true));
    const spoil = (change: (spoiled: AnyJson) => void): AnyJson => {
      const spoiled = copy(archive);
      change(spoiled);
      return spoiled;
    };
    const cases: [AnyJson, number, string?][] = [
      [spoil((a) => (a.version = 2)), 422, 'archive.version'],
      [spoil((a) => (a.format = 'other')), 422, 'archive.format'],
      [spoil((a) => (a.more = [])), 422, 'archive.more'],
      [spoil((a) => (a.clients = {})), 422, 'archive.clients'],
      [spoil((a) => (a.clients[0].id = 'x')), 422, 'archive.clients[0].id'],
      [spoil((a) => (a.clients[1].id = a.clients[0].id)), 422, 'archive.clients'],
      [spoil((a) => (a.clients[0].verify_key = "'; --")), 422, 'archive.clients[0].verify_key'],
      [spoil((a) => (a.clients[1].verify_key = a.clients[0].verify_key)), 409],
      [spoil((a) => (a.clients[0].owner_user_id = 999)), 422, 'archive.clients[0].owner_user_id'],
      [spoil((a) => (a.users[1].role = 'root')), 422, 'archive.users[1].role'],
      [spoil((a) => (a.users[1].password_hash = 'plain')), 422, 'archive.users[1].password_hash'],
      [spoil((a) => (a.tunnels[0].listen_port = 443)), 409],
      [spoil((a) => (a.tunnels[0].target_addr = 'nowhere')), 422, 'archive.tunnels[0].target_addr'],
      [spoil((a) => a.hosts.push({ ...a.hosts[0], id: 77 })), 409],
      [spoil((a) => (a.ip_rules[0].pattern = '10.1.2.3/8')), 422, 'archive.ip_rules[0].pattern'],
      [spoil((a) => (a.address_lists = [])), 422, 'archive.ip_rules[4].pattern: there is no list office'],
      [spoil((a) => (a.ip_rules[4].pattern = 'two words')), 422, 'archive.ip_rules[4].pattern: \\"two words\\" is not'],
      [spoil((a) => (a.address_lists[0].allow_private = false)), 422, 'archive.address_lists[0].url'],
      [spoil((a) => (a.ip_rules[2].resource_id = 999)), 422, 'archive.ip_rules[2].resource_id'],
      [spoil((a) => (a.auth_policies.at(-1).callback_url = 'file:///etc/passwd')), 422],
      [spoil((a) => (a.auth_policies[1].type = 'oauth')), 422, 'archive.auth_policies[1].oauth'],
      [spoil((a) => (a.webhooks[0].event_types = ['x'])), 422, 'archive.webhooks[0].event_types'],
      [spoil((a) => (a.clients[0].surprise = 1)), 422, 'archive.clients[0].surprise'],
      [
        spoil((a) =>
          a.ip_rules.push({
            id: 99,
            scope: 'console',
            resource_id: 0,
            type: 'deny',
            pattern: '127.0.0.1',
            pattern_kind: 'exact',
          }),
        ),
        409,
      ],
    ];
    for (const [spoiled, status, field] of cases) {
      const answer = await restore(other, spoiled);
      expect(answer.status, JSON.stringify(answer.body)).toBe(status);
      if (field !== undefined) expect(JSON.stringify(answer.body)).toContain(field);
      expect(comparable(await archiveOf(other, true))).toEqual(before);
    }
    const spelled = spoil((a) => (a.ip_rules[4].pattern = ' Office '));
    expect((await restore(other, spelled)).status).toBe(200);
    expect((await archiveOf(other, false)).ip_rules[4].pattern).toBe('office');
  });

  it('is accepted only from administrators and up to a size limit', async () => {
    const { token } = (
      await caller(world.gateway.url, {})('POST', '/auth/login', {
        username: 'admin',
        password: 'correct horse battery',
      })
    ).body;
    const send = async (body: string, headers: Record<string, string> = {}): Promise<number> => {
      const answer = await fetch(`${world.gateway.url}/api/v1/transfer/restore`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body,
      });
      await answer.text();
      return answer.status;
    };
    expect(await send('{}', { authorization: 'Bearer nobody' })).toBe(401);
    expect(await send('{}')).toBe(422);
    expect(await send('')).toBe(400);
    expect(await send('{"archive":')).toBe(400);
    expect(await send(`{"archive":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)).toBe(400);
    expect(await send('{}', { 'content-type': 'text/plain' })).toBe(415);
    expect(await send('x', { 'content-encoding': 'gzip' })).toBe(415);
    const large = { format: 'gatehouse.tunnel-gateway', version: 1, users: ' '.repeat(11_000_000) };
    expect(await send(JSON.stringify({ archive: large }))).toBe(422);
    expect(await send('x'.repeat(64 * 1024 * 1024 + 1))).toBe(413);
  });
});
