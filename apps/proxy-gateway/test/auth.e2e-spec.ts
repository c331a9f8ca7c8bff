import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Preferences } from '../src/preferences/preferences.service.js';
import { startTestApi, PASSWORD } from './support/test-api.js';
import type { TestApi } from './support/test-api.js';

const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });
const bearer = (secret: string): Record<string, string> => ({ authorization: `Bearer ${secret}` });

describe('login', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  it('gives a token for the password, once the first start has set it', async () => {
    const answer = await api.login();
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type: 'Bearer',
      expires_in: 3_600,
      expires_at: expect.stringMatching(/Z$/),
    });
    expect((await api.call('GET', '/rules', undefined, bearer(answer.body.token))).status).toBe(200);
    const [row] = await api.dataSource.query('SELECT password_hash FROM administrators');
    expect(row.password_hash).toMatch(/^\$argon2id\$/);
    expect(JSON.stringify(api.app.logs)).not.toContain(PASSWORD);
  });

  it('answers 401 with an error to a wrong password', async () => {
    const answer = await api.login('wrong', from('198.51.100.1'));
    expect(answer).toMatchObject({
      status: 401,
      body: { error: expect.any(String), code: 'LOGIN_FAILED', request_id: expect.any(String) },
    });
  });

  it.each([[{}], [{ password: 7 }], [{ password: '' }], [{ password: 'a', user: 'b' }], [[]], ['{"pass']])(
    'answers 400 to %j',
    async (body) => {
      const answer = await api.call('POST', '/auth/login', body, {});
      expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_ARGUMENT' } });
    },
  );

  it('refuses an address after five failures, right password included, and no other address', async () => {
    for (let attempt = 0; attempt < 5; attempt++) await api.login('wrong', from('198.51.100.2'));
    const answer = await api.login(PASSWORD, from('198.51.100.2'));
    expect(answer).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED', error: expect.any(String) } });
    const wait = Number(answer.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(900);
    expect((await api.login(PASSWORD, from('198.51.100.3'))).status).toBe(200);
  });

  it('clears the failures of an address that logs in', async () => {
    const address = from('198.51.100.4');
    for (let attempt = 0; attempt < 4; attempt++) await api.login('wrong', address);
    expect((await api.login(PASSWORD, address)).status).toBe(200);
    for (let attempt = 0; attempt < 4; attempt++) expect((await api.login('wrong', address)).status).toBe(401);
  });

  it('refuses missing and bad credentials', async () => {
    const token = (await api.login()).body.token as string;
    for (const headers of [
      {},
      bearer('nonsense'),
      bearer(`${token}x`),
      { 'x-api-key': 'gpk_nope' },
      { authorization: 'Basic YTpi' },
    ]) {
      const answer = await api.call('GET', '/rules', undefined, headers);
      expect(answer, JSON.stringify(headers)).toMatchObject({
        status: 401,
        body: { code: 'UNAUTHORIZED', error: expect.any(String) },
      });
    }
  });

  it('reports to everyone that login is needed', async () => {
    expect(await api.call('GET', '/auth/status', undefined, {})).toMatchObject({
      status: 200,
      body: { enabled: true },
    });
  });

  it('gives tokens the lifetime of the setting', async () => {
    await api.app.app.get(Preferences).write({ 'auth.token_ttl_sec': '60' });
    expect((await api.login()).body.expires_in).toBe(60);
  });
});

describe('an open API', () => {
  it('needs no credentials while login is off, on this machine', async () => {
    const api = await startTestApi({
      prepare: (dataSource) => dataSource.query(`INSERT INTO settings (key, value) VALUES ('auth.enabled', 'false')`),
    });
    try {
      expect((await api.call('GET', '/auth/status', undefined, {})).body).toEqual({ enabled: false });
      expect((await api.call('POST', '/rules', { type: 'MATCH', target: 'DIRECT' }, {})).status).toBe(201);
      expect((await api.call('GET', '/api-keys', undefined, {})).status).toBe(200);
      for (const foreign of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
        expect((await api.call('POST', '/api-keys', undefined, foreign)).status, JSON.stringify(foreign)).toBe(403);
      }
      // As another replica would do.
      await api.dataSource.query(`UPDATE settings SET value = 'true'`);
      await api.dataSource.query(`SELECT pg_notify('proxy_gateway_settings', '')`);
      await waitFor(async () => (await api.call('GET', '/rules', undefined, {})).status === 401);
    } finally {
      await api.close();
    }
  });

  const loginOff = {
    prepare: (dataSource: TestApi['dataSource']) =>
      dataSource.query(`INSERT INTO settings (key, value) VALUES ('auth.enabled', 'false')`),
  };

  it('does not start where others can reach it', async () => {
    await expect(startTestApi({ ...loginOff, settings: { bindAddress: '0.0.0.0' } })).rejects.toThrow(
      /PROXY_GATEWAY_ALLOW_OPEN/,
    );
  });

  it('starts there when that is allowed explicitly', async () => {
    const api = await startTestApi({ ...loginOff, settings: { bindAddress: '0.0.0.0', allowOpen: true } });
    expect((await api.call('GET', '/rules', undefined, {})).status).toBe(200);
    await api.close();
  });

  it('stays closed when login is switched off on a reachable address', async () => {
    const api = await startTestApi({ settings: { bindAddress: '0.0.0.0' } });
    await api.app.app.get(Preferences).write({ 'auth.enabled': 'false' });
    expect((await api.call('GET', '/auth/status', undefined, {})).body).toEqual({ enabled: true });
    expect((await api.call('GET', '/rules', undefined, {})).status).toBe(401);
    await api.close();
  });
});

