import * as openid from 'openid-client';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOpenSite } from './support/open-site.js';
import { PageReader } from './support/page-reader.js';
import { answerOf, ISSUER, newMember, RelyingParty } from './support/relying-party.js';
import { CALLBACK, PASSWORD, ThirdParty, type RegisteredApp } from './support/third-party.js';
import type { SiteApp } from './site-app.js';

let site: SiteApp;
let people: ThirdParty;
let app: RegisteredApp;
let party: RelyingParty;

beforeAll(async () => {
  site = await startOpenSite({ TRUSTED_PROXIES: '127.0.0.1,::1', API_RATE_LIMIT: '0' });
  people = new ThirdParty(site);
  app = await people.register((await people.user()).id, { name: 'Film shelf' });
  party = await RelyingParty.of(site.url, app);
});
afterAll(() => site.close());

const member = (): ReturnType<typeof newMember> => newMember(site.url, people);

/** Lets the login of a user have happened `seconds` ago. */
const age = (userId: number, seconds: number): Promise<unknown> =>
  people.sql.query('UPDATE sessions SET created_at = now() - make_interval(secs => $2) WHERE user_id = $1', [
    userId,
    seconds,
  ]);

const userInfo = (token?: string): request.Test => {
  const call = request(site.url).get('/oauth2/userinfo');
  return token === undefined ? call : call.set('Authorization', `Bearer ${token}`);
};

