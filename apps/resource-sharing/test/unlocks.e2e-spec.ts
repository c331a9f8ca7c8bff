import { randomUUID } from 'node:crypto';
import { waitFor } from '@gatehouse/testing';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PointsLedger } from '../src/points/points-ledger.js';
import {
  auditBooks,
  createAccounts,
  createShares,
  givePoints,
  liftLimits,
  setPremium,
  SOUND,
  type TestShare,
} from './points-support.js';
import { createCaller, newShare, type ShareCaller } from './share-callers.js';
import { startSite, type SiteApp } from './site-app.js';
import { ThirdParty } from './support/third-party.js';

let site: SiteApp;
let sql: DataSource;
let sharer: ShareCaller;
let caller: ShareCaller;

beforeAll(async () => {
  site = await startSite({ WEEKLY_FREE_LIMIT: '2', WEEKLY_FREE_BONUS_MAX: '3' });
  sql = site.app.get(DataSource);
  await liftLimits(sql);
});
afterAll(async () => {
  expect(await auditBooks(sql)).toMatchObject(SOUND);
  await site.close();
});
beforeEach(async () => {
  sharer = await createCaller(site);
  caller = await createCaller(site);
});

const unlock = (by: ShareCaller, slug: unknown): request.Test => by.post('/resources/unlock', { slug });
const balance = (user: ShareCaller): Promise<number> => site.app.get(PointsLedger).balance(user.id);
const own = (price: number | null = 10, official = false): Promise<TestShare> =>
  one(createShares(sql, sharer.id, { price, official }));
const one = async (made: Promise<TestShare[]>): Promise<TestShare> => (await made)[0] as TestShare;

/** What every answer with a link says of the test shares. */
function linkOf(answer: request.Response): {
  url: string;
  access_code: string;
  full_url: string;
  already_owned: boolean;
} {
  return (answer.body as { data: never }).data;
}

