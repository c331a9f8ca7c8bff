import { waitFor } from '@gatehouse/testing';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Preferences } from '../src/preferences/preferences.service.js';
import { startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => gateway[Symbol.asyncDispose]());

async function keyFor(scope: string): Promise<Record<string, string>> {
  const { body } = await gateway.call('POST', '/api-keys', { name: scope, scopes: [scope] });
  return { authorization: `Bearer ${body.key}` };
}

describe('GET /settings', () => {
  it('lists every key, and strings only', async () => {
    const { status, body } = await gateway.call('GET', '/settings');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      'auth.enabled': 'true',
      'auth.token_ttl_sec': '3600',
      'health.concurrency': '160',
      'audit.retention_days': '365',
      'kernel.log_level': 'info',
    });
    expect(Object.values(body).every((value) => typeof value === 'string')).toBe(true);
  });

  it('keeps the users of the proxy sealed, and reads those that an earlier version stored unsealed', async () => {
    await using other = await startGateway({}, { 'kernel.users': 'earlier:IN-CLEAR' });
    const users = async (): Promise<string> => (await other.call('GET', '/settings')).body['kernel.users'];
    const stored = async (): Promise<string> =>
      (await other.app.app.get(DataSource).query(`SELECT value FROM settings WHERE key = 'kernel.users'`))[0].value;
    expect([await users(), await stored()]).toEqual(['earlier:IN-CLEAR', 'earlier:IN-CLEAR']);
    await other.call('PUT', '/settings', { 'kernel.users': 'me:USERS-SECRET' });
    expect([await users(), await stored()]).toEqual(['me:USERS-SECRET', expect.stringMatching(/^v2\.[\w.-]+$/)]);
    expect(other.app.app.get(Preferences).get('kernel.users')).toEqual([{ username: 'me', password: 'USERS-SECRET' }]);
    await other.call('PUT', '/settings', { 'kernel.users': '' });
    expect([await users(), await stored()]).toEqual(['', '']);
  });

  it('hides credentials in addresses from callers that may only read', async () => {
    const secret = { 'geo.country_url': 'https://user:SETTINGS-SECRET@mirror.example/a?token=SETTINGS-SECRET' };
    expect((await gateway.call('PUT', '/settings', secret)).status).toBe(200);
    const shown = await gateway.call('GET', '/settings', undefined, await keyFor('read'));
    expect(shown.status).toBe(200);
    expect(JSON.stringify(shown.body)).not.toContain('SETTINGS-SECRET');
    expect(shown.body['geo.country_url']).toContain('mirror.example');
    expect((await gateway.call('GET', '/settings')).body).toMatchObject(secret);
    await gateway.call('PUT', '/settings', { 'geo.country_url': '' });
  });
});

describe('GET /settings/defaults', () => {
  it('has the default of every setting, which resets the setting when it is sent back', async () => {
    const { status, body: defaults } = await gateway.call('GET', '/settings/defaults', undefined, await keyFor('read'));
    expect(status).toBe(200);
    const { body: before } = await gateway.call('GET', '/settings');
    expect(Object.keys(defaults).toSorted()).toEqual(Object.keys(before).toSorted());
    expect(defaults['health.concurrency']).toBe('160');
    await gateway.call('PUT', '/settings', { 'health.concurrency': '7' });
    expect((await gateway.call('GET', '/settings/defaults')).body).toEqual(defaults);
    const reset = await gateway.call('PUT', '/settings', { 'health.concurrency': defaults['health.concurrency'] });
    expect(reset.body['health.concurrency']).toBe('160');
  });

  it('refuses callers without credentials', async () => {
    expect((await gateway.call('GET', '/settings/defaults', undefined, { authorization: '' })).status).toBe(401);
  });
});

