import { waitFor } from '@gatehouse/testing';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServiceDays } from '../src/quota/service-days.js';
import { UsageRecorder } from '../src/usage/usage-recorder.js';
import { createCaller, type ShareCaller } from './share-callers.js';
import { startOpenSite } from './support/open-site.js';
import { ThirdParty } from './support/third-party.js';

type Site = Awaited<ReturnType<typeof startOpenSite>>;

interface UsageBody {
  data: {
    daily_stats: { date: string; total_calls: number; success_calls: number; failed_calls: number }[];
    endpoint_stats: { endpoint: string; method: string; total_calls: number; success_calls: number }[];
    summary: {
      total_calls: number;
      success_calls: number;
      failed_calls: number;
      avg_latency: number;
      p95_latency: number;
    };
  };
}

let site: Site;
let sql: DataSource;

beforeAll(async () => {
  site = await startOpenSite();
  sql = site.app.get(DataSource);
});
afterAll(() => site.close());

async function usageOf(caller: ShareCaller, query = ''): Promise<UsageBody['data']> {
  const answer = await caller.get(`/usage${query}`).expect(200);
  return (answer.body as UsageBody).data;
}

describe('ping and quota', () => {
  it('ping names the key', async () => {
    const caller = await createCaller(site);
    const [{ id }] = (await sql.query('SELECT id FROM credentials WHERE user_id = $1', [caller.id])) as [
      { id: number },
    ];
    const answer = await caller.get('/ping').expect(200);
    expect(answer.body).toEqual({
      success: true,
      code: '200',
      message: 'success',
      data: { message: 'pong', api_key_id: id, name: 'test' },
    });
  });

  it('quota returns the next midnight of the zone, and null where no quota is set', async () => {
    const caller = await createCaller(site);
    const answer = await caller.get('/quota').expect(200);
    const [{ reset }] = (await sql.query(
      `SELECT extract(epoch FROM ((now() AT TIME ZONE 'Asia/Shanghai')::date + 1)::timestamp AT TIME ZONE 'Asia/Shanghai')::integer AS reset`,
    )) as [{ reset: number }];
    expect(answer.body).toMatchObject({
      data: { daily_reset: reset, endpoint_limit: null, endpoint_remaining: null },
    });
  });
});