describe('unlocking', () => {
  it('for points: pays the sharer, answers with the link, and is on the record', async () => {
    await givePoints(sql, caller.id, 25);
    const share = await own(10);
    const answer = await unlock(caller, share.slug);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ success: true, code: '200', message: '解锁成功' });
    const { url, ...link } = linkOf(answer);
    expect(url).toMatch(/^https:\/\/115\.com\/s\/[0-9a-f]{32}$/);
    expect(link).toEqual({ access_code: 'a1b2', full_url: `${url}?password=a1b2`, already_owned: false });
    expect([await balance(caller), await balance(sharer)]).toEqual([15, 10]);
    const events = await sql.query("SELECT details FROM audit_events WHERE type = 'unlock.charged' AND user_id = $1", [
      caller.id,
    ]);
    expect(events).toEqual([{ details: { share_id: share.id, points: 10 } }]);
  });

  it('again, with the slug written in any way: owned, nothing paid', async () => {
    await givePoints(sql, caller.id, 10);
    const { slug } = await own(10);
    await unlock(caller, slug).expect(200);
    for (const text of [slug, slug.replaceAll('-', ''), slug.toUpperCase()]) {
      const answer = await unlock(caller, text);
      expect(answer.body).toMatchObject({
        message: '已拥有该资源',
        data: { already_owned: true, access_code: 'a1b2' },
      });
    }
    expect(await balance(caller)).toBe(0);
  });

  it('with fields that later clients send: as without them', async () => {
    await givePoints(sql, caller.id, 10);
    const { slug } = await own(10);
    const answer = await caller.post('/resources/unlock', { slug, slugs: [slug], points: 0, user_id: sharer.id });
    expect([answer.status, await balance(caller)]).toEqual([200, 0]);
  });

  describe('of a disabled account', () => {
    const shut = (disabled: boolean): Promise<unknown> =>
      sql.query('UPDATE site_accounts SET disabled_at = $2 WHERE id = $1', [sharer.id, disabled ? new Date() : null]);

    it('is not found, by nobody, and earns nothing; who had it keeps it; it is back with its sharer', async () => {
      const reader = await createCaller(site);
      for (const user of [caller, reader]) await givePoints(sql, user.id, 10);
      const made = await sharer.post('/shares', newShare({ tmdb_id: '88001', unlock_points: 10 })).expect(200);
      const { slug } = (made.body as { data: { slug: string } }).data;
      await unlock(reader, slug).expect(200);
      const listed = async (): Promise<number> =>
        ((await caller.get('/resources/movie/88001').expect(200)).body as { meta: { total: number } }).meta.total;
      expect(await listed()).toBe(1);

      await shut(true);
      await unlock(caller, slug).expect(404);
      await caller.get(`/shares/${slug}`).expect(404);
      expect([await listed(), await balance(caller), await balance(sharer)]).toEqual([0, 10, 10]);
      expect(linkOf(await unlock(reader, slug).expect(200))).toMatchObject({ already_owned: true });

      await shut(false);
      expect(await listed()).toBe(1);
      await unlock(caller, slug).expect(200);
      expect(await balance(sharer)).toBe(20);
    });

    it('releases its link: the next sharer keeps it, and the deleted share stays deleted', async () => {
      const body = newShare({ tmdb_id: '88002' });
      const made = await sharer.post('/shares', body).expect(200);
      const gone = await sharer.post('/shares', newShare({ tmdb_id: '88002' })).expect(200);
      const slugOf = (answer: request.Response): string => (answer.body as { data: { slug: string } }).data.slug;
      await sharer.delete(`/shares/${slugOf(gone)}`).expect(200);
      await shut(true);
      await shut(true);
      const next = await caller.post('/shares', body).expect(200);
      await shut(false);
      const found = await caller.get('/resources/movie/88002').expect(200);
      const slugs = (found.body as { data: { slug: string }[] }).data.map(({ slug }) => slug);
      expect(slugs).toEqual([slugOf(next)]);
      expect(slugs).not.toContain(slugOf(made));
    });

    it('is found by nobody when it was shared in the moment of that', async () => {
      await shut(true);
      const share = await own(10);
      await unlock(caller, share.slug).expect(404);
      await shut(false);
      await givePoints(sql, caller.id, 10);
      await unlock(caller, share.slug).expect(200);
    });
  });

  it.each([
    ['a price', 10, 10],
    ['nothing', null, 0],
  ] as const)('for %s that was shown, when the sharer raised it meanwhile', async (_, price, paid) => {
    await givePoints(sql, caller.id, 1_000);
    const [share, late] = [await own(price), await own(price)];
    for (const points of [300, 900]) {
      for (const { slug } of [share, late]) {
        await sharer.patch(`/shares/${slug}`, { unlock_points: points }).expect(200);
      }
    }
    const detail = await caller.get(`/shares/${share.slug}`).expect(200);
    expect(detail.body).toMatchObject({
      data: { unlock_points: 900, actual_unlock_points: paid, unlock_message: `需要 ${paid} 积分解锁` },
    });
    await unlock(caller, share.slug).expect(200);
    expect(await balance(caller)).toBe(1_000 - paid);
    await sql.query("UPDATE shares SET held_until = now() - interval '1 second' WHERE id = $1", [late.id]);
    await unlock(caller, late.slug).expect(200);
    expect(await balance(caller)).toBe(100 - paid);
  });

  it('for the present price, when it was lowered', async () => {
    await givePoints(sql, caller.id, 10);
    const { slug } = await own(10);
    await sharer.patch(`/shares/${slug}`, { unlock_points: 50 }).expect(200);
    await sharer.patch(`/shares/${slug}`, { unlock_points: 3 }).expect(200);
    await unlock(caller, slug).expect(200);
    expect(await balance(caller)).toBe(7);
  });

  it('an own share: owned, without points and without being counted', async () => {
    const { id, slug } = await own(10);
    const answer = await unlock(sharer, slug);
    expect(answer.body).toMatchObject({ message: '已拥有该资源', data: { already_owned: true } });
    expect(await sql.query('SELECT * FROM unlocks WHERE share_id = $1', [id])).toEqual([]);
  });

  it('a free share: the same words each time, counted once, and owned the second time', async () => {
    const { id, slug } = await own(null);
    for (const owned of [false, true, true]) {
      const answer = await unlock(caller, slug);
      expect(answer.body).toMatchObject({ message: '免费资源', data: { already_owned: owned } });
    }
    const counted = await sql.query('SELECT unlocked_users_count AS n FROM share_counters WHERE share_id = $1', [id]);
    expect(counted).toEqual([{ n: 1 }]);
  });

  it('a share without an access code: texts all the same', async () => {
    const { id, slug } = await own(null);
    await sql.query("UPDATE shares SET access_code = '' WHERE id = $1", [id]);
    const link = linkOf(await unlock(caller, slug));
    expect(link).toEqual({ url: link.url, access_code: '', full_url: link.url, already_owned: false });
  });

  it('with too few points: 402, and everything is as it was', async () => {
    await givePoints(sql, caller.id, 9);
    const { id, slug } = await own(10);
    const answer = await unlock(caller, slug);
    expect(answer.status).toBe(402);
    expect(answer.body).toMatchObject({ success: false, code: 'INSUFFICIENT_POINTS', data: null });
    expect(await balance(caller)).toBe(9);
    expect(await sql.query('SELECT * FROM unlocks WHERE share_id = $1', [id])).toEqual([]);
    await givePoints(sql, caller.id, 1);
    await unlock(caller, slug).expect(200);
    expect(await balance(caller)).toBe(0);
  });

  it.each([
    ['a slug of nobody', randomUUID(), 404, '404'],
    ['no slug', 'nonsense', 400, '400'],
    ['a number', 5, 400, '400'],
    ['nothing', undefined, 400, '400'],
    ['a very long text', 'a'.repeat(1000), 400, '400'],
    ['a slug with text around it', `x${randomUUID()}`, 400, '400'],
  ])('%s: refused', async (_, slug, status, code) => {
    const answer = await unlock(caller, slug);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ success: false, code, data: null });
  });

  it('a share that was taken back: 404, but for those who have it', async () => {
    await givePoints(sql, caller.id, 10);
    const late = await createCaller(site);
    const { slug } = await own(10);
    await unlock(caller, slug).expect(200);
    await sharer.delete(`/shares/${slug}`).expect(200);
    expect((await unlock(caller, slug)).body).toMatchObject({ message: '已拥有该资源' });
    await unlock(late, slug).expect(404);
    await unlock(sharer, slug).expect(404);
  });

  it('without the scope: 403; for an application without a user: 403 OPENAPI_USER_REQUIRED', async () => {
    const { slug } = await own(null);
    const limited = await createCaller(site, { scopes: ['query'] });
    const refused = await unlock(limited, slug);
    expect([refused.status, (refused.body as { code: string }).code]).toEqual([403, 'SCOPE_NOT_ALLOWED']);
    const party = new ThirdParty(site);
    const { secret } = await party.register(sharer.id);
    const nobody = await request(site.url).post('/api/open/resources/unlock').set('X-API-Key', secret).send({ slug });
    expect([nobody.status, (nobody.body as { code: string }).code]).toEqual([403, 'OPENAPI_USER_REQUIRED']);
  });

  it('through an application: the user pays, and the record names the application', async () => {
    const party = new ThirdParty(site);
    const app = await party.register(sharer.id);
    const { access_token: token } = await party.tokens(app, caller.id);
    await givePoints(sql, caller.id, 10);
    const { id, slug } = await own(10);
    await request(site.url)
      .post('/api/open/resources/unlock')
      .set('X-API-Key', app.secret)
      .set('Authorization', `Bearer ${token}`)
      .send({ slug })
      .expect(200);
    expect(await balance(caller)).toBe(0);
    const rows = await sql.query('SELECT user_id, application_id, via, points FROM unlocks WHERE share_id = $1', [id]);
    expect(rows).toEqual([{ user_id: caller.id, application_id: app.application.id, via: 'points', points: 10 }]);
  });
});