describe('PUT /settings', () => {
  it('changes some of the keys at once and answers with all of them', async () => {
    const { status, body } = await gateway.call('PUT', '/settings', { 'auth.token_ttl_sec': '120' });
    expect([status, body['auth.token_ttl_sec'], body['health.concurrency']]).toEqual([200, '120', '160']);
    expect((await gateway.call('GET', '/settings')).body).toEqual(body);
    expect(gateway.app.app.get(Preferences, { strict: false }).get('auth.token_ttl_sec')).toBe(120);
    await gateway.call('PUT', '/settings', { 'auth.token_ttl_sec': '3600' });
  });

  it('moves the listener of the kernel without a restart', async () => {
    await gateway.call('PUT', '/settings', { 'kernel.listen.mixed': '127.0.0.2:0' });
    await waitFor(async () => (await gateway.kernel.status()).listeners.some(({ address }) => address === '127.0.0.2'));
    await gateway.call('PUT', '/settings', { 'kernel.listen.mixed': '' });
  });

  it.each([
    [{ 'health.concurrency': '0', 'no.such': 'x', 'auth.enabled': true, 'health.url': 'file:///x' }, 4],
    [{ 'health.concurrency': 12 }, 1],
    [{ 'health.concurrency': null }, 1],
    [{ 'health.concurrency': ['1'] }, 1],
    [{ constructor: 'x' }, 1],
    [JSON.parse('{"__proto__": "x"}'), 1],
  ])('refuses %j and names each field', async (body, problems) => {
    const before = (await gateway.call('GET', '/settings')).body;
    const refused = await gateway.call('PUT', '/settings', { 'health.tolerance_ms': '7', ...body });
    expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_ARGUMENT' } });
    const fields = refused.body.details.map(({ field }: { field: string }) => field);
    expect(fields.toSorted()).toEqual(Object.keys(body).toSorted());
    expect(fields).toHaveLength(problems);
    expect((await gateway.call('GET', '/settings')).body).toEqual(before);
  });

  it.each([[[]], ['"text"'], ['7'], ['null']])('refuses the body %j', async (body) => {
    expect((await gateway.call('PUT', '/settings', body)).status).toBe(400);
  });

  it('refuses a missing body', async () => {
    expect((await gateway.call('PUT', '/settings')).status).toBe(400);
  });

  it('is for administrators', async () => {
    for (const scope of ['read', 'write']) {
      const refused = await gateway.call('PUT', '/settings', { 'health.concurrency': '9' }, await keyFor(scope));
      expect([scope, refused.status]).toEqual([scope, 403]);
    }
  });
});

it('keeps login on while the service can be reached from outside', async () => {
  await using open = await startGateway({ BIND_ADDRESS: '0.0.0.0' });
  const refused = await open.call('PUT', '/settings', { 'auth.enabled': 'false' });
  expect(refused).toMatchObject({ status: 400, body: { details: [{ field: 'auth.enabled' }] } });
  expect((await open.call('GET', '/settings')).body['auth.enabled']).toBe('true');
});

describe('while login is off', () => {
  it('answers to names of this machine and configured ones only', async () => {
    await using open = await startGateway({ PROXY_GATEWAY_HOSTS: 'gateway.example' });
    expect((await open.call('PUT', '/settings', { 'auth.enabled': 'false' })).status).toBe(200);
    const ask = async (host: string): Promise<number> => {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      const { request } = await import('node:http');
      request({ port: open.app.port, host: '127.0.0.1', path: '/api/v1/settings', headers: { host } })
        .on('response', (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        })
        .on('error', reject)
        .end();
      return promise;
    };
    expect(await ask('localhost:8080')).toBe(200);
    expect(await ask('gateway.example')).toBe(200);
    expect(await ask('192.0.2.7:8080')).toBe(200);
    expect(await ask('rebound.example')).toBe(403);
    await open.call('PUT', '/settings', { 'auth.enabled': 'true' });
    await waitFor(async () => (await ask('rebound.example')) === 401);
  });
});

describe('POST /auth/password', () => {
  it('needs the current password, then ends all sessions and accepts the new one', async () => {
    await using own = await startGateway();
    const change = (current: string, next: unknown, headers = {}) =>
      own.call('POST', '/auth/password', { current_password: current, new_password: next }, headers);
    expect((await change('wrong password', 'another password')).status).toBe(403);
    expect((await change('a password for tests', 'short')).status).toBe(400);
    expect((await change('a password for tests', 7)).status).toBe(400);
    const { body: readKey } = await own.call('POST', '/api-keys', { scopes: ['write'] });
    const asWriter = { authorization: `Bearer ${readKey.key}` };
    expect((await change('a password for tests', 'another password', asWriter)).status).toBe(403);

    const changed = await change('a password for tests', 'another password');
    expect(changed).toMatchObject({ status: 200, body: { token: expect.any(String), token_type: 'Bearer' } });
    expect((await own.call('GET', '/settings')).status).toBe(401);
    const fresh = { authorization: `Bearer ${changed.body.token}` };
    expect((await own.call('GET', '/settings', undefined, fresh)).status).toBe(200);
    expect((await own.call('POST', '/auth/login', { password: 'a password for tests' })).status).toBe(401);
    expect((await own.call('POST', '/auth/login', { password: 'another password' })).status).toBe(200);
  });
});

it('pages API keys past the thousandth', async () => {
  await using own = await startGateway();
  const { DataSource } = await import('typeorm');
  await own.app.app.get(DataSource).query(
    `INSERT INTO api_keys (name, key_hash, key_prefix, last_four, scopes)
     SELECT 'key ' || n, sha256(n::text::bytea), 'gpk_', 'abcd', '{read}' FROM generate_series(1, 1100) n`,
  );
  const last = await own.call('GET', '/api-keys?limit=500&offset=1000');
  expect(last.body).toMatchObject({ total: 1_100, limit: 500, offset: 1_000 });
  expect(last.body.items).toHaveLength(100);
  expect((await own.call('GET', '/api-keys?limit=501')).status).toBe(400);
});
