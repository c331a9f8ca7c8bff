import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Grants } from '../src/credentials/grants.service.js';
import { AuthorizationService } from '../src/oauth/authorization.service.js';
import { AuthorizationRefused, OAuthError } from '../src/oauth/oauth-error.js';
import { challengeOf } from '../src/oauth/pkce.js';
import { startOpenSite } from './support/open-site.js';
import { CALLBACK, ThirdParty, VERIFIER, type RegisteredApp, type TokenPair } from './support/third-party.js';

const ISSUER = 'http://127.0.0.1:8081';
let site: Awaited<ReturnType<typeof startOpenSite>>;
let party: ThirdParty;
let owner: { id: number; name: string };
let cookie: string;
let app: RegisteredApp;
let native: RegisteredApp;

beforeAll(async () => {
  site = await startOpenSite();
  party = new ThirdParty(site);
  owner = await party.user();
  cookie = await party.cookie(owner.name);
  app = await party.register(owner.id);
  native = await party.register(owner.id, { kind: 'native', redirectUris: ['http://127.0.0.1/cb'] });
});
afterAll(() => site.close());

const service = (): AuthorizationService => site.app.get(AuthorizationService);
const authorize = (source: object, approved = true): ReturnType<AuthorizationService['confirm']> =>
  service().confirm(source, owner.id, { approved });
const pkce = { code_challenge: challengeOf(VERIFIER), code_challenge_method: 'S256' };

/** What a request is refused with: for the page alone, or to be carried back to an address. */
async function refusal(source: object, approved?: boolean): Promise<{ error: string; location: string | undefined }> {
  const thrown: unknown = await authorize(source, approved).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof OAuthError)) throw new Error('it was not refused', { cause: thrown });
  return { error: thrown.error, location: thrown instanceof AuthorizationRefused ? thrown.location : undefined };
}

const dataOf = (answer: request.Response): TokenPair => (answer.body as { data: TokenPair }).data;
const alive = async (token: string): Promise<boolean> => (await party.probe('meta', app.secret, token)).status === 200;
const form = (path: string, values: Record<string, string> | string): request.Test =>
  request(site.url).post(path).type('form').send(values);

