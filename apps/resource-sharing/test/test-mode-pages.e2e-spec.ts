import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RefusedCalls } from '../src/refused-calls/refused-calls.js';
import { startSite, type SiteApp } from './site-app.js';
import { PageReader } from './support/page-reader.js';
import { PASSWORD, ThirdParty, type RegisteredApp } from './support/third-party.js';

let site: SiteApp;
let people: ThirdParty;
beforeAll(async () => {
  site = await startSite({ API_RATE_LIMIT: '0' });
  people = new ThirdParty(site);
});
afterAll(() => site.close());

async function developer(): Promise<{ app: RegisteredApp; reader: PageReader; path: string; token: string }> {
  const { id, name } = await people.user();
  const app = await people.register(id, {}, { reviewed: false });
  const { access_token: token } = await people.tokens(app, id);
  const reader = new PageReader(site.url);
  await reader.logIn(name, PASSWORD);
  return { app, reader, path: `/developer/${app.clientId}/test-mode`, token };
}

const keyOf = (reader: PageReader): string => /<code>(ht_[^<&]+)<\/code>/.exec(reader.page)?.[1] ?? '';

describe('the page of test mode', () => {
  it('makes a key, shows it once, lists made-up shares after the first call, and ends the key', async () => {
    const { app, reader, path, token } = await developer();
    await reader.get(`/developer/${app.clientId}`);
    expect(reader.page).toContain(`href="${path}"`);
    await reader.get(path);
    expect(reader.text).toContain('No test key yet.');
    expect(reader.text).toContain('They are there from the first test call for a user on.');
    expect(reader.page).toContain('href="/help/test-mode.html"');
    await reader.submit(`${path}/keys`);
    await reader.follow();
    const key = keyOf(reader);
    expect(reader.text).toContain('The test key was created.');
    await reader.get(path);
    expect(keyOf(reader)).toBe('');

    const list = request(site.url).get('/api/open/shares').set('X-API-Key', key);
    await list.set('Authorization', `Bearer ${token}`).expect(200);
    await reader.get(path);
    for (const name of ['free', 'dear', 'too_fast', 'withdrawn']) expect(reader.page).toContain(`<code>${name}</code>`);
    await reader.submit(`${path}/keys`);
    await reader.follow();
    await reader.submit(`${path}/keys`);
    expect(reader.text).toContain('An application may have 2 test keys');

    await reader.get(path);
    const [, end = ''] = /action="([^"]*\/keys\/\d+\/end)"/.exec(reader.page) ?? [];
    await reader.submit(end);
    await reader.follow();
    expect(reader.text).toContain('The test key was revoked.');
  });

  it('sets points and empties the data; a wrong number is explained', async () => {
    const { app, reader, path } = await developer();
    const points = async (): Promise<unknown> =>
      people.sql.query(
        `SELECT l.balance FROM resource_sharing_test.test_accounts t
         JOIN resource_sharing_test.ledger_accounts l ON l.user_id = t.id WHERE t.application_id = $1 AND NOT is_made_up`,
        [app.application.id],
      );
    await reader.get(path);
    await reader.submit(`${path}/points`, { points: '12' });
    await reader.follow();
    expect(reader.text).toContain('The test points were set.');
    expect(await points()).toEqual([{ balance: 12 }]);
    await reader.submit(`${path}/points`, { points: '-3' });
    expect([reader.last?.status, await points()]).toEqual([400, [{ balance: 12 }]]);
    await reader.get(path);
    await reader.submit(`${path}/empty`);
    await reader.follow();
    expect(reader.text).toContain('The test data were removed.');
    expect(await points()).toEqual([]);
  });

  it('is in Chinese, too, and marks test calls in the error log', async () => {
    const { app, reader, path } = await developer();
    await reader.get(path);
    await reader.submit(`${path}/keys`);
    await reader.follow();
    await request(site.url).get('/api/open/me').set('X-API-Key', keyOf(reader)).expect(403);
    await site.app.get(RefusedCalls).flush();
    await reader.get(`/developer/${app.clientId}`);
    expect(reader.text).toMatch(/GET \/api\/open\/me\s+test/);
    const chinese = await request(site.url).get(path).set('Cookie', reader.cookie).set('Accept-Language', 'zh-CN');
    expect(chinese.text).toContain('虚构的分享');
    expect(chinese.text).toContain('href="/help/zh-CN/test-mode.html"');
  });

  it('shows the usage of test calls and the rest of their quota apart from those of real calls', async () => {
    const { app, reader, path } = await developer();
    const page = `/developer/${app.clientId}`;
    const tile = (name: string): string =>
      new RegExp(`<dt>${name}</dt><dd>([\\s\\S]*?)</dd>`).exec(reader.page)?.[1]?.replaceAll(/<[^>]*>/g, '') ?? '';
    const chosen = (): string => /<a[^>]*aria-current="true"[^>]*>([^<]* calls)<\/a>/.exec(reader.page)?.[1] ?? '';
    await reader.get(`${page}?calls=test`);
    expect([chosen(), tile('Calls')]).toEqual(['Test calls', '0']);
    expect(reader.text).toContain('No test calls in the last 30 days.');
    await reader.get(path);
    await reader.submit(`${path}/keys`);
    await reader.follow();
    const test = keyOf(reader);
    for (const key of [test, test, app.secret]) {
      await request(site.url).get('/api/open/resources/movie/1').set('X-API-Key', key).expect(200);
    }
    await request(site.url)
      .get(`/api/open/shares/${'f'.repeat(32)}`)
      .set('X-API-Key', test)
      .expect(404);

    await reader.get(`${page}?calls=test`);
    expect([chosen(), tile('Calls'), tile('Failed')]).toEqual(['Test calls', '3', '1']);
    expect(tile('Quota left today')).toMatch(/^4,?998 of 5,?000/);
    expect(reader.text).toMatch(/By day test/);
    expect(reader.text).toMatch(/GET \/api\/open\/resources\/:type\/:tmdb_id 2 0 /);
    await reader.get(page);
    expect([chosen(), tile('Calls'), tile('Failed')]).toEqual(['Real calls', '1', '0']);
    expect(reader.text).not.toMatch(/By day test/);
    const { reader: stranger } = await developer();
    expect((await stranger.get(`${page}?calls=test`)).status).toBe(404);
  });

  it('is there for the owner alone, and its forms need their token', async () => {
    const { path } = await developer();
    const { reader: stranger, app, path: own } = await developer();
    for (const place of [path]) expect((await stranger.get(place)).status).toBe(404);
    await stranger.get(own);
    const token = /name="(\w+)" value="([^"]+)"/.exec(
      /action="[^"]*test-mode\/keys"[\s\S]*?<\/form>/.exec(stranger.page)?.[0] ?? '',
    );
    const sent = { [token?.[1] ?? '']: token?.[2] ?? '' };
    for (const action of ['keys', 'keys/1/end', 'empty', 'points']) {
      const foreign = await stranger.post(`${path}/${action}`, { ...sent, points: '5' });
      expect([action, foreign.status]).toEqual([action, 404]);
      const forged = await stranger.post(`/developer/${app.clientId}/test-mode/${action}`, { points: '5' });
      expect([action, forged.status]).toEqual([action, 403]);
    }
    const left = await people.sql.query(
      "SELECT count(*)::integer AS n FROM credentials WHERE kind = 'test' AND application_id = $1",
      [app.application.id],
    );
    expect(left).toEqual([{ n: 0 }]);
  });
});
