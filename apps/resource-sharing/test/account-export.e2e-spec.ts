import request from 'supertest';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSite, type SiteApp } from './site-app.js';
import { PageReader } from './support/page-reader.js';
import { PASSWORD, ThirdParty } from './support/third-party.js';

let site: SiteApp;
let ada: PageReader;
let adaId: number;
let secrets: string[];

beforeAll(async () => {
  site = await startSite({ GATEHOUSE_ADMIN_PASSWORD: PASSWORD });
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
  await share(key.secret, 'ada1');
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
