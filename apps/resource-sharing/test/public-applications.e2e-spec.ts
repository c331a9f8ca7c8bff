import { waitFor } from '@gatehouse/testing';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Applications } from '../src/applications/applications.service.js';
import { Grants } from '../src/credentials/grants.service.js';
import { NO_LIMITS, QuotaProfiles, type QuotaProfile } from '../src/quota/quota-profiles.js';
import { RefusedCalls } from '../src/refused-calls/refused-calls.js';
import { UsageRecorder } from '../src/usage/usage-recorder.js';
import { createShares, givePoints } from './points-support.js';
import type { SiteApp } from './site-app.js';
import { startOpenSite } from './support/open-site.js';
import { ThirdParty, VERIFIER, type RegisteredApp } from './support/third-party.js';

let site: Awaited<ReturnType<typeof startOpenSite>>;
let replica: SiteApp;
let party: ThirdParty;
let owner: { id: number };
let user: { id: number };
let app: RegisteredApp;
let token: string;

beforeAll(async () => {
  site = await startOpenSite({ TRUSTED_PROXIES: '127.0.0.1', API_RATE_LIMIT: '0' });
  replica = await site.replica();
  party = new ThirdParty(site);
  [owner, user] = [await party.user(), await party.user()];
  app = await party.register(owner.id, { kind: 'public', name: 'Player' });
  token = (await party.publicTokens(app, user.id)).access_token;
});
afterAll(async () => {
  await replica.close();
  await site.close();
});

interface Body {
  readonly code: string;
  readonly data: Record<string, unknown>;
}

const bodyOf = (answer: request.Response): Body => answer.body as Body;
const alone = (bearer: string | undefined, path = 'meta', url = site.url): request.Test =>
  party.probe(path, undefined, bearer, url);
const codeOf = async (call: request.Test): Promise<string> => bodyOf(await call).code;

const expireTokens = ({ application }: RegisteredApp): Promise<unknown> =>
  party.sql.query(
    `UPDATE access_tokens t SET expires_at = now() - interval '1 s' FROM grants g
     WHERE g.id = t.grant_id AND g.application_id = $1`,
    [application.id],
  );

/** An application that cannot keep a secret, and tokens for a new user. */
async function another({ kind = 'native' as 'native' | 'public' } = {}): Promise<{
  mine: RegisteredApp;
  bearer: string;
  refresh: string;
  userId: number;
}> {
  const mine = await party.register(owner.id, { kind });
  const { id: userId } = await party.user();
  const { access_token: bearer, refresh_token: refresh } = await party.publicTokens(mine, userId);
  return { mine, bearer, refresh, userId };
}