describe('discovery', () => {
  it('is one document at every address, and the RFC 8414 members are those of before', async () => {
    const paths = ['openid-configuration', 'oauth-authorization-server', 'oauth-authorization-server/oauth2'];
    const documents = await Promise.all(
      paths.map(async (path) => (await request(site.url).get(`/.well-known/${path}`).expect(200)).body as object),
    );
    expect(documents[1]).toEqual(documents[0]);
    expect(documents[2]).toEqual(documents[0]);
    expect(documents[0]).toMatchObject({
      issuer: ISSUER,
      jwks_uri: `${ISSUER}/oauth2/jwks`,
      userinfo_endpoint: `${ISSUER}/oauth2/userinfo`,
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      scopes_supported: ['meta', 'query', 'unlock', 'write', 'vip', 'openid', 'profile', 'email'],
      request_uri_parameter_supported: false,
      claims_parameter_supported: false,
    });
  });

  it('publishes keys without their private parts, for pages of any origin', async () => {
    const { body, headers } = await request(site.url).get('/oauth2/jwks').expect(200);
    const { keys } = body as { keys: Record<string, unknown>[] };
    expect(keys).toEqual([
      { kty: 'RSA', n: expect.any(String), e: 'AQAB', kid: expect.any(String), use: 'sig', alg: 'RS256' },
    ]);
    expect(headers).toMatchObject({ 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' });
  });
});

describe('an id_token', () => {
  it('says who logged in when, to whom, and for which request', async () => {
    const { id, reader } = await member();
    const { tokens, claims, nonce } = await party.signIn(reader);
    const now = Math.floor(Date.now() / 1_000);
    expect(claims).toMatchObject({ iss: ISSUER, sub: String(id), aud: app.clientId, nonce });
    expect(claims.exp - claims.iat).toBe(3_600);
    expect(Math.abs(now - claims.iat)).toBeLessThan(60);
    expect(Math.abs(now - (claims.auth_time ?? 0))).toBeLessThan(60);
    expect(claims['at_hash']).toMatch(/^[\w-]{22}$/);
    expect(tokens.scope).toBe('openid');
    // What the user did not allow cannot be called.
    expect((await people.probe('meta', app.secret, tokens.access_token)).status).toBe(403);
  });

  it('comes with the scopes of the open API, and not without openid', async () => {
    const { id, reader } = await member();
    const both = await party.signIn(reader, { scope: 'openid meta' });
    expect(both.tokens.scope).toBe('meta openid');
    expect((await people.probe('meta', app.secret, both.tokens.access_token)).status).toBe(200);
    const plain = await people.exchange(app, await people.code(app, id));
    expect(plain.body).not.toHaveProperty('id_token');
    expect(plain.body).toMatchObject({ scope: 'meta query unlock write vip' });
  });

  it('is in both presentations of the token endpoint', async () => {
    const { id } = await member();
    const { body } = await people.exchange(app, await people.code(app, id, { scope: 'openid' }));
    const { id_token: inEnvelope, data } = body as { id_token: string; data: { id_token: string } };
    expect(inEnvelope.split('.')).toHaveLength(3);
    expect(data.id_token).toBe(inEnvelope);
  });

  it('is renewed with the tokens: the same user and login, a new time, no nonce', async () => {
    const { id, reader } = await member();
    await age(id, 5_000);
    const { tokens, claims } = await party.signIn(reader);
    const next = await openid.refreshTokenGrant(party.config, tokens.refresh_token ?? '');
    expect(next.claims()).toMatchObject({ sub: claims.sub, aud: claims.aud, auth_time: claims.auth_time });
    expect(next.claims()).not.toHaveProperty('nonce');
    const narrow = await openid.refreshTokenGrant(party.config, next.refresh_token ?? '', { scope: 'openid' });
    expect(narrow.claims()?.sub).toBe(String(id));
  });

  it('comes to a device, too', async () => {
    const television = await people.register((await people.user()).id, { kind: 'native' });
    const device = await RelyingParty.of(site.url, television);
    const begun = await openid.initiateDeviceAuthorization(device.config, { scope: 'openid profile meta' });
    const { id, name, reader } = await member();
    await reader.get('/device');
    await reader.submit('/device', { user_code: begun.user_code });
    await reader.follow();
    expect(reader.text).toContain('Who you are');
    await reader.submit('/device/confirm', { decision: 'allow', scope: ['openid', 'profile'] });
    const tokens = await openid.pollDeviceAuthorizationGrant(device.config, { ...begun, interval: 0 });
    expect(tokens.claims()).toMatchObject({ sub: String(id), aud: television.clientId, auth_time: expect.any(Number) });
    const info = await openid.fetchUserInfo(device.config, tokens.access_token, String(id));
    expect(info.preferred_username).toBe(name);
  });

  it('needs openid to say more about the user, and forgets profile when the user unticks openid', async () => {
    const { reader } = await member();
    await reader.get(await party.path({ scope: 'profile email' }));
    expect(answerOf(reader)).toMatchObject({ error: 'invalid_scope' });
    const path = await party.path({ scope: 'openid profile meta' });
    await reader.get(path);
    await reader.submit(path, { decision: 'allow', scope: ['profile', 'meta'] });
    const { body } = await people.exchange(app, answerOf(reader)['code'] ?? '', { code_verifier: '' });
    expect(body).not.toHaveProperty('id_token');
  });

  it('ignores scopes beside openid that it does not know, as the standard says', async () => {
    const { reader } = await member();
    const { tokens } = await party.signIn(reader, { scope: 'openid offline_access address' });
    expect(tokens.scope).toBe('openid');
  });
});

describe('the page of authorization', () => {
  it('shows the scopes in both languages', async () => {
    const { reader } = await member();
    const path = await party.path({ scope: 'openid profile email' });
    await reader.get(path);
    for (const text of ['Who you are', 'Your name', 'Your email address']) expect(reader.text).toContain(text);
    const chinese = await request(site.url).get(path).set('Cookie', reader.cookie).set('Accept-Language', 'zh-CN');
    for (const text of ['我的身份', '我的名称', '我的邮箱']) expect(chinese.text).toContain(text);
  });

  it('takes a request as a form, from another site, too', async () => {
    const { reader } = await member();
    const path = await party.path({ nonce: 'n' });
    const body = Object.fromEntries(new URL(path, ISSUER).searchParams);
    await reader.post('/oauth2/authorize', body, { Origin: 'https://client.example', 'Sec-Fetch-Site': 'cross-site' });
    expect([reader.last?.status, reader.location]).toEqual([303, path]);
    // A decision has to come from the page.
    await reader.post('/oauth2/authorize', { ...body, decision: 'allow' }, { Origin: 'https://client.example' });
    expect(reader.last?.status).toBe(403);
  });

  it('fills in login_hint', async () => {
    const reader = new PageReader(site.url);
    await reader.get(await party.path({ login_hint: 'ada"><b>' }));
    await reader.follow();
    expect(reader.page).toContain('value="ada&quot;&gt;&lt;b&gt;"');
  });
});

describe('prompt', () => {
  it('none: answers login_required without a login, and never shows a page', async () => {
    const stranger = new PageReader(site.url);
    await stranger.get(await party.path({ prompt: 'none', state: 's' }));
    expect(answerOf(stranger)).toMatchObject({ error: 'login_required', state: 's', iss: ISSUER });
  });

  it('none: consent_required until the user has agreed, and then a code', async () => {
    const { reader } = await member();
    await reader.get(await party.path({ prompt: 'none' }));
    expect(answerOf(reader)).toMatchObject({ error: 'consent_required' });
    await party.signIn(reader);
    const { claims } = await party.signIn(reader, { prompt: 'none' });
    expect(claims.iss).toBe(ISSUER);
    await reader.get(await party.path({ prompt: 'none', scope: 'openid email' }));
    expect(answerOf(reader)).toMatchObject({ error: 'consent_required' });
  });

  it('none: is never sent to an address that is not registered', async () => {
    const stranger = new PageReader(site.url);
    for (const redirect of ['https://evil.example/', `${CALLBACK}.evil.example`, 'javascript:alert(1)']) {
      await stranger.get(await party.path({ prompt: 'none', redirect_uri: redirect }));
      expect([stranger.last?.status, stranger.location]).toEqual([400, '']);
    }
    await stranger.get((await party.path({ prompt: 'none' })).replace(app.clientId, 'unknown'));
    expect([stranger.last?.status, stranger.location]).toEqual([400, '']);
  });

  it('none excludes the others', async () => {
    const { reader } = await member();
    await reader.get(await party.path({ prompt: 'none login' }));
    expect(answerOf(reader)).toMatchObject({ error: 'invalid_request' });
  });

  it('login: asks for the password again, once', async () => {
    const { id, name, reader } = await member();
    await party.signIn(reader);
    await age(id, 100);
    const path = await party.path({ prompt: 'login' });
    await reader.get(path);
    expect(reader.location).toMatch(/^\/login\?return_to=/);
    // The old login opens nothing, neither by the address nor by the form.
    const again = new URL(reader.location, ISSUER).searchParams.get('return_to') ?? '';
    await reader.get(again);
    expect(reader.location).toMatch(/^\/login\?return_to=/);
    await reader.follow();
    await reader.submit('/login', { username: name, password: PASSWORD });
    await reader.follow();
    const tokens = await party.exchange(reader.location);
    expect(Math.abs((tokens.claims()?.auth_time ?? 0) - Date.now() / 1_000)).toBeLessThan(60);
  });

  it('consent and select_account: show the page again, with the way to another account', async () => {
    const { reader } = await member();
    await party.signIn(reader);
    await reader.get(await party.path());
    expect(answerOf(reader)).toHaveProperty('code');
    for (const prompt of ['consent', 'select_account']) {
      await reader.get(await party.path({ prompt }));
      expect([reader.last?.status, reader.text]).toEqual([200, expect.stringContaining('Use another account')]);
    }
  });

  it('changes nothing for requests without openid', async () => {
    const stranger = new PageReader(site.url);
    await stranger.get(await party.path({ prompt: 'none', scope: 'meta' }));
    expect(stranger.location).toMatch(/^\/login\?/);
  });
});

describe('max_age', () => {
  it('lets a young login pass and asks for an old one again', async () => {
    const { id, name, reader } = await member();
    await party.signIn(reader, { max_age: '1000' });
    await age(id, 2_000);
    await reader.get(await party.path({ max_age: '1000' }));
    expect(reader.location).toMatch(/^\/login\?/);
    await reader.follow();
    await reader.submit('/login', { username: name, password: PASSWORD });
    await reader.follow();
    const tokens = await party.exchange(reader.location, { maxAge: 1_000 });
    expect(tokens.claims()).toHaveProperty('auth_time');
  });

  it('0 is a limit, not an absent one', async () => {
    const { name, reader } = await member();
    await party.signIn(reader);
    await reader.get(await party.path({ max_age: '0', prompt: 'none' }));
    expect(answerOf(reader)).toMatchObject({ error: 'login_required' });
    const path = await party.path({ max_age: '0' });
    await reader.get(path);
    expect(reader.location).toMatch(/^\/login\?/);
    await reader.follow();
    await reader.submit('/login', { username: name, password: PASSWORD });
    await reader.follow();
    expect(answerOf(reader)).toHaveProperty('code');
  });

  it('is checked again when the user decides', async () => {
    const { id, reader } = await member();
    const path = await party.path({ max_age: '1000' });
    await reader.get(path);
    await age(id, 2_000);
    await reader.submit(path, { decision: 'allow', scope: ['openid'] });
    expect(reader.location).toMatch(/^\/login\?/);
  });

  it('is not waived by an address from before, and has to be a number', async () => {
    const { id, reader } = await member();
    await age(id, 5_000);
    for (const after of ['0', '1', String(Math.floor(Date.now() / 1_000) - 4_000)]) {
      await reader.get(await party.path({ max_age: '60', signed_in_after: after }));
      expect(reader.location).toMatch(/^\/login\?/);
    }
    for (const wrong of ['-1', 'x', '1.5', '1e3']) {
      await reader.get(await party.path({ max_age: wrong }));
      expect(answerOf(reader)).toMatchObject({ error: 'invalid_request' });
    }
  });
});

describe('parts of the standard that are not supported', () => {
  it.each([
    ['request', 'request_not_supported'],
    ['request_uri', 'request_uri_not_supported'],
    ['registration', 'registration_not_supported'],
  ])('%s is refused by its name', async (name, error) => {
    const { reader } = await member();
    await reader.get(await party.path({ [name]: 'https://client.example/request' }));
    expect(answerOf(reader)).toMatchObject({ error });
  });

  it('claims, acr_values, display and ui_locales are ignored; other response types and modes are refused', async () => {
    const { reader } = await member();
    const claims = JSON.stringify({ id_token: { email: { essential: true } } });
    const signed = await party.signIn(reader, { claims, acr_values: 'a b', display: 'popup', ui_locales: 'fr de' });
    expect(signed.claims).not.toHaveProperty('email');
    for (const [name, value] of [
      ['response_type', 'id_token'],
      ['response_type', 'code id_token'],
      ['response_mode', 'fragment'],
    ] as const) {
      await reader.get(await party.path({ [name]: value }));
      expect(answerOf(reader)['error']).toMatch(/^(unsupported_response_type|invalid_request)$/);
    }
  });
});

describe('userinfo', () => {
  it('tells what the scopes allow', async () => {
    const { id, name, reader } = await member();
    const only = await party.signIn(reader);
    expect((await userInfo(only.tokens.access_token)).body).toEqual({ sub: String(id) });
    await people.sql.query(
      `UPDATE site_accounts SET nickname = 'Ada', email = 'ada@example.org', language = 'zh-CN' WHERE id = $1`,
      [id],
    );
    const all = await party.signIn(reader, { scope: 'openid profile email' });
    const info = await openid.fetchUserInfo(party.config, all.tokens.access_token, String(id));
    expect(info).toEqual({
      sub: String(id),
      name: 'Ada',
      preferred_username: name,
      locale: 'zh-CN',
      updated_at: expect.any(Number),
      email: 'ada@example.org',
      email_verified: false,
    });
    await people.sql.query('UPDATE site_accounts SET email_verified_at = now() WHERE id = $1', [id]);
    const posted = await request(site.url)
      .post('/oauth2/userinfo')
      .type('form')
      .send({ access_token: all.tokens.access_token });
    expect(posted.body).toMatchObject({ email_verified: true });
    expect(posted.headers).toMatchObject({ 'cache-control': 'no-store', 'access-control-allow-origin': '*' });
    const header = await request(site.url)
      .post('/oauth2/userinfo')
      .set('Authorization', `Bearer ${all.tokens.access_token}`);
    expect(header.body).toEqual(posted.body);
  });

  it('refuses with the challenges of RFC 6750', async () => {
    const { id } = await member();
    const none = await userInfo();
    expect([none.status, none.headers['www-authenticate']]).toEqual([401, 'Bearer realm="resource-sharing"']);
    for (const token of ['hat_unknown', 'a.b.c']) {
      const wrong = await userInfo(token);
      expect(wrong.status).toBe(401);
      expect(wrong.headers['www-authenticate']).toContain('error="invalid_token"');
    }
    const { access_token: plain } = await people.tokens(app, id, { scope: 'meta' });
    const narrow = await userInfo(plain);
    expect(narrow.status).toBe(403);
    expect(narrow.headers['www-authenticate']).toMatch(/error="insufficient_scope".*scope="openid"/);
    const twice = await request(site.url)
      .post('/oauth2/userinfo')
      .set('Authorization', `Bearer ${plain}`)
      .type('form')
      .send({ access_token: plain });
    expect(twice.status).toBe(400);
    // RFC 9700 section 4.3.2: not in an address.
    expect((await request(site.url).get(`/oauth2/userinfo?access_token=${plain}`)).status).toBe(401);
  });

  it('takes no key, no cookie, no id_token and no refresh token', async () => {
    const { id, name, reader } = await member();
    const { tokens } = await party.signIn(reader);
    const personal = await people.keys.create(id, { name: 'mine', scopes: ['meta'] });
    for (const headers of [
      { 'X-API-Key': app.secret },
      { 'X-API-Key': personal.secret },
      { Cookie: await people.cookie(name) },
      { Authorization: `Bearer ${personal.secret}` },
      { Authorization: `Bearer ${app.secret}` },
      { Authorization: `Bearer ${tokens.id_token}` },
      { Authorization: `Bearer ${tokens.refresh_token}` },
      { Authorization: `Basic ${Buffer.from(`${app.clientId}:${app.secret}`).toString('base64')}` },
    ] as Record<string, string>[]) {
      const answer = await request(site.url).get('/oauth2/userinfo').set(headers);
      expect([JSON.stringify(headers), answer.status]).toEqual([JSON.stringify(headers), 401]);
    }
  });

  it('ends with the authorization, the password, the account and the application', async () => {
    const status = async (token: string): Promise<number> => (await userInfo(token)).status;
    const revoked = await member();
    const first = await party.signIn(revoked.reader);
    await openid.tokenRevocation(party.config, first.tokens.refresh_token ?? '');
    expect(await status(first.tokens.access_token)).toBe(401);

    const changed = await member();
    const second = await party.signIn(changed.reader);
    await request(site.url)
      .post('/api/site/me/password')
      .set('Cookie', await people.cookie(changed.name))
      .send({ current_password: PASSWORD, new_password: `${PASSWORD} 2` })
      .expect(200);
    expect(await status(second.tokens.access_token)).toBe(401);

    const deleted = await member();
    const third = await party.signIn(deleted.reader);
    await request(site.url)
      .post('/api/site/me/delete')
      .set('Cookie', await people.cookie(deleted.name))
      .send({ password: PASSWORD })
      .expect(200);
    expect(await status(third.tokens.access_token)).toBe(401);

    const other = await people.register((await people.user()).id);
    const fourth = await (await RelyingParty.of(site.url, other)).signIn((await member()).reader);
    expect(await status(fourth.tokens.access_token)).toBe(200);
    await people.review(other.clientId, { status: 'disabled' });
    expect(await status(fourth.tokens.access_token)).toBe(401);
  });
});
