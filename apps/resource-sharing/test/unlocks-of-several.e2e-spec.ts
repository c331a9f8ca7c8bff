import { randomUUID } from 'node:crypto';
import type request from 'supertest';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { UserCaller } from '../src/credentials/caller.js';
import { PointsLedger } from '../src/points/points-ledger.js';
import { UnlockBatches } from '../src/unlocks/unlock-batches.js';
import { Unlocks } from '../src/unlocks/unlocks.service.js';
import {
  auditBooks,
  createAccounts,
  createShares,
  givePoints,
  liftLimits,
  setPremium,
  SOUND,
} from './points-support.js';
import { createCaller, type ShareCaller } from './share-callers.js';
import { startSite, type SiteApp } from './site-app.js';

let site: SiteApp;
let sql: DataSource;
let sharer: ShareCaller;
let caller: ShareCaller;

beforeAll(async () => {
  site = await startSite({ WEEKLY_FREE_LIMIT: '1' });
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

interface Item {
  slug: string;
  success: boolean;
  code: string;
  message: string;
  url: string;
  full_url: string;
  already_owned: boolean;
  retry_after_seconds: number | null;
}

const unlock = (by: ShareCaller, slugs: unknown): request.Test => by.post('/resources/unlock', { slugs });
const balance = (user: ShareCaller): Promise<number> => site.app.get(PointsLedger).balance(user.id);
const plain = (slug: string): string => slug.replaceAll('-', '');
const itemsOf = (answer: request.Response): Item[] => (answer.body as { data: { items: Item[] } }).data.items;
const codesOf = (answer: request.Response): string[] => itemsOf(answer).map(({ code }) => code);
const shares = async (count: number, price: number | null = 10): Promise<string[]> =>
  (await createShares(sql, sharer.id, { count, price })).map(({ slug }) => plain(slug));

describe('several shares in one request', () => {
  it('each have their own outcome, in the order of the request', async () => {
    await givePoints(sql, caller.id, 15);
    const [dear = '', dearer = ''] = await shares(2);
    const [free = ''] = await shares(1, null);
    const [own] = await createShares(sql, caller.id, { price: 5 });
    const unknown = plain(randomUUID());
    const asked = [dear, unknown, dearer, free, plain(own?.slug ?? '')];
    const answer = await unlock(caller, asked).expect(200);
    expect(answer.body).toMatchObject({ success: true, code: '200', message: '已解锁 3/5 个资源' });
    expect(itemsOf(answer).map(({ slug }) => slug)).toEqual(asked);
    expect(codesOf(answer)).toEqual(['200', '404', 'INSUFFICIENT_POINTS', '200', '200']);
    expect(itemsOf(answer).map(({ already_owned }) => already_owned)).toEqual([false, false, false, false, true]);
    const [first, missing] = itemsOf(answer);
    expect(first).toMatchObject({ success: true, message: '解锁成功', access_code: 'a1b2', retry_after_seconds: null });
    expect(first?.full_url).toBe(`${first?.url}?password=a1b2`);
    expect(missing).toEqual({
      slug: unknown,
      success: false,
      code: '404',
      message: '资源不存在',
      url: '',
      access_code: '',
      full_url: '',
      already_owned: false,
      retry_after_seconds: null,
    });
    expect([await balance(caller), await balance(sharer)]).toEqual([5, 10]);
  });

  it('are paid in the order of the request, and the answer has the members of a single one, too', async () => {
    await givePoints(sql, caller.id, 10);
    const slugs = await shares(3);
    const answer = await unlock(caller, slugs.toReversed()).expect(200);
    expect(codesOf(answer)).toEqual(['200', 'INSUFFICIENT_POINTS', 'INSUFFICIENT_POINTS']);
    const { items, ...single } = (answer.body as { data: Record<string, unknown> }).data;
    expect(items).toHaveLength(3);
    expect(single).toEqual({ url: '', access_code: '', full_url: '', already_owned: false });
  });

  it('named twice, in any way: once', async () => {
    await givePoints(sql, caller.id, 20);
    const [slug = ''] = (await createShares(sql, sharer.id)).map((share) => share.slug);
    const answer = await unlock(caller, [slug, plain(slug), plain(slug).toUpperCase()]).expect(200);
    expect(itemsOf(answer)).toHaveLength(1);
    expect(await balance(caller)).toBe(10);
  });

  it('again: owned, and nothing is paid', async () => {
    await givePoints(sql, caller.id, 30);
    const slugs = await shares(2);
    await unlock(caller, slugs).expect(200);
    const answer = await unlock(caller, [...slugs, ...(await shares(1))]).expect(200);
    expect(itemsOf(answer).map(({ already_owned }) => already_owned)).toEqual([true, true, false]);
    expect(await balance(caller)).toBe(0);
    const repeat = await unlock(caller, slugs).expect(200);
    expect((repeat.body as { data: object }).data).toMatchObject({ already_owned: true });
  });

  it('with an Idempotency-Key: a repeat has the first answer, word for word', async () => {
    await givePoints(sql, caller.id, 30);
    const slugs = await shares(2);
    const key = randomUUID();
    const first = await unlock(caller, slugs).set('Idempotency-Key', key).expect(200);
    const second = await unlock(caller, slugs).set('Idempotency-Key', key).expect(200);
    expect(second.headers).toMatchObject({ 'idempotency-replayed': 'true' });
    expect(second.body).toEqual(first.body);
    expect(await balance(caller)).toBe(10);
    await unlock(caller, slugs.slice(1)).set('Idempotency-Key', key).expect(422);
  });

  it('use what is free this week, then points', async () => {
    await setPremium(sql, caller.id, '21 years');
    await givePoints(sql, caller.id, 20);
    const answer = await unlock(caller, await shares(2)).expect(200);
    expect(codesOf(answer)).toEqual(['200', '200']);
    expect(await balance(caller)).toBe(10);
  });

  it.each([
    ['none', [], 'slugs'],
    ['more than 20', Array.from({ length: 21 }, () => randomUUID()), 'slugs'],
    ['what is no slug', [randomUUID(), 'nonsense'], 'slugs'],
    ['no list', randomUUID(), 'slugs'],
    ['a number', [5], 'slugs'],
    ['null', null, 'slugs'],
    ['nothing at all', undefined, 'slug'],
  ])('%s: 400, named', async (_, slugs, field) => {
    const answer = await unlock(caller, slugs).expect(400);
    expect((answer.body as { details: { field: string }[] }).details[0]?.field).toBe(field);
  });

  it('beside a slug: are ignored, as by clients that know no such field', async () => {
    await givePoints(sql, caller.id, 30);
    const [slug = '', other = ''] = await shares(2);
    const answer = await caller.post('/resources/unlock', { slug, slugs: [other] }).expect(200);
    expect((answer.body as { data: object }).data).not.toHaveProperty('items');
    expect(await balance(caller)).toBe(20);
  });
});

describe('the limit of the user', () => {
  const state = async (): Promise<{ hits: number; tier: number }[]> =>
    sql.query('SELECT cardinality(hits_at) AS hits, tier FROM risk_states WHERE user_id = $1', [caller.id]);

  it('refuses those above it, which counts once against the user, and lets those pass that are owned', async () => {
    await sql.query('UPDATE risk_settings SET unlocks_per_minute = 2');
    try {
      const [first = '', ...rest] = await shares(4, null);
      await unlock(caller, [first]).expect(200);
      const answer = await unlock(caller, [...rest, first]).expect(200);
      expect(codesOf(answer)).toEqual(['200', 'RATE_LIMIT_EXCEEDED', 'RATE_LIMIT_EXCEEDED', '200']);
      expect(itemsOf(answer)[1]?.retry_after_seconds).toBeGreaterThan(0);
      expect(answer.headers['ratelimit']).toContain('"unlock-user";r=0');
      expect(await state()).toEqual([{ hits: 1, tier: 0 }]);
      const refused = await unlock(caller, rest.slice(1)).expect(429);
      expect(refused.body).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', limit_code: 'USER_RATE_LIMIT_EXCEEDED' });
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
      expect(await state()).toEqual([{ hits: 2, tier: 0 }]);
    } finally {
      await sql.query('UPDATE risk_settings SET unlocks_per_minute = 1000000');
    }
  });
});

describe('one transaction', () => {
  const as = (userId: number): UserCaller =>
    ({ userId, isPremium: false, applicationId: null, credentialId: 1, grantId: null }) as UserCaller;

  it('that has to wait for too long changes nothing', async () => {
    await givePoints(sql, caller.id, 30);
    const [late] = await createAccounts(sql, 1);
    const slugs = await shares(2);
    const [last] = await createShares(sql, late ?? 0);
    const blocker = sql.createQueryRunner();
    await blocker.startTransaction();
    await blocker.query('SELECT 1 FROM ledger_accounts WHERE user_id = $1 FOR UPDATE', [late]);
    const answer = await unlock(caller, [...slugs, last?.slug]);
    await blocker.rollbackTransaction();
    await blocker.release();
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('1');
    expect(await balance(caller)).toBe(30);
    expect(await sql.query('SELECT 1 FROM unlocks WHERE user_id = $1', [caller.id])).toEqual([]);
  });

  it('in storms of crossing requests for several and for one: no deadlock, and every point is in the books', async () => {
    const users: number[] = [];
    for (let index = 0; index < 8; index += 1) users.push((await createCaller(site)).id);
    for (const userId of users) await givePoints(sql, userId, 1_000);
    const all = (await Promise.all(users.map((user) => createShares(sql, user, { count: 8, price: 2 })))).flat();
    const batches = site.app.get(UnlockBatches);
    const some = (count: number): string[] =>
      Array.from({ length: count }, () => plain(all[Math.floor(Math.random() * all.length)]?.slug ?? ''));
    // In a transaction of the test: the service would repeat one that met a deadlock.
    const several = (userId: number): Promise<unknown> =>
      sql.transaction((tx) => batches.unlock(as(userId), some(6), tx));
    const one = (userId: number): Promise<unknown> => site.app.get(Unlocks).unlock(as(userId), some(1)[0] ?? '');
    for (let round = 0; round < 6; round += 1) {
      const outcomes = await Promise.allSettled(
        users.flatMap((userId, index) => [several(userId), index % 2 === 0 ? several(userId) : one(userId)]),
      );
      expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
    }
    const [{ sum }] = (await sql.query(
      'SELECT sum(balance)::integer AS sum FROM ledger_accounts WHERE user_id = ANY ($1)',
      [users],
    )) as [{ sum: number }];
    expect(sum).toBe(8_000);
    const counted = await sql.query(
      `SELECT count(*)::integer AS n FROM share_counters c WHERE c.share_id = ANY ($1)
       AND c.unlocked_users_count <> (SELECT count(*) FROM unlocks u WHERE u.share_id = c.share_id)`,
      [all.map(({ id }) => id)],
    );
    expect(counted).toEqual([{ n: 0 }]);
  });
});
