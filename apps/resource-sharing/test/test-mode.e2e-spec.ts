import { randomInt, randomUUID } from 'node:crypto';
import { waitFor } from '@gatehouse/testing';
import request from 'supertest';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestKeys } from '../src/applications/test-keys.service.js';
import { LAYERED_TABLES, SHARED_TABLES } from '../src/data/test-layer.js';
import { RefusedCalls } from '../src/refused-calls/refused-calls.js';
import { TestDataRetention } from '../src/retention/test-data-retention.js';
import { ShareLooks } from '../src/risk/share-looks.js';
import { ShareCounters } from '../src/shares/share-counters.js';
import { UsageReader } from '../src/usage/usage-reader.js';
import { UsageRecorder } from '../src/usage/usage-recorder.js';
import { Webhooks } from '../src/webhooks/webhooks.service.js';
import { createShares, givePoints } from './points-support.js';
import { newShare } from './share-callers.js';
import { startOpenSite } from './support/open-site.js';
import { ThirdParty, type RegisteredApp } from './support/third-party.js';

type Site = Awaited<ReturnType<typeof startOpenSite>>;
let site: Site;
let party: ThirdParty;
let sql: DataSource;

beforeAll(async () => {
  site = await startOpenSite({ API_RATE_LIMIT: '0', OPEN_API_ADDRESS_RATE_LIMIT: '0', SHARE_DELETION_FEE: '5' });
  party = new ThirdParty(site);
  sql = party.sql;
});
afterAll(() => site.close());

interface TestSetup {
  readonly owner: { readonly id: number; readonly name: string };
  readonly app: RegisteredApp;
  readonly key: string;
  readonly keyId: number;
  readonly token: string;
}

/** An application that nobody has reviewed, with a test key and a token of its owner. */
async function setUp(): Promise<TestSetup> {
  const owner = await party.user();
  const app = await party.register(owner.id, {}, { reviewed: false });
  const { secret: key, info } = await site.app.get(TestKeys).create(owner.id, app.clientId);
  const { access_token: token } = await party.tokens(app, owner.id);
  return { owner, app, key, keyId: info.id, token };
}

interface Call {
  readonly method?: 'get' | 'post' | 'patch' | 'delete';
  readonly path: string;
  readonly body?: object;
  readonly key: string;
  readonly token?: string;
  readonly idempotencyKey?: string;
  readonly url?: string;
}

function call({ method = 'get', path, body, key, token, idempotencyKey, url = site.url }: Call): request.Test {
  const sent = request(url)[method](`/api/open${path}`).set('X-API-Key', key);
  if (token !== undefined) void sent.set('Authorization', `Bearer ${token}`);
  if (idempotencyKey !== undefined) void sent.set('Idempotency-Key', idempotencyKey);
  return body === undefined ? sent : sent.send(body);
}

const dataOf = <T>(answer: request.Response): T => (answer.body as { data: T }).data;
const codeOf = (answer: request.Response): string => (answer.body as { code: string }).code;
const read = <Row extends object>(text: string, values?: unknown[]): Promise<Row[]> => sql.query<Row[]>(text, values);

async function madeUp({ owner, app }: TestSetup): Promise<Record<string, string>> {
  const shares = await site.app.get(TestKeys).shares(owner.id, app.clientId);
  return Object.fromEntries(shares.map(({ name, slug }) => [name, slug]));
}

const balanceOf = async ({ owner, app }: TestSetup): Promise<number | undefined> =>
  (
    await read<{ balance: number }>(
      `SELECT l.balance FROM resource_sharing_test.test_accounts t
       JOIN resource_sharing_test.ledger_accounts l ON l.user_id = t.id
       WHERE t.application_id = $1 AND t.user_id = $2 AND NOT t.is_made_up`,
      [app.application.id, owner.id],
    )
  )[0]?.balance;

/** Writes what the service collects and writes once a second. */
async function settle(): Promise<void> {
  await site.app.get(ShareCounters).flush();
  await site.app.get(ShareLooks).flush();
  await site.app.get(UsageRecorder).flush();
  await site.app.get(RefusedCalls).flush();
}

