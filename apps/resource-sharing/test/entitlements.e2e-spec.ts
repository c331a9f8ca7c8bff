import { DataSource } from 'typeorm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createShares, liftLimits, setPremium } from './points-support.js';
import { createCaller } from './share-callers.js';
import { startSite, type SiteApp } from './site-app.js';

let site: SiteApp;
let sql: DataSource;

beforeAll(async () => {
  site = await startSite({ WEEKLY_FREE_LIMIT: '2', WEEKLY_FREE_BONUS_MAX: '3' });
  sql = site.app.get(DataSource);
  await liftLimits(sql);
});
afterAll(() => site.close());

it('a user with lifetime Premium sees what is left of the week, as the weekly quota says', async () => {
  const [sharer, caller] = [await createCaller(site), await createCaller(site)];
  await setPremium(sql, caller.id, '21 years');
  const [share] = await createShares(sql, sharer.id);
  await caller.get('/vip/weekly-free-quota').expect(200);
  await sql.query('UPDATE weekly_free SET bonus = 1 WHERE user_id = $1', [caller.id]);
  await caller.post('/resources/unlock', { slug: share?.slug }).expect(200);
  const answer = await caller.get('/vip/entitlements').expect(200);
  expect(answer.body).toEqual({
    success: true,
    code: '200',
    message: '获取成功',
    data: {
      is_forever_vip: true,
      weekly_free_quota: 2,
      weekly_free_quota_remaining: 2,
      weekly_free_quota_unlimited: false,
      bonus_quota: 1,
    },
  });
});

it('a user whose Premium ends has no free unlocks; one without Premium gets 403 VIP_REQUIRED', async () => {
  const [premium, plain] = [await createCaller(site), await createCaller(site)];
  await setPremium(sql, premium.id, '1 year');
  const answer = await premium.get('/vip/entitlements').expect(200);
  expect((answer.body as { data: object }).data).toMatchObject({ is_forever_vip: false, weekly_free_quota: 0 });
  const refused = await plain.get('/vip/entitlements').expect(403);
  expect(refused.body).toMatchObject({ code: 'VIP_REQUIRED' });
});