describe('the token of a public application alone', () => {
  it.each(['public', 'native'] as const)('names the application and its user: %s', async (kind) => {
    const { mine, bearer, userId } = await another({ kind });
    const answer = await alone(bearer, 'unlock');
    expect(answer.status).toBe(200);
    expect(bodyOf(answer).data).toMatchObject({
      credentialId: null,
      credentialKind: 'application',
      credentialName: 'Client',
      applicationId: mine.application.id,
      grantId: expect.any(Number),
      userId,
    });
  });

  it('is a pong without the id of a key', async () => {
    const answer = await request(site.url).get('/api/open/ping').set('Authorization', `Bearer ${token}`);
    expect(bodyOf(answer).data).toEqual({ message: 'pong', api_key_id: null, name: 'Player' });
  });

  it('unlocks and shares, and the trail of the user names the application and the grant', async () => {
    const { mine, bearer, userId } = await another();
    await givePoints(party.sql, userId, 50);
    const [share] = await createShares(party.sql, owner.id, { price: 10 });
    const call = request(site.url).post('/api/open/resources/unlock').set('Authorization', `Bearer ${bearer}`);
    expect(bodyOf(await call.send({ slug: share?.slug })).data).toMatchObject({ access_code: 'a1b2' });
    const link = { url: 'https://115.com/s/fromphone1?password=a1b2', tmdb_id: '550', media_type: 'movie' };
    const shared = await request(site.url)
      .post('/api/open/shares')
      .set('Authorization', `Bearer ${bearer}`)
      .set('Idempotency-Key', 'one')
      .send(link);
    expect(shared.status, shared.text).toBeLessThan(300);
    for (const type of ['unlock.charged', 'share.created']) {
      const named = { application_id: mine.application.id, credential_id: null, grant_id: expect.any(Number) };
      expect(await party.events(type)).toContainEqual(expect.objectContaining({ user_id: userId, ...named }));
    }
  });

  it('has no more than the scopes of the user and of the application', async () => {
    const { mine, bearer, userId } = await another();
    const { access_token: narrow } = await party.publicTokens(mine, userId, { scope: 'meta' });
    expect(await codeOf(alone(narrow, 'query'))).toBe('USER_SCOPE_NOT_ALLOWED');
    await alone(bearer, 'query').expect(200);
    await party.review(mine.clientId, { scopes: ['meta'] });
    expect(await codeOf(alone(bearer, 'query'))).toBe('SCOPE_NOT_ALLOWED');
    await alone(bearer).expect(200);
  });

  it('works from the addresses of the application only', async () => {
    const { mine, bearer: known } = await another();
    await site.app.get(Applications).update(owner.id, mine.clientId, { ipAllow: ['192.0.2.0/24'] });
    await waitFor(async () => (await codeOf(alone(known))) === 'IP_NOT_ALLOWED');
    expect((await alone(known).set('X-Forwarded-For', '192.0.2.7')).status).toBe(200);
  });

  it('is refused when it has expired or was revoked, with what to do next', async () => {
    const { mine, bearer, refresh } = await another();
    await expireTokens(mine);
    const expired = await alone(bearer);
    expect([expired.status, bodyOf(expired).code]).toEqual([401, 'OPENAPI_REFRESH_REQUIRED']);
    expect(expired.headers['www-authenticate']).toMatch(/^Bearer realm=.*error="invalid_token"/);
    const renewed = await request(site.url)
      .post('/oauth2/token')
      .type('form')
      .send({ grant_type: 'refresh_token', client_id: mine.clientId, refresh_token: refresh });
    const { access_token: next } = renewed.body as { access_token: string };
    await alone(next).expect(200);
    await request(site.url).post('/oauth2/revoke').type('form').send({ client_id: mine.clientId, token: next });
    expect(await codeOf(alone(next))).toBe('OPENAPI_REAUTH_REQUIRED');
  });
});

describe('without an API key', () => {
  it('other tokens are refused as a call without any', async () => {
    const server = await party.register(owner.id);
    const pair = await party.tokens(server, user.id);
    const earlier = await party.register(owner.id);
    const past = await party.tokens(earlier, user.id);
    await expireTokens(earlier);
    const personal = await party.keys.create(owner.id, { name: 'mine', scopes: ['meta'] });
    const { refresh } = await another();
    for (const authorization of [
      `Bearer ${pair.access_token}`,
      `Bearer ${past.access_token}`,
      `Bearer ${refresh}`,
      `Bearer ${app.secret}`,
      `Bearer ${personal.secret}`,
      'Bearer hat_nonsense',
      'Bearer hat_0000000000000000000000000000000000000000000000000',
      'Bearer ',
      `Basic ${Buffer.from(`${app.clientId}:`).toString('base64')}`,
      token,
    ]) {
      const answer = await request(site.url).get('/api/open/probe/meta').set('Authorization', authorization);
      expect([authorization, answer.status, bodyOf(answer).code]).toEqual([authorization, 401, 'MISSING_API_KEY']);
      expect(answer.headers['www-authenticate']).toMatch(/^ApiKey realm=/);
    }
  });

  it('a token in the address is not read', async () => {
    expect(await codeOf(alone(undefined, `meta?access_token=${token}`))).toBe('MISSING_API_KEY');
  });
});

