import { Agent } from 'node:http';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import request from 'supertest';
import { EndpointSwitches } from '../src/open-api/endpoint-switches.js';
import { Grants } from '../src/credentials/grants.service.js';
import { LastUse } from '../src/credentials/last-use.js';
import { liftLimits } from './points-support.js';
import type { SiteApp } from './site-app.js';
import { startOpenSite } from './support/open-site.js';
import { CALLBACK, ThirdParty, VERIFIER, type RegisteredApp, type TokenPair } from './support/third-party.js';

let site: Awaited<ReturnType<typeof startOpenSite>>;
let party: ThirdParty;
let owner: { id: number; name: string };
let app: RegisteredApp;

beforeAll(async () => {
  site = await startOpenSite({ GATEHOUSE_ADMIN_PASSWORD: 'correct horse battery' });
  party = new ThirdParty(site);
  // A test that polls until a refusal must not be refused for polling.
  await liftLimits(party.sql);
  owner = await party.user();
  app = await party.register(owner.id);
});
afterAll(() => site.close());

const bodyOf = (answer: request.Response): { code: string; data: Record<string, unknown> } => answer.body as never;

describe('the API key', () => {
  it.each([
    ['none', undefined, 'MISSING_API_KEY'],
    ['an empty one', '  ', 'MISSING_API_KEY'],
    ['garbage', 'hk_nonsense', 'INVALID_API_KEY'],
    ['a well-formed unknown one', 'hk_0000000000000000000000000000000000000000000', 'INVALID_API_KEY'],
  ])('with %s: 401', async (_, key, code) => {
    const answer = await party.probe('meta', key);
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({ success: false, code, data: null });
    expect(answer.headers['www-authenticate']).toMatch(/^ApiKey realm=/);
  });

  it('of an application: the caller is the application, without a user', async () => {
    const answer = await party.probe('meta', app.secret);
    expect(answer.status).toBe(200);
    expect(bodyOf(answer).data).toMatchObject({
      credentialId: app.secretId,
      credentialKind: 'application',
      applicationId: app.application.id,
      userId: null,
      scopes: ['meta', 'query', 'unlock', 'write', 'vip'],
    });
  });

  it('of a user: the caller is that user', async () => {
    const { secret, info } = await party.keys.create(owner.id, { name: 'mine', scopes: ['meta', 'unlock'] });
    expect(secret).toMatch(/^hp_[0-9A-Za-z]{49}$/);
    const answer = await party.probe('unlock', secret);
    expect(bodyOf(answer).data).toMatchObject({
      credentialId: info.id,
      credentialKind: 'personal',
      applicationId: null,
      userId: owner.id,
      scopes: ['meta', 'unlock'],
    });
    expect(bodyOf(await party.probe('query', secret)).code).toBe('SCOPE_NOT_ALLOWED');
  });

  it('is refused if revoked, expired, or of a disabled application or user', async () => {
    const mine = await party.register(owner.id);
    await party.secrets.revoke(owner.id, mine.clientId, mine.secretId);
    expect(bodyOf(await party.probe('meta', mine.secret)).code).toBe('DISABLED_API_KEY');

    const person = await party.user();
    const key = await party.keys.create(person.id, { name: 'brief', scopes: ['meta'] });
    await party.sql.query("UPDATE credentials SET expires_at = now() - interval '1 s' WHERE id = $1", [key.info.id]);
    expect(bodyOf(await party.probe('meta', key.secret)).code).toBe('EXPIRED_API_KEY');

    const disabled = await party.register(owner.id);
    expect((await party.probe('meta', disabled.secret)).status).toBe(200);
    await party.review(disabled.clientId, { status: 'disabled' });
    expect(bodyOf(await party.probe('meta', disabled.secret)).code).toBe('DISABLED_API_KEY');

    const other = await party.keys.create(person.id, { name: 'other', scopes: ['meta'] });
    await party.sql.query('UPDATE site_accounts SET disabled_at = now() WHERE id = $1', [person.id]);
    expect(bodyOf(await party.probe('meta', other.secret)).code).toBe('DISABLED_API_KEY');
  });

  it('expires at its time although it is cached', async () => {
    const key = await party.keys.create(owner.id, {
      name: 'short',
      scopes: ['meta'],
      expiresAt: new Date(Date.now() + 400).toISOString(),
    });
    expect((await party.probe('meta', key.secret)).status).toBe(200);
    await waitFor(async () => bodyOf(await party.probe('meta', key.secret)).code === 'EXPIRED_API_KEY');
  });

  it('is accepted from allowed addresses only', async () => {
    const key = await party.keys.create(owner.id, { name: 'far', scopes: ['meta'], ipAllow: ['192.0.2.0/24'] });
    const refused = await party.probe('meta', key.secret);
    expect(refused.status).toBe(403);
    expect(bodyOf(refused).code).toBe('IP_NOT_ALLOWED');
    const near = await party.keys.create(owner.id, { name: 'near', scopes: ['meta'], ipAllow: ['127.0.0.0/8', '::1'] });
    expect((await party.probe('meta', near.secret)).status).toBe(200);
    const mine = await party.register(owner.id, { ipAllow: ['2001:db8::/32'] });
    expect(bodyOf(await party.probe('meta', mine.secret)).code).toBe('IP_NOT_ALLOWED');
  });

  it('cannot be replaced by a login of the site', async () => {
    const cookie = await party.cookie(owner.name);
    const answer = await request(site.url).get('/api/open/probe/meta').set('Cookie', cookie);
    expect(bodyOf(answer).code).toBe('MISSING_API_KEY');
  });

  it('is recorded as used, without delaying the request', async () => {
    const key = await party.keys.create(owner.id, { name: 'noted', scopes: ['meta'] });
    await party.probe('meta', key.secret);
    await site.app.get(LastUse).flush();
    const listed = (await party.keys.list(owner.id)).find(({ id }) => id === key.info.id);
    expect(listed?.lastUsedAt).toBeInstanceOf(Date);
    expect(listed?.lastUsedIp).toMatch(/127\.0\.0\.1$/);
  });

  it('of a user from a new address causes an event for that user', async () => {
    await using proxied = await startOpenSite({ TRUSTED_PROXIES: '127.0.0.1' });
    const behind = new ThirdParty(proxied);
    const { secret, info } = await behind.keys.create((await behind.user()).id, { name: 'roaming', scopes: ['meta'] });
    for (const address of ['192.0.2.1', '192.0.2.1', '192.0.2.2']) {
      await behind.probe('meta', secret).set('X-Forwarded-For', address).expect(200);
      await proxied.app.get(LastUse).flush();
    }
    expect(await behind.events('key.used_from_new_ip')).toMatchObject([
      { credential_id: info.id, ip: '192.0.2.2', details: { before: '192.0.2.1' } },
    ]);
  });

  it('works from no address while the owner of its application is disabled, and works again afterwards', async () => {
    const person = await party.user();
    const user = await party.user();
    const [mine, open] = [await party.register(person.id), await party.register(person.id, { kind: 'public' })];
    const pair = await party.tokens(mine, user.id);
    const code = await party.code(mine, user.id);
    const openCode = await party.code(open, user.id, { pkce: true });
    const cookie = await party.cookie(user.name);
    const oauth = '/api/public/openapi/oauth';
    const asked = { client_id: mine.clientId, redirect_uri: CALLBACK };
    const send = (path: string, body: object): request.Test => request(site.url).post(path).send(body);
    const secret = { client_id: mine.clientId, client_secret: mine.secret };
    const exchangeOpen = { grant_type: 'authorization_code', client_id: open.clientId, code: openCode };
    const calls: Record<string, () => request.Test> = {
      preview: () => request(site.url).get(`${oauth}/authorize`).query(asked).set('Cookie', cookie),
      confirm: () => send(`${oauth}/authorize`, asked).set('Cookie', cookie),
      introspect: () => send('/oauth2/introspect', { ...secret, token: pair.access_token }),
      'call for the user': () => party.probe('unlock', mine.secret, pair.access_token),
      'call for itself': () => party.probe('meta', mine.secret),
      exchange: () => party.exchange(mine, code),
      'exchange of a public one': () =>
        send('/oauth2/token', { ...exchangeOpen, redirect_uri: CALLBACK, code_verifier: VERIFIER }),
      refresh: () => party.refresh(mine, pair.refresh_token),
      'refresh alias': () => send(`${oauth}/refresh`, { refresh_token: 'x' }).set('X-API-Key', mine.secret),
      revoke: () => send('/oauth2/revoke', { ...secret, token: 'x' }),
    };
    await party.sql.query('UPDATE site_accounts SET disabled_at = now() WHERE id = $1', [person.id]);
    await waitFor(async () => (await party.probe('meta', mine.secret)).status === 401);
    const refused: Record<string, number> = {};
    for (const [name, call] of Object.entries(calls)) refused[name] = (await call()).status;
    expect(refused).toEqual({
      ...Object.fromEntries(Object.keys(calls).map((name) => [name, 401])),
      preview: 400,
      confirm: 400,
    });
    await party.sql.query('UPDATE site_accounts SET disabled_at = NULL WHERE id = $1', [person.id]);
    await waitFor(async () => (await party.probe('meta', mine.secret)).status === 200);
    delete calls['refresh alias'];
    const again: Record<string, number> = {};
    for (const [name, call] of Object.entries(calls)) again[name] = (await call()).status;
    expect(again).toEqual(Object.fromEntries(Object.keys(calls).map((name) => [name, 200])));
  });

  it('is refused when the owner of its application is disabled', async () => {
    const person = await party.user();
    const mine = await party.register(person.id);
    expect((await party.probe('meta', mine.secret)).status).toBe(200);
    await party.sql.query('UPDATE site_accounts SET disabled_at = now() WHERE id = $1', [person.id]);
    await waitFor(async () => bodyOf(await party.probe('meta', mine.secret)).code === 'DISABLED_API_KEY');
  });

  it('is stored only as a keyed hash', async () => {
    const dump = JSON.stringify(await party.sql.query('SELECT * FROM credentials'));
    expect(dump).not.toContain(app.secret);
    expect(dump).not.toContain(app.secret.slice(3, 20));
  });
});

