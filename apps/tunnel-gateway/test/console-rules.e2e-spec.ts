import { UnitOfWork, withClient } from '@gatehouse/persistence';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConsoleRules } from '../src/ip-rules/console-rules.js';
import { startGateway } from './gateway-app.js';
import { EventClient } from './support/event-source.js';
import { caller, TunnelWorld, type Answer } from './support/tunnel-world.js';

const INSIDE = '192.0.2.10';
const OUTSIDE = '198.51.100.10';

let world: TunnelWorld;
let token: string;
const from = async (address: string, path: string, init: RequestInit = {}): Promise<number> =>
  (await fetch(`${world.gateway.url}${path}`, { ...init, headers: { 'x-forwarded-for': address } })).status;
const as = (address: string, method: string, path: string, body?: object): Promise<Answer> =>
  caller(world.gateway.url, { authorization: `Bearer ${token}`, 'x-forwarded-for': address })(method, path, body);
const rule = (body: object, address = INSIDE): Promise<Answer> =>
  as(address, 'POST', '/ip-rules', { scope: 'console', type: 'allow', ...body });

beforeAll(async () => {
  world = await TunnelWorld.start({ TRUSTED_PROXIES: '127.0.0.1' });
  const login = { username: 'admin', password: 'correct horse battery' };
  token = (await caller(world.gateway.url, {})('POST', '/auth/login', login)).body.token;
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.rows(`DELETE FROM tunnel_gateway.ip_rules WHERE scope = 'console'`);
  // Each of them may be the one that rules of the test before let in.
  for (const address of [OUTSIDE, INSIDE]) {
    await waitFor(async () => (await from(address, '/api/v1/auth/setup')) === 200);
  }
});