describe('a call with a test key', () => {
  it('acts for a test account with 1,000 points, for an application that nobody has reviewed', async () => {
    const setup = await setUp();
    const { key, token, owner } = setup;
    expect(key).toMatch(/^ht_/);
    const ping = await call({ path: '/ping', key }).expect(200);
    expect(dataOf(ping)).toMatchObject({ api_key_id: setup.keyId });
    await sql.query("UPDATE site_accounts SET premium_until = now() + interval '1 year' WHERE id = $1", [owner.id]);
    const me = await call({ path: '/me', key, token }).expect(200);
    expect(dataOf(me)).toMatchObject({ points: 1_000, username: owner.name, user_meta: { share_num: 0 } });
    expect(dataOf<{ id: number }>(me).id).toBeGreaterThanOrEqual(1_000_000_000_000);
    const checkIn = await call({ method: 'post', path: '/checkin', key, token }).expect(200);
    const { points } = dataOf<{ points: number }>(checkIn);
    expect(points).toBeGreaterThan(0);
    expect(await balanceOf(setup)).toBe(1_000 + points);
    expect(await read('SELECT balance FROM ledger_accounts WHERE user_id = $1', [owner.id])).toEqual([{ balance: 0 }]);
    expect(await read('SELECT day FROM check_ins WHERE user_id = $1', [owner.id])).toEqual([]);
  });

  it('has each outcome of an unlock at hand', async () => {
    const setup = await setUp();
    const { key, token } = setup;
    const listed = await call({ path: '/resources/movie/999000001', key, token }).expect(200);
    const shares = await madeUp(setup);
    expect(Object.keys(shares)).toEqual('free cheap dear official withdrawn too_fast paused blocked'.split(' '));
    const { withdrawn, ...listable } = shares;
    const slugs = dataOf<{ slug: string }[]>(listed).map(({ slug }) => slug);
    expect(slugs.toSorted()).toEqual(Object.values(listable).toSorted());
    const outcomes: Record<string, [number, string]> = {};
    for (const [name, slug] of Object.entries({ ...listable, withdrawn })) {
      const answer = await call({ method: 'post', path: '/resources/unlock', body: { slug }, key, token });
      outcomes[name] = [answer.status, (answer.body as { limit_code?: string }).limit_code ?? codeOf(answer)];
    }
    expect(outcomes).toEqual({
      free: [200, '200'],
      cheap: [200, '200'],
      official: [200, '200'],
      dear: [402, 'INSUFFICIENT_POINTS'],
      withdrawn: [404, '404'],
      too_fast: [429, 'USER_RATE_LIMIT_EXCEEDED'],
      paused: [429, 'OPENAPI_COOLDOWN'],
      blocked: [403, 'RISK_BLOCKED'],
    });
    expect(await balanceOf(setup)).toBe(980);
  });

  it('shares, changes, unlocks and withdraws as any call, seen by no other application and by nobody outside', async () => {
    const [setup, other] = [await setUp(), await setUp()];
    const { key, token } = setup;
    const body = newShare({ tmdb_id: '77001', unlock_points: 10 });
    const made = await call({ method: 'post', path: '/shares', body, key, token }).expect(200);
    const { slug } = dataOf<{ slug: string }>(made);
    await call({ path: `/shares/${slug}`, key, token }).expect(200);
    const path = `/shares/${slug}`;
    await call({ method: 'patch', path, body: { unlock_points: 20 }, key, token }).expect(200);
    // The same link without its code keeps the code.
    const url = (body['url'] as string).split('?')[0];
    await call({ method: 'patch', path, body: { url }, key, token }).expect(200);
    const mine = await call({ path: '/shares?include=link', key, token }).expect(200);
    expect(dataOf(mine)).toMatchObject([{ slug, access_code: 'a1b2' }]);
    const again = await call({ method: 'post', path: '/shares', body, key, token });
    expect([again.status, codeOf(again)]).toEqual([409, 'SHARE_LINK_EXISTS']);

    // Another application has the same link for itself; with its real secret, this one finds nothing either.
    const theirs = { key: other.key, token: other.token };
    await call({ path, ...theirs }).expect(404);
    await call({ method: 'patch', path, body: { title: 'Mine' }, ...theirs }).expect(404);
    await call({ method: 'delete', path, ...theirs }).expect(404);
    await call({ method: 'post', path: '/resources/unlock', body: { slug }, ...theirs }).expect(404);
    await call({ method: 'post', path: '/shares', body, ...theirs }).expect(200);
    await call({ path, key: setup.app.secret, token }).expect(404);
    const outside = await call({ path: '/resources/movie/77001', key: setup.app.secret, token }).expect(200);
    expect(dataOf(outside)).toEqual([]);

    await call({ method: 'delete', path, key, token }).expect(200);
    await call({ path, key, token }).expect(404);
    expect(await balanceOf(setup)).toBe(995);
  });

  it('does not see real shares, and the real secret of the application does not see those of tests', async () => {
    const setup = await setUp();
    const [share] = await createShares(sql, setup.owner.id, { price: 10 });
    const slug = share?.slug ?? '';
    await call({ path: `/shares/${slug}`, key: setup.key, token: setup.token }).expect(404);
    await call({ path: `/shares/${slug}`, key: setup.app.secret, token: setup.token }).expect(200);
    await call({ path: '/shares', key: setup.key, token: setup.token }).expect(200);
    const { free = '' } = await madeUp(setup);
    await call({ path: `/shares/${free}`, key: setup.app.secret, token: setup.token }).expect(404);
  });

  it('counts views of shares in test mode, apart from those of real ones', async () => {
    const setup = await setUp();
    const { key, token } = setup;
    await call({ path: '/resources/movie/999000001', key, token }).expect(200);
    const { cheap: slug = '' } = await madeUp(setup);
    await call({ path: `/shares/${slug}`, key, token }).expect(200);
    await settle();
    const counters =
      'SELECT c.click_count FROM resource_sharing_test.share_counters c JOIN resource_sharing_test.shares s';
    expect(await read(`${counters} ON s.id = c.share_id WHERE s.slug = $1`, [slug])).toEqual([{ click_count: 1 }]);
    const looks = `SELECT count(*)::integer AS n FROM resource_sharing_test.share_looks l
      JOIN resource_sharing_test.shares s ON s.id = l.share_id WHERE s.slug = $1`;
    expect(await read(looks, [slug])).toEqual([{ n: 1 }]);
    const strays = 'SELECT count(*)::integer AS n FROM share_looks WHERE user_id >= 1000000000000';
    expect(await read(strays)).toEqual([{ n: 0 }]);
  });

  it('repeats an answer for an Idempotency-Key that a real call has used, too', async () => {
    const setup = await setUp();
    const { key, token, app, owner } = setup;
    await givePoints(sql, owner.id, 50);
    const idempotencyKey = randomUUID();
    const real = await call({
      method: 'post',
      path: '/shares',
      body: newShare(),
      key: app.secret,
      token,
      idempotencyKey,
    });
    const body = newShare();
    const first = await call({ method: 'post', path: '/shares', body, key, token, idempotencyKey });
    const second = await call({ method: 'post', path: '/shares', body, key, token, idempotencyKey });
    expect([real.status, first.status, second.status]).toEqual([200, 200, 200]);
    expect(second.body).toEqual(first.body);
    expect(dataOf<{ slug: string }>(real).slug).not.toBe(dataOf<{ slug: string }>(first).slug);
  });

  it('stands beside the token of a public application, which may carry it in everybody’s hands', async () => {
    const owner = await party.user();
    const app = await party.register(owner.id, { kind: 'public' });
    const { secret: key } = await site.app.get(TestKeys).create(owner.id, app.clientId);
    const { access_token: token } = await party.publicTokens(app, owner.id);
    const alone = await call({ path: '/ping', key });
    expect([alone.status, codeOf(alone)]).toEqual([403, 'OPENAPI_USER_REQUIRED']);
    await call({ method: 'post', path: '/shares', body: newShare(), key, token }).expect(200);
    expect(await read('SELECT id FROM shares WHERE owner_id = $1', [owner.id])).toEqual([]);
  });

  it('needs a token of its own application, and ends with its key, its application and its owner', async () => {
    const [setup, other] = [await setUp(), await setUp()];
    const foreign = await call({ path: '/shares', key: setup.key, token: other.token });
    expect([foreign.status, codeOf(foreign)]).toEqual([401, 'INVALID_OPENAPI_USER_TOKEN']);
    await site.app.get(TestKeys).revoke(setup.owner.id, setup.app.clientId, setup.keyId);
    const revoked = await call({ path: '/ping', key: setup.key });
    expect([revoked.status, codeOf(revoked)]).toEqual([401, 'DISABLED_API_KEY']);
    await party.review(other.app.clientId, { authLevel: 'unverified', status: 'disabled' });
    const disabled = await call({ path: '/ping', key: other.key });
    expect([disabled.status, codeOf(disabled)]).toEqual([401, 'DISABLED_API_KEY']);
  });

  it('is no secret of the application: no token is issued, refreshed, looked at or ended with it', async () => {
    const setup = await setUp();
    const code = await party.code(setup.app, setup.owner.id);
    const refused = await party.exchange({ ...setup.app, secret: setup.key }, code);
    expect([refused.status, codeOf(refused)]).toEqual([401, 'INVALID_API_KEY']);
    const form = { client_id: setup.app.clientId, client_secret: setup.key };
    for (const place of ['token', 'introspect', 'revoke']) {
      const body = {
        ...form,
        grant_type: 'authorization_code',
        code,
        redirect_uri: 'https://client.example/callback',
        token: setup.token,
      };
      const answer = await request(site.url).post(`/oauth2/${place}`).type('form').send(body);
      expect([place, answer.status, (answer.body as { error?: string }).error]).toEqual([place, 401, 'invalid_client']);
    }
    await call({ path: '/shares', key: setup.key, token: setup.token }).expect(200);
  });
});

