import type { AuditLogPage, AuditLogView, AuditVerification } from '@gatehouse/contracts';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EventChain } from '../src/audit/event-chain.js';
import { startOpenSite } from './support/open-site.js';
import { PageReader } from './support/page-reader.js';
import { PASSWORD, ThirdParty } from './support/third-party.js';
import type { SiteApp } from './site-app.js';

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
  it('says who changed what of whom, from where, by the interface and by a page', async () => {
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

  it('has logins, also those that fail, and what is refused', async () => {
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

  it('says that an event went away before it was chained', async () => {
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

  it('shows the newest rows cut off together with the head', async () => {
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
