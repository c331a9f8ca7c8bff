import { randomUUID } from 'node:crypto';
import { waitFor } from '@gatehouse/testing';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RISK_FIELDS, RiskSettings, type RiskValues } from '../src/risk/risk-settings.js';
import { RiskStates } from '../src/risk/risk-states.service.js';
import { ShareLooks } from '../src/risk/share-looks.js';
import { createShares, givePoints, type TestShare } from './points-support.js';
import { createCaller, newShare, type ShareCaller } from './share-callers.js';
import type { SiteApp } from './site-app.js';
import { startOpenSite } from './support/open-site.js';
import { parseList } from './support/structured-fields.js';
import { ThirdParty, type RegisteredApp } from './support/third-party.js';

type Site = Awaited<ReturnType<typeof startOpenSite>>;

let site: Site;
let replica: SiteApp;
let sql: DataSource;
let risk: RiskStates;
let sharer: ShareCaller;
let caller: ShareCaller;

beforeAll(async () => {
  site = await startOpenSite();
  replica = await site.replica();
  sql = site.app.get(DataSource);
  risk = site.app.get(RiskStates);
  sharer = await createCaller(site);
});
afterAll(async () => {
  await replica.close();
  await site.close();
});
beforeEach(async () => {
  caller = await createCaller(site);
});
afterEach(async () => {
  await sql.query('DELETE FROM risk_settings');
  await sql.query('INSERT INTO risk_settings DEFAULT VALUES');
});

const configure = (changes: string): Promise<unknown> => sql.query(`UPDATE risk_settings SET ${changes}`);
const shares = (count: number, price: number | null = null): Promise<TestShare[]> =>
  createShares(sql, sharer.id, { count, price });
const unlock = (share: TestShare | undefined, by = caller, at: SiteApp = site): request.Test =>
  request(at.url).post('/api/open/resources/unlock').set('X-API-Key', by.key).send({ slug: share?.slug });

/** So many unlocks of new shares, all together, by both replicas. */
async function storm(count: number, price: number | null = null): Promise<request.Response[]> {
  const made = await shares(count, price);
  return Promise.all(made.map((share, i) => unlock(share, caller, i % 2 === 0 ? site : replica)));
}

const statuses = (answers: readonly request.Response[], status: number): number =>
  answers.filter((answer) => answer.status === status).length;

/** As if that much time had passed since everything that is known of the caller. */
async function pass(duration: string): Promise<void> {
  const times = ['changed_at', 'troubled_at', 'incident_at', 'paused_at', 'paused_until', 'minute_tat', 'hour_tat'];
  const arrays = ['hits_at', 'paid_at', 'applications_at'];
  const shifted = [
    ...times.map((column) => `${column} = ${column} - $2::interval`),
    ...arrays.map((column) => `${column} = ARRAY(SELECT t - $2::interval FROM unnest(${column}) t)`),
  ];
  await sql.query(`UPDATE risk_states SET ${shifted.join(', ')} WHERE user_id = $1`, [caller.id, duration]);
}

async function toTierOne(): Promise<void> {
  await configure('unlocks_per_minute = 1, hits = 1');
  await storm(2);
  expect((await risk.read(caller.id)).tier).toBe(1);
}

