import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { peerOrSkip, startRedis, waitFor, type RedisServer } from '@gatehouse/testing';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { QuotaProfiles, type QuotaProfile } from '../src/quota/quota-profiles.js';
import { ServiceDays } from '../src/quota/service-days.js';
import { createCaller } from './share-callers.js';
import type { SiteApp } from './site-app.js';
import { startOpenSite } from './support/open-site.js';
import { parseList } from './support/structured-fields.js';
import { ThirdParty, type RegisteredApp } from './support/third-party.js';

type Site = Awaited<ReturnType<typeof startOpenSite>>;

const NO_LIMITS: QuotaProfile = {
  name: 'x',
  appPerMinute: null,
  appBurstPerSecond: null,
  appAddressPerMinute: null,
  userPerMinute: null,
  appPerDay: null,
  userPerDay: null,
  addressesPerDay: null,
  groupPerMinute: {},
  endpointPerDay: {},
};

const redisProgram = peerOrSkip('redis-server');
let made = 0;

const STORES: [name: string, program: string | undefined][] = [['PostgreSQL', undefined]];
if (redisProgram !== undefined) STORES.push(['Redis', redisProgram]);

describe.each(STORES)('limits over two replicas, kept in %s', (_, program) => {
  let redis: RedisServer | undefined;
  let site: Site;
  let replica: SiteApp;
  let sql: DataSource;
  let party: ThirdParty;
  let owner: { id: number };

  beforeAll(async () => {
    redis = program === undefined ? undefined : await startRedis(program);
    const env = { TRUSTED_PROXIES: '127.0.0.1', ...(redis === undefined ? {} : { REDIS_URL: redis.url }) };
    site = await startOpenSite(env);
    replica = await site.replica();
    sql = site.app.get(DataSource);
    party = new ThirdParty(site);
    owner = await party.user();
  });
  afterAll(async () => {
    await replica.close();
    await site.close();
    await redis?.close();
  });

  /** An application with limits of its own, known to both replicas. */
  async function limited(limits: Partial<QuotaProfile>): Promise<RegisteredApp> {
    const name = `profile-${++made}`;
    await site.app.get(QuotaProfiles).save({ ...NO_LIMITS, ...limits, name }, null);
    owner = await party.user();
    const app = await party.register(owner.id);
    await sql.query('UPDATE applications SET quota_profile = $2, bound_user_id = NULL WHERE client_id = $1', [
      app.clientId,
      name,
    ]);
    const of = (one: SiteApp): string =>
      one.app.get(QuotaProfiles).of({ quotaProfile: name, credentialKind: 'application' } as never).name;
    await waitFor(() => of(site) === name && of(replica) === name);
    return app;
  }

  const call = (app: RegisteredApp, at: SiteApp = site, path = 'meta', token?: string): request.Test =>
    party.probe(path, app.secret, token, at.url);

  async function storm(app: RegisteredApp, count: number, path = 'meta', token?: string): Promise<request.Response[]> {
    return Promise.all(Array.from({ length: count }, (_, i) => call(app, i % 2 === 0 ? site : replica, path, token)));
  }

  const passed = (answers: readonly request.Response[]): number =>
    answers.filter(({ status }) => status === 200).length;

  it('a storm of reads gets hardly more than the limit, and the rest gets the time to retry', async () => {
    const app = await limited({ appPerMinute: 40 });
    const answers = await storm(app, 100);
    // What one replica holds at a time may be missed: a twentieth.
    expect(passed(answers)).toBeGreaterThanOrEqual(36);
    expect(passed(answers)).toBeLessThanOrEqual(42);
    const refused = answers.find(({ status }) => status === 429) as request.Response;
    expect(refused.body).toMatchObject({
      success: false,
      code: 'APP_RATE_LIMIT_EXCEEDED',
      limit_scope: 'app',
      limit_scope_label: '应用',
      limit_code: 'APP_RATE_LIMIT_EXCEEDED',
      data: null,
    });
    const { retry_after_seconds: seconds } = refused.body as { retry_after_seconds: number };
    expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= 3).toBe(true);
    expect(refused.headers['retry-after']).toBe(String(seconds));
    expect(Number(refused.headers['x-ratelimit-reset'])).toBeGreaterThan(Date.now() / 1_000 - 1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
  });

  it('a storm of unlocks gets exactly the limit', async () => {
    const app = await limited({ groupPerMinute: { unlock: 10 } });
    const { access_token: token } = await party.tokens(app, owner.id);
    const answers = await storm(app, 60, 'unlock', token);
    expect(passed(answers)).toBe(10);
    const refused = answers.find(({ status }) => status === 429) as request.Response;
    expect(refused.body).toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      limit_code: 'ENDPOINT_GROUP_RATE_LIMIT_EXCEEDED',
      limit_scope: 'user',
    });
    // One comes back every 6 s; a busy machine takes a while for the storm.
    const { retry_after_seconds: seconds } = refused.body as { retry_after_seconds: number };
    expect([1, 2, 3, 4, 5, 6]).toContain(seconds);
  });

  it('a refused unlock does not count towards the other limits', async () => {
    const app = await limited({ appPerMinute: 12, groupPerMinute: { unlock: 5 } });
    const { access_token: token } = await party.tokens(app, owner.id);
    expect(passed(await storm(app, 20, 'unlock', token))).toBe(5);
    const reads = [];
    for (let i = 0; i < 8; i++) reads.push(await call(app, i % 2 === 0 ? site : replica));
    expect(passed(reads)).toBe(7);
  });

  it('frees one place after another', async () => {
    const app = await limited({ appBurstPerSecond: 4 });
    expect(passed(await storm(app, 12))).toBe(4);
    const code = (await call(app)).body as { code?: string };
    expect(code.code ?? 'APP_BURST_LIMIT_EXCEEDED').toBe('APP_BURST_LIMIT_EXCEEDED');
    await waitFor(async () => (await call(app)).status === 200);
  });

  it.each([
    ['USER_RATE_LIMIT_EXCEEDED', 'user', { userPerMinute: 2 }, true],
    ['ENDPOINT_GROUP_RATE_LIMIT_EXCEEDED', 'user', { groupPerMinute: { meta: 2 } }, true],
    ['ENDPOINT_GROUP_RATE_LIMIT_EXCEEDED', 'app', { groupPerMinute: { meta: 2 } }, false],
    ['APP_IP_RATE_LIMIT_EXCEEDED', 'app', { appAddressPerMinute: 2 }, false],
    ['APP_BURST_LIMIT_EXCEEDED', 'app', { appBurstPerSecond: 1 }, false],
    ['APP_DAILY_QUOTA_EXCEEDED', 'app', { appPerDay: 2 }, false],
    ['USER_DAILY_QUOTA_EXCEEDED', 'user', { userPerDay: 2 }, true],
    ['ENDPOINT_QUOTA_EXCEEDED', 'app', { endpointPerDay: { 'GET /api/open/probe/meta': 2 } }, false],
  ] as const)('%s of the %s', async (code, scope, limits, withUser) => {
    const app = await limited(limits);
    const user = await party.user();
    const token = withUser ? (await party.tokens(app, user.id)).access_token : undefined;
    const answers = await Promise.all(Array.from({ length: 6 }, () => call(app, site, 'meta', token)));
    const refused = answers.find(({ status }) => status === 429) as request.Response;
    expect(refused.body).toMatchObject({ code, limit_scope: scope });
    expect(passed(answers)).toBeGreaterThanOrEqual(1);
  });

  it('the addresses of an IPv6 network count as one', async () => {
    const from = (app: RegisteredApp, address: string): request.Test => call(app, site).set('X-Forwarded-For', address);
    const slow = await limited({ appAddressPerMinute: 2 });
    const answers = [];
    for (const host of [1, 2, 3]) answers.push(await from(slow, `2001:db8:0:1::${host}`));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect((await from(slow, '2001:db8:0:2::1')).status).toBe(200);
    const few = await limited({ addressesPerDay: 1 });
    for (const host of [1, 2]) expect((await from(few, `2001:db8:0:1::${host}`)).status).toBe(200);
    expect((await from(few, '2001:db8:0:2::1')).body).toMatchObject({ code: 'IP_COUNT_EXCEEDED' });
  });

  it('users of one application have separate limits', async () => {
    const app = await limited({ userPerMinute: 3 });
    const [one, other] = [await party.user(), await party.user()];
    const first = await party.tokens(app, one.id);
    expect(passed(await storm(app, 8, 'meta', first.access_token))).toBe(3);
    const second = await party.tokens(app, other.id);
    expect((await call(app, site, 'meta', second.access_token)).status).toBe(200);
  });

  it('IP_COUNT_EXCEEDED: a limited number of addresses a day; known ones always work', async () => {
    const app = await limited({ addressesPerDay: 2 });
    const from = (address: string, at: SiteApp): request.Test => call(app, at).set('X-Forwarded-For', address);
    expect((await from('192.0.2.1', site)).status).toBe(200);
    expect((await from('192.0.2.2', replica)).status).toBe(200);
    const refused = await from('192.0.2.3', replica);
    expect([refused.status, (refused.body as { code: string }).code]).toEqual([429, 'IP_COUNT_EXCEEDED']);
    expect((await from('192.0.2.2', site)).status).toBe(200);
  });

  describe('daily quotas', () => {
    it('are shared: exact for unlocks', async () => {
      const app = await limited({ appPerDay: 15 });
      const { access_token: token } = await party.tokens(app, owner.id);
      const answers = await storm(app, 40, 'unlock', token);
      expect(passed(answers)).toBe(15);
      expect(answers.find(({ status }) => status === 429)?.body).toMatchObject({
        code: 'RATE_LIMIT_EXCEEDED',
        limit_code: 'APP_DAILY_QUOTA_EXCEEDED',
      });
    });

    it.each(['meta', 'unlock'])('refuse a %s call without using the limits per minute', async (path) => {
      const app = await limited({ appPerMinute: 4, appPerDay: 2 });
      const { access_token: token } = await party.tokens(app, owner.id);
      const codes: string[] = [];
      for (let calls = 0; calls < 8; calls++) {
        const { body } = await call(app, site, path, token);
        codes.push((body as { limit_code?: string }).limit_code ?? 'passed');
      }
      expect(codes).toEqual(['passed', 'passed', ...Array.from({ length: 6 }, () => 'APP_DAILY_QUOTA_EXCEEDED')]);
      // Two of the four are left, for operations that do not count against the quota.
      await sql.query('UPDATE quota_used SET used = 0 WHERE key = $1', [`a:a${app.application.id}`]);
      if (path === 'unlock') expect(passed(await storm(app, 6, path, token))).toBe(2);
    });

    it('of reads are known to the other replica within a second', async () => {
      const app = await limited({ appPerDay: 5 });
      for (let i = 0; i < 5; i++) await call(app, site).expect(200);
      await call(app, site).expect(429);
      const used = async (): Promise<number | undefined> => {
        const rows = await sql.query('SELECT used FROM quota_used WHERE key = $1', [`a:a${app.application.id}`]);
        return (rows as { used: number }[])[0]?.used;
      };
      await waitFor(async () => (await used()) === 5, { timeoutMs: 2_000 });
      await call(app, replica).expect(429);
    });

    it('count only successful calls, and none that is exempt', async () => {
      const app = await limited({ appPerDay: 3 });
      const { access_token: token } = await party.tokens(app, owner.id);
      const get = (path: string): request.Test =>
        request(site.url).get(`/api/open${path}`).set('X-API-Key', app.secret).set('Authorization', `Bearer ${token}`);
      for (let i = 0; i < 5; i++) await get('/resources/neither/1').expect(400);
      for (let i = 0; i < 5; i++) await get('/shares').expect(200);
      for (let i = 0; i < 3; i++) await get('/resources/movie/1').expect(200);
      await get('/resources/movie/1').expect(429);
      await get('/shares').expect(200);
    });

    it('reset at midnight in the zone', async () => {
      const app = await limited({ appPerDay: 1 });
      await call(app).expect(200);
      const refused = await call(app).expect(429);
      const { endsAt } = site.app.get(ServiceDays).at();
      expect((refused.body as { retry_after_seconds: number }).retry_after_seconds).toBeLessThanOrEqual(86_400);
      expect(Math.abs(Number(refused.headers['x-ratelimit-reset']) - endsAt / 1_000)).toBeLessThanOrEqual(2);
      expect(refused.headers).toMatchObject({ 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0' });
      expect(parseList(refused.headers['ratelimit'] ?? '')[0]).toMatchObject({
        value: 'app-day',
        parameters: { r: 0 },
      });
      const real = Date.now;
      try {
        Date.now = () => endsAt;
        await call(app).expect(200);
        await call(app).expect(429);
      } finally {
        Date.now = real;
      }
      await call(app).expect(429);
    });

    it('are shown in headers and by GET quota', async () => {
      const app = await limited({ endpointPerDay: { 'GET /api/open/quota': 10 } });
      const answer = await request(site.url).get('/api/open/quota').set('X-API-Key', app.secret).expect(200);
      expect(answer.body).toMatchObject({ data: { endpoint_limit: 10, endpoint_remaining: 9 } });
      expect(answer.headers).toMatchObject({ 'x-endpoint-limit': '10', 'x-endpoint-remaining': '9' });
      expect(answer.headers).toMatchObject({ 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '9' });
      const { daily_reset: reset } = (answer.body as { data: { daily_reset: number } }).data;
      expect(answer.headers['x-ratelimit-reset']).toBe(String(reset));
    });
  });

  it('headers are structured fields, and count down', async () => {
    const app = await limited({ appPerMinute: 100, appBurstPerSecond: 50, groupPerMinute: { meta: 20 } });
    const remaining: number[] = [];
    for (let i = 0; i < 5; i++) {
      const { headers } = await call(app).expect(200);
      expect(parseList(headers['ratelimit-policy'] ?? '')).toEqual([
        { value: 'app-burst', parameters: { q: 50, w: 1, qu: 'requests' } },
        { value: 'app', parameters: { q: 100, w: 60, qu: 'requests' } },
        { value: 'group-meta', parameters: { q: 20, w: 60, qu: 'requests' } },
      ]);
      const [limit, ...more] = parseList(headers['ratelimit'] ?? '');
      expect([limit?.value, more]).toEqual(['group-meta', []]);
      remaining.push(limit?.parameters['r'] as number);
      expect(limit?.parameters['t']).toBeTypeOf('number');
    }
    expect(remaining).toEqual([19, 18, 17, 16, 15]);
  });

  it('a change of a profile takes effect on every replica', async () => {
    const app = await limited({ appPerMinute: 1 });
    expect(passed(await storm(app, 4))).toBe(1);
    const name = `profile-${made}`;
    await site.app.get(QuotaProfiles).save({ ...NO_LIMITS, name }, null);
    await waitFor(async () => (await call(app, replica)).status === 200 && (await call(app, site)).status === 200);
  });

  describe('without the store', () => {
    let restore = async (): Promise<void> => {};
    afterEach(() => restore());

    async function takeStoreAway(): Promise<void> {
      if (redis !== undefined) {
        // As a server that is there and refuses.
        const { LimitRedis } = await import('../src/limits/redis-limit-store.js');
        const client = site.app.get(LimitRedis).client;
        client?.disconnect();
        restore = async () => {
          await client?.connect();
        };
        return;
      }
      await sql.query('ALTER TABLE rate_limits RENAME TO rate_limits_away');
      restore = async () => {
        await sql.query('ALTER TABLE rate_limits_away RENAME TO rate_limits');
      };
    }

    it('reads continue with limits per process, and unlocks are refused', async () => {
      const app = await limited({ appPerMinute: 10 });
      const { access_token: token } = await party.tokens(app, owner.id);
      await takeStoreAway();
      const reads = await Promise.all(Array.from({ length: 20 }, () => call(app)));
      expect(passed(reads)).toBe(10);
      const unlock = await call(app, site, 'unlock', token);
      expect(unlock.status).toBe(503);
      expect(unlock.headers['retry-after']).toBe('1');
      expect(unlock.body).toMatchObject({ success: false, code: '503' });
      await restore();
      restore = async () => {};
      await waitFor(async () => (await call(app, site, 'unlock', token)).status !== 503);
    });
  });
});

