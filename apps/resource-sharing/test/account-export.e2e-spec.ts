import request from 'supertest';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LastUse } from '../src/credentials/last-use.js';
import { startSite, type SiteApp } from './site-app.js';
import { Authenticator } from './support/authenticator.js';
import { PageReader } from './support/page-reader.js';
import { PASSWORD, ThirdParty } from './support/third-party.js';

let site: SiteApp;
let ada: PageReader;
let adaId: number;
let secrets: string[];

beforeAll(async () => {
  site = await startSite({ GATEHOUSE_ADMIN_PASSWORD: PASSWORD, TRUSTED_PROXIES: '127.0.0.1,::1' });
  const party = new ThirdParty(site);
  const owner = await party.user('ada');
  const other = await party.user('bob');
  adaId = owner.id;
  const app = await party.register(owner.id, { name: 'Ada plays' });
  await party.register(other.id, { name: 'Bob plays' });
  const key = await party.keys.create(owner.id, { name: 'ada-key', scopes: ['write'] });
  const foreign = await party.keys.create(other.id, { name: 'bob-key', scopes: ['write'] });
  secrets = [app.secret, key.secret, foreign.secret];
  const share = (secret: string, name: string): request.Test =>
    request(site.url)
      .post('/api/open/shares')
      .set('X-API-Key', secret)
      .send({ url: `https://115.com/s/sw${name}?password=a1b2`, tmdb_id: '550', media_type: 'movie' })
      .expect(200);
  const { id } = ((await share(key.secret, 'ada1')).body as { data: { media: { id: number } } }).data.media;
  await request(site.url)
    .post('/api/open/subscriptions')
    .set('X-API-Key', key.secret)
    .send({ target_type: 'media_resource', target_key: `movie:${id}` })
    .expect(200);
  await share(foreign.secret, 'bob1');
  ada = new PageReader(site.url);
  await ada.logIn('ada', PASSWORD);
});
afterAll(() => site.close());

it('contains all data of the user, no data of others and no secret', async () => {
  const answer = await request(site.url).get('/api/site/me/export').set('Cookie', ada.cookie).expect(200);
  const { data } = answer.body as { data: Record<string, { [name: string]: unknown }[]> };
  expect(data).toMatchObject({
    account: { id: adaId, username: 'ada' },
    cut: [],
    applications: [{ name: 'Ada plays' }],
    keys: [{ name: 'ada-key' }],
    shares: [{ url: 'https://115.com/s/swada1', access_code: 'a1b2' }],
    subscriptions: [{ media_type: 'movie', tmdb_id: '550' }],
    messages: [{ event_type: 'share.created', read_at: null }],
  });
  expect(data['sessions']).toHaveLength(1);
  expect(data['events']?.map(({ type }) => type)).toContain('user.data_exported');
  expect(answer.text).not.toMatch(/bob|hash/i);
  for (const secret of secrets) expect(answer.text).not.toContain(secret);
});

it('is a file of the account page, at most five times an hour', async () => {
  await ada.get('/account');
  expect(ada.page).toContain('href="/account/export"');
  for (let times = 0; times < 4; times++) {
    const file = await ada.get('/account/export');
    expect(file.headers['content-disposition']).toBe('attachment; filename="gatehouse-account.json"');
    expect(JSON.parse(file.text)).toMatchObject({ account: { username: 'ada' } });
  }
  await ada.get('/account/export');
  expect(ada.last?.status).toBe(429);
});

it('needs a login', async () => {
  await request(site.url).get('/api/site/me/export').expect(401);
  await request(site.url).get('/account/export').redirects(0).expect(303);
});