describe('tier 0', () => {
  it('ten unlocks a minute, exactly, over all replicas; the rest waits', async () => {
    await configure('hits = 100');
    const answers = await storm(40);
    expect([statuses(answers, 200), statuses(answers, 429)]).toEqual([10, 30]);
    const refused = answers.find(({ status }) => status === 429)?.body as { retry_after_seconds: number };
    expect(refused).toMatchObject({
      success: false,
      code: 'RATE_LIMIT_EXCEEDED',
      limit_code: 'USER_RATE_LIMIT_EXCEEDED',
      limit_scope: 'user',
    });
    // One comes back every 6 s; a busy machine takes a while for the storm.
    expect([1, 2, 3, 4, 5, 6]).toContain(refused.retry_after_seconds);
  });

  it('a hundred an hour', async () => {
    await configure('hits = 100, unlocks_per_minute = 1000, unlocks_per_hour = 5');
    const answers = await storm(9);
    expect(statuses(answers, 200)).toBe(5);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers['retry-after']).toBe('720');
  });

  it('what is refused costs nothing and can be had later', async () => {
    await configure('unlocks_per_minute = 1, hits = 100');
    await givePoints(sql, caller.id, 100);
    const [one, other] = await shares(2, 10);
    await unlock(one).expect(200);
    await unlock(other).expect(429);
    const left = await sql.query('SELECT balance FROM ledger_accounts WHERE user_id = $1', [caller.id]);
    expect(left).toEqual([{ balance: 90 }]);
    await pass('1 minute');
    await unlock(other).expect(200);
  });

  it('what is owned, an own share, and what failed do not count', async () => {
    await configure('unlocks_per_minute = 2, hits = 1');
    const [free, dear] = [(await shares(1))[0], (await shares(1, 500))[0]];
    const own = (await createShares(sql, caller.id, { price: 3 }))[0];
    for (let i = 0; i < 6; i++) {
      await unlock(free).expect(200);
      await unlock(own).expect(200);
      await unlock(dear).expect(402);
      await unlock({ id: 0, slug: randomUUID() }).expect(404);
    }
    await givePoints(sql, caller.id, 500);
    await unlock(dear).expect(200);
    for (let i = 0; i < 6; i++) await unlock(dear).expect(200);
    expect((await risk.read(caller.id)).tier).toBe(0);
  });

  it('200 parallel unlocks of one share count as one', async () => {
    await configure('unlocks_per_minute = 1, hits = 1');
    await givePoints(sql, caller.id, 10);
    const [share] = await shares(1, 10);
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => unlock(share, caller, i % 2 === 0 ? site : replica)),
    );
    expect(statuses(answers, 200)).toBe(200);
    expect((await risk.read(caller.id)).tier).toBe(0);
  });

  it('a refusal under an Idempotency-Key is not kept', async () => {
    await configure('unlocks_per_minute = 1, hits = 100');
    const [one, other] = await shares(2);
    const key = randomUUID();
    await unlock(one).expect(200);
    await unlock(other).set('Idempotency-Key', key).expect(429);
    await pass('1 minute');
    await unlock(other).set('Idempotency-Key', key).expect(200);
  });

  it('sends the limit in structured fields, and the tier to the key of the user', async () => {
    const [share] = await shares(1);
    const { headers } = await unlock(share).expect(200);
    expect(parseList(headers['ratelimit-policy'] ?? '')).toEqual([
      { value: 'unlock-user', parameters: { q: 10, w: 60, qu: 'requests' } },
    ]);
    expect(parseList(headers['ratelimit'] ?? '')).toEqual([{ value: 'unlock-user', parameters: { r: 9, t: 6 } }]);
    expect(headers['x-risk-tier']).toBe('T0');
  });
});

it('a refusal names the limit that refused, and not one of the application', async () => {
  await configure('unlocks_per_minute = 2, hits = 100');
  const [one, two, three] = await shares(3);
  await unlock(one).expect(200);
  await unlock(two).expect(200);
  const { headers, body } = await unlock(three).expect(429);
  const { retry_after_seconds: seconds } = body as { retry_after_seconds: number };
  expect(parseList(headers['ratelimit'] ?? '')).toEqual([{ value: 'unlock-user', parameters: { r: 0, t: seconds } }]);
  expect(parseList(headers['ratelimit-policy'] ?? '')).toEqual([
    { value: 'unlock-user', parameters: { q: 2, w: 60, qu: 'requests' } },
  ]);
  expect(headers).toMatchObject({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '0' });
  expect(Math.abs(Number(headers['x-ratelimit-reset']) - Date.now() / 1_000 - seconds)).toBeLessThanOrEqual(2);
});