describe('webhooks', () => {
  it('get what test calls do only if they ask for it, and marked as a test', async () => {
    const setup = await setUp();
    const place = { ownerId: setup.owner.id, clientId: setup.app.clientId };
    const add = async (testEvents: boolean): Promise<number> => {
      const given = { name: `tests ${testEvents}`, url: 'https://hooks.example.org/', eventTypes: [], testEvents };
      return (await site.app.get(Webhooks).create(place, given)).webhook.id;
    };
    const [wishes, others] = [await add(true), await add(false)];
    await call({ path: '/shares', key: setup.key, token: setup.token }).expect(200);
    const { cheap: slug = '' } = await madeUp(setup);
    const body = { slug };
    await call({ method: 'post', path: '/resources/unlock', body, key: setup.key, token: setup.token }).expect(200);
    const deliveries = (): Promise<{ id: number; body: string }[]> =>
      read('SELECT webhook_id AS id, body FROM webhook_deliveries WHERE webhook_id = ANY ($1) ORDER BY id', [
        [wishes, others],
      ]);
    await waitFor(async () => (await deliveries()).length > 0);
    const [sent] = await deliveries();
    expect(sent?.id).toBe(wishes);
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({
      type: 'share.unlocked',
      data: { client_id: setup.app.clientId, slug, via: 'points', points: 10, test: true },
    });
    // What happened outside of test mode is for both, and not marked. Events come in their order.
    const [share] = await createShares(sql, (await party.user()).id, { price: null });
    const real = { method: 'post' as const, path: '/resources/unlock', body: { slug: share?.slug ?? '' } };
    await call({ ...real, key: setup.app.secret, token: setup.token }).expect(200);
    await waitFor(async () => (await deliveries()).length >= 3);
    const [, ...later] = await deliveries();
    expect(later.map(({ id }) => id).toSorted((one, other) => one - other)).toEqual([wishes, others]);
    for (const one of later) expect(one.body).not.toContain('"test"');
  });

  it('none is noted without such a wish', async () => {
    const setup = await setUp();
    const place = { ownerId: setup.owner.id, clientId: setup.app.clientId };
    const given = { name: 'real ones', url: 'https://hooks.example.org/', eventTypes: [], testEvents: false };
    const { webhook } = await site.app.get(Webhooks).create(place, given);
    await call({ path: '/shares', key: setup.key, token: setup.token }).expect(200);
    const wanted = `SELECT resource_sharing.is_wanted($1, 'share.unlocked') AS real, resource_sharing_test.is_wanted($1, 'share.unlocked') AS test`;
    expect(await read(wanted, [setup.app.application.id])).toEqual([{ real: true, test: false }]);
    await site.app.get(Webhooks).update(place, webhook.id, { testEvents: true });
    expect(await read(wanted, [setup.app.application.id])).toEqual([{ real: true, test: true }]);
  });
});