describe('the key of a public application', () => {
  it('is refused alone, also where no user is needed, in the language of the reader', async () => {
    for (const path of ['meta', 'query', 'unlock', 'vip']) {
      const answer = await party.probe(path, app.secret);
      expect([path, answer.status, bodyOf(answer).code]).toEqual([path, 403, 'OPENAPI_USER_REQUIRED']);
    }
    const chinese = await party.probe('meta', app.secret).set('Accept-Language', 'zh-CN');
    expect(chinese.text).toContain('公开应用的密钥人人可得');
  });

  it('is accepted with a token of the application', async () => {
    const answer = await party.probe('unlock', app.secret, token);
    expect(answer.status).toBe(200);
    expect(bodyOf(answer).data).toMatchObject({ credentialId: app.secretId, userId: user.id });
  });

  it('is refused with the token of another application, and so is another key with its token', async () => {
    const { mine, bearer } = await another();
    const server = await party.register(owner.id);
    const serverToken = (await party.tokens(server, user.id)).access_token;
    for (const [key, foreign] of [
      [app.secret, bearer],
      [app.secret, serverToken],
      [mine.secret, token],
      [server.secret, token],
    ] as const) {
      const answer = await party.probe('meta', key, foreign);
      expect([answer.status, bodyOf(answer).code]).toEqual([401, 'INVALID_OPENAPI_USER_TOKEN']);
    }
  });

  it('is not replaced by the token if it is wrong or revoked', async () => {
    expect(await codeOf(party.probe('meta', 'hk_nonsense', token))).toBe('INVALID_API_KEY');
    const { mine, bearer } = await another();
    await party.secrets.revoke(owner.id, mine.clientId, mine.secretId);
    expect(await codeOf(party.probe('meta', mine.secret, bearer))).toBe('DISABLED_API_KEY');
    await alone(bearer).expect(200);
  });

  it('still exchanges codes at the path of the specification', async () => {
    const code = await party.code(app, user.id, { pkce: true });
    await party.exchange(app, code, { code_verifier: VERIFIER }).expect(200);
  });
});

describe('a token alone stops working on every replica within 1 s', () => {
  it.each<[string, string, (mine: RegisteredApp, userId: number, bearer: string) => Promise<unknown>]>([
    ['its grant ends', 'OPENAPI_REAUTH_REQUIRED', async ({ clientId }, userId) => revokeGrant(clientId, userId)],
    ['its user is disabled', 'OPENAPI_REAUTH_REQUIRED', async (_, userId) => disable(userId)],
    [
      'it is revoked',
      'OPENAPI_REAUTH_REQUIRED',
      async ({ clientId }, _, bearer) =>
        request(site.url).post('/oauth2/revoke').type('form').send({ client_id: clientId, token: bearer }),
    ],
    [
      'its application is disabled',
      'DISABLED_API_KEY',
      async ({ clientId }) => party.review(clientId, { status: 'disabled' }),
    ],
    [
      'the owner of its application is disabled',
      'DISABLED_API_KEY',
      async ({ application }) => disable(application.ownerId),
    ],
    [
      'its application is deleted',
      'MISSING_API_KEY',
      async ({ clientId, application }) => site.app.get(Applications).remove(application.ownerId, clientId),
    ],
  ])('when %s', async (_, code, end) => {
    const [maker, person] = [await party.user(), await party.user()];
    const mine = await party.register(maker.id, { kind: 'public' });
    const { access_token: bearer } = await party.publicTokens(mine, person.id);
    for (const url of [site.url, replica.url]) expect((await alone(bearer, 'meta', url)).status).toBe(200);
    await end(mine, person.id, bearer);
    for (const url of [site.url, replica.url]) {
      const begin = performance.now();
      await waitFor(async () => (await alone(bearer, 'meta', url)).status !== 200);
      const answer = await alone(bearer, 'meta', url);
      expect([answer.status, bodyOf(answer).code]).toEqual([401, code]);
      expect(answer.headers['www-authenticate']).toMatch(code === 'MISSING_API_KEY' ? /^ApiKey / : /^Bearer /);
      expect(performance.now() - begin).toBeLessThan(1_000);
    }
  });

  const revokeGrant = (clientId: string, userId: number): Promise<unknown> =>
    site.app.get(Grants).revokeApplication(clientId, userId);
  const disable = (id: number): Promise<unknown> =>
    party.sql.query('UPDATE site_accounts SET disabled_at = now() WHERE id = $1', [id]);
});

