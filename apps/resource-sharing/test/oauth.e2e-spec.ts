import { randomBytes } from 'node:crypto';
import { withClient } from '@gatehouse/persistence';
import { MetricsRegistry } from '@gatehouse/platform';
import { waitFor } from '@gatehouse/testing';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TokenRetention } from '../src/retention/token-retention.js';
import { challengeOf } from '../src/oauth/pkce.js';
import type { SiteApp } from './site-app.js';
import { startOpenSite } from './support/open-site.js';
import { CALLBACK, ThirdParty, VERIFIER, type RegisteredApp, type TokenPair } from './support/third-party.js';

const ISSUER = 'http://127.0.0.1:8081';
let site: Awaited<ReturnType<typeof startOpenSite>>;
let party: ThirdParty;
let owner: { id: number; name: string };
let cookie: string;
let app: RegisteredApp;

beforeAll(async () => {
  site = await startOpenSite({ API_RATE_LIMIT: '0' });
  party = new ThirdParty(site);
  owner = await party.user();
  cookie = await party.cookie(owner.name);
  app = await party.register(owner.id);
});
afterAll(() => site.close());

interface Body {
  code: string;
  error?: string;
  access_token: string;
  data: TokenPair & Record<string, unknown>;
}
const bodyOf = (answer: request.Response): Body => answer.body as Body;
const alive = async (app: RegisteredApp, token: string): Promise<boolean> =>
  (await party.probe('meta', app.secret, token)).status === 200;

