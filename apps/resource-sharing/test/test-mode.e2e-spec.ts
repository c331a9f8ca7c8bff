import { randomUUID } from 'node:crypto';
import { waitFor } from '@gatehouse/testing';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestKeys } from '../src/applications/test-keys.service.js';
import { RefusedCalls } from '../src/refused-calls/refused-calls.js';
import { UsageReader } from '../src/usage/usage-reader.js';
import { Webhooks } from '../src/webhooks/webhooks.service.js';
import { createShares, givePoints } from './points-support.js';
import { newShare } from './share-callers.js';
import { codeOf, dataOf, TestModeSite } from './support/test-mode-site.js';

let mode: TestModeSite;
beforeAll(async () => {
  mode = await TestModeSite.start({ SHARE_DELETION_FEE: '5' });
});
afterAll(() => mode.site.close());

describe('a call with a test key', () => {
  it('acts for a test account with 1,000 points, for an application that nobody has reviewed', async () => {
    const setup = await mode.setUp();
    const { key, token, owner } = setup;
    expect(key).toMatch(/^ht_/);
    const ping = await mode.call({ path: '/ping', key }).expect(200);
    expect(dataOf(ping)).toMatchObject({ api_key_id: setup.keyId });
    await mode.sql.query("UPDATE site_accounts SET premium_until = now() + interval '1 year' WHERE id = $1", [
      owner.id,
    ]);
    const me = await mode.call({ path: '/me', key, token }).expect(200);
    expect(dataOf(me)).toMatchObject({ points: 1_000, username: owner.name, user_meta: { share_num: 0 } });
    expect(dataOf<{ id: number }>(me).id).toBeGreaterThanOrEqual(1_000_000_000_000);
    const checkIn = await mode.call({ method: 'post', path: '/checkin', key, token }).expect(200);
    const { points } = dataOf<{ points: number }>(checkIn);
    expect(points).toBeGreaterThan(0);
    expect(await mode.balanceOf(setup)).toBe(1_000 + points);
    expect(await mode.read('SELECT balance FROM ledger_accounts WHERE user_id = $1', [owner.id])).toEqual([
      { balance: 0 },
    ]);
    expect(await mode.read('SELECT day FROM check_ins WHERE user_id = $1', [owner.id])).toEqual([]);
  });

  it('has each outcome of an unlock at hand', async () => {
    const setup = await mode.setUp();
    const { key, token } = setup;
    const listed = await mode.call({ path: '/resources/movie/999000001', key, token }).expect(200);
    const shares = await mode.madeUp(setup);
    expect(Object.keys(shares)).toEqual('free cheap dear official withdrawn too_fast paused blocked'.split(' '));
    const { withdrawn, ...listable } = shares;
    const slugs = dataOf<{ slug: string }[]>(listed).map(({ slug }) => slug);
    expect(slugs.toSorted()).toEqual(Object.values(listable).toSorted());
    const outcomes: Record<string, [number, string]> = {};
    for (const [name, slug] of Object.entries({ ...listable, withdrawn })) {
      const answer = await mode.call({ method: 'post', path: '/resources/unlock', body: { slug }, key, token });
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
    expect(await mode.balanceOf(setup)).toBe(980);
  });

  it('shares, changes, unlocks and withdraws as any call, seen by no other application and by nobody outside', async () => {
    const [setup, other] = [await mode.setUp(), await mode.setUp()];
    const { key, token } = setup;
    const body = newShare({ tmdb_id: '77001', unlock_points: 10 });
    const made = await mode.call({ method: 'post', path: '/shares', body, key, token }).expect(200);
    const { slug } = dataOf<{ slug: string }>(made);
    await mode.call({ path: `/shares/${slug}`, key, token }).expect(200);
    const path = `/shares/${slug}`;
    await mode.call({ method: 'patch', path, body: { unlock_points: 20 }, key, token }).expect(200);
    // The same link without its code keeps the code.
    const url = (body['url'] as string).split('?')[0];
    await mode.call({ method: 'patch', path, body: { url }, key, token }).expect(200);
    const mine = await mode.call({ path: '/shares?include=link', key, token }).expect(200);
    expect(dataOf(mine)).toMatchObject([{ slug, access_code: 'a1b2' }]);
    const again = await mode.call({ method: 'post', path: '/shares', body, key, token });
    expect([again.status, codeOf(again)]).toEqual([409, 'SHARE_LINK_EXISTS']);

    // Another application has the same link for itself; with its real secret, this one finds nothing either.
    const theirs = { key: other.key, token: other.token };
    await mode.call({ path, ...theirs }).expect(404);
    await mode.call({ method: 'patch', path, body: { title: 'Mine' }, ...theirs }).expect(404);
    await mode.call({ method: 'delete', path, ...theirs }).expect(404);
    await mode.call({ method: 'post', path: '/resources/unlock', body: { slug }, ...theirs }).expect(404);
    await mode.call({ method: 'post', path: '/shares', body, ...theirs }).expect(200);
    await mode.call({ path, key: setup.app.secret, token }).expect(404);
    const outside = await mode.call({ path: '/resources/movie/77001', key: setup.app.secret, token }).expect(200);
    expect(dataOf(outside)).toEqual([]);

    await mode.call({ method: 'delete', path, key, token }).expect(200);
    await mode.call({ path, key, token }).expect(404);
    expect(await mode.balanceOf(setup)).toBe(995);
  });

  it('does not see real shares, and the real secret of the application does not see those of tests', async () => {
    const setup = await mode.setUp();
    const [share] = await createShares(mode.sql, setup.owner.id, { price: 10 });
    const slug = share?.slug ?? '';
    await mode.call({ path: `/shares/${slug}`, key: setup.key, token: setup.token }).expect(404);
    await mode.call({ path: `/shares/${slug}`, key: setup.app.secret, token: setup.token }).expect(200);
    await mode.call({ path: '/shares', key: setup.key, token: setup.token }).expect(200);
    const { free = '' } = await mode.madeUp(setup);
    await mode.call({ path: `/shares/${free}`, key: setup.app.secret, token: setup.token }).expect(404);
  });

  it('counts views of shares in test mode, apart from those of real ones', async () => {
    const setup = await mode.setUp();
    const { key, token } = setup;
    await mode.call({ path: '/resources/movie/999000001', key, token }).expect(200);
    const { cheap: slug = '' } = await mode.madeUp(setup);
    await mode.call({ path: `/shares/${slug}`, key, token }).expect(200);
    await mode.settle();
    const counters =
      'SELECT c.click_count FROM resource_sharing_test.share_counters c JOIN resource_sharing_test.shares s';
    expect(await mode.read(`${counters} ON s.id = c.share_id WHERE s.slug = $1`, [slug])).toEqual([{ click_count: 1 }]);
    const looks = `SELECT count(*)::integer AS n FROM resource_sharing_test.share_looks l
      JOIN resource_sharing_test.shares s ON s.id = l.share_id WHERE s.slug = $1`;
    expect(await mode.read(looks, [slug])).toEqual([{ n: 1 }]);
    const strays = 'SELECT count(*)::integer AS n FROM share_looks WHERE user_id >= 1000000000000';
    expect(await mode.read(strays)).toEqual([{ n: 0 }]);
  });

  it('repeats an answer for an Idempotency-Key that a real call has used, too', async () => {
    const setup = await mode.setUp();
    const { key, token, app, owner } = setup;
    await givePoints(mode.sql, owner.id, 50);
    const idempotencyKey = randomUUID();
    const real = await mode.call({
      method: 'post',
      path: '/shares',
      body: newShare(),
      key: app.secret,
      token,
      idempotencyKey,
    });
    const body = newShare();
    const first = await mode.call({ method: 'post', path: '/shares', body, key, token, idempotencyKey });
    const second = await mode.call({ method: 'post', path: '/shares', body, key, token, idempotencyKey });
    expect([real.status, first.status, second.status]).toEqual([200, 200, 200]);
    expect(second.body).toEqual(first.body);
    expect(dataOf<{ slug: string }>(real).slug).not.toBe(dataOf<{ slug: string }>(first).slug);
  });

  it('stands beside the token of a public application, which may carry it in everybody’s hands', async () => {
    const owner = await mode.party.user();
    const app = await mode.party.register(owner.id, { kind: 'public' });
    const { secret: key } = await mode.site.app.get(TestKeys).create(owner.id, app.clientId);
    const { access_token: token } = await mode.party.publicTokens(app, owner.id);
    const alone = await mode.call({ path: '/ping', key });
    expect([alone.status, codeOf(alone)]).toEqual([403, 'OPENAPI_USER_REQUIRED']);
    await mode.call({ method: 'post', path: '/shares', body: newShare(), key, token }).expect(200);
    expect(await mode.read('SELECT id FROM shares WHERE owner_id = $1', [owner.id])).toEqual([]);
  });

  it('needs a token of its own application, and ends with its key, its application and its owner', async () => {
    const [setup, other] = [await mode.setUp(), await mode.setUp()];
    const foreign = await mode.call({ path: '/shares', key: setup.key, token: other.token });
    expect([foreign.status, codeOf(foreign)]).toEqual([401, 'INVALID_OPENAPI_USER_TOKEN']);
    await mode.site.app.get(TestKeys).revoke(setup.owner.id, setup.app.clientId, setup.keyId);
    const revoked = await mode.call({ path: '/ping', key: setup.key });
    expect([revoked.status, codeOf(revoked)]).toEqual([401, 'DISABLED_API_KEY']);
    await mode.party.review(other.app.clientId, { authLevel: 'unverified', status: 'disabled' });
    const disabled = await mode.call({ path: '/ping', key: other.key });
    expect([disabled.status, codeOf(disabled)]).toEqual([401, 'DISABLED_API_KEY']);
  });

  it('is no secret of the application: no token is issued, refreshed, looked at or ended with it', async () => {
    const setup = await mode.setUp();
    const code = await mode.party.code(setup.app, setup.owner.id);
    const refused = await mode.party.exchange({ ...setup.app, secret: setup.key }, code);
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
      const answer = await request(mode.site.url).post(`/oauth2/${place}`).type('form').send(body);
      expect([place, answer.status, (answer.body as { error?: string }).error]).toEqual([place, 401, 'invalid_client']);
    }
    await mode.call({ path: '/shares', key: setup.key, token: setup.token }).expect(200);
  });
});