describe('tier 1', () => {
  it('after three hits in ten minutes: a pause of a minute, then two a minute', async () => {
    const answers = await storm(13);
    expect([statuses(answers, 200), statuses(answers, 429)]).toEqual([10, 3]);
    await waitFor(async () => (await risk.read(caller.id)).tier === 1);
    const [share] = await shares(1);
    const paused = await unlock(share).expect(429);
    expect(paused.body).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', limit_code: 'OPENAPI_COOLDOWN' });
    const { retry_after_seconds: seconds } = paused.body as { retry_after_seconds: number };
    expect(seconds).toBeGreaterThan(50);
    expect(parseList(paused.headers['ratelimit'] ?? '')).toEqual([
      { value: 'unlock-user', parameters: { r: 0, t: seconds } },
    ]);
    expect(paused.headers['x-risk-tier']).toBe('T1');
    await pass('2 minutes');
    const later = await storm(5);
    expect(statuses(later, 200)).toBe(2);
  });

  it('what is owned may be had in a pause', async () => {
    const [owned] = await shares(1);
    await unlock(owned).expect(200);
    await toTierOne();
    await unlock(owned).expect(200);
  });

  it('hits further apart than ten minutes are forgiven', async () => {
    await configure('unlocks_per_minute = 1');
    for (let i = 0; i < 5; i++) {
      await storm(2);
      await pass('11 minutes');
    }
    expect((await risk.read(caller.id)).tier).toBe(0);
  });

  it('after more than thirty paid unlocks in an hour; free ones do not count', async () => {
    await configure('unlocks_per_minute = 1000, unlocks_per_hour = 1000, paid_unlocks_per_hour = 5');
    await givePoints(sql, caller.id, 100);
    expect(statuses(await storm(8), 200)).toBe(8);
    expect(statuses(await storm(5, 1), 200)).toBe(5);
    expect((await risk.read(caller.id)).tier).toBe(0);
    await pass('61 minutes');
    expect(statuses(await storm(5, 1), 200)).toBe(5);
    expect((await risk.read(caller.id)).tier).toBe(0);
    const [sixth] = await storm(1, 1);
    expect([sixth?.status, sixth?.headers['x-risk-tier']]).toEqual([200, 'T1']);
    expect((await risk.events(caller.id))[0]).toMatchObject({ kind: 'paid', tier: 1 });
  });

  it('falls back after a clean day', async () => {
    await toTierOne();
    await pass('23 hours');
    expect((await risk.read(caller.id)).tier).toBe(1);
    await pass('2 hours');
    expect((await risk.read(caller.id)).tier).toBe(0);
  });
});

describe('tier 2', () => {
  it('again within a day: a pause of a quarter of an hour', async () => {
    await toTierOne();
    await pass('1 hour');
    await configure('unlocks_per_minute = 1, watched_unlocks_per_minute = 1, hits = 1');
    await storm(2);
    const state = await risk.read(caller.id);
    expect(state.tier).toBe(2);
    const seconds = ((state.pausedUntil?.getTime() ?? 0) - Date.now()) / 1_000;
    expect(seconds).toBeGreaterThan(890);
    expect(seconds).toBeLessThanOrEqual(901);
  });

  it('three applications at once, over which a user has one limit; other users of them feel nothing', async () => {
    const party = new ThirdParty(site);
    const owner = await party.user();
    const user = await party.user();
    const apps: RegisteredApp[] = [];
    for (let i = 0; i < 3; i++) apps.push(await party.register(owner.id));
    const through = async (app: RegisteredApp, userId: number): Promise<request.Response> => {
      const { access_token: token } = await party.tokens(app, userId);
      const [share] = await shares(1);
      return request(site.url)
        .post('/api/open/resources/unlock')
        .set({ 'X-API-Key': app.secret, Authorization: `Bearer ${token}` })
        .send({ slug: share?.slug });
    };
    for (const app of apps) {
      const answer = await through(app, user.id);
      expect(answer.status).toBe(200);
      // Whose tier it is does not concern the application.
      expect(answer.headers).not.toHaveProperty('x-risk-tier');
    }
    expect((await risk.read(user.id)).tier).toBe(2);
    const refused = await through(apps[0] as RegisteredApp, user.id);
    expect(refused.body).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', limit_code: 'OPENAPI_COOLDOWN' });
    const other = await party.user();
    expect((await through(apps[0] as RegisteredApp, other.id)).status).toBe(200);
    const events = await party.events('risk.tier_changed');
    expect(events.at(-1)?.details).toEqual({
      before: 0,
      tier: 2,
      reason: 'applications',
      until: expect.any(String) as string,
    });
  });

  it('unlocks of what was never looked at; looks before them are known at once, and later', async () => {
    await configure('unlocks_per_minute = 1000, unseen_sample = 5');
    const seen = await shares(5);
    for (const share of seen) {
      await caller.get(`/shares/${share.slug}`).expect(200);
      if (share === seen[3]) await site.app.get(ShareLooks).flush();
      if (share === seen[4]) await site.app.get(ShareLooks).flush();
      await unlock(share).expect(200);
    }
    expect((await risk.read(caller.id)).tier).toBe(0);
    await storm(4);
    expect((await risk.read(caller.id)).tier).toBe(2);
  });
});