describe('the spec’s authorization operations', () => {
  const query = { scope: 'meta query', state: 'x y' };
  const authorize = (method: 'get' | 'post', values: object): request.Test => {
    const call = request(site.url)[method]('/api/public/openapi/oauth/authorize').set('Cookie', cookie);
    return method === 'get' ? call.query(values) : call.send(values);
  };

  it('show what is requested, and need a login', async () => {
    const answer = await authorize('get', { client_id: app.clientId, redirect_uri: CALLBACK, ...query });
    expect(answer.body).toEqual({
      success: true,
      code: '200',
      message: 'success',
      data: {
        client_id: app.clientId,
        app_name: 'Client',
        description: '',
        auth_level: 'verified',
        redirect_uri: CALLBACK,
        requested_scopes: ['meta', 'query'],
        allowed_scopes: ['meta', 'query', 'unlock', 'write', 'vip'],
        user: { id: owner.id, username: owner.name, nickname: owner.name, avatar_url: null },
        expires_in: 60,
      },
    });
    expect(answer.headers['cache-control']).toBe('no-store');
    const anonymous = await request(site.url).get('/api/public/openapi/oauth/authorize').query({ client_id: 'x' });
    expect(anonymous.status).toBe(401);
  });

  it('accept the login cookie as the credential, whatever a client sends with every call', async () => {
    const asked = { client_id: app.clientId, redirect_uri: CALLBACK, ...query };
    const token = (await party.tokens(app, owner.id)).access_token;
    const personal = await party.keys.create(owner.id, { name: 'mine', scopes: ['meta'] });
    for (const headers of [
      { 'X-API-Key': app.secret },
      { 'X-API-Key': personal.secret },
      { Authorization: `Bearer ${token}` },
      { 'X-API-Key': app.secret, Authorization: `Bearer ${token}` },
      { 'X-API-Key': 'hk_wrong', Authorization: 'Basic YTpi' },
    ]) {
      for (const method of ['get', 'post'] as const) {
        const answer = await authorize(method, asked).set(headers);
        expect([answer.status, answer.body], `${method} ${JSON.stringify(headers)}`).toMatchObject([
          200,
          { success: true, code: '200' },
        ]);
        const path = '/api/public/openapi/oauth/authorize';
        const without = request(site.url)[method](path).set(headers);
        expect((await (method === 'get' ? without.query(asked) : without.send(asked))).status).toBe(401);
      }
    }
  });

  it('issue a code, exchange it, refresh and revoke, in the envelope and in the format of RFC 6749', async () => {
    const confirmed = await authorize('post', { client_id: app.clientId, redirect_uri: CALLBACK, ...query });
    expect(confirmed.status).toBe(200);
    const { code, ...rest } = bodyOf(confirmed).data as unknown as { code: string };
    expect(code).toMatch(/^hac_[0-9A-Za-z]{49}$/);
    expect(rest).toEqual({ redirect_uri: CALLBACK, expires_in: 60, state: 'x y', iss: ISSUER });

    const exchanged = await party.exchange(app, code);
    expect(exchanged.status).toBe(200);
    const { data } = bodyOf(exchanged);
    expect(data).toEqual({
      access_token: expect.stringMatching(/^hat_/),
      refresh_token: expect.stringMatching(/^hrt_/),
      token_type: 'Bearer',
      expires_in: 3_600,
      refresh_expires_in: 30 * 86_400,
      scope: 'meta query',
      scopes: ['meta', 'query'],
    });
    expect(exchanged.body).toMatchObject({
      success: true,
      code: '200',
      access_token: data.access_token,
      refresh_token: data.refresh_token,
      token_type: 'Bearer',
      expires_in: 3_600,
      scope: 'meta query',
    });
    const refreshed = bodyOf(await party.refresh(app, data.refresh_token)).data;
    expect(refreshed.access_token).not.toBe(data.access_token);
    expect(refreshed.refresh_token).not.toBe(data.refresh_token);
    expect(await alive(app, refreshed.access_token)).toBe(true);
    const revoked = await request(site.url)
      .post('/api/public/openapi/oauth/revoke')
      .set('X-API-Key', app.secret)
      .send({ refresh_token: refreshed.refresh_token });
    expect(revoked.status).toBe(200);
    expect(await alive(app, refreshed.access_token)).toBe(false);
    const late = await party.refresh(app, refreshed.refresh_token);
    expect(late.status).toBe(401);
    expect(late.body).toMatchObject({ success: false, code: 'OPENAPI_REAUTH_REQUIRED', error: 'invalid_grant' });
  });

  it('refuse an unreviewed application to everyone except its owner and test users', async () => {
    const mine = await party.register((await party.user()).id, {}, { reviewed: false });
    const refused = await authorize('get', { client_id: mine.clientId, redirect_uri: CALLBACK });
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({ code: 'ACCESS_DENIED', error: 'access_denied' });
  });

  it('accept the refresh address, form bodies, and `token` for revocation', async () => {
    const pair = await party.tokens(app, owner.id);
    const refreshed = await request(site.url)
      .post('/api/public/openapi/oauth/refresh')
      .set('X-API-Key', app.secret)
      .type('form')
      .send({ refresh_token: pair.refresh_token });
    expect(refreshed.status).toBe(200);
    const revoked = await request(site.url)
      .post('/api/public/openapi/oauth/revoke')
      .set('X-API-Key', app.secret)
      .type('form')
      .send({ token: bodyOf(refreshed).data.refresh_token });
    expect(revoked.body).toMatchObject({ success: true, data: {} });
    const unknown = await request(site.url)
      .post('/api/public/openapi/oauth/revoke')
      .set('X-API-Key', app.secret)
      .send({ refresh_token: 'hrt_unknown' });
    expect(unknown.status).toBe(200);
  });

  it('report what is wrong with the secret', async () => {
    const post = request(site.url).post('/api/public/openapi/oauth/token');
    const missing = await post.send({ grant_type: 'refresh_token', refresh_token: 'x' });
    expect([missing.status, bodyOf(missing).code, bodyOf(missing).error]).toEqual([
      401,
      'MISSING_API_KEY',
      'invalid_client',
    ]);
    const unknown = await party.token({ ...app, secret: 'hk_x' }, { grant_type: 'refresh_token' });
    expect([unknown.status, bodyOf(unknown).code]).toEqual([401, 'INVALID_API_KEY']);
    const { secret } = await party.keys.create(owner.id, { name: 'k', scopes: ['meta'] });
    expect(bodyOf(await party.token({ ...app, secret }, { grant_type: 'refresh_token' })).code).toBe('INVALID_API_KEY');
  });
});