describe('a deleted account', () => {
  /** Counters, which expire, and the log of calls, which keeps the names used to sign in for a year. */
  const APART = new Set(['login_attempts', 'rate_limits', 'window_counters', 'audit_logs']);

  /** Every row of every table as text, by the name of the table. */
  async function everything(): Promise<Map<string, string>> {
    const sql = site.app.get(DataSource);
    const tables = await sql.query<{ name: string }[]>(
      `SELECT c.relname AS name FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace`,
    );
    const texts = new Map<string, string>();
    for (const { name } of tables) {
      if (!APART.has(name))
        texts.set(name, JSON.stringify(await sql.query(`SELECT to_jsonb(t) AS row FROM "${name}" t`)));
    }
    return texts;
  }
  const tablesWith = (tables: ReadonlyMap<string, string>, text: string): string[] =>
    [...tables].flatMap(([name, rows]) => (rows.includes(text) ? [name] : []));

  const PERSONAL = ['zelda', 'Zelda the Great', 'zelda@example.org', 'zelda-key', '203.0.113.99', 'for my friends'];

  it('leaves a number, and nothing that says whose it was', async () => {
    const party = new ThirdParty(site);
    const zelda = await party.user('zelda');
    const buyer = await party.user('buyer');
    const reader = new PageReader(site.url);
    await reader.logIn('zelda', PASSWORD);
    const call = (method: 'get' | 'post' | 'patch', path: string, body?: object): request.Test =>
      request(site.url)[method](path).set('Cookie', reader.cookie).set('X-Forwarded-For', '203.0.113.99').send(body);
    await call('patch', '/api/site/me', { nickname: 'Zelda the Great', email: 'zelda@example.org' }).expect(200);
    const begun = await call('post', '/api/site/me/second-factor', { current_password: PASSWORD }).expect(200);
    const app = Authenticator.from((begun.body as { data: { secret: string } }).data.secret);
    const confirm = { code: await app.code() };
    const confirmed = await call('post', '/api/site/me/second-factor/confirm', confirm).expect(200);
    const [code] = (confirmed.body as { data: { recovery_codes: string[] } }).data.recovery_codes;
    const key = await party.keys.create(zelda.id, { name: 'zelda-key', scopes: ['write', 'meta', 'unlock'] });
    const application = await party.register(zelda.id, { name: 'Zelda plays' });
    const other = await party.register(buyer.id);
    const tokens = await party.tokens(other, zelda.id);
    const share = async (name: string): Promise<string> => {
      const body = { url: `https://115.com/s/${name}?password=a1b2`, tmdb_id: '551', media_type: 'movie' };
      const made = await request(site.url)
        .post('/api/open/shares')
        .set('X-API-Key', key.secret)
        .set('X-Forwarded-For', '203.0.113.99')
        .send({ ...body, remark: 'for my friends', unlock_points: 5 })
        .expect(200);
      return (made.body as { data: { slug: string } }).data.slug;
    };
    const sold = await share('swsold1');
    await party.sql.query(
      `WITH subscribed AS (INSERT INTO title_subscriptions (user_id, title_id) SELECT $1, movie_id FROM shares WHERE slug = $2)
       INSERT INTO messages (user_id, share_id, event_type) SELECT $1, id, 'share.created' FROM shares WHERE slug = $2`,
      [zelda.id, sold],
    );
    await share('swunsold');
    await party.sql.query("SELECT ledger_transfer('grant', 'gift', NULL, $1, 'grants', 50)", [buyer.id]);
    const buyerKey = await party.keys.create(buyer.id, { name: 'buyer-key', scopes: ['unlock'] });
    const unlock = (): request.Test =>
      request(site.url).post('/api/open/resources/unlock').set('X-API-Key', buyerKey.secret).send({ slug: sold });
    await unlock().expect(200);
    const before = await everything();
    for (const text of PERSONAL) expect(tablesWith(before, text), text).not.toEqual([]);

    const remove = (body: object): request.Test => call('post', '/api/site/me/delete', body);
    await remove({ password: 'a guess', code }).expect(401);
    await remove({ password: PASSWORD }).expect(401);
    await remove({ password: PASSWORD, code }).expect(200);

    for (const table of ['title_subscriptions', 'messages']) {
      expect(await party.sql.query(`SELECT 1 FROM ${table} WHERE user_id = $1`, [zelda.id])).toEqual([]);
    }
    // The last uses of keys are written seconds later.
    await site.app.get(LastUse).flush();
    await call('get', '/api/site/me').expect(401);
    await request(site.url).get('/api/open/ping').set('X-API-Key', key.secret).expect(401);
    await request(site.url).get('/api/open/ping').set('X-API-Key', application.secret).expect(401);
    const acting = request(site.url).get('/api/open/me').set('X-API-Key', other.secret);
    await acting.set('Authorization', `Bearer ${tokens.access_token}`).expect(401);
    const after = await everything();
    // Events are never changed, and leave after 400 days: they have the number of the account, names of its keys, and addresses.
    const trail = after.get('audit_events') ?? '';
    after.delete('audit_events');
    for (const text of [...PERSONAL, 'swunsold']) expect(tablesWith(after, text), text).toEqual([]);
    expect(trail).toContain('user.deleted');
    for (const text of ['"zelda"', 'Zelda the Great', 'zelda@example.org']) {
      expect(trail.includes(text), text).toBe(false);
    }
    // The buyer keeps what was paid for, and the ledger both sides of it.
    expect((await unlock().expect(200)).text).toContain('swsold1');
    const [row] = await party.sql.query<{ entries: number }[]>(
      `SELECT count(*)::int AS entries FROM ledger_entries WHERE user_id = $1`,
      [zelda.id],
    );
    expect(row?.entries).toBeGreaterThan(0);
  });
});
