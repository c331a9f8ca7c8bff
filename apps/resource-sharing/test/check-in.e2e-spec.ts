import { randomUUID } from 'node:crypto';
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
} from './points-support.js';
import { createCaller, type ShareCaller } from './share-callers.js';
import { startSite, type SiteApp } from './site-app.js';

interface CheckInData {
  checked_in: boolean;
  message: string;
  points: number;
  balance: number;
  streak: number;
}

let site: SiteApp;
let sql: DataSource;
let caller: ShareCaller;

beforeAll(async () => {
  site = await startSite();
  sql = site.app.get(DataSource);
  await liftLimits(sql);
});
afterAll(async () => {
  const books = await auditBooks(sql);
  expect(books).toMatchObject({ ...SOUND, checkInTransfers: books.checkIns });
  await site.close();
});
beforeEach(async () => {
  caller = await createCaller(site);
  await setPremium(sql, caller.id, '1 year');
});

const dataOf = (answer: request.Response): CheckInData => (answer.body as { data: CheckInData }).data;

describe('POST /api/open/checkin', () => {
  it('without body and content type: 4 to 10 points, doubled for Premium; no more on the same day', async () => {
    const answer = await request(site.url).post('/api/open/checkin').set('X-API-Key', caller.key);
    expect(answer.status).toBe(200);
    const { points, message, ...data } = dataOf(answer);
    expect(data).toEqual({ checked_in: true, balance: points, streak: 1 });
    expect([8, 10, 12, 14, 16, 18, 20]).toContain(points);
    expect(message).toBe(`签到成功，获得 ${points} 积分（Premium 双倍积分）`);
    expect(answer.body).toMatchObject({ success: true, code: '200', message });
    const again = await caller.post('/checkin').expect(200);
    const late = { checked_in: false, message: '你已经签到过了，明天再来吧', points: 0, balance: points, streak: 1 };
    expect(dataOf(again)).toEqual(late);
    expect(await site.app.get(PointsLedger).balance(caller.id)).toBe(points);

    const answerIn = async (language: string): Promise<string | undefined> => {
      const asked = request(site.url).post('/api/open/checkin').set('X-API-Key', caller.key);
      return dataOf(await asked.set('Accept-Language', language)).message;
    };
    expect(await answerIn('en-US,en;q=0.9')).toBe('You have already checked in today. Come back tomorrow');
    // What programs send that have no wish.
    expect(await answerIn('*')).toBe(late.message);
  });

  it('accepts and ignores fields that later clients send', async () => {
    const { points } = dataOf(await caller.post('/checkin', { gambler: true, points: 5_000 }).expect(200));
    expect([8, 10, 12, 14, 16, 18, 20]).toContain(points);
  });

  it.each([
    ['an empty object', {}, 'normal'],
    ['is_gambler false', { is_gambler: false }, 'normal'],
    ['is_gambler null', { is_gambler: null }, 'normal'],
    ['is_gambler true', { is_gambler: true }, 'gambler'],
  ])('with %s: mode %s', async (_, body, mode) => {
    await caller.post('/checkin', body).expect(200);
    expect(await sql.query('SELECT mode FROM check_ins WHERE user_id = $1', [caller.id])).toEqual([{ mode }]);
  });

  it('with a value that is not a boolean: 400', async () => {
    for (const value of ['true', 1]) await caller.post('/checkin', { is_gambler: value }).expect(400);
  });

  it('without Premium: 403 VIP_REQUIRED', async () => {
    const poor = await createCaller(site);
    const answer = await poor.post('/checkin');
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([403, 'VIP_REQUIRED']);
  });

  it('with an Idempotency-Key: a repeat returns the same points', async () => {
    const key = randomUUID();
    const first = await caller.post('/checkin').set('Idempotency-Key', key).expect(200);
    const repeat = await caller.post('/checkin').set('Idempotency-Key', key).expect(200);
    expect(repeat.body).toEqual(first.body);
    expect(dataOf(repeat).checked_in).toBe(true);
    await caller.post('/checkin', { is_gambler: true }).set('Idempotency-Key', key).expect(422);
  });
});