describe('two live secrets', () => {
  it('overlap during a rotation, and there is never a third one', async () => {
    const mine = await party.register(owner.id);
    const second = await party.secrets.rotate(owner.id, mine.clientId, { overlapSeconds: 60 });
    const tokens = await party.tokens({ ...mine, secret: second.secret }, owner.id);
    expect(await alive(mine, tokens.access_token)).toBe(true);
    const third = await party.secrets.rotate(owner.id, mine.clientId);
    expect(bodyOf(await party.probe('meta', mine.secret)).code).toBe('DISABLED_API_KEY');
    for (const secret of [second.secret, third.secret]) expect((await party.probe('meta', secret)).status).toBe(200);
    expect(await party.secrets.list(owner.id, mine.clientId)).toHaveLength(2);
    await Promise.all(Array.from({ length: 8 }, () => party.secrets.rotate(owner.id, mine.clientId)));
    expect(await party.secrets.list(owner.id, mine.clientId)).toHaveLength(2);
  });
});

describe('codes', () => {
  it('50 parallel exchanges of one code: one success, and the grant is revoked on replay', async () => {
    const code = await party.code(app, owner.id);
    const before = (await party.events('code.replayed')).length;
    const answers = await Promise.all(Array.from({ length: 50 }, () => party.exchange(app, code)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: 'INVALID_GRANT', error: 'invalid_grant' });
    }
    const { access_token, refresh_token } = bodyOf(won[0] as request.Response).data;
    expect(bodyOf(await party.probe('meta', app.secret, access_token)).code).toBe('OPENAPI_REAUTH_REQUIRED');
    expect(bodyOf(await party.refresh(app, refresh_token)).error).toBe('invalid_grant');
    expect(await party.events('code.replayed')).toHaveLength(before + 1);
    const stored = JSON.stringify(await party.sql.query('SELECT * FROM authorization_codes'));
    expect(stored).not.toContain(code);
  });

  it('are not used up by a wrong verifier, address or application', async () => {
    const code = await party.code(app, owner.id, { pkce: true });
    const other = await party.register(owner.id);
    for (const wrong of [
      party.exchange(app, code),
      party.exchange(app, code, { code_verifier: 'a'.repeat(43) }),
      party.exchange(app, code, { code_verifier: VERIFIER, redirect_uri: `${CALLBACK}/` }),
      party.exchange(app, code, { code_verifier: VERIFIER, redirect_uri: undefined }),
      party.exchange(other, code, { code_verifier: VERIFIER }),
    ]) {
      const answer = await wrong;
      expect([answer.status, bodyOf(answer).error]).toEqual([400, 'invalid_grant']);
    }
    expect((await party.exchange(app, code, { code_verifier: VERIFIER })).status).toBe(200);
  });

  it('expire after 60 s', async () => {
    const code = await party.code(app, owner.id);
    const [row] = (await party.sql.query(
      'SELECT extract(epoch FROM expires_at - now())::integer AS left FROM authorization_codes ORDER BY expires_at DESC',
    )) as [{ left: number }];
    expect(row.left).toBeGreaterThan(55);
    expect(row.left).toBeLessThanOrEqual(60);
    await party.sql.query('UPDATE authorization_codes SET expires_at = now()');
    const answer = await party.exchange(app, code);
    expect(answer.body).toMatchObject({ error: 'invalid_grant', message: 'The code has expired' });
  });
});

