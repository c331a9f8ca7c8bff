import { argon2Sync, randomBytes } from 'node:crypto';
import { waitFor } from '@gatehouse/testing';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SitePasswords } from '../src/site/site-passwords.js';
import { startOpenSite } from './support/open-site.js';
import { PASSWORD, ThirdParty, type RegisteredApp } from './support/third-party.js';
import type { SiteApp } from './site-app.js';

const newName = (): string => `person-${randomBytes(5).toString('hex')}`;

/** Made with less than what is asked for today. */
function weakHash(message: string): string {
  const nonce = randomBytes(16);
  const tag = argon2Sync('argon2id', { message, nonce, memory: 8, passes: 1, parallelism: 1, tagLength: 32 });
  const [salt, hash] = [nonce, tag].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
  return `$argon2id$v=19$m=8,t=1,p=1$${salt}$${hash}`;
}

describe('accounts of the site', () => {
  let site: SiteApp;
  let people: ThirdParty;

  const register = (body: object, address = '198.51.100.1'): request.Test =>
    request(site.url).post('/api/site/register').set('X-Forwarded-For', address).send(body);
  const cookieOf = (answer: request.Response): string => answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const me = (cookie: string): request.Test => request(site.url).get('/api/site/me').set('Cookie', cookie);
  const member = async (): Promise<{ id: number; name: string; cookie: string }> => {
    const user = await people.user(newName());
    return { ...user, cookie: await people.cookie(user.name) };
  };

  beforeAll(async () => {
    site = await startOpenSite({ TRUSTED_PROXIES: '127.0.0.1', SITE_REGISTRATIONS_PER_HOUR: '3' });
    people = new ThirdParty(site);
  });
  afterAll(() => site.close());

  it('registers a member, who is logged in at once', async () => {
    const username = newName();
    const answer = await register({ username, email: `${username}@example.org`, password: PASSWORD });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      success: true,
      data: { username, email: `${username}@example.org`, role: 'member', permissions: [], premium_until: null },
    });
    expect((await me(cookieOf(answer))).body).toMatchObject({ data: { username } });
  });

  it.each([
    ['a name of two letters', { username: 'ab' }, 'username'],
    ['a number as a name', { username: '12345' }, 'username'],
    ['a name with markup', { username: '<script>' }, 'username'],
    ['the name of deleted accounts', { username: 'deleted:1' }, 'username'],
    ['no email address', { email: 'nobody' }, 'email'],
    ['a short password', { password: 'short' }, 'password'],
    ['a repeated password', { password: 'abcabcabcabc' }, 'password'],
    ['a role', { role: 'administrator' }, 'role'],
  ])('refuses %s', async (_, wrong, field) => {
    const answer = await register({ username: newName(), password: PASSWORD, ...wrong }, '198.51.100.2');
    expect(answer.status).toBe(400);
    const { details } = answer.body as { details: { field: string }[] };
    expect(new Set(details.map((detail) => detail.field))).toEqual(new Set([field]));
  });

  it('refuses a password that holds the name', async () => {
    const username = newName();
    const answer = await register({ username, password: `my ${username.toUpperCase()}!` }, '198.51.100.3');
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ details: [{ field: 'password' }] });
  });

  it('refuses a taken name in any case, and reveals no email address', async () => {
    const taken = newName();
    await register({ username: taken, email: `${taken}@example.org`, password: PASSWORD }, '198.51.100.4');
    const name = await register({ username: taken.toUpperCase(), password: PASSWORD }, '198.51.100.4');
    const email = await register(
      { username: newName(), email: `${taken.toUpperCase()}@example.org`, password: PASSWORD },
      '198.51.100.4',
    );
    expect([name.status, email.status]).toEqual([409, 200]);
  });

  it('makes three accounts an hour for one address, and goes on for another', async () => {
    for (let count = 0; count < 3; count++) {
      expect((await register({ username: newName(), password: PASSWORD }, '203.0.113.5')).status).toBe(200);
    }
    const refused = await register({ username: newName(), password: PASSWORD }, '203.0.113.5');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_000);
    expect((await register({ username: newName(), password: PASSWORD }, '203.0.113.6')).status).toBe(200);
  });

  it('registers nobody where the settings say so', async () => {
    await using closed = await startOpenSite({ SITE_REGISTRATIONS_PER_HOUR: '0' });
    const body = { username: newName(), password: PASSWORD };
    expect((await request(closed.url).post('/api/site/register').send(body)).status).toBe(403);
  });

  it('changes the password: other sessions and refresh tokens end, this browser stays', async () => {
    const { id, name, cookie } = await member();
    const other = await people.cookie(name);
    const app = await people.register(id);
    const tokens = await people.tokens(app, id);
    const change = (current: string): request.Test =>
      request(site.url)
        .post('/api/site/me/password')
        .set('Cookie', cookie)
        .send({ current_password: current, new_password: 'another battery horse' });
    expect((await change('wrong')).body).toMatchObject({ success: false, code: 'LOGIN_FAILED' });
    expect((await me(other)).status).toBe(200);

    const answer = await change(PASSWORD);
    expect(answer.status).toBe(200);
    expect((await me(other)).status).toBe(401);
    expect((await me(cookie)).status).toBe(401);
    expect((await me(cookieOf(answer))).status).toBe(200);
    expect((await people.refresh(app, tokens.refresh_token)).body).toMatchObject({ error: 'invalid_grant' });
    const called = await people.probe('unlock', app.secret, tokens.access_token);
    expect(called.body).toMatchObject({ code: 'OPENAPI_REAUTH_REQUIRED' });
    const login = (password: string): request.Test =>
      request(site.url).post('/api/site/login').send({ username: name, password });
    expect((await login(PASSWORD)).status).toBe(401);
    expect((await login('another battery horse')).status).toBe(200);
  });

  it('lists sessions with their address and browser, and ends one of them', async () => {
    const { name, cookie } = await member();
    const login = await request(site.url)
      .post('/api/site/login')
      .set('X-Forwarded-For', '203.0.113.77')
      .set('User-Agent', 'Phone/1.0')
      .send({ username: name, password: PASSWORD });
    const list = await request(site.url).get('/api/site/sessions').set('Cookie', cookie);
    const { data } = list.body as { data: { id: number; current: boolean; ip: string; user_agent: string }[] };
    expect(data.map(({ current }) => current)).toEqual([false, true]);
    expect(data[0]).toMatchObject({ ip: '203.0.113.77', user_agent: 'Phone/1.0' });
    expect(list.text).not.toMatch(/token/);
    const ended = await request(site.url).delete(`/api/site/sessions/${data[0]?.id}`).set('Cookie', cookie);
    expect(ended.status).toBe(200);
    expect((await me(cookieOf(login))).status).toBe(401);
    expect((await me(cookie)).status).toBe(200);
  });

  it('does not end a session of another account', async () => {
    const victim = await member();
    const { cookie } = await member();
    const list = await request(site.url).get('/api/site/sessions').set('Cookie', victim.cookie);
    const [session] = (list.body as { data: { id: number }[] }).data;
    const answer = await request(site.url).delete(`/api/site/sessions/${session?.id}`).set('Cookie', cookie);
    expect(answer.status).toBe(404);
    expect((await me(victim.cookie)).status).toBe(200);
  });

  it('logs out everywhere, applications included', async () => {
    const { id, name, cookie } = await member();
    const other = await people.cookie(name);
    const app = await people.register(id);
    const tokens = await people.tokens(app, id);
    const answer = await request(site.url).delete('/api/site/sessions').set('Cookie', cookie);
    expect(answer.headers['set-cookie']?.[0]).toContain('Max-Age=0');
    for (const ended of [cookie, other]) expect((await me(ended)).status).toBe(401);
    expect((await people.refresh(app, tokens.refresh_token)).body).toMatchObject({ code: 'OPENAPI_REAUTH_REQUIRED' });
  });

  it('changes the profile, clears what is null, and keeps the rest', async () => {
    const { name, cookie } = await member();
    const patch = (body: object): request.Test =>
      request(site.url).patch('/api/site/me').set('Cookie', cookie).send(body);
    const changed = await patch({
      nickname: ' Ada ',
      email: `${name}@example.org`,
      avatar_url: 'https://a.example/1.png',
    });
    expect(changed.body).toMatchObject({ data: { nickname: 'Ada', email: `${name}@example.org` } });
    expect((await patch({ email: null })).body).toMatchObject({
      data: { nickname: 'Ada', email: null, avatar_url: 'https://a.example/1.png' },
    });
    for (const wrong of [{ nickname: ' ' }, { nickname: null }, { avatar_url: 'javascript:alert(1)' }, { role: 'x' }]) {
      expect((await patch(wrong)).status, JSON.stringify(wrong)).toBe(400);
    }
    const other = await member();
    await patch({ email: `${name}@example.org` });
    const taken = await request(site.url)
      .patch('/api/site/me')
      .set('Cookie', other.cookie)
      .send({ email: `${name.toUpperCase()}@EXAMPLE.org` });
    expect(taken.status).toBe(200);
  });

  it('changes a profile thirty times an hour', async () => {
    const { cookie } = await member();
    const patch = (nickname: string, as = cookie): request.Test =>
      request(site.url).patch('/api/site/me').set('Cookie', as).send({ nickname });
    for (let count = 0; count < 30; count++) expect((await patch(`Ada ${count}`)).status).toBe(200);
    const refused = await patch('Ada again');
    expect([refused.status, (refused.body as { code: string }).code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_000);
    expect((await patch('Other', (await member()).cookie)).status).toBe(200);
  });

  describe('what acts for an account without a grant', () => {
    const send = (cookie: string, method: 'post' | 'patch' | 'delete', path: string, body?: object): request.Test =>
      request(site.url)[method](`/api/site/${path}`).set('Cookie', cookie).send(body);
    /** A member with a key and an application that acts for them. */
    const armed = async (): Promise<{ cookie: string; key: string; app: RegisteredApp }> => {
      const { id, cookie } = await member();
      const { secret: key } = await people.keys.create(id, { name: 'mine', scopes: ['unlock'] });
      const app = await people.register(id);
      const bind = { bound_to_owner: true, current_password: PASSWORD };
      expect((await send(cookie, 'patch', `applications/${app.clientId}`, bind)).status).toBe(200);
      for (const secret of [key, app.secret]) expect((await people.probe('unlock', secret)).status).toBe(200);
      return { cookie, key, app };
    };
    const change = { current_password: PASSWORD, new_password: 'another battery horse' };

    it('is made with the password only: keys, applications that act for their owner, and their secrets', async () => {
      const { id, cookie } = await member();
      const app = await people.register(id);
      const path = `applications/${app.clientId}`;
      const given = { name: 'mine', scopes: ['unlock'] };
      const without = (await send(cookie, 'post', 'keys', given)).body as {
        code: string;
        details: { field: string }[];
      };
      expect([without.code, without.details[0]?.field]).toEqual(['400', 'current_password']);
      expect((await send(cookie, 'post', 'keys', { ...given, current_password: 'wrong' })).body).toMatchObject({
        code: 'LOGIN_FAILED',
      });
      expect((await send(cookie, 'patch', path, { bound_to_owner: true })).status).toBe(400);
      expect((await send(cookie, 'patch', path, { bound_to_owner: true, current_password: 'wrong' })).status).toBe(401);
      expect((await people.probe('unlock', app.secret)).body).toMatchObject({ code: 'OPENAPI_USER_REQUIRED' });
      expect((await send(cookie, 'post', `${path}/secrets`, {})).status).toBe(200);

      expect((await send(cookie, 'post', 'keys', { ...given, current_password: PASSWORD })).status).toBe(200);
      const bind = { bound_to_owner: true, current_password: PASSWORD };
      expect((await send(cookie, 'patch', path, bind)).status).toBe(200);
      expect((await send(cookie, 'patch', path, { bound_to_owner: true, name: 'Same' })).status).toBe(200);
      expect((await send(cookie, 'post', `${path}/secrets`, {})).status).toBe(400);
      expect((await send(cookie, 'post', `${path}/secrets`, { current_password: PASSWORD })).status).toBe(200);
    });

    it('ends with all logins', async () => {
      const { cookie, key, app } = await armed();
      expect((await send(cookie, 'delete', 'sessions')).status).toBe(200);
      expect((await people.probe('unlock', key)).body).toMatchObject({ code: 'DISABLED_API_KEY' });
      expect((await people.probe('unlock', app.secret)).body).toMatchObject({ code: 'OPENAPI_USER_REQUIRED' });
    });

    it('ends with the password, unless its owner says otherwise', async () => {
      const ended = await armed();
      expect((await send(ended.cookie, 'post', 'me/password', change)).status).toBe(200);
      expect((await people.probe('unlock', ended.key)).status).toBe(401);
      expect((await people.probe('unlock', ended.app.secret)).status).toBe(403);
      const kept = await armed();
      expect((await send(kept.cookie, 'post', 'me/password', { ...change, revoke_keys: false })).status).toBe(200);
      for (const secret of [kept.key, kept.app.secret]) {
        expect((await people.probe('unlock', secret)).status).toBe(200);
      }
    });
  });

  describe('while the password is being changed', () => {
    const next = { current_password: PASSWORD, new_password: 'a third battery horse' };
    const key = { current_password: PASSWORD, name: 'late', scopes: ['meta'] };
    const bind = { current_password: PASSWORD, bound_to_owner: true };
    const aLockIsAwaited = async (): Promise<boolean> => {
      const waiting: unknown[] = await people.sql.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return waiting.length > 0;
    };

    it.each([
      ['a key', 'post', () => 'keys', key],
      ['an application to act for its owner', 'patch', (clientId: string) => `applications/${clientId}`, bind],
      ['another password', 'post', () => 'me/password', next],
      ['a login', 'post', () => 'login', { password: PASSWORD }],
    ] as const)('the former one no longer gets %s', async (_, method, path, body) => {
      const { id, name, cookie } = await member();
      const app = await people.register(id);
      const changing = people.sql.createQueryRunner();
      await changing.startTransaction();
      await changing.query("UPDATE site_accounts SET password_hash = 'changed' WHERE id = $1", [id]);
      await changing.query('DELETE FROM sessions WHERE user_id = $1', [id]);
      const asked = request(site.url)
        [method](`/api/site/${path(app.clientId)}`)
        .set('Cookie', cookie)
        .send(path('') === 'login' ? { ...body, username: name } : body);
      const answer = asked.then((got) => got);
      await waitFor(aLockIsAwaited);
      await changing.commitTransaction();
      await changing.release();
      expect((await answer).body).toMatchObject({ success: false, code: 'LOGIN_FAILED' });
      expect((await answer).headers['set-cookie']).toBeUndefined();
      const left = await people.sql.query(
        `SELECT (SELECT count(*) FROM credentials WHERE user_id = $1) AS keys,
           (SELECT count(*) FROM sessions WHERE user_id = $1) AS sessions,
           (SELECT count(*) FROM applications WHERE bound_user_id = $1) AS bound,
           (SELECT password_hash FROM site_accounts WHERE id = $1) AS password`,
        [id],
      );
      expect(left).toEqual([{ keys: 0, sessions: 0, bound: 0, password: 'changed' }]);
    });

    it('rehashing the former one does not bring it back', async () => {
      const { id, name } = await member();
      const passwords = site.app.get(SitePasswords);
      const weak = weakHash(PASSWORD);
      await people.sql.query('UPDATE site_accounts SET password_hash = $2 WHERE id = $1', [id, weak]);
      const changing = people.sql.createQueryRunner();
      await changing.startTransaction();
      await changing.query("UPDATE site_accounts SET password_hash = 'changed' WHERE id = $1", [id]);
      const verified = passwords.login(name, { password: PASSWORD }, '203.0.113.30');
      await waitFor(aLockIsAwaited);
      await changing.commitTransaction();
      await changing.release();
      await verified;
      const [row] = await people.sql.query('SELECT password_hash FROM site_accounts WHERE id = $1', [id]);
      expect(row).toEqual({ password_hash: 'changed' });
    });
  });

  it('deletes an account with everything that acts for it, and keeps nothing personal', async () => {
    const { id, name, cookie } = await member();
    const app = await people.register(id);
    const key = await people.keys.create(id, { name: 'mine', scopes: ['meta'] });
    expect((await people.probe('meta', key.secret)).status).toBe(200);
    const remove = (password: string): request.Test =>
      request(site.url).post('/api/site/me/delete').set('Cookie', cookie).send({ password });
    expect((await remove('wrong')).status).toBe(401);
    expect((await remove(PASSWORD)).status).toBe(200);
    expect((await me(cookie)).status).toBe(401);
    expect((await people.probe('meta', key.secret)).status).toBe(401);
    expect((await people.probe('meta', app.secret)).status).toBe(401);
    const login = await request(site.url).post('/api/site/login').send({ username: name, password: PASSWORD });
    expect(login.status).toBe(401);
    const [row] = (await people.sql.query('SELECT * FROM site_accounts WHERE id = $1', [id])) as object[];
    expect(row).toMatchObject({ username: `deleted:${id}`, nickname: 'deleted', email: null, password_hash: '' });
    expect((await register({ username: name, password: PASSWORD }, '203.0.113.9')).status).toBe(200);
  });

  it('shows an account its own events and no others', async () => {
    const [one, other] = [await member(), await member()];
    await request(site.url).patch('/api/site/me').set('Cookie', other.cookie).send({ nickname: 'Other' });
    await request(site.url).patch('/api/site/me').set('Cookie', one.cookie).send({ nickname: 'One' });
    const events = await request(site.url).get(`/api/site/events?user_id=${other.id}`).set('Cookie', one.cookie);
    expect(events.status).toBe(400);
    const own = await request(site.url).get('/api/site/events').set('Cookie', one.cookie);
    expect((own.body as { data: object[] }).data).toEqual([
      expect.objectContaining({ type: 'user.profile_changed', user_id: one.id, details: { fields: ['nickname'] } }),
    ]);
  });

  it('keeps one administrator of two who go at once', async () => {
    const two = [await member(), await member()];
    const ids = two.map(({ id }) => id);
    await people.sql.query("UPDATE site_accounts SET role = 'member' WHERE role = 'administrator'");
    await people.sql.query("UPDATE site_accounts SET role = 'administrator' WHERE id = ANY ($1)", [ids]);
    const answers = await Promise.all(
      two.map(({ cookie }) =>
        request(site.url).post('/api/site/me/delete').set('Cookie', cookie).send({ password: PASSWORD }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409]);
  });

  it('keeps the last administrator', async () => {
    await using fresh = await startOpenSite({ GATEHOUSE_ADMIN_PASSWORD: PASSWORD });
    const login = await request(fresh.url).post('/api/site/login').send({ username: 'admin', password: PASSWORD });
    const answer = await request(fresh.url)
      .post('/api/site/me/delete')
      .set('Cookie', cookieOf(login))
      .send({ password: PASSWORD });
    expect(answer.status).toBe(409);
  });

  it.each(['/api/site/me/password', '/api/site/me/delete', '/api/site/logout'])(
    'refuses a request to %s that another site caused',
    async (path) => {
      const { cookie } = await member();
      const send = (): request.Test => request(site.url).post(path).set('Cookie', cookie).send({});
      expect((await send().set('Origin', 'https://evil.example')).status).toBe(403);
      expect((await send().set('Sec-Fetch-Site', 'cross-site')).status).toBe(403);
    },
  );
});