describe('the user token', () => {
  let user: { id: number };
  let pair: TokenPair;
  beforeAll(async () => {
    user = await party.user();
    pair = await party.tokens(app, user.id, { scope: 'meta unlock' });
  });

  it('makes the caller its user, with the granted scopes', async () => {
    const answer = await party.probe('unlock', app.secret, pair.access_token);
    expect(answer.status).toBe(200);
    expect(bodyOf(answer).data).toMatchObject({ userId: user.id, scopes: ['meta', 'unlock'], isPremium: false });
    expect(bodyOf(answer).data['grantId']).toEqual(expect.any(Number));
  });

  it('without a scope of the application: USER_SCOPE_NOT_ALLOWED, with the challenge of RFC 6750', async () => {
    const answer = await party.probe('query', app.secret, pair.access_token);
    expect(answer.status).toBe(403);
    expect(bodyOf(answer).code).toBe('USER_SCOPE_NOT_ALLOWED');
    expect(answer.headers['www-authenticate']).toContain('error="insufficient_scope", scope="query"');
  });

  it('expired: OPENAPI_REFRESH_REQUIRED; revoked: OPENAPI_REAUTH_REQUIRED, also when expired', async () => {
    const mine = await party.tokens(app, user.id);
    await party.sql.query("UPDATE access_tokens SET expires_at = now() - interval '1 s'");
    const expired = await party.probe('meta', app.secret, mine.access_token);
    expect(expired.status).toBe(401);
    expect(bodyOf(expired).code).toBe('OPENAPI_REFRESH_REQUIRED');
    expect(expired.headers['www-authenticate']).toContain('Bearer realm="resource-sharing", error="invalid_token"');
    await site.app.get(Grants).revokeApplication(app.clientId, user.id);
    expect(bodyOf(await party.probe('meta', app.secret, mine.access_token)).code).toBe('OPENAPI_REAUTH_REQUIRED');
  });

  it('of another application, malformed or unknown never falls back: INVALID_OPENAPI_USER_TOKEN', async () => {
    const other = await party.register(owner.id);
    await party.bind(owner.id, other.clientId);
    const foreign = await party.tokens(app, user.id);
    const personal = await party.keys.create(owner.id, { name: 'mine', scopes: ['meta'] });
    expect(bodyOf(await party.probe('unlock', other.secret)).data['userId']).toBe(owner.id);
    for (const answer of [
      await party.probe('meta', other.secret, foreign.access_token),
      await party.probe('meta', personal.secret, foreign.access_token),
      await party.probe('meta', other.secret, 'hat_nonsense'),
      await party.probe('meta', other.secret, foreign.refresh_token),
      await request(site.url)
        .get('/api/open/probe/meta')
        .set('X-API-Key', other.secret)
        .set('Authorization', 'Basic eA=='),
      await request(site.url)
        .get('/api/open/probe/meta')
        .set('X-API-Key', other.secret)
        .set('Authorization', 'Bearer '),
    ]) {
      expect(answer.status).toBe(401);
      expect(bodyOf(answer).code).toBe('INVALID_OPENAPI_USER_TOKEN');
    }
  });
});