describe('refresh tokens', () => {
  it('50 parallel refreshes in the grace window: one successor', async () => {
    const { refresh_token } = await party.tokens(app, owner.id);
    await using replica = await site.replica();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        party.refresh(app, refresh_token, index % 2 === 0 ? site.url : replica.url),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map((answer) => bodyOf(answer).data.refresh_token)).size).toBe(1);
    expect(new Set(answers.map((answer) => bodyOf(answer).data.access_token)).size).toBe(1);
    const again = await party.refresh(app, refresh_token);
    expect(bodyOf(again).data.refresh_token).toBe(bodyOf(answers[0] as request.Response).data.refresh_token);
    expect(await alive(app, bodyOf(again).data.access_token)).toBe(true);
  });

  it('a grandparent: family revoked', async () => {
    const first = await party.tokens(app, owner.id);
    const second = bodyOf(await party.refresh(app, first.refresh_token)).data;
    const third = bodyOf(await party.refresh(app, second.refresh_token)).data;
    const before = (await party.events('refresh.reused')).length;
    const reuse = await party.refresh(app, first.refresh_token);
    expect([reuse.status, bodyOf(reuse).error]).toEqual([401, 'invalid_grant']);
    expect(await party.events('refresh.reused')).toHaveLength(before + 1);
    expect(bodyOf(await party.probe('meta', app.secret, third.access_token)).code).toBe('OPENAPI_REAUTH_REQUIRED');
    expect(bodyOf(await party.refresh(app, third.refresh_token)).error).toBe('invalid_grant');
  });

  it('a parent after the grace window: family revoked', async () => {
    const first = await party.tokens(app, owner.id);
    const second = bodyOf(await party.refresh(app, first.refresh_token)).data;
    await party.sql.query(
      "UPDATE refresh_tokens SET consumed_at = consumed_at - interval '21 s' WHERE consumed_at IS NOT NULL",
    );
    expect(bodyOf(await party.refresh(app, first.refresh_token)).error).toBe('invalid_grant');
    expect(await alive(app, second.access_token)).toBe(false);
  });

  it('of another application reveal nothing and harm nobody', async () => {
    const other = await party.register(owner.id);
    const first = await party.tokens(app, owner.id);
    const second = bodyOf(await party.refresh(app, first.refresh_token)).data;
    for (const token of [first.refresh_token, second.refresh_token]) {
      expect(bodyOf(await party.refresh(other, token)).error).toBe('invalid_grant');
    }
    expect((await party.refresh(app, second.refresh_token)).status).toBe(200);
  });

  it('expire after 30 idle days and after 365 days at the latest', async () => {
    const idle = await party.tokens(app, owner.id);
    await party.sql.query('UPDATE refresh_tokens SET idle_expires_at = now()');
    expect(bodyOf(await party.refresh(app, idle.refresh_token)).error).toBe('invalid_grant');
    const old = await party.tokens(app, owner.id);
    await party.sql.query(
      "UPDATE refresh_tokens SET absolute_expires_at = now() + interval '100 s' WHERE consumed_at IS NULL",
    );
    const next = bodyOf(await party.refresh(app, old.refresh_token)).data;
    expect(next['refresh_expires_in']).toBeLessThanOrEqual(100);
  });

  it('narrow the scope for an access token and never widen it', async () => {
    const pair = await party.tokens(app, owner.id, { scope: 'meta query' });
    const widened = await party.token(app, {
      grant_type: 'refresh_token',
      refresh_token: pair.refresh_token,
      scope: 'meta write',
    });
    expect([widened.status, bodyOf(widened).error]).toEqual([400, 'invalid_scope']);
    const narrowed = bodyOf(
      await party.token(app, { grant_type: 'refresh_token', refresh_token: pair.refresh_token, scope: 'meta' }),
    ).data;
    expect(narrowed['scope']).toBe('meta');
    expect(bodyOf(await party.probe('query', app.secret, narrowed.access_token)).code).toBe('USER_SCOPE_NOT_ALLOWED');
    const full = bodyOf(await party.refresh(app, narrowed.refresh_token)).data;
    expect(full['scope']).toBe('meta query');
  });

  it('and their successors cannot be read from the database', async () => {
    const first = await party.tokens(app, owner.id);
    const second = bodyOf(await party.refresh(app, first.refresh_token)).data;
    const dump = JSON.stringify(await party.sql.query('SELECT * FROM refresh_tokens'));
    for (const text of [first.refresh_token, second.refresh_token, second.access_token]) {
      expect(dump).not.toContain(text);
      expect(dump).not.toContain(Buffer.from(text).toString('hex'));
    }
  });
});

