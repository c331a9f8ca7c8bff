import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SessionStore } from '@gatehouse/auth';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Users } from '../src/users/users.service.js';
import { startGateway, type GatewayApp } from './gateway-app.js';

const LOGIN = '/api/v1/auth/login';
const ME = '/api/v1/auth/me';

describe('the first administrator', () => {
  it('gets a generated password when none is given', async () => {
    await using gateway = await startGateway();
    const password = readFileSync(join(gateway.home, 'first-login.txt'), 'utf8').trim();
    const answer = await request(gateway.url).post(LOGIN).send({ username: 'admin', password });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ user: { username: 'admin', role: 'admin', status: 1 } });
  });
});

describe('console login', () => {
  let gateway: GatewayApp;
  const password = 'correct horse battery';
  const logIn = (secret = password, more: object = {}): request.Test =>
    request(gateway.url)
      .post(LOGIN)
      .send({ username: 'admin', password: secret, ...more });
  const me = (headers: Record<string, string>): request.Test => request(gateway.url).get(ME).set(headers);

  beforeAll(async () => {
    gateway = await startGateway({ GATEHOUSE_ADMIN_PASSWORD: password, TRUSTED_PROXIES: '127.0.0.1' });
  });
  afterAll(() => gateway.close());

  it('sets a cookie only on request', async () => {
    for (const more of [{}, { cookie: false }]) {
      const answer = await logIn(password, more);
      expect([answer.status, answer.headers['set-cookie']]).toEqual([200, undefined]);
    }
    expect((await logIn(password, { cookie: 'yes' })).status).toBe(422);
  });

  it('accepts a bearer token and a cookie', async () => {
    const answer = await logIn(password, { cookie: true });
    const { token, expires_at } = answer.body as { token: string; expires_at: string };
    expect(Date.parse(expires_at)).toBeGreaterThan(Date.now());
    const [cookie = ''] = answer.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/^gw_session=[\w-]{43}; .*HttpOnly; SameSite=Lax$/);
    for (const headers of [{ authorization: `Bearer ${token}` }, { cookie: cookie.split(';')[0] ?? '' }]) {
      expect((await me(headers)).body).toMatchObject({ username: 'admin', role: 'admin' });
    }
    expect(answer.text).not.toContain('argon2');
  });

  it('stores only a hash of the token', async () => {
    const { token } = (await logIn()).body as { token: string };
    const rows = await gateway.app.get(DataSource).query('SELECT * FROM tunnel_gateway.sessions');
    expect(rows).not.toHaveLength(0);
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  it('ends the session on logout', async () => {
    const { token } = (await logIn()).body as { token: string };
    const headers = { authorization: `Bearer ${token}` };
    expect((await request(gateway.url).post('/api/v1/auth/logout').set(headers)).status).toBe(204);
    expect((await me(headers)).status).toBe(401);
  });

  it('answers failures as RFC 9457 problems', async () => {
    const wrong = await logIn('wrong').set('X-Forwarded-For', '198.51.100.1');
    expect(wrong.status).toBe(401);
    expect(wrong.headers['content-type']).toContain('application/problem+json');
    expect(wrong.body).toMatchObject({ type: '/docs/errors#login_failed', status: 401, code: 'login_failed' });
    expect((await me({})).body).toMatchObject({ status: 401, code: 'unauthorized' });
    const invalid = await request(gateway.url).post(LOGIN).send({ username: '', extra: 1 });
    expect(invalid.status).toBe(422);
    expect(invalid.body).toMatchObject({ code: 'validation_failed' });
    const malformed = await request(gateway.url).post(LOGIN).set('Content-Type', 'application/json').send('{');
    expect(malformed.status).toBe(400);
    expect((await request(gateway.url).get('/api/v1/nothing')).body).toMatchObject({ code: 'not_found' });
  });

  it('refuses the sixth failure from one address', async () => {
    const attempt = (): request.Test => logIn('guess').set('X-Forwarded-For', '203.0.113.7');
    for (let count = 0; count < 5; count++) expect((await attempt()).status).toBe(401);
    const refused = await attempt();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('accepts X-Forwarded-For only from trusted proxies', async () => {
    await using direct = await startGateway({ GATEHOUSE_ADMIN_PASSWORD: password });
    for (let count = 0; count < 6; count++) {
      const answer = await request(direct.url)
        .post(LOGIN)
        .set('X-Forwarded-For', `203.0.113.${count}`)
        .send({ username: 'admin', password: 'guess' });
      expect(answer.status).toBe(count < 5 ? 401 : 429);
    }
  });

  it('ends the sessions of a disabled user at once', async () => {
    const users = gateway.app.get(Users);
    expect(await users.create({ username: 'ada', password: 'analytical', role: 'viewer' })).toBe(true);
    expect(await users.create({ username: 'ada', password: 'analytical', role: 'viewer' })).toBe(false);
    const login = (): request.Test =>
      request(gateway.url).post(LOGIN).send({ username: 'ada', password: 'analytical' });
    const { token, user } = (await login()).body as { token: string; user: { id: number } };
    const headers = { authorization: `Bearer ${token}` };
    expect((await me(headers)).body).toMatchObject({ username: 'ada', role: 'viewer' });
    await gateway.app.get(DataSource).query('UPDATE tunnel_gateway.users SET status = 0 WHERE id = $1', [user.id]);
    await gateway.app.get(SessionStore).endAllOf(user.id);
    expect((await me(headers)).status).toBe(401);
    expect((await login()).status).toBe(401);
  });

  it('is ready, measured and documented', async () => {
    expect((await request(gateway.url).get('/readyz')).status).toBe(200);
    const metrics = (await request(gateway.url).get('/metrics')).text;
    expect(metrics).toContain('route="/api/v1/auth/login"');
    expect(metrics).toContain('tunnel_agent_port_unknown_connections{stage="handshaking"} 0');
    expect(metrics).toMatch(/^tunnel_https_handshakes 0$/m);
    expect(metrics).toMatch(/^tunnel_datagram_sessions_evicted 0$/m);
    const { body } = await request(gateway.url).get('/api/v1/openapi.json');
    expect(body).toMatchObject({ openapi: '3.1.0', info: { title: 'Tunnel Gateway' } });
    expect(Object.keys((body as { paths: object }).paths)).toEqual(
      expect.arrayContaining([LOGIN, '/api/v1/auth/logout', ME]),
    );
  });
});