describe('an operation needs', () => {
  it('a user: 403 OPENAPI_USER_REQUIRED without one', async () => {
    const answer = await party.probe('unlock', app.secret);
    expect(answer.status).toBe(403);
    expect(bodyOf(answer).code).toBe('OPENAPI_USER_REQUIRED');
  });

  it('Premium: 403 VIP_REQUIRED without it and after its end', async () => {
    const user = await party.user();
    const { access_token: token } = await party.tokens(app, user.id);
    const premium = async (until: string, expected: string): Promise<void> => {
      await party.sql.query('UPDATE site_accounts SET premium_until = $2 WHERE id = $1', [user.id, until]);
      await waitFor(async () => bodyOf(await party.probe('vip', app.secret, token)).code === expected);
    };
    expect(bodyOf(await party.probe('vip', app.secret, token)).code).toBe('VIP_REQUIRED');
    await premium('2999-01-01', '200');
    await premium('infinity', '200');
    await premium('2020-01-01', 'VIP_REQUIRED');
  });

  it('a scope of the application: SCOPE_NOT_ALLOWED, also for valid tokens once it was removed', async () => {
    const mine = await party.register(owner.id);
    const { access_token: token } = await party.tokens(mine, owner.id);
    expect((await party.probe('query', mine.secret, token)).status).toBe(200);
    await party.review(mine.clientId, { scopes: ['meta'] });
    const answer = await party.probe('query', mine.secret, token);
    expect(bodyOf(answer).code).toBe('SCOPE_NOT_ALLOWED');
    expect((await party.probe('meta', mine.secret, token)).status).toBe(200);
  });

  it('to be enabled: ENDPOINT_DISABLED', async () => {
    const switches = site.app.get(EndpointSwitches);
    await switches.disable('GET /api/open/probe/query', 'maintenance', null);
    expect(bodyOf(await party.probe('query', app.secret)).code).toBe('ENDPOINT_DISABLED');
    expect((await party.probe('meta', app.secret)).status).toBe(200);
    await switches.enable('GET /api/open/probe/query', null);
    expect((await party.probe('query', app.secret)).status).toBe(200);
  });

  it('credentials, and their refusal is a problem (RFC 9457 section 3) for clients that ask for one', async () => {
    const answer = await party.probe('unlock', app.secret).set('Accept', 'application/problem+json');
    expect(answer.status).toBe(403);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(JSON.parse(answer.text)).toMatchObject({
      type: expect.stringContaining('openapi_user_required'),
      title: expect.any(String),
      status: 403,
      code: 'openapi_user_required',
      detail: expect.any(String),
    });
  });

  it('credentials on every operation of the open API', async () => {
    const { body } = await request(site.url).get('/api/open/openapi.json');
    const { paths } = body as { paths: Record<string, Record<string, unknown>> };
    const open = Object.entries(paths).filter(([path]) => path.startsWith('/api/open/'));
    expect(open.length).toBeGreaterThan(3);
    for (const [path, methods] of open) {
      for (const method of Object.keys(methods)) {
        const address = path.replaceAll(/\{[^}]+\}/g, '1');
        const answer = await request(site.url)[method as 'get'](address);
        expect([path, method, answer.status, bodyOf(answer).code]).toEqual([path, method, 401, 'MISSING_API_KEY']);
      }
    }
  });
});

