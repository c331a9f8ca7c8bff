import { execFile } from 'node:child_process';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoCalls } from '../src/demo/demo-lines.js';
import { DemoSeed, type Demo } from '../src/demo/demo-seed.js';
import { startOpenSite } from './support/open-site.js';
import { PageReader } from './support/page-reader.js';
import { PASSWORD, ThirdParty } from './support/third-party.js';
import type { SiteApp } from './site-app.js';

const run = promisify(execFile);

describe('the demo data', () => {
  let site: SiteApp;
  const seed = (): Promise<Demo> => site.app.get(DemoSeed).seed();
  const me = (key: string): request.Test => request(site.url).get('/api/open/me').set('X-API-Key', key);

  beforeAll(async () => {
    site = await startOpenSite({ GATEHOUSE_ADMIN_PASSWORD: PASSWORD });
  });
  afterAll(() => site.close());

  it('is created once by a button that administrators see', async () => {
    const admin = new PageReader(site.url);
    await admin.logIn('admin', PASSWORD);
    await admin.get('/');
    await admin.submit('/demo');
    expect(admin.last?.status).toBe(303);
    await admin.follow();
    expect(admin.text).toContain('demo-viewer password ');
    expect(admin.text).toContain('curl -s ');
    await admin.get('/');
    expect(admin.page).not.toContain('action="/demo"');
  });

  it('keeps everything on a second run, and its secrets in a private file', async () => {
    const first = await seed();
    expect(await seed()).toEqual(first);
    const file = join(site.home, 'demo.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(first.secrets);
    expect((await me(first.secrets.personalKey)).body).toMatchObject({
      data: { username: 'demo-viewer', is_vip: true, points: 1000 },
    });
    expect(new Set(first.shares.map(({ points }) => points))).toEqual(new Set([null, 10, 25]));
    expect(JSON.stringify(site.logs)).not.toContain(first.secrets.personalKey);
  });

  it('creates new secrets if the old ones are lost or revoked', async () => {
    const first = await seed();
    rmSync(join(site.home, 'demo.json'));
    const second = await seed();
    expect(second.clientId).toBe(first.clientId);
    for (const name of ['personalKey', 'applicationSecret', 'viewerPassword', 'developerPassword'] as const) {
      expect(second.secrets[name]).not.toBe(first.secrets[name]);
    }
    expect((await me(first.secrets.personalKey)).status).toBe(401);
    expect((await me(second.secrets.personalKey)).body).toMatchObject({ data: { points: 1000 } });
  });

  it('prints calls that work in a shell, from the login to the end of the authorization', async () => {
    const demo = { ...(await seed()), publicUrl: site.url };
    const script = demoCalls(demo).map(({ call }) => `${call}; echo`);
    const { stdout } = await run('sh', ['-c', `set -u\n${script.join('\n')}\n`], { timeout: 60_000 });
    const answers = stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { success: boolean; data: Record<string, unknown> | null });
    expect(answers.map(({ success }) => success)).toEqual([true, true, true, true, true, true]);
    expect(answers[2]?.data).toMatchObject({ username: 'demo-viewer' });
    expect(answers[3]?.data).toContainEqual(expect.objectContaining({ title: 'Demo series, first season' }));
    expect(answers[4]?.data).toMatchObject({ full_url: expect.stringMatching(/^https:/) });
    const live = (await new ThirdParty(site).sql.query('SELECT FROM grants WHERE revoked_at IS NULL')) as unknown[];
    expect(live).toHaveLength(0);
  });

  it('is refused by a service in use that is reached over HTTPS, unless forced', async () => {
    await using busy = await startOpenSite({ RESOURCE_SHARING_PUBLIC_URL: 'https://share.example.org' });
    const demo = busy.app.get(DemoSeed);
    await new ThirdParty(busy).user();
    await expect(demo.seed()).rejects.toMatchObject({ code: 'CONFLICT' });
    expect((await demo.seed({ force: true })).publicUrl).toBe('https://share.example.org');
  });

  it('reserves its names', async () => {
    const body = { username: 'Demo-viewer', password: PASSWORD };
    expect((await request(site.url).post('/api/site/register').send(body)).status).toBe(400);
  });
});