describe('webhooks', () => {
  it('get what test calls do only if they ask for it, and marked as a test', async () => {
    const setup = await mode.setUp();
    const place = { ownerId: setup.owner.id, clientId: setup.app.clientId };
    const add = async (testEvents: boolean): Promise<number> => {
      const given = { name: `tests ${testEvents}`, url: 'https://hooks.example.org/', eventTypes: [], testEvents };
      return (await mode.site.app.get(Webhooks).create(place, given)).webhook.id;
    };
    const [wishes, others] = [await add(true), await add(false)];
    await mode.call({ path: '/shares', key: setup.key, token: setup.token }).expect(200);
    const { cheap: slug = '' } = await mode.madeUp(setup);
    const body = { slug };
    await mode
      .call({ method: 'post', path: '/resources/unlock', body, key: setup.key, token: setup.token })
      .expect(200);
    const deliveries = (): Promise<{ id: number; body: string }[]> =>
      mode.read('SELECT webhook_id AS id, body FROM webhook_deliveries WHERE webhook_id = ANY ($1) ORDER BY id', [
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
    const [share] = await createShares(mode.sql, (await mode.party.user()).id, { price: null });
    const real = { method: 'post' as const, path: '/resources/unlock', body: { slug: share?.slug ?? '' } };
    await mode.call({ ...real, key: setup.app.secret, token: setup.token }).expect(200);
    await waitFor(async () => (await deliveries()).length >= 3);
    const [, ...later] = await deliveries();
    expect(later.map(({ id }) => id).toSorted((one, other) => one - other)).toEqual([wishes, others]);
    for (const one of later) expect(one.body).not.toContain('"test"');
  });

  it('none is noted without such a wish', async () => {
    const setup = await mode.setUp();
    const place = { ownerId: setup.owner.id, clientId: setup.app.clientId };
    const given = { name: 'real ones', url: 'https://hooks.example.org/', eventTypes: [], testEvents: false };
    const { webhook } = await mode.site.app.get(Webhooks).create(place, given);
    await mode.call({ path: '/shares', key: setup.key, token: setup.token }).expect(200);
    const wanted = `SELECT resource_sharing.is_wanted($1, 'share.unlocked') AS real, resource_sharing_test.is_wanted($1, 'share.unlocked') AS test`;
    expect(await mode.read(wanted, [setup.app.application.id])).toEqual([{ real: true, test: false }]);
    await mode.site.app.get(Webhooks).update(place, webhook.id, { testEvents: true });
    expect(await mode.read(wanted, [setup.app.application.id])).toEqual([{ real: true, test: true }]);
  });
});

describe('limits, usage and the error log of test calls', () => {
  it('have small limits, whatever profile the application has, and take nothing from its own', async () => {
    const setup = await mode.setUp();
    const answer = await mode.call({ path: '/shares', key: setup.key, token: setup.token }).expect(200);
    expect(answer.headers['ratelimit-policy']).toContain('"app";q=120;w=60');
    // As after 120 calls in a moment; unlocks ask the counts of all replicas.
    const text = "INSERT INTO rate_limits (key, tat) VALUES ($1, now() + interval '5 minutes')";
    await mode.sql.query(`${text} ON CONFLICT (key) DO UPDATE SET tat = excluded.tat`, [
      `m:t${setup.app.application.id}`,
    ]);
    const unlock = {
      method: 'post' as const,
      path: '/resources/unlock',
      body: { slug: randomUUID() },
      token: setup.token,
    };
    const refused = await mode.call({ ...unlock, key: setup.key });
    const { limit_code: code } = refused.body as { limit_code?: string };
    expect([refused.status, code]).toEqual([429, 'APP_RATE_LIMIT_EXCEEDED']);
    await mode.call({ ...unlock, key: setup.app.secret }).expect(404);
  });

  it('are counted under a mark of their own, which the application’s usage does not contain', async () => {
    const setup = await mode.setUp();
    const id = setup.app.application.id;
    await mode.call({ path: '/ping', key: setup.app.secret }).expect(200);
    for (let count = 0; count < 3; count += 1) await mode.call({ path: '/ping', key: setup.key }).expect(200);
    await mode.call({ path: `/shares/${randomUUID()}`, key: setup.key }).expect(404);
    await mode.settle();
    const range = { first: '2000-01-01', last: '2999-12-31' };
    const reader = mode.site.app.get(UsageReader);
    const total = async (credentialId: number): Promise<number> =>
      (await reader.read({ applicationId: id, credentialId, userId: null }, range)).summary.total;
    expect([await total(0), await total(-1)]).toEqual([1, 4]);
    const own = await mode.call({ path: '/usage/today', key: setup.key }).expect(200);
    expect(dataOf(own)).toMatchObject({ total_calls: 4 });

    const log = await mode.site.app.get(RefusedCalls).newest(id, 10);
    expect(log.map(({ endpoint, isTest }) => [endpoint, isTest])).toEqual([['/api/open/shares/:slug', true]]);
  });
});
