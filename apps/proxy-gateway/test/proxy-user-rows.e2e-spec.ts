import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type {
  AuditLogPage,
  DashboardResponse,
  ProxyUserPage,
  ProxyUserTraffic,
  ProxyUserView,
  SettingsView,
} from '@gatehouse/contracts';
import { startHttpOrigin, waitFor } from '@gatehouse/testing';
import type { HttpOrigin } from '@gatehouse/testing';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';

let gateway: Gateway;
let origin: HttpOrigin;

beforeAll(async () => {
  gateway = await startGateway({});
  origin = await startHttpOrigin();
  await gateway.call('PUT', '/outbound/default-policy', { policy: 'DIRECT' });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await origin[Symbol.asyncDispose]();
});

async function create(body: Record<string, unknown>): Promise<ProxyUserView> {
  const created = await gateway.call<ProxyUserView>('POST', '/proxy-users', body);
  expect(created.status).toBe(201);
  return created.body;
}

const sql = (text: string): Promise<unknown> => gateway.app.app.get(DataSource).query(text);

const read = async (id: number): Promise<ProxyUserView> =>
  (await gateway.call<ProxyUserView>('GET', `/proxy-users/${id}`)).body;

/** The status and the text of a plain request through the proxy; a login of null: without one. */
async function visit(login: string | null, path = '/'): Promise<[number, string]> {
  const headers = login === null ? {} : { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` };
  const options = { host: '127.0.0.1', port: gateway.proxyPort, path: `${origin.url}${path}`, agent: false };
  const [reply] = await once(request({ ...options, headers }).end(), 'response');
  return [reply.statusCode, (await text(reply)).trim()];
}

it('needs no login until there is a user, and then only its own', async () => {
  expect((await visit(null))[0]).toBe(200);
  const ann = await create({ name: 'ann', note: 'first' });
  expect(ann).toMatchObject({ status: 'active', note: 'first', traffic_quota: null, quota_period: 'total' });
  expect(ann.password).toMatch(/^[\w-]{24}$/);
  expect((await visit(null))[0]).toBe(407);
  expect((await visit(`ann:${ann.password}`))[0]).toBe(200);
  expect((await visit('ann:wrong-password'))[0]).toBe(407);
  const changed = await gateway.call<ProxyUserView>('PATCH', `/proxy-users/${ann.id}`, { password: 'another-one' });
  expect(changed.body.password).toBe('another-one');
  expect((await visit('ann:another-one'))[0]).toBe(200);
  // A user that is disabled leaves no open door.
  await gateway.call('PATCH', `/proxy-users/${ann.id}`, { enabled: false });
  expect([(await visit(null))[0], (await visit('ann:another-one'))[0]]).toEqual([407, 407]);
  expect((await gateway.call('DELETE', `/proxy-users/${ann.id}`)).body).toEqual({ id: ann.id, deleted: true });
  expect((await visit(null))[0]).toBe(200);
});

it('needs a login without any user, too, where the settings say so', async () => {
  const require = async (wanted: string): Promise<void> => {
    expect((await gateway.call('PUT', '/settings', { 'kernel.require_login': wanted })).status).toBe(200);
  };
  await require('true');
  await waitFor(async () => (await visit(null))[0] === 407);
  const last = await create({ name: 'last', password: 'the-last-user' });
  expect((await visit('last:the-last-user'))[0]).toBe(200);
  await gateway.call('DELETE', `/proxy-users/${last.id}`);
  expect([(await visit(null))[0], (await visit('last:the-last-user'))[0]]).toEqual([407, 407]);
  await require('false');
  await waitFor(async () => (await visit(null))[0] === 200);
});

describe('the limits of a user', () => {
  it('hold in the kernel at once, and are shown', async () => {
    const { id } = await create({ name: 'bob', password: 'bobs-password', allowed_addresses: ['10.0.0.0/8'] });
    const refusal = [403, 'this user may not connect from this address'];
    expect(await visit('bob:bobs-password')).toEqual(refusal);
    await gateway.call('PATCH', `/proxy-users/${id}`, { allowed_addresses: [] });
    expect((await visit('bob:bobs-password'))[0]).toBe(200);
    const soon = new Date(Date.now() + 1_000).toISOString();
    await gateway.call('PATCH', `/proxy-users/${id}`, { expires_at: soon });
    await waitFor(async () => ((await read(id)).status === 'expired' ? true : undefined));
    expect(await visit('bob:bobs-password')).toEqual([403, 'this user has expired']);
    await gateway.call('DELETE', `/proxy-users/${id}`);
  });

  it('end at the quota, also after other changes, until the traffic is reset', async () => {
    const login = 'carl:carls-password';
    const { id } = await create({ name: 'carl', password: 'carls-password', traffic_quota: 300_000 });
    expect((await visit(login, '/bytes/200000'))[1]).toHaveLength(200_000);
    await waitFor(async () => ((await read(id)).period_traffic > 200_000 ? true : undefined));
    // The rest does not begin again with a new configuration.
    await gateway.call('POST', '/rules', { type: 'DOMAIN', payload: 'a.test', target: 'DIRECT' });
    await expect(visit(login, '/bytes/200000')).rejects.toThrow();
    expect(await visit(login)).toEqual([403, 'this user has used up its traffic']);
    await waitFor(async () => ((await read(id)).status === 'used_up' ? true : undefined));
    const page = await gateway.call<ProxyUserPage>('GET', '/proxy-users?status=used_up&search=CAR');
    expect(page.body).toMatchObject({ total: 1, items: [{ name: 'carl', connections: 0 }] });
    const reset = await gateway.call<ProxyUserView>('POST', `/proxy-users/${id}/reset-traffic`);
    expect(reset.body).toMatchObject({ status: 'active', period_traffic: 0 });
    expect(reset.body.download_total).toBeGreaterThan(200_000);
    expect((await visit(login))[0]).toBe(200);
    await gateway.call('DELETE', `/proxy-users/${id}`);
  });

  it('begin again with a new day or month', async () => {
    const { id } = await create({ name: 'dora', password: 'doras-password', traffic_quota: 1, quota_period: 'day' });
    const login = 'dora:doras-password';
    const isRefused = (): Promise<boolean> =>
      visit(login).then(
        ([status]) => status === 403,
        () => false,
      );
    await waitFor(async () => ((await isRefused()) ? true : undefined));
    await waitFor(async () => ((await read(id)).status === 'used_up' ? true : undefined));
    for (const period of ['day', 'month']) {
      await gateway.call('PATCH', `/proxy-users/${id}`, { quota_period: period, traffic_quota: 1 });
      await sql(
        `UPDATE proxy_users SET period_start = period_start - interval '32 days', period_traffic = 5 WHERE id = ${id}`,
      );
      expect(await read(id)).toMatchObject({ status: 'active', period_traffic: 0 });
    }
    await gateway.call('POST', '/system/reload');
    expect(await isRefused()).toBe(false);
    await gateway.call('DELETE', `/proxy-users/${id}`);
  });
});

it('shows what users carry, per user and in the dashboard', async () => {
  const { id } = await create({ name: 'erin', password: 'erins-password' });
  await visit('erin-session-a:erins-password', '/bytes/5000');
  await waitFor(async () => ((await read(id)).download_total > 5_000 ? true : undefined));
  expect((await read(id)).last_used_at).not.toBeNull();
  const { body: traffic } = await gateway.call<ProxyUserTraffic>('GET', `/proxy-users/${id}/traffic`);
  expect(traffic).toMatchObject({ requests: 1, errors: 0 });
  expect(traffic.series).toHaveLength(24);
  expect(traffic.series.at(-1)?.down).toBe(traffic.download);
  const { body: dashboard } = await gateway.call<DashboardResponse>('GET', '/dashboard?period_user_limit=500');
  expect(dashboard.period_users.items).toContainEqual(
    expect.objectContaining({ user: 'erin', requests: 1, download: traffic.download }),
  );
  expect(dashboard.live_users).toEqual({ items: [], total: 0, limit: 50, offset: 0 });
  await gateway.call('DELETE', `/proxy-users/${id}`);
});

it('refuses what cannot be, naming the field', async () => {
  const { id, updated_at: before } = await create({ name: 'fred', password: 'freds-password' });
  const refused = async (method: string, path: string, body: unknown): Promise<unknown[]> => {
    const { status, body: answer } = await gateway.call(method, path, body);
    return [status, answer.details?.[0]?.field];
  };
  for (const [body, field] of [
    [{ name: 'a b' }, 'name'],
    [{ name: 'a:b' }, 'name'],
    [{ name: 'x', password: 'short' }, 'password'],
    [{ name: 'x', rate_limit: 0 }, 'rate_limit'],
    [{ name: 'x', traffic_quota: 1.5 }, 'traffic_quota'],
    [{ name: 'x', quota_period: 'week' }, 'quota_period'],
    [{ name: 'x', allowed_addresses: ['10.0.0.0/8', 'here'] }, 'allowed_addresses.1'],
    [{ name: 'x', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
  ] as const) {
    expect(await refused('POST', '/proxy-users', body)).toEqual([400, field]);
  }
  expect(await refused('POST', '/proxy-users', { name: 'fred' })).toEqual([409, 'name']);
  expect(await refused('POST', '/proxy-users', { name: 'gatehouse' })).toEqual([409, 'name']);
  const both = await Promise.all(
    ['twin', 'twin'].map((name) => gateway.call<ProxyUserView>('POST', '/proxy-users', { name })),
  );
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409]);
  const twin = both.find(({ status }) => status === 201)!.body.id;
  expect(await refused('PATCH', `/proxy-users/${twin}`, { name: 'fred' })).toEqual([409, 'name']);
  expect(await refused('PUT', '/settings', { 'kernel.users': 'fred:secret' })).toEqual([400, 'kernel.users']);
  await gateway.call<SettingsView>('PUT', '/settings', { 'kernel.users': 'gil:secret' });
  expect(await refused('POST', '/proxy-users', { name: 'gil' })).toEqual([409, 'name']);
  // Both kinds of users may log in.
  await waitFor(async () => ((await visit('gil:secret'))[0] === 200 ? true : undefined));
  expect((await visit('fred:freds-password'))[0]).toBe(200);
  await gateway.call('PUT', '/settings', { 'kernel.users': '' });
  const stale = await gateway.call('PATCH', `/proxy-users/${id}`, { note: 'x' }, { 'if-match': '"old"' });
  expect(stale.status).toBe(412);
  expect((await read(id)).updated_at).toBe(before);
  for (const gone of [id, twin]) await gateway.call('DELETE', `/proxy-users/${gone}`);
  expect((await gateway.call('GET', `/proxy-users/${id}`)).status).toBe(404);
});

it('hides passwords from readers, from the audit log and from the database', async () => {
  const { id } = await create({ name: 'hana', password: 'hanas-password' });
  const { key } = (await gateway.call<{ key: string }>('POST', '/api-keys', { name: 'reader', scopes: ['read'] })).body;
  const seen = await gateway.call<ProxyUserView>('GET', `/proxy-users/${id}`, undefined, {
    authorization: '',
    'x-api-key': key,
  });
  expect(seen.body).toMatchObject({ name: 'hana', password: null });
  const { body: audit } = await gateway.call<AuditLogPage>('GET', `/audit-logs?resource_type=proxy_user`);
  expect(JSON.stringify(audit)).toContain('hana');
  expect(JSON.stringify(audit)).not.toContain('hanas-password');
  expect(JSON.stringify(await sql('SELECT * FROM proxy_users'))).not.toContain('hanas-password');
  await gateway.call('DELETE', `/proxy-users/${id}`);
});
