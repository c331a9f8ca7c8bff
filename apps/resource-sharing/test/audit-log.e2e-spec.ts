import type { AuditLogPage, AuditLogView, AuditVerification } from '@gatehouse/contracts';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EventChain } from '../src/audit/event-chain.js';
import { startOpenSite } from './support/open-site.js';
import { PageReader } from './support/page-reader.js';
import { PASSWORD, ThirdParty } from './support/third-party.js';
import type { SiteApp } from './site-app.js';

const HOSTILE = `<script>alert("x")</script><img src=x onerror=alert(1)>`;

let site: SiteApp;
let people: ThirdParty;
let admin: PageReader;

beforeAll(async () => {
  site = await startOpenSite({ GATEHOUSE_ADMIN_PASSWORD: PASSWORD });
  people = new ThirdParty(site);
  admin = new PageReader(site.url);
  await admin.logIn('admin', PASSWORD);
});
afterAll(() => site.close());

async function ask<T>(path: string): Promise<T> {
  const { status, body } = await request(site.url).get(`/api/site/admin/audit-logs${path}`).set('Cookie', admin.cookie);
  expect(status).toBe(200);
  return (body as { data: T }).data;
}
const list = async (query = ''): Promise<AuditLogView[]> => (await ask<AuditLogPage>(`?limit=500&${query}`)).items;
const verify = (): Promise<AuditVerification> => ask<AuditVerification>('/verify');
const chained = (): Promise<number> => site.app.get(EventChain, { strict: false }).takeAll();