describe('a check-in', () => {
  /** As the service calls it, with a draw and a time of the test's own. */
  async function checkIn(
    userId: number,
    { drawn = 5, premium = false, at = '2026-11-20T00:00:00Z', zone = 'Asia/Shanghai' } = {},
  ): Promise<{ checked_in: boolean; points: number; balance: number; streak: number }> {
    const [row] = (await sql.query('SELECT * FROM check_in($1, true, $2, $3, $4, $5)', [
      userId,
      drawn,
      premium,
      zone,
      at,
    ])) as [never];
    return row;
  }
  const account = async (points = 0): Promise<number> => (await createAccounts(sql, 1, points))[0] ?? 0;

  it.each([
    ['a win', 100, 7, false, 7],
    ['a win of Premium', 100, 7, true, 14],
    ['a loss', 100, -3, false, -3],
    ['a loss of Premium', 100, -3, true, -3],
    ['a loss above the balance', 2, -3, true, -2],
    ['a loss without points', 0, -3, false, 3],
    ['a loss without points of Premium', 0, -3, true, 6],
    ['nothing', 100, 0, true, 0],
  ])('%s', async (_, before, drawn, premium, points) => {
    const id = await account(before);
    expect(await checkIn(id, { drawn, premium })).toMatchObject({ checked_in: true, points, balance: before + points });
    expect(await site.app.get(PointsLedger).balance(id)).toBe(before + points);
  });

  it.each([
    ['Asia/Shanghai', '2026-11-19T16:00:00Z', '2026-11-20T15:59:59.999Z', '2026-11-20T16:00:00Z'],
    ['UTC', '2026-11-20T00:00:00Z', '2026-11-20T23:59:59.999Z', '2026-11-21T00:00:00Z'],
    // The clocks go back: a day of 25 hours.
    ['Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-25T22:59:59.999Z', '2026-10-25T23:00:00Z'],
  ])('counts a day from 00:00 to 23:59:59.999 in %s', async (zone, first, last, next) => {
    const id = await account();
    expect(await checkIn(id, { zone, at: first })).toMatchObject({ checked_in: true, streak: 1 });
    expect(await checkIn(id, { zone, at: last })).toMatchObject({ checked_in: false, points: 0, streak: 1 });
    expect(await checkIn(id, { zone, at: next })).toMatchObject({ checked_in: true, streak: 2 });
  });

  it('ends a streak after a missed day', async () => {
    const id = await account();
    const days = ['18', '19', '21', '22'].map((day) => `2026-11-${day}T00:00:00Z`);
    const streaks: number[] = [];
    for (const at of days) streaks.push((await checkIn(id, { at })).streak);
    expect(streaks).toEqual([1, 2, 1, 2]);
  });

  it('counts one of 100 concurrent requests', async () => {
    const requests = Array.from({ length: 100 }, () => caller.post('/checkin'));
    const answers = (await Promise.all(requests)).map(dataOf);
    expect(answers.filter(({ checked_in: done }) => done)).toHaveLength(1);
    const [won] = answers.filter(({ checked_in: done }) => done);
    expect(answers.filter(({ points }) => points === 0)).toHaveLength(99);
    expect(new Set(answers.map(({ balance }) => balance))).toEqual(new Set([won?.points]));
  });
});

describe('GET /api/open/me', () => {
  it('describes the user, with times in the zone and points in both places', async () => {
    await sql.query(
      "UPDATE site_accounts SET email = 'a@example.org', premium_until = '2099-01-01T00:00:00Z' WHERE id = $1",
      [caller.id],
    );
    await givePoints(sql, caller.id, 42);
    await createShares(sql, caller.id, { count: 3 });
    await caller.post('/checkin').expect(200);
    const points = await site.app.get(PointsLedger).balance(caller.id);
    const answer = await caller.get('/me').expect(200);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$/) as string;
    expect((answer.body as { data: unknown }).data).toEqual({
      id: caller.id,
      nickname: expect.stringContaining('Nick') as string,
      username: expect.stringContaining('sharer') as string,
      email: 'a@example.org',
      avatar_url: '',
      is_vip: true,
      vip_expiration_date: '2099-01-01T08:00:00+08:00',
      last_active_at: time,
      points,
      level: 2,
      user_meta: { points, signin_days_total: 1, share_num: 3, is_activate: true, notification_method: 'none' },
      telegram_user: null,
      created_at: time,
    });
  });

  it('without Premium: 403 VIP_REQUIRED', async () => {
    const poor = await createCaller(site);
    const answer = await poor.get('/me');
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([403, 'VIP_REQUIRED']);
  });
});