describe('a user with lifetime Premium', () => {
  beforeEach(() => setPremium(sql, caller.id, '21 years'));

  const quota = async (): Promise<unknown> => {
    const answer = await caller.get('/vip/weekly-free-quota').expect(200);
    expect(answer.body).toMatchObject({ code: '200', message: '获取成功' });
    return (answer.body as { data: unknown }).data;
  };
  const state = (used: number, remaining: number, bonus: number): object => ({
    is_forever_vip: true,
    limit: 2,
    used,
    remaining,
    unlimited: false,
    bonus_quota: bonus,
    bonus_quota_max: 3,
  });

  it('unlocks the weekly number for nothing, then the bonus, then pays', async () => {
    await givePoints(sql, caller.id, 10);
    expect(await quota()).toEqual(state(0, 2, 0));
    await sql.query('UPDATE weekly_free SET bonus = 1 WHERE user_id = $1', [caller.id]);
    const shares = await createShares(sql, sharer.id, { count: 4, price: 10 });
    const seen = [state(1, 2, 1), state(2, 1, 1), state(3, 0, 0)];
    for (const [index, expected] of seen.entries()) {
      const answer = await unlock(caller, shares[index]?.slug);
      expect(answer.body).toMatchObject({ message: '解锁成功', data: { already_owned: false } });
      expect(await quota()).toEqual(expected);
    }
    expect([await balance(caller), await balance(sharer)]).toEqual([10, 0]);
    await unlock(caller, shares[3]?.slug).expect(200);
    expect([await balance(caller), await balance(sharer)]).toEqual([0, 10]);
    expect(await quota()).toEqual(state(3, 0, 0));
    await unlock(caller, shares[0]?.slug).expect(200);
    expect(await quota()).toEqual(state(3, 0, 0));
  });

  it('does not use the weekly allowance for official, free and own shares', async () => {
    for (const { slug } of [await own(10, true), await own(null)]) await unlock(caller, slug).expect(200);
    const mine = await one(createShares(sql, caller.id));
    await unlock(caller, mine.slug).expect(200);
    expect(await quota()).toEqual(state(0, 2, 0));
    expect(await balance(caller)).toBe(0);
  });

  it('never uses more than there is, however many unlock at once', async () => {
    const shares = await createShares(sql, sharer.id, { count: 12, price: 10 });
    const answers = await Promise.all(shares.map(({ slug }) => unlock(caller, slug)));
    const unlocked = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 402);
    expect([unlocked.length, refused.length]).toEqual([2, 10]);
    expect(await quota()).toEqual(state(2, 0, 0));
  });

  it('with less than 20 years left: has none, and pays', async () => {
    await setPremium(sql, caller.id, '19 years');
    await givePoints(sql, caller.id, 10);
    expect(await quota()).toEqual({
      is_forever_vip: false,
      limit: 0,
      used: 0,
      remaining: 0,
      unlimited: false,
      bonus_quota: 0,
      bonus_quota_max: 0,
    });
    await unlock(caller, (await own(10)).slug).expect(200);
    expect(await balance(caller)).toBe(0);
  });

  it('keeps what was left on Mondays at 00:00 of the zone, up to the cap', async () => {
    const at = async (time: string, limit = 2, max = 3): Promise<unknown> => {
      const [row] = (await sql.query(
        "SELECT week::text, used, bonus FROM weekly_free_state($1, 'Asia/Shanghai', $3, $4, $2)",
        [caller.id, time, limit, max],
      )) as object[];
      return row;
    };
    // 2026-11-16 is a Monday.
    expect(await at('2026-11-22T15:59:59.999Z')).toEqual({ week: '2026-11-16', used: 0, bonus: 0 });
    await sql.query('UPDATE weekly_free SET used = 1 WHERE user_id = $1', [caller.id]);
    expect(await at('2026-11-22T15:59:59.999Z')).toEqual({ week: '2026-11-16', used: 1, bonus: 0 });
    expect(await at('2026-11-22T16:00:00Z')).toEqual({ week: '2026-11-23', used: 0, bonus: 1 });
    expect(await at('2026-11-23T00:00:00Z')).toEqual({ week: '2026-11-23', used: 0, bonus: 1 });
    expect(await at('2026-11-30T00:00:00Z', 2, 30)).toEqual({ week: '2026-11-30', used: 0, bonus: 3 });
    expect(await at('2026-12-21T00:00:00Z', 2, 30)).toEqual({ week: '2026-12-21', used: 0, bonus: 9 });
    expect(await at('2026-12-28T00:00:00Z')).toEqual({ week: '2026-12-28', used: 0, bonus: 3 });
    expect(await at('2027-01-04T00:00:00Z', 2, 0)).toEqual({ week: '2027-01-04', used: 0, bonus: 0 });
    expect(await at('2027-01-11T00:00:00Z', 0)).toEqual({ week: '2027-01-11', used: 0, bonus: 0 });
    // A clock that is behind never undoes a week.
    expect(await at('2027-01-04T00:00:00Z')).toEqual({ week: '2027-01-11', used: 0, bonus: 0 });
  });
});