describe('the audit log', () => {
  it('shows who changed what, from where, over the interface and on a page', async () => {
    const { id, name } = await people.user();
    const path = `/api/site/admin/users/${id}`;
    const changed = await request(site.url).patch(path).set('Cookie', admin.cookie).send({ role: 'administrator' });
    expect(changed.status).toBe(200);
    const [row] = await list('resource_type=user');
    expect(row).toMatchObject({
      action: 'user.update',
      actor: { type: 'session', name: 'admin' },
      ip: expect.stringContaining('127.0.0.1'),
      resource_id: String(id),
      resource_name: name,
      changes: [{ field: 'role', before: 'member', after: 'administrator' }],
      status: 200,
    });
    await admin.get(`/admin/users/${id}`);
    const { status } = await admin.submit(`/admin/users/${id}`, { role: 'member' });
    expect(status).toBe(303);
    expect((await list('resource_type=user'))[0]).toMatchObject({
      action: 'user.update',
      actor: { type: 'session', name: 'admin' },
      method: 'POST',
      path: `/admin/users/${id}`,
      changes: expect.arrayContaining([{ field: 'role', before: 'administrator', after: 'member' }]),
    });
  });

  it('has logins, also failed ones, and refused calls', async () => {
    const { name } = await people.user();
    const logIn = (password: string): request.Test =>
      request(site.url).post('/api/site/login').send({ username: name, password });
    const cookie = (await logIn(PASSWORD)).headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    expect((await list('action=auth.login'))[0]).toMatchObject({ actor: { type: 'session', name }, success: true });
    await logIn('TYPED-WRONG');
    expect((await list('action=auth.login'))[0]).toMatchObject({ actor: { type: 'anonymous' }, success: false });
    const refused = await request(site.url).patch('/api/site/admin/users/1').set('Cookie', cookie).send({});
    expect(refused.status).toBe(403);
    expect((await list(`actor=${name}`))[0]).toMatchObject({ action: 'user.update', status: 403, success: false });
    expect(JSON.stringify(await list())).not.toMatch(/TYPED-WRONG|argon2/);
  });

  it('has every event of the trail, in the same chain', async () => {
    const owner = await people.user();
    const app = await people.register(owner.id, { name: 'chained' });
    await chained();
    const rows = await list('resource_type=event');
    const events: { id: number }[] = await people.sql.query('SELECT id FROM audit_events ORDER BY id');
    expect(rows.map(({ resource_id: id }) => Number(id)).toSorted((a, b) => a - b)).toEqual(events.map(({ id }) => id));
    const made = rows.find(({ action, resource_name: name }) => action === 'app.created' && name === 'chained');
    expect(made).toMatchObject({ actor: { type: 'session', id: owner.id, name: owner.name } });
    expect(made?.changes).toContainEqual({ field: 'name', before: null, after: 'chained' });
    expect(JSON.stringify(rows)).not.toContain(app.secret);
    expect(await chained()).toBe(0);
  });

  it('reports an event that disappeared before it was chained', async () => {
    // In one transaction: the service, which looks every two seconds, never sees the event itself.
    const gone = await people.sql.transaction(async (tx) => {
      await tx.query('ALTER TABLE audit_events DISABLE TRIGGER audit_events_append_only');
      const [event]: { id: number }[] = await tx.query(
        `INSERT INTO audit_events (type, details) VALUES ('user.disabled', '{}') RETURNING id`,
      );
      await tx.query('DELETE FROM audit_events WHERE id = $1', [event?.id]);
      await tx.query('ALTER TABLE audit_events ENABLE TRIGGER audit_events_append_only');
      return event;
    });
    await chained();
    const rows = await list(`resource_type=event&resource_id=${gone?.id}`);
    expect(rows.map(({ action, success }) => ({ action, success }))).toEqual([
      { action: 'event.missing', success: false },
    ]);
  });

  describe('has a page for administrators', () => {
    const shown = (): string[] => admin.page.match(/<summary>Row \d+/g) ?? [];

    it('that filters, pages newest first, and shows no secret', async () => {
      const { id, name } = await people.user();
      const app = await people.register(id, { name: HOSTILE });
      await chained();
      for (let left = 51; left > 0; left--) {
        await request(site.url)
          .patch(`/api/site/admin/users/${id}`)
          .set('Cookie', admin.cookie)
          .send({ role: 'member' });
      }
      const newest = await list('action=user.update');
      await admin.get('/admin/audit-log?actor=admin&action=user.update&success=true');
      expect(shown()).toEqual(newest.slice(0, 50).map((row) => `<summary>Row ${row.id}`));
      expect(admin.text).toContain(name);
      expect(admin.page).toContain('name="action" type="text" value="user.update"');
      const [, older = ''] = /href="([^"]+)" rel="next">Older/.exec(admin.page) ?? [];
      await admin.get(older.replaceAll('&amp;', '&'));
      expect(shown()[0]).toBe(`<summary>Row ${newest[50]?.id}`);
      expect(admin.page).toContain('">Newest</a>');

      await admin.get('/admin/audit-log?action=app.*');
      expect(admin.text).toContain(HOSTILE);
      expect(admin.page).not.toMatch(/<script>|<img src=x/);
      expect(admin.page).not.toContain(app.secret);
      await admin.get('/admin/audit-log?actor=nobody-of-that-name');
      expect(admin.text).toContain('Nothing was found.');
    });

    it('that names the invalid field of a filter', async () => {
      const { status } = await admin.get('/admin/audit-log?action=Every+thing&success=perhaps&actor=%00');
      expect(status).toBe(400);
      for (const field of ['action', 'success', 'actor']) expect(admin.page).toContain(`<a href="#${field}">`);
      expect(shown()).toEqual([]);
    });

    it('and for nobody else', async () => {
      const { name } = await people.user();
      const member = new PageReader(site.url);
      await member.logIn(name, PASSWORD);
      for (const path of ['/admin/audit-log', '/admin/audit-log/verify']) {
        expect([path, (await member.get(path)).status]).toEqual([path, 403]);
        expect(member.page).not.toContain('Row ');
        expect((await new PageReader(site.url).get(path)).headers['location']).toBe(
          `/login?return_to=${encodeURIComponent(path)}`,
        );
      }
    });

    it('that says in words whether the chain is intact', async () => {
      await chained();
      await verify();
      await admin.get('/admin/audit-log/verify');
      expect(admin.text).toMatch(/The log is intact: each of its \d+ rows follows the row before it/);
      const [row] = await list('action=user.update');
      const set = (name: string | null): Promise<unknown> =>
        people.sql.query('UPDATE audit_logs SET actor_name = $1 WHERE id = $2', [name, row?.id]);
      await set('mallory');
      await admin.get('/admin/audit-log/verify');
      expect(admin.text).toContain(`The chain breaks at row ${row?.id}. A row was changed.`);
      await set(row?.actor.name ?? null);
      expect((await verify()).ok).toBe(true);
    });
  });

  it('detects that the newest rows were cut off together with the head', async () => {
    await chained();
    const { ok, witness } = await verify();
    expect({ ok, witness }).toMatchObject({ ok: true, witness: { status: 'confirms' } });
    await people.sql.query('CREATE TABLE kept AS SELECT * FROM audit_chain');
    const { id } = await people.user();
    await request(site.url)
      .patch(`/api/site/admin/users/${id}`)
      .set('Cookie', admin.cookie)
      .send({ role: 'administrator' });
    expect((await verify()).ok).toBe(true);
    await people.sql.query('DELETE FROM audit_logs WHERE id > (SELECT last_id FROM kept)');
    await people.sql.query(
      'UPDATE audit_chain SET last_id = k.last_id, last_hash = k.last_hash, seal = k.seal FROM kept k',
    );
    expect(await verify()).toMatchObject({ ok: false, witness: { status: 'contradicts' } });
  });
});