describe('retention', () => {
  it('creates days ahead, drops old ones, and deletes sealed successors and used codes', async () => {
    const retention = site.app.get(TokenRetention);
    await party.sql.query(
      "CREATE TABLE access_tokens_20200101 PARTITION OF access_tokens FOR VALUES FROM ('2020-01-01Z') TO ('2020-01-02Z')",
    );
    const first = await party.tokens(app, owner.id);
    await party.refresh(app, first.refresh_token);
    await party.sql.query(
      "UPDATE refresh_tokens SET consumed_at = now() - interval '1 min' WHERE consumed_at IS NOT NULL",
    );
    await party.sql.query("UPDATE authorization_codes SET expires_at = now() - interval '2 days'");
    await retention.sweep();
    const tables = (await party.sql.query(
      "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'access_tokens'::regclass",
    )) as { name: string }[];
    expect(tables).toHaveLength(5);
    expect(tables.map(({ name }) => name)).not.toContain('access_tokens_20200101');
    const count = async (sql: string): Promise<number> =>
      ((await party.sql.query(`SELECT count(*)::integer AS n FROM ${sql}`)) as [{ n: number }])[0].n;
    expect(await count('refresh_tokens WHERE successor_sealed IS NOT NULL')).toBe(0);
    expect(await count('authorization_codes')).toBe(0);
    const live = await count('grants');
    await party.code(app, owner.id);
    await party.sql.query("UPDATE grants SET created_at = now() - interval '2 days' WHERE exchanged_at IS NULL");
    await retention.sweep();
    expect(await count('grants WHERE exchanged_at IS NULL')).toBe(0);
    expect(await count('grants')).toBeLessThanOrEqual(live);
    expect(await alive(app, (await party.tokens(app, owner.id)).access_token)).toBe(true);
    expect(await count('access_tokens_default')).toBe(0);
    expect(await count('access_tokens')).toBeGreaterThan(0);
  });
});

describe('access tokens without a partition for their day', () => {
  it('move into it when it is created, and the next days are created as well', async () => {
    const days = async (): Promise<string[]> =>
      (
        (await party.sql.query(
          "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'access_tokens'::regclass ORDER BY 1",
        )) as { name: string }[]
      ).map(({ name }) => name);
    await site.app.get(TokenRetention).sweep();
    const expected = await days();
    for (const name of expected.filter((day) => day !== 'access_tokens_default')) {
      await party.sql.query(`DROP TABLE ${name}`);
    }
    const { access_token: token } = await party.tokens(app, owner.id);
    await party.sql.query(
      `INSERT INTO access_tokens (hash, grant_id, scopes, expires_at)
       SELECT 'expired long ago', grant_id, scopes, now() - interval '40 days' FROM access_tokens LIMIT 1`,
    );
    expect(await days()).toEqual(['access_tokens_default']);
    await site.app.get(TokenRetention).sweep();
    expect(await days()).toEqual(expected);
    const metrics = await site.app.get(MetricsRegistry).registry.metrics();
    expect(metrics).toContain('default_partition_rows{table="access_tokens_default"} 0');
    expect(await party.sql.query('SELECT tableoid::regclass::text FROM access_tokens')).not.toContainEqual({
      tableoid: 'access_tokens_default',
    });
    expect(await alive(app, token)).toBe(true);
  });

  it('are counted by the gauge and reported by /readyz until it can be created', async () => {
    const gauge = async (): Promise<string | undefined> =>
      /^default_partition_rows\{.*\} (\d+)$/m.exec(await site.app.get(MetricsRegistry).registry.metrics())?.[1];
    const degraded = async (): Promise<string[]> => {
      const { status, body } = await request(site.url).get('/readyz');
      expect(status).toBe(200);
      return (body as { degraded?: string[] }).degraded ?? [];
    };
    const reader = party.sql.createQueryRunner();
    try {
      await party.tokens(app, owner.id);
      await party.sql.query(
        `INSERT INTO access_tokens (hash, grant_id, scopes, expires_at)
         SELECT 'expired lately', grant_id, scopes, now() - interval '10 days' FROM access_tokens LIMIT 1`,
      );
      await reader.startTransaction();
      await reader.query('SELECT count(*) FROM access_tokens_default');
      await site.app.get(TokenRetention).sweep();
      expect(await gauge()).toBe('1');
      // A report is used for a second.
      await waitFor(async () => (await degraded()).includes('access_tokens_default'));
    } finally {
      if (reader.isTransactionActive) await reader.rollbackTransaction();
      await reader.release();
    }
    await site.app.get(TokenRetention).sweep();
    expect(await gauge()).toBe('0');
    await waitFor(async () => !(await degraded()).includes('access_tokens_default'));
  });
});