describe('the address limit', () => {
  it('is checked before the key: GLOBAL_RATE_LIMIT_EXCEEDED, also on unknown addresses of the API', async () => {
    await using site = await startOpenSite({ API_RATE_LIMIT: '5' });
    const answers = await Promise.all(Array.from({ length: 8 }, () => request(site.url).get('/api/open/nowhere')));
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(5);
    const refused = answers.find(({ status }) => status === 429) as request.Response;
    expect(refused.body).toMatchObject({ code: 'GLOBAL_RATE_LIMIT_EXCEEDED', limit_scope: 'global' });
    expect(parseList(refused.headers['ratelimit-policy'] ?? '')[0]).toEqual({
      value: 'address',
      parameters: { q: 5, w: 60, qu: 'requests' },
    });
    await request(site.url).get('/healthz').expect(200);
  });

  it('is shared by every request target that leads to the API', async () => {
    await using site = await startOpenSite({ API_RATE_LIMIT: '5' });
    const targets = ['ftp://any/api/open/ping', 'http:///api/open/ping', '/api\\open/ping#', '/API/open/ping/'];
    for (const target of targets) {
      expect(await statusAndCaching(site.url, target)).toEqual(['401', 'no-store']);
    }
    await request(site.url).get('/api/open/ping').expect(401);
    for (const target of targets) expect(await statusAndCaching(site.url, target)).toEqual(['429', 'no-store']);
  });
});