describe('rules of the console', () => {
  it('are checked before everything: pages, descriptions, logins, known and unknown paths', async () => {
    expect((await rule({ pattern: '192.0.2.0/24', pattern_kind: 'cidr' })).status).toBe(201);
    for (const path of ['/', '/docs', '/metrics', '/api/v1/openapi.json', '/api/v1/auth/me', '/api/v1/nothing', '/x']) {
      expect(await from(OUTSIDE, path), path).toBe(403);
      expect(await from(INSIDE, path), path).not.toBe(403);
    }
    const refused = await as(OUTSIDE, 'GET', '/auth/me');
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(JSON.stringify(refused.body)).not.toContain('192.0.2');
    const login = { username: 'admin', password: 'correct horse battery' };
    expect((await caller(world.gateway.url, { 'x-forwarded-for': OUTSIDE })('POST', '/auth/login', login)).status).toBe(
      403,
    );
    for (const path of ['/healthz', '/readyz']) expect(await from(OUTSIDE, path), path).toBe(200);
    // Visitors of tunnels are not users of the console.
    expect(await from(OUTSIDE, '/visit/tunnel/999')).toBe(404);
  });

  it('apply from the response on, and end when the rule is deleted', async () => {
    const { body } = await rule({ type: 'deny', pattern: OUTSIDE });
    expect((await as(OUTSIDE, 'GET', '/auth/me')).status).toBe(403);
    expect((await as(INSIDE, 'PATCH', `/ip-rules/${body.id}`, { pattern: '198.51.100.99' })).status).toBe(200);
    expect((await as(OUTSIDE, 'GET', '/auth/me')).status).toBe(200);
    expect((await as('198.51.100.99', 'GET', '/auth/me')).status).toBe(403);
    expect((await as(INSIDE, 'DELETE', `/ip-rules/${body.id}`)).status).toBe(204);
    expect((await as('198.51.100.99', 'GET', '/auth/me')).status).toBe(200);
  });

  it('end event streams that were open before', async () => {
    const open = (address: string): Promise<EventClient> =>
      EventClient.open(world.gateway.url, token, { 'x-forwarded-for': address });
    const [outside, inside] = [await open(OUTSIDE), await open(INSIDE)];
    expect([outside.status, inside.status]).toEqual([200, 200]);
    await rule({ type: 'deny', pattern: OUTSIDE });
    await waitFor(() => outside.ended);
    expect(inside.ended).toBe(false);
    inside.close();
  });

  it('apply on other replicas, which are notified', async () => {
    await withClient(world.gateway.databaseUrl, (client) =>
      client.query(
        `INSERT INTO tunnel_gateway.ip_rules (scope, resource_id, type, pattern, pattern_kind)
         VALUES ('console', 0, 'deny', '${OUTSIDE}', 'exact')`,
      ),
    );
    await waitFor(async () => (await as(OUTSIDE, 'GET', '/auth/me')).status === 403);
  });

  it('cannot lock out the user who creates them, unless forced', async () => {
    const refused = await rule({ pattern: OUTSIDE });
    expect(refused).toMatchObject({ status: 409, body: { code: 'self_lockout' } });
    expect((await rule({ type: 'deny', pattern: INSIDE })).body.code).toBe('self_lockout');
    expect((await rule({ type: 'deny', pattern: 'private', pattern_kind: 'country' }, '10.0.0.1')).body.code).toBe(
      'self_lockout',
    );
    expect((await as(INSIDE, 'GET', '/ip-rules?scope=console')).body.items).toEqual([]);
    const own = (await rule({ pattern: INSIDE })).body;
    expect((await rule({ pattern: OUTSIDE })).status).toBe(201);
    expect((await as(INSIDE, 'PATCH', `/ip-rules/${own.id}`, { type: 'deny' })).body.code).toBe('self_lockout');
    expect((await as(INSIDE, 'DELETE', `/ip-rules/${own.id}`)).body.code).toBe('self_lockout');
    expect((await as(INSIDE, 'DELETE', `/ip-rules/${own.id}?force=true`)).status).toBe(204);
    expect((await as(INSIDE, 'GET', '/auth/me')).status).toBe(403);
    expect((await as(OUTSIDE, 'GET', '/auth/me')).status).toBe(200);
  });

  it('cannot lock anyone out through two concurrent changes', async () => {
    const unitOfWork = world.gateway.app.get(UnitOfWork, { strict: false });
    const rules = world.gateway.app.get(ConsoleRules, { strict: false });
    const [first, second] = [
      (await rule({ pattern: INSIDE })).body,
      (await rule({ pattern: '192.0.2.0/24', pattern_kind: 'cidr' })).body,
    ];
    expect((await rule({ pattern: OUTSIDE })).status).toBe(201);
    const [checked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const removal = unitOfWork.run(async (tx) => {
      await tx.query('DELETE FROM tunnel_gateway.ip_rules WHERE id = $1', [first.id]);
      await rules.requireWayIn(INSIDE, tx);
      checked.resolve();
      await go.promise;
    });
    await checked.promise;
    const other = as(INSIDE, 'DELETE', `/ip-rules/${second.id}`);
    await waitFor(
      async () => {
        const waiting = await world.rows(`SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'advisory'`);
        return waiting.length > 0;
      },
      { timeoutMs: 2_000 },
    ).finally(() => go.resolve());
    await removal;
    expect((await other).body.code).toBe('self_lockout');
  });

  it('can be managed by administrators only, whatever key is used', async () => {
    const { body: own } = await rule({ pattern: '192.0.2.0/24', pattern_kind: 'cidr' });
    const made = await as(INSIDE, 'POST', '/api-keys', {
      name: 'w',
      scopes: ['write'],
      current_password: 'correct horse battery',
    });
    const key = caller(world.gateway.url, { 'x-api-key': made.body.key, 'x-forwarded-for': INSIDE });
    expect((await key('GET', `/ip-rules/${own.id}`)).status).toBe(200);
    expect((await key('PATCH', `/ip-rules/${own.id}`, { priority: 1 })).status).toBe(403);
    expect((await key('DELETE', `/ip-rules/${own.id}`)).status).toBe(403);
    expect((await key('POST', '/ip-rules', { scope: 'console', type: 'deny', pattern: '192.0.2.77' })).status).toBe(
      403,
    );
  });

  it('accept X-Forwarded-For only from trusted proxies, and use the last hop that is not one', async () => {
    await rule({ pattern: INSIDE });
    const forged = { authorization: `Bearer ${token}`, 'x-forwarded-for': `${INSIDE}, ${OUTSIDE}` };
    expect((await caller(world.gateway.url, forged)('GET', '/auth/me')).status).toBe(403);
    await using direct = await startGateway({ GATEHOUSE_ADMIN_PASSWORD: 'correct horse battery' });
    await withClient(direct.databaseUrl, (client) =>
      client.query(
        `INSERT INTO tunnel_gateway.ip_rules (scope, resource_id, type, pattern) VALUES ('console', 0, 'allow', '${INSIDE}')`,
      ),
    );
    const pretending = caller(direct.url, { 'x-forwarded-for': INSIDE });
    await waitFor(async () => (await pretending('GET', '/auth/setup')).status === 403);
  });
});