describe('the standard endpoints', () => {
  const form = (path: string, values: Record<string, string> | string): request.Test =>
    request(site.url).post(`/oauth2/${path}`).type('form').send(values);
  const basic = (id: string, secret: string): string =>
    `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`;

  it('RFC 6749 section 4.1.4: a bare body, never stored', async () => {
    const answer = await form('token', {
      grant_type: 'authorization_code',
      code: await party.code(app, owner.id, { scope: 'meta' }),
      redirect_uri: CALLBACK,
    }).set('Authorization', basic(app.clientId, app.secret));
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['pragma']).toBe('no-cache');
    expect(answer.body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3_600,
      refresh_token: expect.any(String),
      refresh_expires_in: 30 * 86_400,
      scope: 'meta',
    });
  });

  it('RFC 6749 section 2.3.1: basic with encoded halves, and post', async () => {
    const refresh = async (change: (call: request.Test) => request.Test, more: object = {}): Promise<number> => {
      const { refresh_token } = await party.tokens(app, owner.id);
      return (await change(form('token', { grant_type: 'refresh_token', refresh_token, ...more }))).status;
    };
    const encoded = (text: string): string => text.replaceAll('_', '%5F');
    const pair = Buffer.from(`${encoded(app.clientId)}:${encoded(app.secret)}`).toString('base64');
    expect(await refresh((call) => call.set('Authorization', `Basic ${pair}`))).toBe(200);
    expect(await refresh((call) => call, { client_id: app.clientId, client_secret: app.secret })).toBe(200);
    expect(await refresh((call) => call, { client_id: 'app_other', client_secret: app.secret })).toBe(401);
    expect(await refresh((call) => call, { client_id: app.clientId })).toBe(401);
    expect(
      await refresh((call) => call.set('Authorization', `Basic ${pair}`), {
        client_id: app.clientId,
        client_secret: app.secret,
      }),
    ).toBe(400);
  });

  it('RFC 6749 section 5.2: invalid_client is 401 and answers Basic with a challenge', async () => {
    for (const header of [
      basic(app.clientId, 'wrong'),
      basic('app_x', app.secret),
      'Basic !',
      'Basic %%%',
      'Digest x',
    ]) {
      const answer = await form('token', { grant_type: 'refresh_token', refresh_token: 'x' }).set(
        'Authorization',
        header,
      );
      expect(answer.status).toBe(401);
      expect(answer.body).toEqual({ error: 'invalid_client', error_description: expect.any(String) });
      expect(answer.headers['www-authenticate']).toMatch(/^Basic realm=/);
    }
  });

  it.each([
    ['invalid_request', { grant_type: 'authorization_code' }],
    ['invalid_request', {}],
    ['unsupported_grant_type', { grant_type: 'password', username: 'a', password: 'b' }],
    ['unsupported_grant_type', { grant_type: 'client_credentials' }],
    ['invalid_grant', { grant_type: 'authorization_code', code: 'hac_x', redirect_uri: CALLBACK }],
    ['invalid_grant', { grant_type: 'refresh_token', refresh_token: 'hrt_x' }],
    ['invalid_target', { grant_type: 'refresh_token', refresh_token: 'hrt_x', resource: 'https://other.example' }],
    ['invalid_scope', { grant_type: 'refresh_token', refresh_token: 'hrt_x', scope: 'root' }],
  ])('RFC 6749 section 5.2: %s for %j', async (error, values) => {
    const answer = await form('token', values as Record<string, string>).set(
      'Authorization',
      basic(app.clientId, app.secret),
    );
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      error,
      error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
    });
  });

  it('RFC 7009: access and refresh tokens, unknown ones, those of others', async () => {
    const pair = await party.tokens(app, owner.id);
    const other = await party.register(owner.id);
    const revoke = (client: RegisteredApp, token: string): request.Test =>
      form('revoke', { token, token_type_hint: 'refresh_token' }).set(
        'Authorization',
        basic(client.clientId, client.secret),
      );
    for (const token of [pair.access_token, pair.refresh_token, 'unknown']) {
      const answer = await revoke(other, token);
      expect([answer.status, answer.body]).toEqual([200, {}]);
    }
    expect(await alive(app, pair.access_token)).toBe(true);
    await revoke(app, pair.access_token);
    expect(await alive(app, pair.access_token)).toBe(false);
    const next = bodyOf(await party.refresh(app, pair.refresh_token)).data;
    await revoke(app, next.refresh_token);
    expect(await alive(app, next.access_token)).toBe(false);
    expect((await form('revoke', { token: 'x' })).status).toBe(401);
    expect((await form('revoke', {}).set('Authorization', basic(app.clientId, app.secret))).body).toMatchObject({
      error: 'invalid_request',
    });
  });

  it('RFC 7662: own live tokens only', async () => {
    const pair = await party.tokens(app, owner.id, { scope: 'meta query' });
    const other = await party.register(owner.id);
    const introspect = async (client: RegisteredApp, token: string): Promise<unknown> => {
      const answer = await form('introspect', { token }).set('Authorization', basic(client.clientId, client.secret));
      expect(answer.headers['cache-control']).toBe('no-store');
      return answer.body;
    };
    const about = { client_id: app.clientId, sub: String(owner.id), iss: ISSUER, aud: `${ISSUER}/api/open` };
    expect(await introspect(app, pair.access_token)).toEqual({
      active: true,
      scope: 'meta query',
      token_type: 'Bearer',
      exp: expect.any(Number),
      ...about,
    });
    expect(await introspect(app, pair.refresh_token)).toMatchObject({
      active: true,
      exp: expect.any(Number),
      ...about,
    });
    for (const token of [pair.access_token, pair.refresh_token])
      expect(await introspect(other, token)).toEqual({ active: false });
    expect(await introspect(app, 'unknown')).toEqual({ active: false });
    await party.refresh(app, pair.refresh_token);
    expect(await introspect(app, pair.refresh_token)).toEqual({ active: false });
    expect((await form('introspect', { token: 'x' })).status).toBe(401);
  });

  it('tokens that are looked up at the same time each have their own answer', async () => {
    const scopes = ['meta', 'meta query', 'unlock', 'query', 'write', 'meta write'];
    const pairs = [];
    for (const scope of scopes) pairs.push(await party.tokens(app, owner.id, { scope }));
    const revoked = pairs[2]?.access_token ?? '';
    await form('revoke', { token: revoked }).set('Authorization', basic(app.clientId, app.secret));
    const asked = [...pairs, ...pairs, { access_token: 'unknown' }].map(async ({ access_token: token }) => {
      const answer = await form('introspect', { token }).set('Authorization', basic(app.clientId, app.secret));
      return (answer.body as { scope?: string }).scope;
    });
    const expected = scopes.map((scope, index) => (index === 2 ? undefined : scope));
    expect(await Promise.all(asked)).toEqual([...expected, ...expected, undefined]);
  });

  it('RFC 8414: metadata, from any origin', async () => {
    for (const path of ['', '/oauth2']) {
      const answer = await request(site.url).get(`/.well-known/oauth-authorization-server${path}`);
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect(answer.body).toMatchObject({
        issuer: ISSUER,
        authorization_endpoint: `${ISSUER}/oauth2/authorize`,
        token_endpoint: `${ISSUER}/oauth2/token`,
        response_types_supported: ['code'],
        grant_types_supported: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
      });
    }
  });

  it('RFC 7636 appendix B: the vector', () => {
    expect(challengeOf(VERIFIER)).toBe('E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
  });

  it('support a public application with PKCE and without a secret', async () => {
    const mobile = await party.register(owner.id, { kind: 'native', redirectUris: ['com.example.app:/cb'] });
    const code = await party.code(mobile, owner.id, { pkce: true, redirectUri: 'com.example.app:/cb' });
    const exchanged = await form('token', {
      grant_type: 'authorization_code',
      client_id: mobile.clientId,
      code,
      redirect_uri: 'com.example.app:/cb',
      code_verifier: VERIFIER,
    });
    expect(exchanged.status).toBe(200);
    const refreshed = await form('token', {
      grant_type: 'refresh_token',
      client_id: mobile.clientId,
      refresh_token: (exchanged.body as TokenPair).refresh_token,
    });
    expect(refreshed.status).toBe(200);
    const again = await form('token', {
      grant_type: 'refresh_token',
      refresh_token: (refreshed.body as TokenPair).refresh_token,
    }).set('Authorization', basic(mobile.clientId, ''));
    expect(again.status).toBe(200);
    const confidential = await form('token', { grant_type: 'refresh_token', refresh_token: 'hrt_x' }).set(
      'Authorization',
      basic(app.clientId, ''),
    );
    expect(confidential.status).toBe(401);
  });

  it('answer malformed and foreign bodies without failing', async () => {
    for (const [type, body] of [
      ['application/json', '{'],
      ['application/json', '[]'],
      ['text/plain', 'x'],
    ] as const) {
      const answer = await request(site.url).post('/oauth2/token').set('Content-Type', type).send(body);
      expect([400, 415]).toContain(answer.status);
      expect(answer.headers['content-type']).toContain('application/json');
    }
    const random = randomBytes(40).toString('base64');
    expect(
      (await form('token', { grant_type: random, [random]: 'x' }).set('Authorization', basic(app.clientId, app.secret)))
        .status,
    ).toBe(400);
  });
});

