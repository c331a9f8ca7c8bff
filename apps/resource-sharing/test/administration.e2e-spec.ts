import { randomBytes } from 'node:crypto';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOpenSite } from './support/open-site.js';
import { PageReader } from './support/page-reader.js';
import { CALLBACK, PASSWORD, ThirdParty } from './support/third-party.js';
import type { SiteApp } from './site-app.js';

const HOSTILE = `<script>alert("x")</script>'&`;
const newName = (): string => `person-${randomBytes(5).toString('hex')}`;

interface Layer {
  readonly route?: { readonly path: string; readonly methods: Record<string, boolean> };
}

describe('administration', () => {
  let site: SiteApp;
  let people: ThirdParty;
  let admin: PageReader;
  let adminId: number;

  type Method = 'delete' | 'get' | 'patch' | 'post' | 'put';
  const call = (method: Method, path: string, cookie: string, body?: object): request.Test => {
    const sent = request(site.url)[method](`/api/site/admin${path}`).set('Cookie', cookie);
    return body === undefined ? sent : sent.send(body);
  };
  const asAdmin = (method: Method, path: string, body?: object): request.Test => call(method, path, admin.cookie, body);
  const member = async (): Promise<{ id: number; name: string; reader: PageReader }> => {
    const user = await people.user(newName());
    const reader = new PageReader(site.url);
    await reader.logIn(user.name, PASSWORD);
    return { ...user, reader };
  };
  const share = async (ownerId: number): Promise<string> => {
    const [title] = (await people.sql.query(
      `INSERT INTO titles (media_type, tmdb_id, title) VALUES ('movie', '603', $1)
       ON CONFLICT (media_type, tmdb_id) DO UPDATE SET title = excluded.title RETURNING id`,
      [HOSTILE],
    )) as { id: number }[];
    const key = newName();
    const [row] = (await people.sql.query(
      `INSERT INTO shares (owner_id, movie_id, kind, link_key, url) VALUES ($1, $2, '115', $3, 'https://115.com/s/x')
       RETURNING replace(slug::text, '-', '') AS slug`,
      [ownerId, title?.id, `115:${key}`],
    )) as { slug: string }[];
    return row?.slug ?? '';
  };

  beforeAll(async () => {
    site = await startOpenSite({ GATEHOUSE_ADMIN_PASSWORD: PASSWORD });
    people = new ThirdParty(site);
    admin = new PageReader(site.url);
    await admin.logIn('admin', PASSWORD);
    const { body } = await request(site.url).get('/api/site/me').set('Cookie', admin.cookie);
    adminId = (body as { data: { id: number } }).data.id;
  });
  afterAll(() => site.close());

  describe('is for administrators only', () => {
    const routes = (prefix: string): [Method, string][] => {
      const { stack } = (site.app.getHttpAdapter().getInstance() as unknown as { router: { stack: Layer[] } }).router;
      return stack.flatMap(({ route }) => {
        if (route === undefined || !String(route.path).startsWith(prefix)) return [];
        const path = route.path.replaceAll(/:\w+/g, '1');
        return Object.keys(route.methods).map((method): [Method, string] => [method as Method, path]);
      });
    };

    it('on every route of the interface', async () => {
      const found = routes('/api/site/admin');
      expect(found.length).toBeGreaterThanOrEqual(13);
      const { reader } = await member();
      for (const [method, path] of found) {
        const refused = await request(site.url)[method](path).set('Cookie', reader.cookie);
        expect([method, path, refused.status]).toEqual([method, path, 403]);
        expect(refused.body).toMatchObject({ success: false, code: 'FORBIDDEN' });
        expect((await request(site.url)[method](path)).status, path).toBe(401);
      }
    });

    it('and accepts no key, secret or token there, not even from an administrator', async () => {
      const app = await people.register(adminId);
      await people.bind(adminId, app.clientId);
      const key = await people.keys.create(adminId, { name: 'all', scopes: ['meta', 'query', 'unlock', 'write'] });
      const { access_token: token } = await people.tokens(app, adminId);
      const [, session = ''] = /gatehouse_site=([^;]+)/.exec(admin.cookie) ?? [];
      const refused = {
        'a personal key': { 'X-API-Key': key.secret },
        'a personal key as bearer': { Authorization: `Bearer ${key.secret}` },
        'an application that acts for its owner': { 'X-API-Key': app.secret },
        'a user token': { Authorization: `Bearer ${token}` },
        'an application with a user token': { 'X-API-Key': app.secret, Authorization: `Bearer ${token}` },
        'a session that is not one': { Authorization: `Bearer ${session.slice(1)}x` },
      };
      for (const [method, path] of [...routes('/api/site/admin'), ...routes('/api/site/keys'), ...routes('/admin')]) {
        for (const [what, headers] of Object.entries(refused)) {
          const { status } = await request(site.url)
            [method](path)
            .redirects(0)
            .set(headers as Record<string, string>);
          // Pages send those to the login whom they do not know.
          expect(
            path.startsWith('/api/') ? [400, 401] : [302, 303, 400, 401, 403],
            `${method} ${path}: ${what}`,
          ).toContain(status);
        }
      }
    });

    it('on every page and form', async () => {
      const found = [...routes('/admin'), ['post', '/demo'] as [Method, string]];
      expect(found.length).toBeGreaterThanOrEqual(15);
      const { reader } = await member();
      await reader.get('/account');
      const _token = /name="_token" value="([^"]+)"/.exec(reader.page)?.[1] ?? '';
      for (const [method, path] of found) {
        const { status } = method === 'get' ? await reader.get(path) : await reader.post(path, { _token });
        expect([method, path, status]).toEqual([method, path, 403]);
      }
      await reader.get('/account');
      expect(reader.page).not.toContain('href="/admin"');
    });
  });

  it('has a form for the risk settings that names values out of range', async () => {
    await admin.get('/admin/risk');
    const inputs = [...admin.page.matchAll(/name="(\w+)" type="number" value="(\d+)"/g)];
    const values = Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, value]));
    await admin.submit('/admin/risk/settings', { ...values, hits: '0', clean_time_hours: 'soon' });
    expect(admin.last?.status).toBe(400);
    expect(admin.text).toContain('Refused unlocks: must be a whole number from 1 to 100');
    expect(admin.page).toContain('value="soon"');
    await admin.submit('/admin/risk/settings', { ...values, hits: '5' });
    await admin.follow();
    expect(admin.text).toContain('The risk settings were saved.');
    await admin.submit('/admin/risk/settings', values);
    await admin.get('/admin/events?search=risk.');
    expect(admin.text).toContain('Risk settings changed');
  });

  describe('of applications', () => {
    it('lists, shows and reviews them', async () => {
      const owner = await member();
      const { clientId, secret } = await people.register(owner.id, { name: HOSTILE }, { reviewed: false });
      const pending = await asAdmin('get', '/applications?status=pending');
      const listed = (pending.body as { data: { client_id: string }[] }).data.map(({ client_id }) => client_id);
      expect(listed).toContain(clientId);
      const review = { auth_level: 'trusted', status: 'approved', scopes: ['meta', 'query'], quota_profile: 'default' };
      const answer = await asAdmin('patch', `/applications/${clientId}`, review);
      expect(answer.body).toMatchObject({ data: { ...review, client_id: clientId, owner_id: owner.id } });
      expect((await asAdmin('get', `/applications/${clientId}`)).body).toMatchObject({ data: review });
      expect((await people.probe('unlock', secret)).body).toMatchObject({ code: 'SCOPE_NOT_ALLOWED' });
      const again = await asAdmin('patch', `/applications/${clientId}`, { quota_profile: null });
      expect(again.body).toMatchObject({ data: { ...review, quota_profile: null } });
    });

    it('revokes the authorizations of a disabled application', async () => {
      const owner = await member();
      const app = await people.register(owner.id);
      const tokens = await people.tokens(app, owner.id);
      expect((await asAdmin('patch', `/applications/${app.clientId}`, { status: 'disabled' })).status).toBe(200);
      expect((await people.probe('meta', app.secret, tokens.access_token)).status).toBe(401);
    });

    it('has pages for changes that owners of reviewed applications propose', async () => {
      const owner = await member();
      const { clientId } = await people.register(owner.id, { name: 'Honest' });
      await owner.reader.get(`/developer/${clientId}`);
      const values = { name: HOSTILE, description: HOSTILE, redirect_uris: CALLBACK, scopes: ['meta', 'query'] };
      await owner.reader.submit(`/developer/${clientId}`, values);
      await owner.reader.follow();
      expect(owner.reader.text).toContain('Waiting for review');
      const path = `/admin/applications/${clientId}`;
      await admin.get('/admin/applications?proposed=true');
      expect(admin.page).toContain(`href="${path}"`);
      await admin.get(path);
      expect(admin.page).not.toContain('<script>');
      expect(admin.text).toContain('The owner wants to change');
      const decision = { status: 'approved', auth_level: 'verified', scopes: 'meta', quota_profile: '' };
      await owner.reader.submit(`/developer/${clientId}`, { ...values, name: 'Worse' });
      await admin.submit(path, { ...decision, proposal: 'accept' });
      expect([admin.last?.status, admin.text.includes('changed by another request')]).toEqual([409, true]);
      await admin.get(path);
      await admin.submit(path, { ...decision, proposal: 'accept' });
      const answer = await asAdmin('get', `/applications/${clientId}`);
      expect(answer.body).toMatchObject({ data: { name: 'Worse', description: HOSTILE, proposed: null } });
    });

    it('puts reviews in a queue, the oldest first, and each is decided in turn', async () => {
      await people.sql.query(
        "UPDATE applications SET status = 'rejected', proposed = NULL WHERE status = 'pending' OR proposed IS NOT NULL",
      );
      const owner = await member();
      const first = await people.register(owner.id, { name: 'First' }, { reviewed: false });
      const second = await people.register(owner.id, { name: 'Second' });
      await owner.reader.get(`/developer/${second.clientId}`);
      const values = { name: 'Second, renamed', description: '', redirect_uris: CALLBACK, scopes: ['meta', 'query'] };
      await owner.reader.submit(`/developer/${second.clientId}`, values);
      await admin.get('/admin/reviews');
      expect(admin.text).toContain('2 applications wait for a review');
      expect(admin.page.indexOf('>First<')).toBeLessThan(admin.page.indexOf('>Second<'));

      const path = (clientId: string): string => `/admin/applications/${clientId}`;
      await admin.get(path(first.clientId));
      await admin.submit(`${path(first.clientId)}/decide`, {}, { containing: 'value="reject"' });
      expect(admin.location).toBe(`${path(second.clientId)}?done=decided`);
      await admin.follow();
      await admin.submit(`${path(second.clientId)}/decide`, {}, { containing: 'value="approve"' });
      expect(admin.location).toBe('/admin/reviews?done=decided');
      await admin.follow();
      expect(admin.text).toContain('Nothing waits for a review.');
      expect((await asAdmin('get', `/applications/${first.clientId}`)).body).toMatchObject({
        data: { status: 'rejected' },
      });
      expect((await asAdmin('get', `/applications/${second.clientId}`)).body).toMatchObject({
        data: { status: 'approved', name: 'Second, renamed', proposed: null },
      });
    });

    it('refuses a decision on an application that has changed since the page was opened', async () => {
      const owner = await member();
      const { clientId } = await people.register(owner.id, {}, { reviewed: false });
      const path = `/admin/applications/${clientId}`;
      await admin.get(path);
      await asAdmin('patch', path.slice('/admin'.length), { scopes: ['meta'] });
      await admin.submit(`${path}/decide`, {}, { containing: 'value="approve"' });
      expect([admin.last?.status, admin.text.includes('changed by another request')]).toEqual([409, true]);
    });

    it('names invalid fields and missing applications', async () => {
      const { clientId } = await people.register((await member()).id);
      for (const body of [{ status: 'lost' }, { auth_level: null }, { scopes: ['all'] }, { name: 'x' }]) {
        expect((await asAdmin('patch', `/applications/${clientId}`, body)).status, JSON.stringify(body)).toBe(400);
      }
      expect((await asAdmin('patch', '/applications/app_nobody', { status: 'approved' })).status).toBe(404);
      expect((await asAdmin('get', '/applications/app_nobody')).status).toBe(404);
    });

    it('has pages for them', async () => {
      const owner = await member();
      const { clientId } = await people.register(
        owner.id,
        { name: HOSTILE, description: HOSTILE },
        { reviewed: false },
      );
      await admin.get('/admin');
      await admin.follow();
      expect(admin.page).not.toContain('<script>');
      expect(admin.text).toContain(HOSTILE);
      await admin.get(`/admin/applications/${clientId}`);
      expect(admin.page).not.toContain('<script>');
      const path = `/admin/applications/${clientId}`;
      await admin.submit(path, {
        status: 'approved',
        auth_level: 'verified',
        scopes: 'meta',
        quota_profile: 'NOT A NAME',
      });
      expect(admin.last?.status).toBe(400);
      expect(admin.page).toContain('<a href="#quota_profile">');
      await admin.submit(path, { status: 'approved', auth_level: 'verified', scopes: 'meta', quota_profile: '' });
      await admin.follow();
      expect(admin.text).toContain('The review was saved.');
      expect(admin.page).toContain('<option value="verified" selected>');
    });
  });

  describe('of users', () => {
    it('finds them by a part of their names', async () => {
      const { id, name } = await member();
      const { body } = await asAdmin('get', `/users?search=${name.slice(2).toUpperCase()}`);
      expect((body as { data: object[] }).data).toEqual([expect.objectContaining({ id, username: name, points: 0 })]);
      expect(JSON.stringify(body)).not.toMatch(/argon2|password/);
      expect((await asAdmin('get', '/users?search=%25')).body).toMatchObject({ data: [] });
      expect((await asAdmin('get', '/users?page=0')).status).toBe(400);
    });

    it('sets Premium until a day, forever, or not at all', async () => {
      const { id } = await member();
      const key = await people.keys.create(id, { name: 'key', scopes: ['meta'] });
      const patch = (premium_until: unknown): request.Test => asAdmin('patch', `/users/${id}`, { premium_until });
      expect((await patch('2099-05-06')).body).toMatchObject({ data: { premium_until: '2099-05-06T00:00:00.000Z' } });
      const forever = (await patch('forever')).body as { data: { premium_until: string } };
      expect(new Date(forever.data.premium_until).getFullYear()).toBeGreaterThan(new Date().getFullYear() + 90);
      expect((await people.probe('meta', key.secret)).body).toMatchObject({ data: { isPremium: true } });
      expect((await patch(null)).body).toMatchObject({ data: { premium_until: null } });
      expect((await people.probe('meta', key.secret)).body).toMatchObject({ data: { isPremium: false } });
      for (const wrong of ['tomorrow', '2099-13-45', 5, 'infinity']) expect((await patch(wrong)).status).toBe(400);
    });

    it('sets permissions and the role', async () => {
      const { id, name, reader } = await member();
      const changed = await asAdmin('patch', `/users/${id}`, { permissions: ['share:manage'], role: 'administrator' });
      expect(changed.body).toMatchObject({ data: { permissions: ['share:manage'], role: 'administrator' } });
      await reader.logIn(name, PASSWORD);
      expect((await reader.get('/admin/users')).status).toBe(200);
      expect((await call('get', '/users', reader.cookie)).status).toBe(200);
      expect((await asAdmin('patch', `/users/${id}`, { permissions: ['everything'] })).status).toBe(400);
      expect((await asAdmin('patch', `/users/${id}`, { role: 'member' })).status).toBe(200);
      expect((await call('get', '/users', reader.cookie)).status).toBe(401);
      await reader.logIn(name, PASSWORD);
      expect((await reader.get('/admin/users')).status).toBe(403);
    });

    it('adds and deducts points, once for each ref', async () => {
      const { id } = await member();
      const ref = newName();
      const grant = (body: object): request.Test => asAdmin('post', `/users/${id}/points`, body);
      expect((await grant({ points: 100, ref })).body).toMatchObject({ data: { balance: 100, replayed: false } });
      expect((await grant({ points: 100, ref })).body).toMatchObject({ data: { balance: 100, replayed: true } });
      expect((await grant({ points: 50, ref })).status).toBe(409);
      expect((await grant({ points: -30, ref: newName() })).body).toMatchObject({ data: { balance: 70 } });
      expect((await grant({ points: -71, ref: newName() })).status).toBe(402);
      for (const wrong of [{ points: 0 }, { points: 1.5 }, { points: '5' }, { points: 9_999_999 }, {}]) {
        expect((await grant({ ref: newName(), ...wrong })).status, JSON.stringify(wrong)).toBe(400);
      }
      expect((await asAdmin('post', '/users/999999/points', { points: 1, ref: newName() })).status).toBe(404);
    });

    it('disables an account with everything that acts for it, and enables it again', async () => {
      const { id, name, reader } = await member();
      const app = await people.register(id);
      const tokens = await people.tokens(app, id);
      const key = await people.keys.create(id, { name: 'key', scopes: ['meta'] });
      expect((await people.probe('meta', key.secret)).status).toBe(200);
      expect((await asAdmin('patch', `/users/${id}`, { disabled: true })).status).toBe(200);
      expect((await reader.get('/account')).status).toBe(303);
      expect((await people.probe('meta', key.secret)).status).toBe(401);
      expect((await people.probe('meta', app.secret, tokens.access_token)).status).toBe(401);
      const login = (): request.Test =>
        request(site.url).post('/api/site/login').send({ username: name, password: PASSWORD });
      expect((await login()).status).toBe(401);
      expect((await asAdmin('patch', `/users/${id}`, { disabled: false })).body).toMatchObject({
        data: { disabled_at: null },
      });
      expect((await login()).status).toBe(200);
      expect((await people.probe('meta', key.secret)).status).toBe(200);
    });

    it('refuses that administrators disable themselves, and does not restore deleted accounts', async () => {
      for (const body of [{ disabled: true }, { role: 'member' }]) {
        expect((await asAdmin('patch', `/users/${adminId}`, body)).status).toBe(409);
      }
      const { id, reader } = await member();
      await reader.get('/account');
      await reader.submit('/account/delete', { password: PASSWORD });
      expect((await asAdmin('patch', `/users/${id}`, { disabled: false })).status).toBe(409);
      expect((await asAdmin('patch', '/users/999999', { disabled: true })).status).toBe(404);
    });

    it('has pages for them', async () => {
      const { id, name } = await member();
      await people.sql.query('UPDATE site_accounts SET nickname = $2 WHERE id = $1', [id, HOSTILE]);
      await admin.get(`/admin/users?search=${name}`);
      expect(admin.page).not.toContain('<script>');
      expect(admin.page).toContain(`/admin/users/${id}`);
      const path = `/admin/users/${id}`;
      await admin.get(path);
      await admin.submit(path, { premium: 'until', premium_until: '', role: 'member' });
      expect(admin.page).toContain('<a href="#premium_until">');
      await admin.submit(path, { premium: 'forever', permissions: 'resource:notify', role: 'member' });
      await admin.follow();
      expect(admin.text).toContain('Premium lifetime');
      const ref = /name="ref" value="([^"]+)"/.exec(admin.page)?.[1] ?? '';
      for (let times = 0; times < 2; times++) {
        await admin.submit(`${path}/points`, { points: '40', note: HOSTILE, ref });
        await admin.follow();
      }
      expect(admin.text).toContain('Points 40');
      expect(admin.page).not.toContain('<script>');
      await admin.submit(`${path}/points`, { points: '-41' });
      expect(admin.last?.status).toBe(402);
      await admin.submit(`${path}/points`, { points: 'many' });
      expect(admin.page).toContain('<a href="#points">');
      await admin.submit(`${path}/disabled`);
      await admin.follow();
      expect(admin.text).toContain('disabled since');
    });
  });

  describe('of quota profiles', () => {
    it('saves what the form says, and shows it again', async () => {
      await admin.get('/admin/quotas');
      const limits = {
        name: 'busy',
        app_per_minute: '6000',
        group_per_minute: 'unlock 10\nquery 60',
        endpoint_per_day: 'POST /api/open/resources/unlock 1000',
      };
      await admin.submit('/admin/quotas', limits);
      expect([admin.last?.status, admin.location]).toEqual([303, '/admin/quotas?done=quota']);
      const { body } = await asAdmin('get', '/quota-profiles');
      const profiles = (body as { data: { name: string }[] }).data;
      expect(profiles.find(({ name }) => name === 'busy')).toMatchObject({
        app_per_minute: 6000,
        user_per_day: null,
        group_per_minute: { unlock: 10, query: 60 },
        endpoint_per_day: { 'POST /api/open/resources/unlock': 1000 },
      });
      await admin.get('/admin/quotas?profile=busy');
      expect(admin.page).toMatch(/name="app_per_minute"[^>]*value="6000"/);
      for (const line of ['unlock 10', 'query 60']) expect(admin.page).toContain(line);
    });

    it('names the invalid field, and changes nothing', async () => {
      await admin.get('/admin/quotas');
      await admin.submit('/admin/quotas', { name: 'wrong', user_per_minute: '-1', group_per_minute: 'nothing' });
      expect(admin.last?.status).toBe(400);
      expect(admin.page).toMatch(/id="user_per_minute-wrong"/);
      expect(admin.page).toMatch(/id="group_per_minute-wrong"/);
      const { body } = await asAdmin('get', '/quota-profiles');
      expect(JSON.stringify(body)).not.toContain('"wrong"');
      await admin.get('/admin/quotas');
      const _token = /name="_token" value="([^"]+)"/.exec(admin.page)?.[1] ?? '';
      await admin.post('/admin/quotas/default/delete', { _token });
      expect(admin.last?.status).toBe(409);
      expect(admin.text).toContain('default');
    });
  });

  describe('of shares', () => {
    it('lists them, marks them as official and removes the mark', async () => {
      const owner = await member();
      const slug = await share(owner.id);
      const { body } = await asAdmin('get', `/shares?search=${slug}`);
      expect(body).toMatchObject({ data: [{ slug, owner: owner.name, is_official: false }] });
      expect(JSON.stringify(body)).not.toContain('115.com');
      expect((await asAdmin('patch', `/shares/${slug}`, { is_official: true })).status).toBe(200);
      expect((await asAdmin('get', `/shares?search=${owner.name}`)).body).toMatchObject({
        data: [{ is_official: true }],
      });
      expect((await asAdmin('delete', `/shares/${slug}`)).status).toBe(200);
      expect((await asAdmin('delete', `/shares/${slug}`)).status).toBe(404);
      expect((await asAdmin('patch', `/shares/${slug}`, { is_official: true })).status).toBe(404);
    });

    it('has a page for them', async () => {
      const owner = await member();
      const slug = await share(owner.id);
      await admin.get(`/admin/shares?search=${owner.name}`);
      expect(admin.page).not.toContain('<script>');
      expect(admin.text).toContain(HOSTILE);
      await admin.submit(`/admin/shares/${slug}/official`);
      await admin.get(`/admin/shares?search=${owner.name}`);
      expect(admin.text).toContain('Official: undo');
      await admin.submit(`/admin/shares/${slug}/delete`);
      await admin.get(`/admin/shares?search=${owner.name}`);
      expect(admin.text).toContain('There are no shares.');
    });
  });

  it('creates, assigns and deletes quota profiles', async () => {
    const name = `profile-${randomBytes(3).toString('hex')}`;
    const limits = { app_per_minute: 2, group_per_minute: { query: 1 }, endpoint_per_day: { 'GET /api/open/ping': 5 } };
    const saved = await asAdmin('put', `/quota-profiles/${name}`, limits);
    expect(saved.body).toMatchObject({ data: { name, ...limits, user_per_day: null } });
    const listed = (await asAdmin('get', '/quota-profiles')).body as { data: { name: string }[] };
    expect(listed.data.map((profile) => profile.name)).toEqual(expect.arrayContaining(['default', name]));
    for (const wrong of [
      { app_per_minute: -1 },
      { group_per_minute: { all: 1 } },
      { endpoint_per_day: { x: 1 } },
      { x: 1 },
    ]) {
      expect((await asAdmin('put', `/quota-profiles/${name}`, wrong)).status, JSON.stringify(wrong)).toBe(400);
    }
    expect((await asAdmin('put', '/quota-profiles/NO', {})).status).toBe(400);
    const { clientId } = await people.register((await member()).id);
    const give = (quota_profile: string): request.Test =>
      asAdmin('patch', `/applications/${clientId}`, { quota_profile });
    expect((await give(name)).body).toMatchObject({ data: { quota_profile: name } });
    expect((await give('nobody')).status).toBe(400);
    expect((await asAdmin('delete', `/quota-profiles/${name}`)).status).toBe(200);
    expect((await asAdmin('delete', `/quota-profiles/${name}`)).status).toBe(404);
    expect((await asAdmin('delete', '/quota-profiles/default')).status).toBe(409);
  });

  it('shows users at risk, and resets them', async () => {
    const users = [await member(), await member()];
    for (const { id } of users) {
      await people.sql.query(
        'INSERT INTO risk_states (user_id, tier, changed_at, troubled_at, needs_review) VALUES ($1, 2, now(), now(), true)',
        [id],
      );
    }
    const raised = async (): Promise<number[]> =>
      ((await asAdmin('get', '/risk')).body as { data: { user_id: number }[] }).data.map(({ user_id }) => user_id);
    expect(await raised()).toEqual(users.map(({ id }) => id));
    const [one, other] = users as [(typeof users)[0], (typeof users)[0]];
    expect((await asAdmin('get', `/risk/${one.id}`)).body).toMatchObject({ data: { tier: 2, needs_review: true } });
    expect((await asAdmin('post', `/risk/${one.id}/reset`)).status).toBe(200);
    expect((await asAdmin('get', `/risk/${one.id}`)).body).toMatchObject({
      data: { tier: 0, events: [{ kind: 'reset' }] },
    });
    await admin.get('/admin/risk');
    expect(admin.text).toContain(other.name);
    await admin.submit(`/admin/risk/${other.id}/reset`);
    await admin.follow();
    expect(admin.text).toContain('No user is above tier 0 or to be reviewed.');
    expect((await asAdmin('post', '/risk/999999/reset')).status).toBe(404);
  });

  it('switches operations off and on', async () => {
    const key = await people.keys.create((await member()).id, { name: 'key', scopes: ['query'] });
    const operation = 'GET /api/open/probe/query';
    expect((await people.probe('query', key.secret)).status).toBe(200);
    await asAdmin('put', '/endpoints', { operation, enabled: false, reason: HOSTILE });
    expect((await people.probe('query', key.secret)).body).toMatchObject({ code: 'ENDPOINT_DISABLED' });
    await admin.get('/admin/operations');
    expect(admin.text).toContain(HOSTILE);
    expect(admin.page).not.toContain('<script>');
    await admin.submit('/admin/operations', {}, { containing: 'Enable' });
    expect((await people.probe('query', key.secret)).status).toBe(200);
    await admin.get('/admin/operations');
    await admin.submit('/admin/operations', { operation: 'everything' }, { containing: 'Disable' });
    expect(admin.page).toContain('<a href="#operation">');
    expect((await asAdmin('put', '/endpoints', { operation: 'GET /healthz', enabled: false })).status).toBe(400);
  });

  it('reads the audit trail', async () => {
    const { id, name } = await member();
    await asAdmin('patch', `/users/${id}`, { permissions: ['share:manage'] });
    const { body } = await asAdmin('get', `/events?user_id=${id}&type=user.`);
    expect((body as { data: object[] }).data[0]).toMatchObject({
      type: 'user.permissions_changed',
      user_id: id,
      actor_id: adminId,
      details: { permissions: ['share:manage'] },
    });
    const [first, second] = ((await asAdmin('get', '/events?limit=2')).body as { data: { id: number }[] }).data;
    const older = await asAdmin('get', `/events?limit=1&before=${first?.id}`);
    expect(older.body).toMatchObject({ data: [{ id: second?.id }] });
    await admin.get(`/admin/events?user_id=${id}&search=user.`);
    expect(admin.text).toContain('user.permissions_changed');
    expect(admin.text).toContain(name);
    expect(admin.page).not.toContain('<script>');
  });
});