describe('usage', () => {
  it('counts by route template, successes and failures apart, before and after they are stored', async () => {
    const caller = await createCaller(site);
    await caller.get('/resources/movie/1').expect(200);
    await caller.get('/resources/tv/2').expect(200);
    await caller.get('/shares/ffffffffffffffffffffffffffffffff').expect(404);
    for (const stored of [false, true]) {
      if (stored) await site.app.get(UsageRecorder).flush();
      const { daily_stats: days, endpoint_stats: endpoints, summary } = await usageOf(caller);
      expect(days).toHaveLength(1);
      expect(endpoints.find(({ endpoint }) => endpoint.startsWith('/api/open/resources'))).toMatchObject({
        endpoint: '/api/open/resources/:type/:tmdb_id',
        method: 'GET',
        total_calls: 2,
        success_calls: 2,
      });
      expect(endpoints.find(({ endpoint }) => endpoint === '/api/open/shares/:slug')).toMatchObject({
        total_calls: 1,
        success_calls: 0,
      });
      expect(summary).toMatchObject({ total_calls: stored ? 4 : 3, failed_calls: 1 });
      expect(summary.avg_latency).toBeGreaterThan(0);
      expect(summary.p95_latency).toBeGreaterThanOrEqual(summary.avg_latency / 2);
    }
  });

  it('today has the sums of this day', async () => {
    const caller = await createCaller(site);
    await caller.get('/ping').expect(200);
    const answer = await caller.get('/usage/today').expect(200);
    expect(answer.body).toMatchObject({ data: { total_calls: 1, success_calls: 1, failed_calls: 0 } });
    expect(Object.keys((answer.body as UsageBody).data).sort()).toEqual(
      ['avg_latency', 'failed_calls', 'p95_latency', 'success_calls', 'total_calls'].sort(),
    );
  });

  it('adds up over replicas, within a second', async () => {
    await using replica = await site.replica();
    const caller = await createCaller(site);
    await caller.get('/ping').expect(200);
    await request(replica.url).get('/api/open/ping').set('X-API-Key', caller.key).expect(200);
    await waitFor(async () =>
      (await usageOf(caller)).endpoint_stats.some(
        ({ endpoint, total_calls: calls }) => endpoint === '/api/open/ping' && calls === 2,
      ),
    );
  });

  it('is written at the end of a replica', async () => {
    const caller = await createCaller(site);
    const replica = await site.replica();
    for (let call = 0; call < 5; call++) {
      await request(replica.url).get('/api/open/ping').set('X-API-Key', caller.key).expect(200);
    }
    await replica.close();
    const rows = await sql.query(
      `SELECT sum(d.total_calls)::integer AS calls, sum(s)::integer AS bucketed FROM usage_daily d
       JOIN LATERAL (SELECT sum(b) AS s FROM unnest(d.buckets) b) buckets ON true WHERE user_id = $1`,
      [caller.id],
    );
    expect(rows).toEqual([{ calls: 5, bucketed: 5 }]);
  });

  it('survives a database that refuses: nothing is lost, nothing twice', async () => {
    const caller = await createCaller(site);
    const recorder = site.app.get(UsageRecorder);
    await recorder.flush();
    await sql.query('ALTER TABLE usage_daily RENAME TO usage_daily_away');
    try {
      await caller.get('/ping').expect(200);
      await recorder.flush();
      await caller.get('/ping').expect(200);
      await recorder.flush();
    } finally {
      await sql.query('ALTER TABLE usage_daily_away RENAME TO usage_daily');
    }
    const { summary } = await usageOf(caller);
    expect(summary.total_calls).toBe(2);
  });

  it('an application sees all its calls, with a user token those for that user, another none of them', async () => {
    const party = new ThirdParty(site);
    const [owner, one, other] = [await party.user(), await party.user(), await party.user()];
    const [app, stranger] = [await party.register(owner.id), await party.register(owner.id)];
    const total = async (secret: string, token?: string): Promise<number> => {
      const call = request(site.url).get('/api/open/usage').set('X-API-Key', secret);
      if (token !== undefined) void call.set('Authorization', `Bearer ${token}`);
      return ((await call.expect(200)).body as UsageBody).data.summary.total_calls;
    };
    const [first, second] = [await party.tokens(app, one.id), await party.tokens(app, other.id)];
    for (const { access_token: token } of [first, first, second])
      await party.probe('meta', app.secret, token).expect(200);
    expect(await total(app.secret, first.access_token)).toBe(2);
    expect(await total(app.secret, second.access_token)).toBe(1);
    expect(await total(app.secret)).toBe(5);
    expect(await total(stranger.secret)).toBe(0);
  });

  it.each([
    ['start_date=2026-01-02&end_date=2026-01-01', 'end_date'],
    ['start_date=2024-01-01&end_date=2026-01-01', 'start_date'],
    ['start_date=2026-02-30', 'start_date'],
    ['start_date=yesterday', 'start_date'],
    ['end_date=2026-1-1', 'end_date'],
  ])('%s is refused', async (query, field) => {
    const caller = await createCaller(site);
    const answer = await caller.get(`/usage?${query}`).expect(400);
    expect(answer.body).toMatchObject({ success: false, code: '400', details: [{ field }] });
  });

  it('is read for the days that are asked for', async () => {
    const caller = await createCaller(site);
    const [{ id }] = (await sql.query('SELECT id FROM credentials WHERE user_id = $1', [caller.id])) as [
      { id: number },
    ];
    const days = ['2026-01-01', '2026-01-31', '2026-02-01'];
    await sql.query(
      `INSERT INTO usage_daily SELECT day, 0, $1, $2, 10, 9, 1, 5000, '{10}' FROM unnest($3::date[]) day`,
      [id, caller.id, days],
    );
    const { daily_stats: stats, summary } = await usageOf(caller, '?start_date=2026-01-01&end_date=2026-01-31');
    expect(stats.map(({ date }) => date)).toEqual(['2026-01-01', '2026-01-31']);
    expect(summary).toEqual({
      total_calls: 20,
      success_calls: 18,
      failed_calls: 2,
      avg_latency: 0.5,
      p95_latency: 0.1,
    });
  });

  it('belongs to the day of the zone on which the call ended up', async () => {
    const caller = await createCaller(site);
    const days = site.app.get(ServiceDays);
    const today = days.at();
    const real = Date.now;
    try {
      Date.now = () => today.endsAt - 1;
      expect(days.at().date).toBe(today.date);
      await caller.get('/probe/meta').expect(200);
      Date.now = () => today.endsAt;
      expect(days.at().date > today.date).toBe(true);
      await caller.get('/probe/meta').expect(200);
    } finally {
      Date.now = real;
    }
    days.at();
    await site.app.get(UsageRecorder).flush();
    const rows = (await sql.query('SELECT day::text FROM usage_daily WHERE user_id = $1 ORDER BY day', [
      caller.id,
    ])) as {
      day: string;
    }[];
    expect(rows).toHaveLength(2);
    expect(rows[0]?.day).toBe(today.date);
  });
});
