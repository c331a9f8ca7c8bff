import request from 'supertest';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSite, type SiteApp } from './site-app.js';
import { tokenIn } from './support/mail-server.js';
import { PageReader } from './support/page-reader.js';
import { PASSWORD } from './support/third-party.js';

let site: SiteApp;
let admin: PageReader;
let ada: PageReader;

beforeAll(async () => {
  site = await startSite({ GATEHOUSE_ADMIN_PASSWORD: PASSWORD });
  admin = new PageReader(site.url);
  await admin.logIn('admin', PASSWORD);
  ada = new PageReader(site.url);
  await ada.get('/register');
  await ada.submit('/register', { username: 'ada', email: 'ada@example.org', password: PASSWORD });
});
afterAll(() => site.close());

const get = (path: string, reader: PageReader): request.Test =>
  request(site.url).get(path).set('Cookie', reader.cookie);

it('without a mail server, administrators read mails and pass their links on', async () => {
  const list = await get('/api/site/admin/mails', admin).expect(200);
  const [mail] = (list.body as { data: { id: number }[] }).data;
  expect(mail).toMatchObject({ username: 'ada', kind: 'verify_email', state: 'kept', recipient: 'ada@example.org' });
  expect(list.text).not.toContain('token=');
  await admin.get('/admin/mails');
  expect(admin.text).toContain('No mail server is configured');
  await admin.get(`/admin/mails/${mail?.id}`);
  expect(admin.text).toContain('Hello ada,');
  const one = await get(`/api/site/admin/mails/${mail?.id}`, admin).expect(200);
  const { text } = (one.body as { data: { text: string } }).data;
  await request(site.url)
    .post('/api/site/email-verification')
    .send({ token: tokenIn({ text }) })
    .expect(200);
  // Its link was used: there is nothing left to pass on.
  await get(`/api/site/admin/mails/${mail?.id}`, admin).expect(404);
  // The user sees who read it.
  const events = await get('/api/site/events', ada).expect(200);
  const read = (events.body as { data: { type: string }[] }).data.filter(({ type }) => type === 'mail.read');
  expect(read).toHaveLength(2);
});

it('members read no mails, not even their own', async () => {
  await get('/api/site/admin/mails', ada).expect(403);
  await get('/api/site/admin/mails/1', ada).expect(403);
  await get('/admin/mails', ada).expect(403);
  await get('/admin/mails/1', ada).expect(403);
  await request(site.url).get('/api/site/admin/mails/1').expect(401);
});

it('leave with the account', async () => {
  await ada.get('/account');
  await ada.submit('/account/delete', { password: PASSWORD });
  const list = await get('/api/site/admin/mails', admin).expect(200);
  expect((list.body as { data: unknown[] }).data).toEqual([]);
});