describe('limits, usage and the error log of test calls', () => {
  it('have small limits, whatever profile the application has, and take nothing from its own', async () => {
    const setup = await setUp();
    const answer = await call({ path: '/shares', key: setup.key, token: setup.token }).expect(200);
    expect(answer.headers['ratelimit-policy']).toContain('"app";q=120;w=60');
    // As after 120 calls in a moment; unlocks ask the counts of all replicas.
    const text = "INSERT INTO rate_limits (key, tat) VALUES ($1, now() + interval '5 minutes')";
    await sql.query(`${text} ON CONFLICT (key) DO UPDATE SET tat = excluded.tat`, [`m:t${setup.app.application.id}`]);
    const unlock = {
      method: 'post' as const,
      path: '/resources/unlock',
      body: { slug: randomUUID() },
      token: setup.token,
    };
    const refused = await call({ ...unlock, key: setup.key });
    const { limit_code: code } = refused.body as { limit_code?: string };
    expect([refused.status, code]).toEqual([429, 'APP_RATE_LIMIT_EXCEEDED']);
    await call({ ...unlock, key: setup.app.secret }).expect(404);
  });

  it('are counted under a mark of their own, which the application’s usage does not contain', async () => {
    const setup = await setUp();
    const id = setup.app.application.id;
    await call({ path: '/ping', key: setup.app.secret }).expect(200);
    for (let count = 0; count < 3; count += 1) await call({ path: '/ping', key: setup.key }).expect(200);
    await call({ path: `/shares/${randomUUID()}`, key: setup.key }).expect(404);
    await settle();
    const { date } = dataOf<{ date: string }>({
      body: { data: { date: new Date().toISOString() } },
    } as request.Response);
    const range = { first: '2000-01-01', last: `${Number(date.slice(0, 4)) + 1}-01-01` };
    const reader = site.app.get(UsageReader);
    const total = async (credentialId: number): Promise<number> =>
      (await reader.read({ applicationId: id, credentialId, userId: null }, range)).summary.total;
    expect([await total(0), await total(-1)]).toEqual([1, 4]);
    const own = await call({ path: '/usage/today', key: setup.key }).expect(200);
    expect(dataOf(own)).toMatchObject({ total_calls: 4 });

    const log = await site.app.get(RefusedCalls).newest(id, 10);
    expect(log.map(({ endpoint, isTest }) => [endpoint, isTest])).toEqual([['/api/open/shares/:slug', true]]);
  });
});