describe('RFC 9700', () => {
  it('2.1, 4.1.3: exact redirect comparison; an unregistered address is never redirected to', async () => {
    for (const redirect_uri of [
      `${CALLBACK}/`,
      `${CALLBACK}?x=1`,
      'https://client.example',
      'https://evil.example/',
      'x',
    ]) {
      expect(await refusal({ client_id: app.clientId, redirect_uri })).toEqual({
        error: 'invalid_request',
        location: undefined,
      });
    }
    const answer = await request(site.url)
      .get('/api/public/openapi/oauth/authorize')
      .query({ client_id: app.clientId, redirect_uri: 'https://evil.example/' })
      .set('Cookie', cookie);
    expect(answer.status).toBe(400);
    expect(answer.headers['location']).toBeUndefined();
    expect(answer.body).toMatchObject({ code: 'INVALID_REDIRECT_URI' });
  });

  it('2.1: the loopback port exception is for native applications only', async () => {
    const { code } = await authorize({
      client_id: native.clientId,
      redirect_uri: 'http://127.0.0.1:50123/cb',
      ...pkce,
    });
    const wrongPort = await form('/oauth2/token', {
      grant_type: 'authorization_code',
      client_id: native.clientId,
      code,
      redirect_uri: 'http://127.0.0.1:50124/cb',
      code_verifier: VERIFIER,
    });
    expect(wrongPort.body).toMatchObject({ error: 'invalid_grant' });
    const web = await party.register(owner.id, { redirectUris: ['http://127.0.0.1/cb'] });
    expect(
      (await refusal({ client_id: web.clientId, redirect_uri: 'http://127.0.0.1:50123/cb' })).location,
    ).toBeUndefined();
  });

  it('2.1: no open redirector: errors redirect only after application and address were validated', async () => {
    const valid = { redirect_uri: CALLBACK, state: 's' };
    expect((await refusal({ ...valid, client_id: 'app_unknown' })).location).toBeUndefined();
    expect((await refusal({ ...valid })).location).toBeUndefined();
    const disabled = await party.register(owner.id);
    await party.review(disabled.clientId, { status: 'disabled' });
    expect((await refusal({ ...valid, client_id: disabled.clientId })).location).toBeUndefined();
    for (const [error, more] of [
      ['unsupported_response_type', { response_type: 'token' }],
      ['invalid_request', { response_mode: 'web_message' }],
      ['invalid_request', { code_challenge: 'short', code_challenge_method: 'S256' }],
      ['invalid_scope', { scope: 'root' }],
      ['invalid_target', { resource: 'https://other.example/' }],
    ] as const) {
      const refused = await refusal({ ...valid, ...more, client_id: app.clientId });
      expect(refused.error).toBe(error);
      const location = new URL(refused.location ?? '');
      expect(location.origin + location.pathname).toBe(CALLBACK);
      expect(Object.fromEntries(location.searchParams)).toMatchObject({ error, state: 's', iss: ISSUER });
    }
    expect(await refusal({ ...valid, client_id: app.clientId }, false)).toMatchObject({
      error: 'access_denied',
      location: expect.stringContaining('error=access_denied'),
    });
  });

  it('2.1.1: PKCE is supported and advertised; a verifier is required iff a challenge was sent', async () => {
    const { body } = await request(site.url).get('/.well-known/oauth-authorization-server');
    expect(body).toMatchObject({ code_challenge_methods_supported: ['S256'] });
    const withChallenge = await party.code(app, owner.id, { pkce: true });
    expect((await party.exchange(app, withChallenge)).status).toBe(400);
    expect((await party.exchange(app, withChallenge, { code_verifier: VERIFIER })).status).toBe(200);
    expect((await party.exchange(app, await party.code(app, owner.id))).status).toBe(200);
    for (const wrong of [{ ...pkce, code_challenge_method: 'plain' }, { code_challenge: pkce.code_challenge }]) {
      expect((await refusal({ client_id: app.clientId, redirect_uri: CALLBACK, ...wrong })).error).toBe(
        'invalid_request',
      );
    }
  });

  it('2.1.1: public and native applications have to send a challenge, and those that ask for it', async () => {
    const strict = await party.register(owner.id, { requirePkce: true });
    const open = await party.register(owner.id, { kind: 'public' });
    for (const { clientId } of [strict, open]) {
      expect((await refusal({ client_id: clientId, redirect_uri: CALLBACK })).error).toBe('invalid_request');
      expect((await authorize({ client_id: clientId, redirect_uri: CALLBACK, ...pkce })).code).toMatch(/^hac_/);
    }
  });

  it('4.8.2: a verifier without a challenge is a downgrade and is rejected', async () => {
    const code = await party.code(app, owner.id);
    const answer = await party.exchange(app, code, { code_verifier: VERIFIER });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: 'invalid_grant' });
  });

  it('2.1.2, 2.4: no implicit and no password grant', async () => {
    for (const response_type of ['token', 'code token', 'id_token']) {
      expect((await refusal({ client_id: app.clientId, redirect_uri: CALLBACK, response_type })).error).toBe(
        'unsupported_response_type',
      );
    }
    const answer = await party.token(app, { grant_type: 'password', username: owner.name, password: 'x' });
    expect(answer.body).toMatchObject({ error: 'unsupported_grant_type' });
    const { body } = await request(site.url).get('/.well-known/oauth-authorization-server');
    expect(body).toMatchObject({
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    });
  });

  it('2.2.2, 4.14: refresh tokens are rotated, also those of public applications', async () => {
    const { code } = await authorize({ client_id: native.clientId, redirect_uri: 'http://127.0.0.1:1024/cb', ...pkce });
    const ask = async (values: Record<string, string>): Promise<TokenPair> =>
      (await form('/oauth2/token', { client_id: native.clientId, ...values })).body as TokenPair;
    const first = await ask({
      grant_type: 'authorization_code',
      code,
      redirect_uri: 'http://127.0.0.1:1024/cb',
      code_verifier: VERIFIER,
    });
    const second = await ask({ grant_type: 'refresh_token', refresh_token: first.refresh_token });
    expect(second.refresh_token).toMatch(/^hrt_/);
    expect(second.refresh_token).not.toBe(first.refresh_token);
  });

  it('2.2.2: refresh tokens are bound to their application and scope', async () => {
    const other = await party.register(owner.id);
    const pair = await party.tokens(app, owner.id, { scope: 'meta' });
    expect((await party.refresh(other, pair.refresh_token)).body).toMatchObject({ error: 'invalid_grant' });
    const wide = await party.token(app, {
      grant_type: 'refresh_token',
      refresh_token: pair.refresh_token,
      scope: 'write',
    });
    expect(wide.body).toMatchObject({ error: 'invalid_scope' });
  });

  it.each([
    ['a password change', 'password_changed'],
    ['a logout everywhere', 'logged_out_everywhere'],
  ] as const)('4.14: tokens end with %s', async (_, reason) => {
    const user = await party.user();
    const pair = await party.tokens(app, user.id);
    await party.unitOfWork.run((tx) => site.app.get(Grants).revoke(tx, { userId: user.id }, reason));
    expect(await alive(pair.access_token)).toBe(false);
    expect((await party.refresh(app, pair.refresh_token)).body).toMatchObject({ code: 'OPENAPI_REAUTH_REQUIRED' });
  });

  it('4.14: tokens end when the application is disabled, and stay so when it comes back', async () => {
    const mine = await party.register(owner.id);
    const pair = await party.tokens(mine, owner.id);
    await party.review(mine.clientId, { status: 'disabled' });
    expect((await party.refresh(mine, pair.refresh_token)).body).toMatchObject({ error: 'invalid_client' });
    await party.review(mine.clientId, { status: 'approved' });
    expect((await party.refresh(mine, pair.refresh_token)).body).toMatchObject({ error: 'invalid_grant' });
    expect((await party.probe('meta', mine.secret, pair.access_token)).status).toBe(401);
  });

  it('4.14: a refresh token that is not used ends', async () => {
    const pair = await party.tokens(app, owner.id);
    await party.sql.query('UPDATE refresh_tokens SET idle_expires_at = now()');
    expect((await party.refresh(app, pair.refresh_token)).body).toMatchObject({ error: 'invalid_grant' });
  });

  it('2.3: access tokens have the least scope: requested, allowed and consented', async () => {
    const mine = await party.register(owner.id, { scopes: ['meta', 'query'] });
    const { code, scopes } = await service().confirm(
      { client_id: mine.clientId, redirect_uri: CALLBACK, scope: 'meta query unlock' },
      owner.id,
      { approved: true, scopes: ['query', 'unlock'] },
    );
    expect(scopes).toEqual(['query']);
    expect(dataOf(await party.exchange(mine, code))).toMatchObject({ scope: 'query', scopes: ['query'] });
  });

  it('2.3: access tokens are bound to their audience', async () => {
    const resource = `${ISSUER}/api/open`;
    const { code } = await authorize({ client_id: app.clientId, redirect_uri: CALLBACK, resource });
    const pair = dataOf(await party.exchange(app, code, { resource }));
    const described = await form('/oauth2/introspect', { token: pair.access_token }).set('X-API-Key', app.secret);
    expect(described.body).toMatchObject({ active: true, aud: resource });
    const answer = await request(site.url).get('/api/site/me').set('Authorization', `Bearer ${pair.access_token}`);
    expect(answer.status).toBe(401);
  });

  it('2.5: confidential applications authenticate; their secrets are not taken from addresses', async () => {
    const pair = await party.tokens(app, owner.id);
    const body = { grant_type: 'refresh_token', refresh_token: pair.refresh_token, client_id: app.clientId };
    expect((await form('/oauth2/token', body)).status).toBe(401);
    const inAddress = request(site.url)
      .post('/oauth2/token')
      .query({ client_id: app.clientId, client_secret: app.secret, api_key: app.secret });
    expect((await inAddress.type('form').send(body)).status).toBe(401);
    expect((await party.probe(`meta?api_key=${app.secret}`)).body).toMatchObject({ code: 'MISSING_API_KEY' });
    expect((await party.probe(`meta?access_token=${pair.access_token}`, app.secret)).body).toMatchObject({
      data: { userId: null },
    });
  });

  it('2.6: metadata; no-store on token, introspection and preview answers, errors too', async () => {
    const pair = await party.tokens(app, owner.id);
    const answers = [
      await party.refresh(app, pair.refresh_token),
      await party.refresh(app, 'hrt_unknown'),
      await form('/oauth2/token', {}),
      await form('/oauth2/introspect', { token: 'x' }).set('X-API-Key', app.secret),
      await request(site.url)
        .get('/api/public/openapi/oauth/authorize')
        .query({ client_id: app.clientId, redirect_uri: CALLBACK })
        .set('Cookie', cookie),
    ];
    for (const { headers } of answers) expect(headers['cache-control']).toBe('no-store');
  });

  it('2.6: no CORS on the authorization endpoint; CORS on token, revoke and metadata', async () => {
    const origin = { Origin: 'https://spa.example' };
    const allowed = (answer: request.Response): string | undefined => answer.headers['access-control-allow-origin'];
    for (const path of ['/oauth2/token', '/oauth2/revoke', '/api/public/openapi/oauth/token']) {
      expect(allowed(await form(path, {}).set(origin))).toBe('*');
      const preflight = await request(site.url).options(path).set(origin).set('Access-Control-Request-Method', 'POST');
      expect(preflight.status).toBe(204);
      expect(allowed(preflight)).toBe('*');
      expect(preflight.headers['access-control-allow-credentials']).toBeUndefined();
    }
    expect(allowed(await request(site.url).get('/.well-known/oauth-authorization-server').set(origin))).toBe('*');
    const path = '/api/public/openapi/oauth/authorize';
    expect(allowed(await request(site.url).get(path).set(origin).set('Cookie', cookie))).toBeUndefined();
    expect(allowed(await request(site.url).options(path).set(origin))).toBeUndefined();
  });

  it('4.2.4, 4.16: no referrer, no frame', async () => {
    const answer = await request(site.url).get('/api/public/openapi/oauth/authorize').set('Cookie', cookie);
    expect(answer.headers['referrer-policy']).toBe('no-referrer');
    expect(answer.headers['x-frame-options']).toBe('DENY');
    expect(answer.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  });

  it('4.2.4: a code is used once and lives 60 s', async () => {
    const code = await party.code(app, owner.id);
    expect((await party.exchange(app, code)).status).toBe(200);
    expect((await party.exchange(app, code)).body).toMatchObject({ error: 'invalid_grant' });
    const old = await party.code(app, owner.id);
    await party.sql.query("UPDATE authorization_codes SET expires_at = expires_at - interval '60 s'");
    expect((await party.exchange(app, old)).body).toMatchObject({ error: 'invalid_grant' });
  });

  it('4.4: the issuer is in success and error answers, and advertised (RFC 9207)', async () => {
    const { location } = await authorize({ client_id: app.clientId, redirect_uri: CALLBACK, state: 'a&b=c' });
    expect(new URL(location).searchParams.get('iss')).toBe(ISSUER);
    expect(new URL(location).searchParams.get('state')).toBe('a&b=c');
    const refused = await refusal({ client_id: app.clientId, redirect_uri: CALLBACK }, false);
    expect(new URL(refused.location ?? '').searchParams.get('iss')).toBe(ISSUER);
    const { body } = await request(site.url).get('/.well-known/oauth-authorization-server');
    expect(body).toMatchObject({ issuer: ISSUER, authorization_response_iss_parameter_supported: true });
  });

  it('4.5: a code is bound to its application, address and challenge', async () => {
    const other = await party.register(owner.id);
    const code = await party.code(app, owner.id, { pkce: true });
    const proof = { code_verifier: VERIFIER };
    expect((await party.exchange(other, code, proof)).status).toBe(400);
    expect((await party.exchange(app, code, { ...proof, redirect_uri: 'https://client.example/other' })).status).toBe(
      400,
    );
    expect((await party.exchange(app, code, { code_verifier: 'b'.repeat(43) })).status).toBe(400);
    expect((await party.exchange(app, code, proof)).status).toBe(200);
  });

  it('4.7: the confirmation cannot be sent by another site', async () => {
    const confirm = (headers: Record<string, string>): request.Test =>
      request(site.url)
        .post('/api/public/openapi/oauth/authorize')
        .set('Cookie', cookie)
        .set(headers)
        .send({ client_id: app.clientId, redirect_uri: CALLBACK });
    const foreign: Record<string, string>[] = [
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
    ];
    for (const headers of foreign) {
      expect((await confirm(headers)).status).toBe(403);
    }
    expect((await confirm({ Origin: site.url, 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200);
  });

  it('4.10: tokens are opaque and stored as keyed hashes', async () => {
    const pair = await party.tokens(app, owner.id);
    for (const table of ['access_tokens', 'refresh_tokens', 'authorization_codes', 'audit_events', 'grants']) {
      const dump = JSON.stringify(await party.sql.query(`SELECT * FROM ${table}`));
      for (const text of [pair.access_token, pair.refresh_token]) expect(dump).not.toContain(text);
    }
    expect(JSON.stringify(site.logs)).not.toContain(pair.access_token.slice(0, 30));
  });

  it('4.13: what clients say of themselves in X-Forwarded-For counts only behind a trusted proxy', async () => {
    const { secret } = await party.keys.create(owner.id, { name: 'far', scopes: ['meta'], ipAllow: ['192.0.2.1'] });
    const answer = await party
      .probe('meta', secret)
      .set('X-Forwarded-For', '192.0.2.1')
      .set('X-Client-IP', '192.0.2.1');
    expect(answer.body).toMatchObject({ code: 'IP_NOT_ALLOWED' });
    await using proxied = await startOpenSite({ TRUSTED_PROXIES: '127.0.0.1' });
    const behind = new ThirdParty(proxied);
    const key = await behind.keys.create((await behind.user()).id, {
      name: 'far',
      scopes: ['meta'],
      ipAllow: ['192.0.2.1'],
    });
    expect((await behind.probe('meta', key.secret).set('X-Forwarded-For', '192.0.2.1')).status).toBe(200);
  });

  it('4.15: a client id can never be a user id', async () => {
    const apps = await Promise.all([1, 2, 3].map(() => party.register(owner.id)));
    for (const { clientId } of apps) expect(clientId).toMatch(/^app_[0-9a-z]{24}$/);
  });

  it('4.17: response_mode web_message is not offered; `redirect` of present clients is taken', async () => {
    const base = { client_id: app.clientId, redirect_uri: CALLBACK };
    for (const response_mode of ['web_message', 'fragment', 'form_post']) {
      expect((await refusal({ ...base, response_mode })).error).toBe('invalid_request');
    }
    expect((await authorize({ ...base, response_mode: 'redirect' })).code).toMatch(/^hac_/);
  });

  it('RFC 6749 3.1, 3.2: repeated parameters are invalid_request, unknown ones are ignored', async () => {
    const twice = await form('/oauth2/token', 'grant_type=refresh_token&grant_type=refresh_token&refresh_token=x').set(
      'X-API-Key',
      app.secret,
    );
    expect([twice.status, twice.body]).toEqual([400, expect.objectContaining({ error: 'invalid_request' })]);
    const scopes = await request(site.url)
      .get(
        `/api/public/openapi/oauth/authorize?client_id=${app.clientId}&redirect_uri=${CALLBACK}&scope=meta&scope=query`,
      )
      .set('Cookie', cookie);
    expect([scopes.status, scopes.body]).toEqual([400, expect.objectContaining({ error: 'invalid_request' })]);
    const { code } = await authorize({ client_id: app.clientId, redirect_uri: CALLBACK, unknown: 'x', nonce: 'y' });
    expect((await party.exchange(app, code, { unknown: 'x' })).status).toBe(200);
  });
});
