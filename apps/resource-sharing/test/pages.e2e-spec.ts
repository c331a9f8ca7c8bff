import { randomBytes } from 'node:crypto';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOpenSite } from './support/open-site.js';
import { PageReader } from './support/page-reader.js';
import { CALLBACK, PASSWORD, ThirdParty } from './support/third-party.js';
import type { SiteApp } from './site-app.js';

const HOSTILE = `<script>alert("x")</script>'&`;
const newName = (): string => `person-${randomBytes(5).toString('hex')}`;

describe('the pages of the site', () => {
  let site: SiteApp;
  let people: ThirdParty;

  const member = async (): Promise<{ id: number; name: string; reader: PageReader }> => {
    const user = await people.user(newName());
    const reader = new PageReader(site.url);
    await reader.logIn(user.name, PASSWORD);
    return { ...user, reader };
  };

  beforeAll(async () => {
    site = await startOpenSite({ SITE_REGISTRATIONS_PER_HOUR: '1000', GATEHOUSE_ADMIN_PASSWORD: PASSWORD });
    people = new ThirdParty(site);
  });
  afterAll(() => site.close());

  describe('every page', () => {
    it.each(['/', '/login', '/register'])('%s runs no script, cannot be framed and is not cached', async (path) => {
      const { status, headers, text } = await request(site.url).get(path);
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
          "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      );
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['cache-control']).toBe('no-store');
      // The only script is a file of the build.
      expect(text.replace(/<script type="module" src="\/assets\/site-[\w-]+\.js"><\/script>/, '')).not.toMatch(
        /<script|<style| style=| on\w+=/i,
      );
      expect(text).toMatch(/<html lang="en" data-theme="system">/);
      expect(text.match(/<h1>/g)).toHaveLength(1);
    });

    it('has one stylesheet, for light and dark', async () => {
      const page = await request(site.url).get('/');
      const [, address = ''] = /<link rel="stylesheet" href="([^"]+)">/.exec(page.text) ?? [];
      const { headers, text } = await request(site.url).get(address);
      expect(headers['content-type']).toMatch(/^text\/css/);
      expect(text).toMatch(/prefers-color-scheme:\s*dark|light-dark\(/);
    });

    it('is in the browser’s language until the reader chooses one', async () => {
      const ask = (path: string, language: string): request.Test =>
        request(site.url).get(path).set('Accept-Language', language);
      const chinese = await ask('/login', 'zh-CN,zh;q=0.9,en;q=0.8');
      expect(chinese.text).toContain('<html lang="zh-CN"');
      expect(chinese.text).toContain('<label for="username">用户名</label>');
      expect(chinese.headers['content-language']).toBe('zh-CN');
      expect((await ask('/login', 'fr')).text).toContain('<html lang="en"');

      const { reader, name } = await member();
      await reader.get('/keys');
      await reader.submit('/preferences', { language: 'zh-CN', theme: 'dark' });
      expect([reader.last?.status, reader.location]).toEqual([303, '/keys']);
      expect(reader.last?.headers['set-cookie']).toEqual([
        expect.stringMatching(/^gatehouse_language=zh-CN; Max-Age=31536000; Path=\/; .*SameSite=Lax/),
        expect.stringMatching(/^gatehouse_theme=dark; /),
      ]);
      await reader.follow();
      expect(reader.page).toContain('<html lang="zh-CN" data-theme="dark">');
      // The account keeps it: another browser that asks for English shows Chinese after signing in.
      const other = new PageReader(site.url);
      await other.get('/login');
      expect(other.page).toContain('<html lang="en" data-theme="system">');
      await other.logIn(name, PASSWORD);
      await other.get('/keys');
      expect(other.page).toContain('<html lang="zh-CN" data-theme="dark">');
      await reader.submit('/preferences', { language: 'x"y', theme: 'pink', return_to: 'https://evil.example/' });
      expect(reader.location).toBe('/');
      await reader.follow();
      expect(reader.page).toContain('<html lang="zh-CN" data-theme="system">');
      await reader.get('/account');
      await reader.submit('/account/profile', { nickname: 'x'.repeat(200), email: 'none' });
      expect(reader.page).toContain('昵称: 不能超过');
      expect(reader.page).toContain('必须是电子邮箱地址');
      expect(reader.page).not.toMatch(/must (?:be|not)/);
    });

    it.each([
      '/account',
      '/developer',
      '/keys',
      '/authorized',
      '/shares',
      '/shares/x',
      '/titles',
      '/unlocked',
      '/points',
      '/admin/users?page=2',
    ])('%s asks for a login and returns to itself', async (path) => {
      const { status, headers } = await request(site.url).get(path);
      expect([status, headers['location']]).toEqual([303, `/login?return_to=${encodeURIComponent(path)}`]);
    });

    it('labels every field, and names its buttons', async () => {
      const { reader } = await member();
      for (const path of ['/login', '/register', '/account', '/developer', '/keys', '/shares']) {
        const { text } = await reader.get(path);
        const ids = [...text.matchAll(/<(?:input|select|textarea)(?! type="hidden")[^>]* id="([^"]+)"/g)].map(
          ([, id]) => id,
        );
        for (const id of ids) expect(text, `${path} ${id}`).toContain(`<label for="${id}"`);
        expect(new Set(ids).size, path).toBe(ids.length);
        expect(text).not.toMatch(/<button[^>]*><\/button>/);
      }
    });

    it('answers unknown addresses and wrong methods in the usual envelope', async () => {
      expect((await request(site.url).get('/nothing')).body).toMatchObject({ success: false, code: '404' });
      expect((await request(site.url).delete('/account')).body).toMatchObject({ success: false, code: '405' });
    });

    it('is not part of the interface description', async () => {
      const { body } = await request(site.url).get('/api/open/openapi.json');
      const paths = Object.keys((body as { paths: object }).paths);
      expect(paths.filter((path) => !/^\/(?:api|oauth2\/|\.well-known)/.test(path))).toEqual([]);
      expect(paths).not.toContain('/oauth2/authorize');
    });
  });

  describe('forms', () => {
    it('are refused without the token of the session', async () => {
      const { reader } = await member();
      for (const _token of ['', 'x', Buffer.alloc(32).toString('base64url')]) {
        const answer = await reader.post('/account/profile', { nickname: 'Mallory', _token });
        expect(answer.status).toBe(403);
      }
      await reader.get('/account');
      expect(reader.page).not.toContain('Mallory');
    });

    it('are refused with the token of another session', async () => {
      const [one, other] = [await member(), await member()];
      const page = (await other.reader.get('/account')).text;
      const _token = /name="_token" value="([^"]+)"/.exec(page)?.[1] ?? '';
      expect(_token).toHaveLength(43);
      expect((await one.reader.post('/account/profile', { nickname: 'Mallory', _token })).status).toBe(403);
      expect((await other.reader.post('/account/profile', { nickname: 'Fine', _token })).status).toBe(303);
    });

    it.each([
      [{ Origin: 'https://evil.example' }, 403],
      [{ 'Sec-Fetch-Site': 'cross-site' }, 403],
      [{ 'Sec-Fetch-Site': 'same-site' }, 403],
      [{ Origin: 'null', 'Sec-Fetch-Site': 'same-origin' }, 303],
    ])('with the headers %j answer %d', async (headers, status) => {
      const { reader } = await member();
      await reader.get('/account');
      const answer = await reader.submit(
        '/account/profile',
        { nickname: 'Ada' },
        { headers: headers as Record<string, string> },
      );
      expect(answer.status).toBe(status);
    });

    it('for a login are tied to the browser too', async () => {
      const reader = new PageReader(site.url);
      const { name } = await people.user(newName());
      await reader.get('/login');
      const stranger = new PageReader(site.url);
      const _token = /name="_token" value="([^"]+)"/.exec(reader.page)?.[1] ?? '';
      expect((await stranger.post('/login', { username: name, password: PASSWORD, _token })).status).toBe(403);
      expect((await reader.submit('/login', { username: name, password: PASSWORD })).status).toBe(303);
    });
  });

  it('warns on every page if its cookies reach other ports', async () => {
    await using shared = await startOpenSite({ RESOURCE_SHARING_PUBLIC_URL: 'http://share.example.org' });
    for (const path of ['/', '/login', '/register', '/developer/nothing']) {
      const { text } = await request(shared.url).get(path).redirects(1);
      expect(text, path).toContain('This site is reached without HTTPS');
    }
    expect((await request(site.url).get('/')).text).not.toContain('reached without HTTPS');
  });

  it('protects forms with a __Host- cookie if the site is reached over HTTPS', async () => {
    await using secure = await startOpenSite({ RESOURCE_SHARING_PUBLIC_URL: 'https://share.example.org' });
    const { headers } = await request(secure.url).get('/login');
    const [cookie] = (headers['set-cookie'] ?? []) as unknown as string[];
    expect(cookie).toMatch(
      /^__Host-gatehouse_visit=[\w-]{43}; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
  });

  describe('registration and login', () => {
    it('registers, shows errors beside the fields, and logs in', async () => {
      const reader = new PageReader(site.url);
      const username = newName();
      await reader.get('/register?return_to=%2Fkeys');
      const wrong = await reader.submit('/register', { username: HOSTILE, email: 'nobody', password: 'short' });
      expect(wrong.status).toBe(400);
      expect(reader.page).toContain('<title>Error: Create account &middot; Gatehouse</title>');
      expect(reader.page).toContain('role="alert" tabindex="-1" autofocus');
      for (const name of ['username', 'email', 'password']) {
        expect(reader.page).toContain(`<a href="#${name}">`);
        expect(reader.page).toMatch(
          new RegExp(`id="${name}"[^>]* aria-describedby="[^"]*${name}-wrong" aria-invalid="true"`),
        );
      }
      expect(reader.page).toContain('value="&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&#39;&amp;"');
      expect(reader.page).not.toContain('<script>');
      await reader.submit('/register', { username, password: PASSWORD });
      expect([reader.last?.status, reader.location]).toEqual([303, '/keys']);
      await reader.follow();
      expect(reader.text).toContain(username);
    });

    it.each(['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)'])(
      'goes to the start page instead of %s',
      async (returnTo) => {
        const { name } = await people.user(newName());
        const reader = new PageReader(site.url);
        await reader.get(`/login?return_to=${encodeURIComponent(returnTo)}`);
        expect(reader.page).not.toContain('evil');
        await reader.submit('/login', { username: name, password: PASSWORD, return_to: returnTo });
        expect(reader.location).toBe('/');
      },
    );

    it('refuses a wrong password and ends a session', async () => {
      const { name, reader } = await member();
      const other = new PageReader(site.url);
      await other.get('/login');
      expect((await other.submit('/login', { username: name, password: 'wrong' })).status).toBe(401);
      expect(other.text).toContain('The user name or the password is wrong');
      await reader.get('/');
      await reader.submit('/logout');
      expect((await reader.get('/account')).status).toBe(303);
    });
  });

  describe('the account', () => {
    it('changes the profile and shows hostile names as text', async () => {
      const { reader } = await member();
      await reader.get('/account');
      await reader.submit('/account/profile', { nickname: HOSTILE, email: '' });
      await reader.follow();
      expect(reader.text).toContain('The profile was saved.');
      expect(reader.page).toContain('value="&lt;script&gt;');
      await reader.get('/');
      expect(reader.text).toContain(`Welcome, ${HOSTILE}`);
      expect(reader.page).not.toContain('<script>');
    });

    it('changes the password, which ends other sessions', async () => {
      const { name, reader } = await member();
      const other = new PageReader(site.url);
      await other.logIn(name, PASSWORD);
      await reader.get('/account');
      await reader.submit('/account/password', { current_password: 'wrong', new_password: 'another battery' });
      expect(reader.last?.status).toBe(401);
      await reader.submit('/account/password', { current_password: PASSWORD, new_password: 'another battery' });
      await reader.follow();
      expect(reader.text).toContain('The password was changed.');
      expect((await other.get('/account')).status).toBe(303);
    });

    it('shows Premium, points, and sessions that can be ended', async () => {
      const { id, name, reader } = await member();
      await people.sql.query("UPDATE site_accounts SET premium_until = 'infinity' WHERE id = $1", [id]);
      await people.sql.query("SELECT ledger_transfer('grant', $1, NULL, $2, 'grants', 250, p_note => $3)", [
        newName(),
        id,
        HOSTILE,
      ]);
      const other = new PageReader(site.url);
      await other.logIn(name, PASSWORD);
      await reader.get('/account');
      expect(reader.text).toContain('Premium lifetime');
      expect(reader.text).toContain('Points 250');
      await reader.get('/points');
      expect(reader.text).toContain(`From an administrator: ${HOSTILE} +250 250`);
      expect(reader.page).not.toContain('<script>');
      await reader.get('/account');
      const action = /action="(\/account\/sessions\/\d+\/end)"/.exec(reader.page)?.[1] ?? '';
      await reader.submit(action);
      expect((await other.get('/account')).status).toBe(303);
      expect((await reader.get('/account')).status).toBe(200);
      await reader.submit('/account/sessions/end-all');
      expect((await reader.get('/account')).status).toBe(303);
    });

    it('deletes the account after its password', async () => {
      const { reader } = await member();
      await reader.get('/account');
      expect((await reader.submit('/account/delete', { password: 'wrong' })).status).toBe(401);
      await reader.submit('/account/delete', { password: PASSWORD });
      await reader.follow();
      expect(reader.text).toContain('The account was deleted.');
      expect((await reader.get('/account')).status).toBe(303);
    });
  });

  describe('developer pages', () => {
    const register = async (reader: PageReader, more: Record<string, string | string[]> = {}): Promise<string> => {
      await reader.get('/developer');
      await reader.submit('/developer', {
        name: HOSTILE,
        description: HOSTILE,
        kind: 'confidential',
        redirect_uris: `${CALLBACK}\r\nhttps://client.example/two`,
        scopes: ['meta', 'query'],
        ...more,
      });
      if (reader.last?.status === 303) await reader.follow();
      return /<code>(app_\w+)<\/code>/.exec(reader.page)?.[1] ?? '';
    };

    it('register an application, whose secret is shown once', async () => {
      const { reader } = await member();
      const clientId = await register(reader);
      expect(reader.page).not.toContain('<script>');
      const secret = /<code>(hk_\w+)<\/code>/.exec(reader.page)?.[1] ?? '';
      expect((await people.probe('meta', secret)).status).toBe(200);
      await reader.get(`/developer/${clientId}`);
      expect(reader.page).not.toContain(secret);
      expect(reader.page).toContain(`${CALLBACK}\nhttps://client.example/two</textarea>`);
      await reader.get('/developer');
      expect(reader.text).toContain(HOSTILE);
      expect(reader.page).not.toContain('<script>');
    });

    it('report what is wrong with an application', async () => {
      const { reader } = await member();
      await register(reader, { name: '', redirect_uris: 'javascript:alert(1)', scopes: [] });
      expect(reader.last?.status).toBe(400);
      expect(reader.page).toContain('<a href="#name">');
      expect(reader.page).toContain('<a href="#scopes">');
      await register(reader, { redirect_uris: 'javascript:alert(1)' });
      expect(reader.page).toContain('<a href="#redirect_uris">');
      expect(reader.page).toContain('>\njavascript:alert(1)</textarea>');
    });

    it('change it, including its test users', async () => {
      const [{ reader }, tester] = [await member(), await people.user(newName())];
      const clientId = await register(reader);
      const path = `/developer/${clientId}`;
      const values = { name: 'New name', description: '', redirect_uris: CALLBACK, scopes: 'meta', ip_allow: '' };
      await reader.submit(path, { ...values, test_users: 'nobody-of-this-name' });
      expect(reader.text).toContain('these users do not exist: nobody-of-this-name');
      await reader.submit(path, {
        ...values,
        test_users: tester.name.toUpperCase(),
        bound_to_owner: 'true',
        current_password: PASSWORD,
      });
      await reader.follow();
      expect(reader.text).toContain('The application was saved.');
      const [row] = (await people.sql.query('SELECT * FROM applications WHERE client_id = $1', [clientId])) as object[];
      expect(row).toMatchObject({ name: 'New name', allowed_scopes: ['meta'], test_user_ids: [String(tester.id)] });
    });

    it('create a second secret, revoke one, and delete the application', async () => {
      const { reader } = await member();
      const clientId = await register(reader);
      const first = /<code>(hk_\w+)<\/code>/.exec(reader.page)?.[1] ?? '';
      await reader.submit(`/developer/${clientId}/secrets`, { overlap_seconds: '3600' });
      await reader.follow();
      const second = /<code>(hk_\w+)<\/code>/.exec(reader.page)?.[1] ?? '';
      expect(second).not.toBe(first);
      for (const secret of [first, second]) expect((await people.probe('meta', secret)).status).toBe(200);
      const ends = [...reader.page.matchAll(/action="(\/developer\/\w+\/secrets\/\d+\/end)"/g)].map(
        ([, path = '']) => path,
      );
      expect(ends).toHaveLength(2);
      await reader.submit(ends[1] ?? '');
      expect((await people.probe('meta', first)).status).toBe(401);
      expect((await people.probe('meta', second)).status).toBe(200);
      await reader.get(`/developer/${clientId}`);
      await reader.submit(`/developer/${clientId}/delete`);
      expect((await people.probe('meta', second)).status).toBe(401);
    });

    it('show how often it was called', async () => {
      const { reader } = await member();
      const clientId = await register(reader);
      expect(reader.text).toContain('No calls in the last 30 days.');
      const secret = /<code>(hk_\w+)<\/code>/.exec(reader.page)?.[1] ?? '';
      const ping = (key: string): request.Test => request(site.url).get('/api/open/ping').set('X-API-Key', key);
      for (let times = 0; times < 3; times++) expect((await ping(secret)).status).toBe(200);
      await reader.get(`/developer/${clientId}`);
      expect(reader.text).toMatch(/GET \/api\/open\/ping 3 0 /);
    });

    it('never show applications of others', async () => {
      const [owner, other] = [await member(), await member()];
      const clientId = await register(owner.reader);
      await other.reader.get('/developer');
      const _token = /name="_token" value="([^"]+)"/.exec(other.reader.page)?.[1] ?? '';
      expect((await other.reader.get(`/developer/${clientId}`)).status).toBe(404);
      for (const path of ['', '/secrets', '/secrets/1/end', '/delete']) {
        const body = { _token, name: 'Mine', redirect_uris: CALLBACK, scopes: 'meta' };
        expect((await other.reader.post(`/developer/${clientId}${path}`, body)).status, path).toBe(404);
      }
    });
  });

  it('creates personal keys, shows them once and revokes them', async () => {
    const { reader } = await member();
    await reader.get('/keys');
    const current_password = PASSWORD;
    expect((await reader.submit('/keys', { name: HOSTILE, scopes: 'meta' })).status).toBe(400);
    expect((await reader.submit('/keys', { name: HOSTILE, scopes: 'meta', current_password: 'wrong' })).status).toBe(
      401,
    );
    expect((await reader.submit('/keys', { name: HOSTILE, scopes: 'vip', current_password })).status).toBe(403);
    expect(reader.page).not.toContain('<script>');
    await reader.submit('/keys', {
      name: HOSTILE,
      scopes: ['meta', 'query'],
      expires_at: '2099-01-01',
      current_password,
    });
    await reader.follow();
    const key = /<code>(hp_\w+)<\/code>/.exec(reader.page)?.[1] ?? '';
    expect((await people.probe('meta', key)).status).toBe(200);
    await reader.get('/keys');
    expect(reader.page).not.toContain(key);
    expect(reader.text).toContain(HOSTILE);
    await reader.submit(/action="(\/keys\/\d+\/end)"/.exec(reader.page)?.[1] ?? '');
    expect((await people.probe('meta', key)).status).toBe(401);
  });

  it('shares a link, lists it and withdraws it', async () => {
    const { reader } = await member();
    await reader.get('/shares');
    const share = { media_type: 'movie', tmdb_id: '550', title: HOSTILE, unlock_points: '5' };
    await reader.submit('/shares', { ...share, url: 'no link' });
    expect(reader.last?.status).toBe(400);
    expect(reader.page).toContain('<a href="#url">');
    const url = `https://115.com/s/${randomBytes(6).toString('hex')}?password=a1b2`;
    await reader.submit('/shares', { ...share, url, unlock_points: 'many' });
    expect(reader.page).toContain('<a href="#unlock_points">');
    await reader.submit('/shares', { ...share, url });
    await reader.follow();
    expect(reader.text).toMatch(/The link was shared\./);
    expect(reader.page).not.toContain('<script>');
    const action = /action="(\/shares\/\w+\/delete)"/.exec(reader.page)?.[1] ?? '';
    const other = await member();
    await other.reader.get('/shares');
    const _token = /name="_token" value="([^"]+)"/.exec(other.reader.page)?.[1] ?? '';
    expect((await other.reader.post(action, { _token })).status).toBe(403);
    await reader.submit(action);
    await reader.follow();
    expect(reader.text).toContain('You have not shared anything yet.');
  });
});
