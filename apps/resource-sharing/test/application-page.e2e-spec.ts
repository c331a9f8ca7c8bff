import { UnitOfWork } from '@gatehouse/persistence';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QuotaProfiles } from '../src/quota/quota-profiles.js';
import { RefusedCalls } from '../src/refused-calls/refused-calls.js';
import { LimitRetention } from '../src/retention/limit-retention.js';
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

/** The error log without its head: operation, time, status, code and request ID of each call. */
function errorLog(reader: PageReader): string[][] {
  const [, table = ''] = /<table[^>]*>\s*<caption[^>]*>Error log<([\s\S]*?)<\/table>/.exec(reader.page) ?? [];
  return [...table.matchAll(/<tr><td[^>]* data-label[\s\S]*?<\/tr>/g)].map(([row]) =>
    [...row.matchAll(/<td[^>]*>([\s\S]*?)<\/td>/g)].map(([, cell = '']) => cell.replaceAll(/<[^>]*>/g, '')),
  );
}

describe('the error log of an application', () => {
  const read = async (reader: PageReader, app: RegisteredApp): Promise<string[][]> => {
    await site.app.get(RefusedCalls).flush();
    await reader.get(`/developer/${app.clientId}`);
    return errorLog(reader);
  };

  it('lists each refused call, newest first, with the code and the request id of its answer', async () => {
    const { app, reader } = await developer();
    expect(await read(reader, app)).toEqual([]);
    expect(reader.text).toContain('No call was answered with an error in the last 30 days.');
    await call(app, '/resources/movie/1').expect(200);
    const unknown = await call(app, '/shares/ffffffffffffffffffffffffffffffff').expect(404);
    const token = await call(app, '/ping').set('Authorization', 'Bearer hut_wrong').expect(401);
    const user = await call(app, '/me').expect(({ status }) => expect(status).toBeGreaterThanOrEqual(400));
    const answers = [user, token, unknown];
    await expect.poll(async () => (await read(reader, app)).length).toBe(3);
    const log = errorLog(reader);
    expect(log.map(([, , status]) => status)).toEqual(answers.map(({ status }) => String(status)));
    expect(log.map(([, , , code]) => code)).toEqual(answers.map(({ body }) => (body as { code: string }).code));
    for (const [index, { headers }] of answers.entries()) {
      expect(log[index]?.[4]).toContain(headers['x-request-id']);
    }
    expect(log.map(([operation]) => operation)).toEqual([
      'GET /api/open/me',
      'GET /api/open/ping',
      'GET /api/open/shares/:slug',
    ]);
    // Neither the values of the call nor its key.
    expect(JSON.stringify(await people.sql.query('SELECT * FROM refused_calls'))).not.toMatch(/ffff|hk_|hut_/);
  });

  it('keeps the newest 200 per application for 30 days, and none after it was deleted', async () => {
    const { app, reader } = await developer();
    const refused = site.app.get(RefusedCalls);
    const { id } = app.application;
    const kept = async (): Promise<number> => {
      const rows = (await people.sql.query('SELECT FROM refused_calls WHERE application_id = $1', [id])) as unknown[];
      return rows.length;
    };
    for (let batch = 0; batch < 2; batch++) {
      for (let index = 0; index < 150; index++) {
        const requestId = `request-${batch * 150 + index}`;
        const call = { at: new Date(), method: 'GET', endpoint: '/x', status: 404, code: '404', requestId };
        refused.note(id, { ...call, isTest: false });
      }
      await refused.flush();
    }
    expect(await kept()).toBe(200);
    expect((await refused.newest(id, 1))[0]?.requestId).toBe('request-299');
    expect((await refused.newest(id, 200)).at(-1)?.requestId).toBe('request-100');

    await people.sql.query(
      "UPDATE refused_calls SET refused_at = now() - interval '31 days' WHERE application_id = $1 AND request_id <> 'request-299'",
      [id],
    );
    await new LimitRetention(site.app.get(UnitOfWork)).sweep();
    expect(await kept()).toBe(1);
    await reader.get(`/developer/${app.clientId}`);
    await reader.submit(`/developer/${app.clientId}/delete`);
    const late = { at: new Date(), method: 'GET', endpoint: '/x', status: 404, code: '404', requestId: 'late' };
    refused.note(id, { ...late, isTest: false });
    await refused.flush();
    expect(await kept()).toBe(0);
  });
});

describe('the usage of an application on its page', () => {
  it('is shown as a bar for each of 30 days, the same numbers in a table, and a bar for each operation', async () => {
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

  it('shows the remaining quota of the day', async () => {
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

  it('is visible to its owner only', async () => {
    const { app } = await developer();
    const { reader } = await developer();
    expect((await reader.get(`/developer/${app.clientId}`)).status).toBe(404);
  });
});
