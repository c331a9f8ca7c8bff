import { noteRestore } from '@gatehouse/persistence';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caller, TunnelWorld, type AnyJson, type Caller } from './support/tunnel-world.js';

const PASSWORD = 'correct horse battery';

let world: TunnelWorld;
let ann: { call: Caller; id: number };
beforeAll(async () => {
  world = await TunnelWorld.start();
  ann = await world.user('ann');
});
afterAll(() => world.close());

const list = async (query: string, call = world.admin): Promise<AnyJson[]> =>
  (await call('GET', `/audit-logs?${query}`)).body.items;
const newest = async (): Promise<AnyJson> => (await list('limit=1'))[0];
const verify = async (): Promise<AnyJson> => (await world.admin('GET', '/audit-logs/verify')).body;
const wrote = (field: string, before: unknown, after: unknown): object => ({ field, before, after });

describe('the audit log', () => {
  it('records who made a user an administrator, from which address and when', async () => {
    const made = await world.admin('POST', '/users', {
      username: 'second',
      password: 'a SECRET password',
      role: 'user',
    });
    expect(await newest()).toMatchObject({
      action: 'user.create',
      actor: { type: 'session', id: 1, name: 'admin', user: null },
      ip: '127.0.0.1',
      resource_type: 'user',
      resource_id: String(made.body.id),
      resource_name: 'second',
      method: 'POST',
      path: '/api/v1/users',
      status: 201,
      success: true,
    });
    await world.admin('PATCH', `/users/${made.body.id}`, { role: 'admin' });
    expect(await newest()).toMatchObject({ action: 'user.update', changes: [wrote('role', 'user', 'admin')] });
    await world.admin('PATCH', `/users/${made.body.id}`, { status: 0, password: 'another SECRET password' });
    const { changes } = await newest();
    expect(changes).toContainEqual(wrote('status', 1, 0));
    expect(changes).toContainEqual(wrote('password_hash', '***', '***'));
    await world.admin('DELETE', `/users/${made.body.id}`);
    expect(await newest()).toMatchObject({ action: 'user.delete', resource_name: 'second' });
    expect((await newest()).changes).toContainEqual(wrote('role', 'admin', null));
    expect(JSON.stringify(await list('limit=100'))).not.toMatch(/SECRET|argon2/);
  });

  it('names logins, keys and what was done with a key', async () => {
    const made = await ann.call('POST', '/api-keys', { name: 'ci', scopes: ['write'], current_password: PASSWORD });
    expect(await newest()).toMatchObject({
      action: 'api_key.create',
      actor: { type: 'session', id: ann.id, name: 'ann' },
      resource_name: 'ci',
    });
    const key = caller(world.gateway.url, { 'x-api-key': made.body.key });
    const client = await world.client({ rate_limit: 7 }, key);
    const row = await newest();
    expect(row).toMatchObject({
      action: 'client.create',
      actor: { type: 'api_key', id: made.body.id, name: 'ci', user: 'ann' },
      resource_id: String(client.id),
    });
    expect(row.changes).toContainEqual(wrote('rate_limit', null, 7));
    expect(await list('actor=ann&action=client.*')).toHaveLength(1);
    expect(JSON.stringify(await list('limit=100'))).not.toContain(made.body.key);
    expect(JSON.stringify(await list('limit=100'))).not.toContain(client.key);

    await caller(world.gateway.url, {})('POST', '/auth/login', { username: 'ann', password: PASSWORD });
    expect(await newest()).toMatchObject({ action: 'auth.login', actor: { type: 'session', id: ann.id, name: 'ann' } });
    await caller(world.gateway.url, {})('POST', '/auth/login', { username: 'ann', password: 'TYPED-WRONG' });
    expect(await newest()).toMatchObject({ action: 'auth.login', success: false, actor: { type: 'anonymous' } });
    await key('POST', '/users', { username: 'x', password: 'a long password' });
    expect(await newest()).toMatchObject({ action: 'user.create', status: 403, actor: { name: 'ci', user: 'ann' } });
  });

  it('shows hosts, options, policies and webhooks before and after a change, without secrets', async () => {
    await world.assign(ann, 'app.example.org');
    expect(await newest()).toMatchObject({ action: 'domain.create', resource_name: 'app.example.org' });
    const { id: client } = await world.client({}, ann.call);
    const body = { client_id: client, host: 'app.example.org', target_addr: 'a:1' };
    const { id } = (await ann.call('POST', '/hosts', body)).body;
    await ann.call('PATCH', `/hosts/${id}`, { target_addr: 'b:2', request_headers: { 'X-Token': 'HEADER-SECRET' } });
    const host = await newest();
    expect(host).toMatchObject({ action: 'host.update', resource_name: 'app.example.org' });
    expect(host.changes).toContainEqual(wrote('target_addr', 'a:1', 'b:2'));
    const about = { resource_type: 'host', resource_id: id };
    await ann.call('POST', '/auth-policies', {
      ...about,
      type: 'basic',
      users: [{ username: 'v', password: 'VISITOR-SECRET' }],
    });
    expect(await newest()).toMatchObject({ action: 'auth_policy.create' });
    await world.admin('POST', '/webhooks', {
      name: 'chat',
      url: 'http://u:HOOK-SECRET@127.0.0.1:1/hook?t=HOOK-SECRET',
    });
    expect(await newest()).toMatchObject({ action: 'webhook.create' });
    expect(JSON.stringify(await list('limit=100'))).not.toMatch(
      /HEADER-SECRET|VISITOR-SECRET|HOOK-SECRET|argon2|whsec/,
    );
  });

  it('is an unbroken chain that the copy outside the database confirms', async () => {
    const { ok, last_id: lastId, witness } = await verify();
    expect({ ok, witness }).toMatchObject({ ok: true, witness: { status: 'confirms', last_id: lastId } });
  });

  it('can be read by administrators only', async () => {
    for (const path of ['/audit-logs', '/audit-logs/verify']) expect((await ann.call('GET', path)).status).toBe(403);
    expect((await world.admin('GET', '/audit-logs?limit=0')).status).toBe(422);
  });

  it('detects a changed row, and removed rows with an old head put back', async () => {
    await using own = await TunnelWorld.start();
    const check = async (): Promise<AnyJson> => (await own.admin('GET', '/audit-logs/verify')).body;
    await own.admin('POST', '/users', { username: 'kept', password: 'a long password' });
    await own.rows(`UPDATE tunnel_gateway_ops.audit_logs SET actor_name = 'bob' WHERE action = 'user.create'`);
    expect(await check()).toMatchObject({ ok: false, broken: { reason: 'row_changed' } });
    await own.rows(`UPDATE tunnel_gateway_ops.audit_logs SET actor_name = 'admin' WHERE action = 'user.create'`);
    expect(await check()).toMatchObject({ ok: true });

    await own.rows('CREATE TABLE public.kept AS SELECT * FROM tunnel_gateway_ops.audit_chain');
    await own.admin('POST', '/users', { username: 'intruder', password: 'a long password', role: 'admin' });
    await check();
    await own.rows('DELETE FROM tunnel_gateway_ops.audit_logs WHERE id > (SELECT last_id FROM public.kept)');
    await own.rows(
      `UPDATE tunnel_gateway_ops.audit_chain SET last_id = k.last_id, last_hash = k.last_hash, seal = k.seal FROM public.kept k`,
    );
    const found = await check();
    expect(found).toMatchObject({ ok: false, broken: { id: found.last_id + 1, reason: 'witness_ahead' } });
    await noteRestore(own.gateway.home, { at: new Date().toISOString(), backupOf: null });
    expect(await check()).toMatchObject({ ok: true, witness: { status: 'restored' } });
  });
});