it('without a weekly limit: any number for nothing', async () => {
  await using free = await startSite({ WEEKLY_FREE_LIMIT: '0' });
  const source = free.app.get(DataSource);
  const user = await createCaller(free);
  await setPremium(source, user.id, '30 years');
  const [owner] = await createAccounts(source, 1);
  for (const { slug } of await createShares(source, owner ?? 0, { count: 3 })) await unlock(user, slug).expect(200);
  const answer = await user.get('/vip/weekly-free-quota').expect(200);
  expect((answer.body as { data: unknown }).data).toEqual({
    is_forever_vip: true,
    limit: 0,
    used: 3,
    remaining: -1,
    unlimited: true,
    bonus_quota: 0,
    bonus_quota_max: 0,
  });
});

describe('Idempotency-Key', () => {
  const keyed = (test: request.Test, key: string): request.Test => test.set('Idempotency-Key', key);

  it('answers a repeat with the first answer, word for word', async () => {
    await givePoints(sql, caller.id, 10);
    const { slug } = await own(10);
    const key = randomUUID();
    const first = await keyed(unlock(caller, slug), key).expect(200);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    const repeat = await keyed(unlock(caller, slug), key).expect(200);
    expect(repeat.headers['idempotency-replayed']).toBe('true');
    expect(repeat.body).toEqual(first.body);
    expect(repeat.body).toMatchObject({ message: '解锁成功', data: { already_owned: false } });
    expect(await balance(caller)).toBe(0);
  });

  it('of another request: 422; of another user or application: another key', async () => {
    const [one, two] = [await own(null), await own(null)];
    const key = randomUUID();
    await keyed(unlock(caller, one.slug), key).expect(200);
    const other = await keyed(unlock(caller, two.slug), key);
    expect([other.status, (other.body as { code: string }).code]).toEqual([422, '422']);
    const another = await keyed(unlock(await createCaller(site), two.slug), key).expect(200);
    expect(another.headers['idempotency-replayed']).toBeUndefined();
    const party = new ThirdParty(site);
    const app = await party.register(sharer.id);
    const { access_token: token } = await party.tokens(app, caller.id);
    const through = request(site.url).post('/api/open/resources/unlock').set('X-API-Key', app.secret);
    await keyed(through.set('Authorization', `Bearer ${token}`).send({ slug: two.slug }), key).expect(200);
  });

  it('keeps no failure: a repeat is carried out', async () => {
    const { slug } = await own(10);
    const key = randomUUID();
    await keyed(unlock(caller, slug), key).expect(402);
    await keyed(unlock(caller, 'nonsense'), key).expect(400);
    await givePoints(sql, caller.id, 10);
    const answer = await keyed(unlock(caller, slug), key).expect(200);
    expect(answer.headers['idempotency-replayed']).toBeUndefined();
  });

  it.each([['x'.repeat(256)], ['with space'], ['\u00e9']])('that is none: 400', async (key) => {
    const answer = await keyed(unlock(caller, (await own(null)).slug), key);
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([400, '400']);
  });

  it('of 255 characters is one', async () => {
    const { slug } = await own(null);
    await keyed(unlock(caller, slug), 'x'.repeat(255)).expect(200);
  });

  it('while the first is running: 409 with Retry-After, then its answer', async () => {
    await givePoints(sql, caller.id, 10);
    const { slug } = await own(10);
    const key = randomUUID();
    const blocker = sql.createQueryRunner();
    await blocker.startTransaction();
    await blocker.query('SELECT 1 FROM ledger_accounts WHERE user_id = $1 FOR UPDATE', [caller.id]);
    const first = keyed(unlock(caller, slug), key).then((answer) => answer);
    await waitFor(async () => {
      const waiting: unknown[] = await sql.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return waiting.length > 0;
    });
    const running = await keyed(unlock(caller, slug), key);
    expect(running.headers['retry-after']).toBe('1');
    expect([running.status, running.body]).toMatchObject([409, { code: 'IDEMPOTENCY_KEY_IN_USE', former_code: '409' }]);
    await blocker.commitTransaction();
    await blocker.release();
    expect((await first).body).toMatchObject({ message: '解锁成功' });
    const repeat = await keyed(unlock(caller, slug), key).expect(200);
    expect(repeat.headers['idempotency-replayed']).toBe('true');
    expect(repeat.body).toEqual((await first).body);
  });

  it('makes one share of two requests, and is forgotten after a day', async () => {
    const key = randomUUID();
    const body = newShare();
    const first = await keyed(caller.post('/shares', body), key).expect(200);
    const repeat = await keyed(caller.post('/shares', body), key).expect(200);
    expect(repeat.body).toEqual(first.body);
    expect(repeat.headers['idempotency-replayed']).toBe('true');
    await sql.query("UPDATE idempotency_keys SET created_at = now() - interval '25 hours' WHERE key = $1", [key]);
    const late = await keyed(caller.post('/shares', body), key);
    expect([late.status, (late.body as { code: string }).code]).toEqual([409, 'SHARE_LINK_EXISTS']);
    const next = await keyed(caller.post('/shares', newShare()), key).expect(200);
    expect(next.headers['idempotency-replayed']).toBeUndefined();
  });
});