describe('API keys', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  const create = async (body: object = {}) => (await api.call('POST', '/api-keys', body)).body;

  it('shows a key once, when it is made, and stores only its hash', async () => {
    const answer = await api.call('POST', '/api-keys', { name: 'phone' });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      id: expect.any(Number),
      name: 'phone',
      key: expect.stringMatching(/^gpk_[0-9A-Za-z]{49}$/),
      key_prefix: 'gpk_',
      last_four: answer.body.key.slice(-4),
      scopes: ['read', 'write', 'admin'],
      created_at: expect.stringMatching(/Z$/),
      last_used_at: null,
      last_used_ip: null,
      expires_at: null,
      revoked_at: null,
    });
    const { key, ...listed } = answer.body;
    const list = await api.call('GET', '/api-keys');
    expect(list.body).toEqual({ items: [listed], total: 1, limit: 500, offset: 0 });
    const [row] = await api.dataSource.query('SELECT * FROM api_keys');
    expect(JSON.stringify(row)).not.toContain(key);
  });

  it('is accepted in each of its two headers', async () => {
    const { key } = await create();
    for (const headers of [bearer(key), { 'x-api-key': key }, { ...bearer(key), 'x-api-key': key }]) {
      expect((await api.call('GET', '/rules', undefined, headers)).status).toBe(200);
    }
  });

  it('refuses two different credentials in one request', async () => {
    const { key } = await create();
    const token = (await api.login()).body.token as string;
    const answer = await api.call('GET', '/rules', undefined, { ...bearer(token), 'x-api-key': key });
    expect(answer).toMatchObject({ status: 400, body: { code: 'CREDENTIALS_CONFLICT' } });
  });

  it('stops working the moment it is revoked', async () => {
    const { key, id } = await create();
    expect((await api.call('GET', '/rules', undefined, bearer(key))).status).toBe(200);
    const answer = await api.call('DELETE', `/api-keys/${id}`);
    expect(answer).toMatchObject({ status: 200, body: { id, revoked_at: expect.stringMatching(/Z$/) } });
    expect((await api.call('GET', '/rules', undefined, bearer(key))).status).toBe(401);
    expect((await api.call('DELETE', `/api-keys/${id}`)).status).toBe(404);
    expect((await api.call('GET', '/api-keys')).body.items.map((item: { id: number }) => item.id)).not.toContain(id);
  });

  it.each([
    ['/api-keys/999999', 404],
    ['/api-keys/0', 404],
    ['/api-keys/9223372036854775807', 404],
    ['/api-keys/abc', 400],
    ['/api-keys/1.5', 400],
  ])('answers DELETE %s with %i', async (path, status) => {
    expect((await api.call('DELETE', path)).status).toBe(status);
  });

  it('expires', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { key, id, expires_at } = await create({ expires_at: expiresAt });
    expect(expires_at).toBe(expiresAt);
    await api.dataSource.query(`UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = $1`, [id]);
    expect((await api.call('GET', '/rules', undefined, bearer(key))).status).toBe(401);
  });

  it.each([
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ expires_at: '2099-01-01' }, 'expires_at'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
    [{ expires_at: 4_000_000_000 }, 'expires_at'],
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['root'] }, 'scopes'],
    [{ scopes: 'read' }, 'scopes'],
    [{ name: '' }, 'name'],
    [{ name: 'a'.repeat(101) }, 'name'],
    [{ key: 'gpk_mine' }, 'key'],
  ])('refuses %j', async (body, field) => {
    const answer = await api.call('POST', '/api-keys', body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_ARGUMENT' } });
    expect(answer.body.details.map((detail: { field: string }) => detail.field)).toContain(field);
  });

  it('refuses a huge list of scopes without blocking other requests', async () => {
    const began = performance.now();
    const scopes = Array.from({ length: 100_000 }, (_, index) => index);
    expect((await api.call('POST', '/api-keys', { scopes })).status).toBe(400);
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  it.each<[string[], string, string, number]>([
    [['read'], 'GET', '/rules', 200],
    [['read'], 'GET', '/dashboard', 200],
    [['read'], 'GET', '/connections', 200],
    [['read'], 'GET', '/traffic-logs', 200],
    [['read'], 'POST', '/rules', 403],
    [['read'], 'PUT', '/rules/1', 403],
    [['read'], 'DELETE', '/rules/1', 403],
    [['read'], 'DELETE', '/connections', 403],
    [['read'], 'GET', '/api-keys', 403],
    [['read'], 'POST', '/api-keys', 403],
    [['write'], 'GET', '/rules', 200],
    [['write'], 'DELETE', '/connections', 200],
    [['write'], 'GET', '/api-keys', 403],
    [['write'], 'DELETE', '/api-keys/1', 403],
    [['admin'], 'GET', '/rules', 200],
    [['admin'], 'GET', '/api-keys', 200],
  ])('with the scopes %j: %s %s answers %i', async (scopes, method, path, status) => {
    const { key } = await create({ scopes });
    const body = method === 'POST' || method === 'PUT' ? {} : undefined;
    expect((await api.call(method, path, body, bearer(key))).status).toBe(status);
  });

  it('remembers when and from where it was last used', async () => {
    const { key, id } = await create();
    await api.call('GET', '/rules', undefined, { ...bearer(key), ...from('203.0.113.77') });
    await waitFor(
      async () => {
        const list = await api.call('GET', '/api-keys');
        const used = list.body.items.find((item: { id: number }) => item.id === id);
        return used.last_used_at !== null && used.last_used_ip === '203.0.113.77';
      },
      { timeoutMs: 10_000, intervalMs: 200 },
    );
  });
});