it('several processes agree on what was used up', async () => {
  const replicas: SiteApp[] = [await site.replica(), await site.replica()];
  const urls = [site.url, ...replicas.map(({ url }) => url)];
  const code = await party.code(app, owner.id);
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      party.token(app, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK }, urls[index % 3]),
    ),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  for (const replica of replicas) await replica.close();
});

it('no family is lost when database connections are cut during a storm of refreshes', async () => {
  const FAMILIES = 8;
  const ROUNDS = 12;
  let failures = 0;
  let successes = 0;
  /** As a client does: after a failed answer it tries again with the token that it still has. */
  const refreshed = async (token: string): Promise<string> => {
    for (let attempt = 0; attempt < 50; attempt++) {
      const answer = await party.refresh(app, token);
      if (answer.status === 200) {
        successes += 1;
        return bodyOf(answer).data.refresh_token;
      }
      if (answer.status < 500) throw new Error(`the family was lost: ${answer.text}`);
      failures += 1;
    }
    throw new Error('no attempt succeeded');
  };
  const families = await Promise.all(
    Array.from({ length: FAMILIES }, async () => (await party.tokens(app, owner.id)).refresh_token),
  );
  let running = true;
  const cutting = withClient(site.databaseUrl, async (client) => {
    while (running) {
      const before = successes;
      await client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
         AND pid <> pg_backend_pid() AND application_name = 'resource-sharing' ORDER BY random() LIMIT 2`,
      );
      await client.query('SELECT pg_sleep(0.02)');
      // A slow machine finishes no refresh in that time.
      while (running && successes === before) await client.query('SELECT pg_sleep(0.005)');
    }
  });
  const rounds = families.map(() => 0);
  const last = await Promise.all(
    families.map(async (first, family) => {
      let token = first;
      // On a machine with nothing else to do all could be over before a connection was cut.
      for (let round = 0; round < ROUNDS || (failures === 0 && round < 100 * ROUNDS); round++) {
        token = await refreshed(token);
        rounds[family] = round + 1;
      }
      return token;
    }),
  ).finally(() => {
    running = false;
  });
  await cutting;
  expect(failures).toBeGreaterThan(0);
  expect(new Set(last).size).toBe(FAMILIES);
  // Each chain has exactly as many links as its client has seen: nothing was lost and nothing made twice.
  const chains = (await party.sql.query(
    `SELECT grant_id, count(*)::integer AS links, count(*) FILTER (WHERE consumed_at IS NULL)::integer AS live
     FROM refresh_tokens WHERE grant_id IN (
       SELECT id FROM grants WHERE revoked_at IS NULL ORDER BY id DESC LIMIT ${FAMILIES})
     GROUP BY grant_id`,
  )) as { links: number; live: number }[];
  expect(chains.map(({ live }) => live)).toEqual(families.map(() => 1));
  const links = chains.map((chain) => chain.links).toSorted((a, b) => a - b);
  expect(links).toEqual(rounds.map((count) => count + 1).toSorted((a, b) => a - b));
});