describe('a revocation is visible on every replica within 1 s', () => {
  let replica: SiteApp;
  beforeAll(async () => {
    replica = await site.replica();
  });
  afterAll(() => replica.close());

  const untilRefused = async (call: () => Promise<request.Response>): Promise<{ code: string; ms: number }> => {
    const begin = performance.now();
    for (;;) {
      const answer = await call();
      if (answer.status !== 200) return { code: bodyOf(answer).code, ms: performance.now() - begin };
      if (performance.now() - begin > 5_000) throw new Error('still accepted');
    }
  };

  it.each([
    [
      'a grant',
      'OPENAPI_REAUTH_REQUIRED',
      async (mine: RegisteredApp, user: number) => site.app.get(Grants).revokeApplication(mine.clientId, user),
    ],
    [
      'an application',
      'DISABLED_API_KEY',
      async (mine: RegisteredApp) => party.review(mine.clientId, { status: 'disabled' }),
    ],
    [
      'a key',
      'DISABLED_API_KEY',
      async (mine: RegisteredApp) => party.secrets.revoke(owner.id, mine.clientId, mine.secretId),
    ],
    [
      'a user',
      'OPENAPI_REAUTH_REQUIRED',
      async (_: RegisteredApp, user: number) =>
        // Plain SQL, as an administrator at a prompt might: the database itself announces it.
        party.sql.query('UPDATE site_accounts SET disabled_at = now() WHERE id = $1', [user]),
    ],
    [
      'an access token',
      'OPENAPI_REAUTH_REQUIRED',
      async (mine: RegisteredApp, _: number, token: string) => {
        await party.token(mine, {}).then(() => undefined);
        await request(site.url).post('/oauth2/revoke').set('X-API-Key', mine.secret).type('form').send({ token });
      },
    ],
  ])('of %s', async (_, code, revoke) => {
    const user = await party.user();
    const mine = await party.register(owner.id);
    const { access_token: token } = await party.tokens(mine, user.id);
    const call = (url: string) => async (): Promise<request.Response> => party.probe('meta', mine.secret, token, url);
    for (const url of [site.url, replica.url]) expect((await call(url)()).status).toBe(200);
    await revoke(mine, user.id, token);
    for (const url of [site.url, replica.url]) {
      const seen = await untilRefused(call(url));
      expect(seen.code).toBe(code);
      expect(seen.ms).toBeLessThan(1_000);
    }
  });

  it('of a user’s key, even if the notification is lost', async () => {
    const key = await party.keys.create(owner.id, { name: 'lost', scopes: ['meta'] });
    const call = async (): Promise<request.Response> => party.probe('meta', key.secret, undefined, replica.url);
    expect((await call()).status).toBe(200);
    // What announce() does, but for the message.
    await party.sql.query('UPDATE credentials SET revoked_at = now() WHERE id = $1', [key.info.id]);
    await party.sql.query('UPDATE revocation_epoch SET epoch = epoch + 1');
    const seen = await untilRefused(call);
    expect(seen.code).toBe('DISABLED_API_KEY');
    expect(seen.ms).toBeLessThan(1_500);
  });

  it('of a user’s key, even if every listening connection has just been cut', async () => {
    const key = await party.keys.create(owner.id, { name: 'cut', scopes: ['meta'] });
    const call = (url: string) => async (): Promise<request.Response> =>
      party.probe('meta', key.secret, undefined, url);
    for (const url of [site.url, replica.url]) expect((await call(url)()).status).toBe(200);
    const [cut] = (await party.sql.query(
      `SELECT count(pg_terminate_backend(pid))::integer AS n FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE '%listener'`,
    )) as [{ n: number }];
    expect(cut.n).toBe(2);
    await party.keys.revoke(owner.id, key.info.id);
    for (const url of [site.url, replica.url]) {
      const seen = await untilRefused(call(url));
      expect(seen.code).toBe('DISABLED_API_KEY');
      expect(seen.ms).toBeLessThan(1_500);
    }
  });

  it('on one connection that uses many keys, each with its own result', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let opened = 0;
    const createConnection = agent.createConnection.bind(agent);
    agent.createConnection = (...parts) => {
      opened += 1;
      return createConnection(...parts);
    };
    const people = await Promise.all([party.user(), party.user()]);
    const keys = await Promise.all(people.map(({ id }) => party.keys.create(id, { name: 'one', scopes: ['meta'] })));
    const [mine, other] = keys.map((key) => async () => party.probe('meta', key.secret).agent(agent));
    for (const [call, person] of [[mine, 0] as const, [mine, 0] as const, [other, 1] as const, [mine, 0] as const]) {
      expect(bodyOf(await call!()).data).toMatchObject({ userId: people[person]!.id });
    }
    await party.keys.revoke(people[0]!.id, keys[0]!.info.id);
    expect(await untilRefused(mine!)).toMatchObject({ code: 'DISABLED_API_KEY' });
    expect(bodyOf(await other!()).data).toMatchObject({ userId: people[1]!.id });
    expect(opened).toBe(1);
    agent.destroy();
  });

  it('with one lookup for many concurrent requests', async () => {
    const key = await party.keys.create(owner.id, { name: 'many', scopes: ['meta'] });
    const answers = await Promise.all(Array.from({ length: 50 }, () => party.probe('meta', key.secret)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });
});