describe('tier 3', () => {
  async function block(): Promise<void> {
    await toTierOne();
    await configure('unlocks_per_minute = 1, watched_unlocks_per_minute = 1, hits = 1');
    for (const tier of [2, 3]) {
      await pass('1 hour');
      await storm(2);
      expect((await risk.read(caller.id)).tier).toBe(tier);
    }
  }

  it('a repeat in seven days: RISK_BLOCKED for a day, to be reviewed, and no more shares or check-ins', async () => {
    await block();
    const [share] = await shares(1);
    const blocked = await unlock(share).expect(403);
    expect(blocked.body).toMatchObject({ success: false, code: 'RISK_BLOCKED' });
    expect(blocked.headers['x-risk-tier']).toBe('T3');
    expect(await risk.read(caller.id)).toMatchObject({ needsReview: true });
    expect((await risk.listRaised({ after: caller.id - 1 }))[0]).toMatchObject({ userId: caller.id, tier: 3 });
    const refused = await caller.post('/shares', newShare()).expect(403);
    expect(refused.body).toMatchObject({ code: 'USER_TIER_NOT_ALLOWED' });
    await caller.get('/shares').expect(200);
    await caller.get('/ping').expect(200);
  });

  it('one tier less for each clean day, unlocks again after the first', async () => {
    await block();
    const tiers: number[] = [];
    for (let day = 0; day < 3; day++) {
      await pass('24 hours 1 second');
      tiers.push((await risk.read(caller.id)).tier);
    }
    expect(tiers).toEqual([2, 1, 0]);
    const [share] = await shares(1);
    await unlock(share).expect(200);
  });

  it('an administrator takes it back', async () => {
    await block();
    await risk.reset(caller.id, sharer.id);
    expect(await risk.read(caller.id)).toMatchObject({ tier: 0, pausedUntil: null, needsReview: false });
    const [share] = await shares(1);
    await unlock(share).expect(200);
    expect((await risk.events(caller.id))[0]).toMatchObject({ kind: 'reset', details: { by: sharer.id } });
    const audited = await sql.query("SELECT actor_id FROM audit_events WHERE type = 'risk.reset' AND user_id = $1", [
      caller.id,
    ]);
    expect(audited).toEqual([{ actor_id: sharer.id }]);
    await expect(risk.reset(999_999, null)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('the settings of administrators', () => {
  it('are read and written as the table has them, and hold for the next unlock', async () => {
    const settings = site.app.get(RiskSettings);
    const usual = Object.entries(RISK_FIELDS).map(([name, field]) => [name, field.usual]);
    const before = await settings.read();
    expect(before).toEqual(Object.fromEntries(usual));

    const [{ id: adminId }] = (await sql.query('SELECT id FROM site_accounts ORDER BY id LIMIT 1')) as [{ id: number }];
    const changed = { ...before, unlocks_per_minute: 1, unseen_percent: 55, pause_2_minutes: 90 };
    await settings.save(changed, Number(adminId));
    expect(await settings.read()).toEqual(changed);
    expect(statuses(await storm(2), 200)).toBe(1);
    const [event] = (await sql.query(
      "SELECT details FROM audit_events WHERE type = 'risk.settings_changed' ORDER BY id DESC LIMIT 1",
    )) as [{ details: object }];
    expect(event.details).toEqual({
      unlocks_per_minute: '10 → 1',
      unseen_percent: '80 → 55',
      pause_2_minutes: '15 → 90',
    });
  });

  it('never leave what the table accepts', async () => {
    const settings = site.app.get(RiskSettings);
    for (const end of ['min', 'max'] as const) {
      const values = Object.fromEntries(Object.entries(RISK_FIELDS).map(([name, field]) => [name, field[end]]));
      await settings.save(values as RiskValues, 1);
      expect(await settings.read()).toEqual(values);
    }
  });
});
