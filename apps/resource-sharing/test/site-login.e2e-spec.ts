import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SessionStore, type Session } from '@gatehouse/auth';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SESSION_LIFETIME } from '../src/site/session-settings.js';
import { startSite, type SiteApp } from './site-app.js';

describe('the first administrator', () => {
  it('gets a password of their own when none is given', async () => {
    await using site = await startSite();
    const password = readFileSync(join(site.home, 'first-login.txt'), 'utf8').trim();
    const answer = await request(site.url).post('/api/site/login').send({ username: 'admin', password });
    expect(answer.status).toBe(200);
    expect(site.logs.map(({ message }) => message)).toContain('the first administrator was created');
    expect(JSON.stringify(site.logs)).not.toContain(password);
  });
});

it('shows strangers neither the name of the first account nor where its password is', async () => {
  await using site = await startSite({ GATEHOUSE_ADMIN_PASSWORD: 'correct horse battery' });
  for (const path of ['/', '/login', '/register']) {
    const { text } = await request(site.url).get(path);
    expect(text, path).not.toMatch(/<code>admin<|GATEHOUSE_ADMIN_PASSWORD|first-login/);
  }
});

describe('site login', () => {
  let site: SiteApp;
  const password = 'correct horse battery';
  const logIn = (username: string, secret: string): request.Test =>
    request(site.url).post('/api/site/login').send({ username, password: secret });

  beforeAll(async () => {
    site = await startSite({ GATEHOUSE_ADMIN_PASSWORD: password, TRUSTED_PROXIES: '127.0.0.1' });
  });
  afterAll(() => site.close());

  it('opens a session, shows the account, and ends the session', async () => {
    const answer = await logIn('Admin', password);
    expect(answer.body).toMatchObject({
      success: true,
      code: '200',
      data: { username: 'admin', role: 'administrator', email: null },
    });
    expect(answer.text).not.toContain('argon2');
    const [cookie = ''] = answer.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/^gatehouse_site=[\w-]{43}; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Lax$/);

    const session = cookie.split(';')[0] ?? '';
    const me = await request(site.url).get('/api/site/me').set('Cookie', session);
    expect(me.body).toMatchObject({ success: true, data: { username: 'admin' } });

    const out = await request(site.url).post('/api/site/logout').set('Cookie', session);
    expect(out.body).toEqual({ success: true, code: '200', message: 'success', data: null });
    expect(out.headers['set-cookie']?.[0]).toContain('Max-Age=0');
    expect((await request(site.url).get('/api/site/me').set('Cookie', session)).status).toBe(401);
  });

  it('reveals nothing about names: both answers are the same', async () => {
    const unknown = await logIn('nobody', password).set('X-Forwarded-For', '198.51.100.1');
    const wrong = await logIn('admin', 'wrong password').set('X-Forwarded-For', '198.51.100.1');
    for (const answer of [unknown, wrong]) {
      expect(answer.status).toBe(401);
      expect(answer.body).toMatchObject({ success: false, code: 'LOGIN_FAILED', data: null });
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
    expect({ ...unknown.body, request_id: '' }).toEqual({ ...wrong.body, request_id: '' });
  });

  it('refuses the sixth failure of one client behind a trusted proxy, and no other client', async () => {
    const from = (address: string): request.Test => logIn('admin', 'guess').set('X-Forwarded-For', address);
    for (let count = 0; count < 5; count++) expect((await from('203.0.113.7')).status).toBe(401);
    const refused = await from('203.0.113.7');
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ success: false, code: 'RATE_LIMIT_EXCEEDED' });
    expect(refused.headers['retry-after']).toMatch(/^\d+$/);
    expect((await from('203.0.113.8')).status).toBe(401);
    expect((await logIn('admin', password)).status).toBe(200);
  });

  it.each([
    ['login', { username: 'admin', password }],
    ['register', { username: 'planted', password: 'another long one' }],
  ])('takes no form of another site for a %s', async (path, form) => {
    const send = (headers: Record<string, string>): request.Test =>
      request(site.url).post(`/api/site/${path}`).set(headers).type('form').send(form);
    for (const headers of [
      { 'Sec-Fetch-Site': 'cross-site' },
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
    ]) {
      const answer = await send(headers);
      expect([answer.status, answer.headers['set-cookie']]).toEqual([403, undefined]);
    }
    expect((await send({ 'Sec-Fetch-Site': 'same-origin', Origin: site.url })).status).toBe(200);
  });

  it('answers 400 to NUL in texts, wherever they come from', async () => {
    const cookie = (await logIn('admin', password)).headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    expect((await logIn('ad\0min', password)).status).toBe(400);
    for (const path of ['/api/site/events?type=%00', '/api/site/admin/users?search=%00', '/developer/%00']) {
      const answer = await request(site.url).get(path).set('Cookie', cookie);
      expect([path, answer.status]).toEqual([path, 400]);
    }
  });

  it('stays logged in for fourteen days after the last use, and for ninety in all', async () => {
    const day = 86_400_000;
    const open = async (): Promise<{ cookie: string; id: number }> => {
      const cookie = (await logIn('admin', password)).headers['set-cookie']?.[0]?.split(';')[0] ?? '';
      const list = await request(site.url).get('/api/site/sessions').set('Cookie', cookie);
      const current = (list.body as { data: { id: number; current: boolean }[] }).data.find((one) => one.current);
      return { cookie, id: current?.id ?? 0 };
    };
    const sql = site.app.get(DataSource);
    const daysLeft = async (id: number): Promise<number> => {
      const [row] = (await sql.query('SELECT expires_at FROM sessions WHERE id = $1', [id])) as { expires_at: Date }[];
      return ((row?.expires_at.getTime() ?? 0) - Date.now()) / day;
    };
    // A second replica has no memory of what the first has seen.
    const used = async (cookie: string): Promise<Session | undefined> =>
      new SessionStore(sql, { channel: 'test', ...SESSION_LIFETIME }).verify(cookie.slice(cookie.indexOf('=') + 1));

    const idle = await open();
    expect(await daysLeft(idle.id)).toBeCloseTo(14, 2);
    await sql.query("UPDATE sessions SET expires_at = now() + interval '1 day' WHERE id = $1", [idle.id]);
    expect(await used(idle.cookie)).toBeDefined();
    expect(await daysLeft(idle.id)).toBeCloseTo(14, 2);
    await sql.query(
      "UPDATE sessions SET created_at = now() - interval '85 days', expires_at = now() + interval '1 day' WHERE id = $1",
      [idle.id],
    );
    expect(await used(idle.cookie)).toBeDefined();
    expect(await daysLeft(idle.id)).toBeCloseTo(5, 2);
    await sql.query("UPDATE sessions SET expires_at = now() - interval '1 second' WHERE id = $1", [idle.id]);
    expect(await used(idle.cookie)).toBeUndefined();
  });

  it('replaces a session by a new login', async () => {
    const first = await logIn('admin', password);
    const old = first.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    await logIn('admin', password).set('Cookie', old);
    expect((await request(site.url).get('/api/site/me').set('Cookie', old)).status).toBe(401);
  });

  it('asks for a login with the envelope of the service', async () => {
    const answer = await request(site.url).get('/api/site/me');
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({ success: false, code: '401', data: null });
  });

  it.each([
    ['get', '/api/open/nothing', 404, '404'],
    ['delete', '/api/site/me', 405, '405'],
  ] as const)('answers %s %s in the envelope', async (method, path, status, code) => {
    const answer = await request(site.url)[method](path);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ success: false, code });
  });

  it('names bad fields', async () => {
    const answer = await request(site.url).post('/api/site/login').send({ username: 5, admin: true });
    expect(answer.status).toBe(400);
    const { details } = answer.body as { details: { field: string }[] };
    expect(new Set(details.map(({ field }) => field))).toEqual(new Set(['username', 'password', 'admin']));
  });

  it('uses a __Host- cookie where the site is reached over HTTPS', async () => {
    await using secure = await startSite({
      GATEHOUSE_ADMIN_PASSWORD: password,
      RESOURCE_SHARING_PUBLIC_URL: 'https://share.example.org',
    });
    const answer = await request(secure.url).post('/api/site/login').send({ username: 'admin', password });
    expect(answer.headers['set-cookie']?.[0]).toMatch(/^__Host-gatehouse_site=.*; Path=\/; .*; Secure$/);
  });
});

describe('operations', () => {
  it('is ready, describes itself and counts', async () => {
    await using site = await startSite();
    expect((await request(site.url).get('/readyz')).body).toMatchObject({
      status: 'ok',
      checks: { database: { ok: true } },
    });
    const { body } = await request(site.url).get('/api/open/openapi.json');
    expect(body).toMatchObject({ openapi: '3.1.0', info: { title: 'Resource-Sharing Open API' } });
    expect(Object.keys((body as { paths: object }).paths)).toContain('/api/site/login');
    expect((await request(site.url).get('/metrics')).text).toContain('route="/api/open/openapi.json",status="200"');
  });
});