/** Of a request that no client library would send. */
async function statusAndCaching(url: string, target: string): Promise<(string | undefined)[]> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.end(`GET ${target} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n`);
  const answer = await text(socket);
  return [/^HTTP\/1.1 (\d+)/.exec(answer)?.[1], /^cache-control: (.*)\r$/im.exec(answer)?.[1]];
}

describe('pages of other sites', () => {
  it('can call the API and read the headers of the limits', async () => {
    await using site = await startOpenSite();
    const caller = await createCaller(site);
    const asked = await request(site.url)
      .options('/api/open/resources/unlock')
      .set({ Origin: 'https://client.example', 'Access-Control-Request-Method': 'POST' })
      .expect(204);
    expect(asked.headers['access-control-allow-headers']).toContain('X-API-Key');
    const answer = await caller.get('/ping').set('Origin', 'https://client.example').expect(200);
    const exposed = (answer.headers['access-control-expose-headers'] ?? '').toLowerCase().split(', ');
    for (const name of ['ratelimit', 'ratelimit-policy', 'retry-after', 'x-ratelimit-reset']) {
      expect(exposed).toContain(name);
    }
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    const refused = await request(site.url).get('/api/open/ping').set('Origin', 'https://client.example').expect(401);
    expect(refused.headers['access-control-allow-origin']).toBe('*');
  });
});
