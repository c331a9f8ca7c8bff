import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QuotaProfiles } from '../src/quota/quota-profiles.js';
import { UsageRecorder } from '../src/usage/usage-recorder.js';
import { startSite, type SiteApp } from './site-app.js';
import { PageReader } from './support/page-reader.js';
import { PASSWORD, ThirdParty, type RegisteredApp } from './support/third-party.js';

let site: SiteApp;
let people: ThirdParty;

beforeAll(async () => {
  site = await startSite();
  people = new ThirdParty(site);
});
afterAll(() => site.close());

async function developer(): Promise<{ app: RegisteredApp; reader: PageReader }> {
  const { id, name } = await people.user();
  const app = await people.register(id);
  const reader = new PageReader(site.url);
  await reader.logIn(name, PASSWORD);
  return { app, reader };
}

const call = (app: RegisteredApp, path: string): request.Test =>
  request(site.url).get(`/api/open${path}`).set('X-API-Key', app.secret);

const tile = (reader: PageReader, name: string): string =>
  new RegExp(`<dt>${name}</dt><dd>([\\s\\S]*?)</dd>`).exec(reader.page)?.[1]?.replaceAll(/<[^>]*>/g, '') ?? '';

describe('the usage of an application on its page', () => {
  it('is a bar for each of 30 days, a table of the same and a bar for each operation', async () => {
    const { app, reader } = await developer();
    await reader.get(`/developer/${app.clientId}`);
    expect(reader.text).toContain('No calls in the last 30 days.');
    await call(app, '/resources/movie/1').expect(200);
    await call(app, '/resources/movie/2').expect(200);
    await call(app, '/shares/ffffffffffffffffffffffffffffffff').expect(404);
    await site.app.get(UsageRecorder).flush();

    await reader.get(`/developer/${app.clientId}`);
    const [chart = ''] = /<figure class="usage-chart"[\s\S]*?<\/figure>/.exec(reader.page) ?? [];
    const days = [...chart.matchAll(/<title>(.*?)<\/title>/g)].map(([, title]) => title);
    expect(days).toHaveLength(30);
    expect(days.at(-1)).toMatch(/^\d{4}-\d\d-\d\d: 3 calls, 1 failed$/);
    expect(days[0]).toMatch(/: 0 calls, 0 failed$/);
    // A third of the bar of today failed.
    expect(chart).toContain('<rect class="failed" x="582" y="2" width="16" height="39.3"/>');
    expect(reader.text).toMatch(/Show as a table .* \d{4}-\d\d-\d\d 3 1 /);
    expect(reader.text).toMatch(/GET \/api\/open\/resources\/:type\/:tmdb_id 2 0 /);
    expect([tile(reader, 'Calls'), tile(reader, 'Failed')]).toEqual(['3', '1']);
  });

  it('has what is left of the quota of the day', async () => {
    const { app, reader } = await developer();
    const profiles = site.app.get(QuotaProfiles);
    const [usual] = await profiles.list();
    await profiles.save({ ...usual!, name: 'ten-a-day', appPerDay: 10 }, null);
    await people.sql.query('UPDATE applications SET quota_profile = $1 WHERE client_id = $2', [
      'ten-a-day',
      app.clientId,
    ]);
    await expect
      .poll(async () => {
        await reader.get(`/developer/${app.clientId}`);
        return tile(reader, 'Quota left today');
      })
      .toMatch(/^10 of 10, resets \d{4}-\d\d-\d\d \d\d:\d\d$/);
    await call(app, '/resources/movie/1').expect(200);
    await reader.get(`/developer/${app.clientId}`);
    expect(tile(reader, 'Quota left today')).toMatch(/^9 of 10/);
  });

  it('is for its owner alone', async () => {
    const { app } = await developer();
    const { reader } = await developer();
    expect((await reader.get(`/developer/${app.clientId}`)).status).toBe(404);
  });
});