describe('the owner’s routes', () => {
  const route = (app: RegisteredApp, rest: string): string => `/api/site/applications/${app.clientId}/${rest}`;

  it('make two keys at most, list and revoke them, and show each once', async () => {
    const owner = await party.user();
    const cookie = await party.cookie(owner.name);
    const app = await party.register(owner.id, {}, { reviewed: false });
    const post = (): request.Test => request(site.url).post(route(app, 'test-keys')).set('Cookie', cookie);
    const made = await post().expect(200);
    const { secret, id, hint } = dataOf<{ secret: string; id: number; hint: string }>(made);
    expect(hint).toBe(`ht_…${secret.slice(-4)}`);
    const together = await Promise.all([post(), post(), post()]);
    expect(together.map(({ status }) => String(status)).toSorted()).toEqual(['200', '409', '409']);
    const list = await request(site.url).get(route(app, 'test-keys')).set('Cookie', cookie).expect(200);
    expect(list.text).not.toContain(secret);
    expect(dataOf<{ id: number }[]>(list)).toHaveLength(2);
    // They are not among the secrets, and replacing these leaves them alone.
    const secrets = await request(site.url).get(route(app, 'secrets')).set('Cookie', cookie).expect(200);
    expect(dataOf<{ id: number }[]>(secrets).map((one) => one.id)).toEqual([app.secretId]);
    await party.secrets.rotate(owner.id, app.clientId);
    await party.secrets.rotate(owner.id, app.clientId);
    await call({ path: '/ping', key: secret }).expect(200);
    await request(site.url)
      .delete(route(app, `secrets/${id}`))
      .set('Cookie', cookie)
      .expect(404);
    await request(site.url)
      .delete(route(app, `test-keys/${id}`))
      .set('Cookie', cookie)
      .expect(200);
    await request(site.url)
      .delete(route(app, `test-keys/${id}`))
      .set('Cookie', cookie)
      .expect(404);
    await call({ path: '/ping', key: secret }).expect(401);
    await post().expect(200);
  });

  it('set points, and empty the data, on every replica at once', async () => {
    const setup = await setUp();
    const { owner, app, key, token } = setup;
    const cookie = await party.cookie(owner.name);
    const put = (body: object): request.Test =>
      request(site.url).put(route(app, 'test-points')).set('Cookie', cookie).send(body);
    await put({ points: 5 }).expect(200);
    expect(await balanceOf(setup)).toBe(5);
    const { cheap: slug = '' } = await madeUp(setup);
    const poor = await call({ method: 'post', path: '/resources/unlock', body: { slug }, key, token });
    expect([poor.status, codeOf(poor)]).toEqual([402, 'INSUFFICIENT_POINTS']);
    await put({ points: 2_000_000 }).expect(200);
    await put({ points: 0 }).expect(200);
    expect(await balanceOf(setup)).toBe(0);
    for (const points of [-1, 1.5, 10_000_001, '5', null]) {
      const answer = await put({ points });
      expect([points, answer.status]).toEqual([points, 400]);
      expect(answer.text).toContain('points');
    }
    // Of a user whom the application has; nobody else's.
    const stranger = await party.user();
    await put({ points: 5, user_id: stranger.id }).expect(404);
    await sql.query('UPDATE applications SET test_user_ids = $2 WHERE id = $1', [app.application.id, [stranger.id]]);
    await put({ points: 5, user_id: stranger.id }).expect(200);

    const replica = await site.replica();
    try {
      await call({ path: '/shares', key, token, url: replica.url }).expect(200);
      await request(site.url).delete(route(app, 'test-data')).set('Cookie', cookie).expect(200);
      expect(
        await read('SELECT id FROM resource_sharing_test.test_accounts WHERE application_id = $1', [
          app.application.id,
        ]),
      ).toEqual([]);
      await waitFor(async () => {
        const made = await call({ method: 'post', path: '/shares', body: newShare(), key, token, url: replica.url });
        return made.status === 200;
      });
      expect(await balanceOf(setup)).toBe(1_000);
    } finally {
      await replica.close();
    }
  });

  it('serve the owner of the application alone', async () => {
    const setup = await setUp();
    const stranger = await party.user();
    const cookie = await party.cookie(stranger.name);
    const calls: [method: 'get' | 'post' | 'put' | 'delete', rest: string, body?: object][] = [
      ['get', 'test-keys'],
      ['post', 'test-keys'],
      ['delete', `test-keys/${setup.keyId}`],
      ['get', 'test-shares'],
      ['put', 'test-points', { points: 7 }],
      ['delete', 'test-data'],
    ];
    for (const [method, rest, body] of calls) {
      const anonymous = await request(site.url)[method](route(setup.app, rest)).send(body);
      expect([rest, anonymous.status]).toEqual([rest, 401]);
      const foreign = await request(site.url)[method](route(setup.app, rest)).set('Cookie', cookie).send(body);
      expect([rest, foreign.status]).toEqual([rest, 404]);
    }
    // Nor with a key of another application of the same person.
    const mine = await party.register(stranger.id);
    await request(site.url)
      .delete(route(mine, `test-keys/${setup.keyId}`))
      .set('Cookie', cookie)
      .expect(404);
    await call({ path: '/ping', key: setup.key }).expect(200);
  });

  it('leave nothing in test mode when the application or its owner’s account goes', async () => {
    const left = async (id: number): Promise<number> =>
      (
        await read<{ n: number }>(
          'SELECT count(*)::integer AS n FROM resource_sharing_test.test_accounts WHERE application_id = $1',
          [id],
        )
      )[0]?.n ?? -1;
    const [removed, ended] = [await setUp(), await setUp()];
    for (const { key, token } of [removed, ended]) {
      await call({ method: 'post', path: '/shares', body: newShare(), key, token }).expect(200);
    }
    expect(await left(removed.app.application.id)).toBe(2);
    const cookie = await party.cookie(removed.owner.name);
    await request(site.url).delete(route(removed.app, '').slice(0, -1)).set('Cookie', cookie).expect(200);
    expect(await left(removed.app.application.id)).toBe(0);
    const ownCookie = await party.cookie(ended.owner.name);
    await request(site.url)
      .post('/api/site/me/delete')
      .set('Cookie', ownCookie)
      .send({ password: 'correct horse battery' })
      .expect(200);
    expect(await left(ended.app.application.id)).toBe(0);
  });

  it('keep nothing that a user wrote into a share when the account of that user is deleted', async () => {
    const setup = await setUp();
    const user = await party.user();
    await sql.query('UPDATE applications SET test_user_ids = $2 WHERE id = $1', [setup.app.application.id, [user.id]]);
    const { access_token: token } = await party.tokens(setup.app, user.id);
    const body = newShare({ title: 'Wrote this', remark: 'And that' });
    await call({ method: 'post', path: '/shares', body, key: setup.key, token }).expect(200);
    const cookie = await party.cookie(user.name);
    const end = request(site.url).post('/api/site/me/delete').set('Cookie', cookie);
    await end.send({ password: 'correct horse battery' }).expect(200);
    const rows = await read<{ t: string }>(
      'SELECT t::text FROM resource_sharing_test.shares t WHERE application_id = $1 AND made_up IS NULL',
      [setup.app.application.id],
    );
    expect(rows).toHaveLength(1);
    for (const text of ['Wrote this', 'And that', String(body['url']).slice(-20, -16), 'a1b2']) {
      expect(rows[0]?.t).not.toContain(text);
    }
  });

  it('test data that nobody uses for 90 days go by themselves', async () => {
    const [used, unused] = [await setUp(), await setUp()];
    const ids = [used.app.application.id, unused.app.application.id];
    for (const { key, token } of [used, unused]) await call({ path: '/shares', key, token }).expect(200);
    const long = "now() - interval '91 days'";
    await sql.query(
      `UPDATE resource_sharing_test.test_accounts SET created_at = ${long} WHERE application_id = ANY ($1)`,
      [ids],
    );
    await sql.query(`UPDATE credentials SET created_at = ${long}, last_used_at = ${long} WHERE id = $1`, [
      unused.keyId,
    ]);
    const retention = new TestDataRetention(sql, party.unitOfWork);
    await retention.sweep(AbortSignal.abort());
    const left =
      'SELECT DISTINCT application_id AS id FROM resource_sharing_test.test_accounts WHERE application_id = ANY ($1)';
    expect(await read(left, [ids])).toHaveLength(2);
    await retention.sweep();
    expect(await read(left, [ids])).toEqual([{ id: ids[0] }]);
  });
});