describe('calls with a token alone count', () => {
  let made = 0;

  /** A public application with limits of its own, and tokens for two users. */
  async function limited(limits: Partial<QuotaProfile>): Promise<{ mine: RegisteredApp; tokens: [string, string] }> {
    const name = `public-${++made}`;
    const profiles = site.app.get(QuotaProfiles);
    await profiles.save({ ...NO_LIMITS, ...limits, name }, null);
    const mine = await party.register(owner.id, { kind: 'public' });
    await party.review(mine.clientId, { quotaProfile: name });
    await waitFor(
      () => profiles.of({ quotaProfile: name, credentialKind: 'application', isTest: false }).name === name,
    );
    const people = [await party.user(), await party.user()] as const;
    const [one, other] = [await party.publicTokens(mine, people[0].id), await party.publicTokens(mine, people[1].id)];
    return { mine, tokens: [one.access_token, other.access_token] };
  }

  it('against the quota of the application, whoever its user is, and with its key or without', async () => {
    const { mine, tokens } = await limited({ appPerDay: 3 });
    const [one, other] = tokens;
    await alone(one).expect(200);
    await alone(other).expect(200);
    await party.probe('meta', mine.secret, one).expect(200);
    const answer = await alone(other);
    expect([answer.status, bodyOf(answer).code]).toEqual([429, 'APP_DAILY_QUOTA_EXCEEDED']);
    // Another application has its own.
    await alone(token).expect(200);
  });

  it('against the limits of its users, each for themselves', async () => {
    const { tokens } = await limited({ groupPerMinute: { unlock: 1 } });
    const [one, other] = tokens;
    await alone(one, 'unlock').expect(200);
    expect(await codeOf(alone(one, 'unlock'))).toBe('RATE_LIMIT_EXCEEDED');
    await alone(other, 'unlock').expect(200);
  });

  it('from any number of addresses: no key is used from them', async () => {
    const { mine, tokens } = await limited({ addressesPerDay: 1 });
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) {
      await alone(tokens[0]).set('X-Forwarded-For', address).expect(200);
    }
    const withKey = (address: string): request.Test =>
      party.probe('meta', mine.secret, tokens[0]).set('X-Forwarded-For', address);
    await withKey('192.0.2.1').expect(200);
    expect(await codeOf(withKey('192.0.2.2'))).toBe('IP_COUNT_EXCEEDED');
  });

  it('as usage of the application, which its owner and its users can read', async () => {
    const { mine, bearer, userId } = await another();
    await alone(bearer, 'query').expect(200);
    await alone(bearer, 'query').expect(200);
    await site.app.get(UsageRecorder).flush();
    const usage = await request(site.url).get('/api/open/usage').set('Authorization', `Bearer ${bearer}`).expect(200);
    expect(bodyOf(usage).data['summary']).toMatchObject({ total_calls: 2, success_calls: 2 });
    const rows = await party.sql.query(
      'SELECT credential_id, user_id, total_calls FROM usage_daily WHERE application_id = $1',
      [mine.application.id],
    );
    expect(rows).toEqual([{ credential_id: 0, user_id: userId, total_calls: 2 }]);
  });

  it('in the error log of the application, and refusals of its key do so, too', async () => {
    const { mine, bearer } = await another();
    await alone(bearer, 'vip').expect(403);
    await party.probe('meta', mine.secret).expect(403);
    await party.review(mine.clientId, { status: 'disabled' });
    await waitFor(async () => (await alone(bearer, 'query')).status === 401);
    const refused = site.app.get(RefusedCalls);
    const noted = async (): Promise<string[]> => {
      await refused.flush();
      return (await refused.newest(mine.application.id, 10)).map(({ endpoint, code }) => `${endpoint} ${code}`);
    };
    await expect
      .poll(noted)
      .toEqual(
        expect.arrayContaining([
          '/api/open/probe/vip VIP_REQUIRED',
          '/api/open/probe/meta OPENAPI_USER_REQUIRED',
          '/api/open/probe/query DISABLED_API_KEY',
        ]),
      );
  });

  it('not as a use of a key', async () => {
    const { mine, bearer } = await another();
    await alone(bearer).expect(200);
    expect(await party.secrets.list(owner.id, mine.clientId)).toMatchObject([{ lastUsedAt: null }]);
  });
});