/** What may change outside of test mode: who called when and how often, and that owners emptied their test data. */
const COUNTING = [
  'revocation_epoch',
  'credentials',
  'rate_limits',
  'quota_used',
  'refused_calls',
  'usage_daily',
  'usage_endpoint_daily',
];

async function checksums(): Promise<Record<string, string | null>> {
  const found: Record<string, string | null> = {};
  for (const table of [...LAYERED_TABLES, ...SHARED_TABLES].filter((name) => !COUNTING.includes(name))) {
    const [row] = await read<{ sum: string | null }>(
      `SELECT md5(string_agg(t::text, E'\\n' ORDER BY t::text)) AS sum FROM resource_sharing.${table} t`,
    );
    found[table] = row?.sum ?? null;
  }
  return found;
}

describe('a storm of random test calls', () => {
  it('leaves every table of the service as it was, and books in test mode that add up', async () => {
    await using quiet = await startOpenSite({
      API_RATE_LIMIT: '0',
      OPEN_API_ADDRESS_RATE_LIMIT: '0',
      WORKERS: 'separate',
    });
    const [outer, outerParty, outerSql] = [site, party, sql];
    [site, party, sql] = [quiet, new ThirdParty(quiet), new ThirdParty(quiet).sql];
    try {
      const setups = [await setUp(), await setUp(), await setUp()];
      for (const { owner } of setups) {
        await sql.query("UPDATE site_accounts SET premium_until = now() + interval '30 years' WHERE id = $1", [
          owner.id,
        ]);
        await createShares(sql, owner.id, { count: 3, price: 5 });
        await givePoints(sql, owner.id, 100);
      }
      const real = (await read<{ slug: string }>('SELECT slug FROM shares')).map(({ slug }) => slug);
      await settle();
      // The audit log takes the events of the preparation.
      await waitFor(async () => (await read('SELECT event_id FROM unchained_events')).length === 0);
      const before = await checksums();
      const slugs: string[] = [...real];
      const pick = <T>(list: readonly T[]): T => list[randomInt(list.length)] as T;
      const statuses: Record<number, number> = {};
      const one = async (): Promise<void> => {
        const setup = pick(setups);
        const { key, token } = setup;
        const slug = slugs.length === 0 ? randomUUID() : pick(slugs);
        const operation = pick<Omit<Call, 'key'>>([
          { method: 'post', path: '/shares', body: newShare({ unlock_points: pick([0, 10, 500]) }) },
          { method: 'post', path: '/resources/unlock', body: { slug } },
          { method: 'post', path: '/resources/unlock', body: { slug }, idempotencyKey: randomUUID() },
          { method: 'patch', path: `/shares/${slug}`, body: { unlock_points: pick([null, 3, 30]) } },
          { method: 'delete', path: `/shares/${slug}` },
          { path: `/shares/${slug}` },
          { path: '/shares' },
          { path: '/me' },
          { path: '/resources/movie/603' },
          { method: 'post', path: '/checkin', body: { is_gambler: pick([true, false]) } },
          { path: '/vip/weekly-free-quota' },
        ]);
        if (randomInt(40) === 0) await site.app.get(TestKeys).empty(setup.owner.id, setup.app.clientId);
        const answer = await call({ ...operation, key, token });
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
        if (operation.path === '/shares' && answer.status === 200 && operation.method === 'post') {
          slugs.push(dataOf<{ slug: string }>(answer).slug);
        }
        if (slugs.length === real.length) slugs.push(...Object.values(await madeUp(setup)));
      };
      for (let round = 0; round < 30; round += 1) await Promise.all(Array.from({ length: 10 }, one));
      await settle();
      // A call whose data are removed meanwhile is to be repeated; any other one has its usual answer.
      expect(Object.keys(statuses).filter((status) => Number(status) >= 500 && status !== '503')).toEqual([]);
      expect(statuses[503] ?? 0).toBeLessThan(20);
      expect(statuses[200]).toBeGreaterThan(50);
      const after = await checksums();
      expect(after).toEqual(before);
      const schema = 'resource_sharing_test';
      expect(
        await read(`SELECT t.id FROM ${schema}.ledger_transactions t LEFT JOIN ${schema}.ledger_entries e
        ON e.transaction_id = t.id GROUP BY t.id HAVING count(e.amount) <> 2 OR sum(e.amount) <> 0`),
      ).toEqual([]);
      expect(
        await read(`SELECT a.user_id FROM ${schema}.ledger_accounts a LEFT JOIN (SELECT user_id, sum(amount) AS sum,
        max(account_version) AS version FROM ${schema}.ledger_entries GROUP BY 1) e USING (user_id)
        WHERE a.balance <> coalesce(e.sum, 0) OR a.version <> coalesce(e.version, 0)`),
      ).toEqual([]);
      // No movement of points is shared by two applications.
      expect(
        await read(`SELECT e.transaction_id FROM ${schema}.ledger_entries e JOIN ${schema}.test_accounts t
        ON t.id = e.user_id GROUP BY 1 HAVING count(DISTINCT t.application_id) > 1`),
      ).toEqual([]);
    } finally {
      [site, party, sql] = [outer, outerParty, outerSql];
    }
  });
});
