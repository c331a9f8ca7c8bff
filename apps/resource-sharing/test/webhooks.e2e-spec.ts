import { Jobs } from '@gatehouse/jobs';
import { UnitOfWork } from '@gatehouse/persistence';
import { isSignedBy, waitFor, WebhookReceiver, type ReceivedMessage } from '@gatehouse/testing';
import { MAX_ATTEMPTS } from '@gatehouse/webhooks';
import request from 'supertest';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ServiceDays } from '../src/quota/service-days.js';
import { LimitRetention } from '../src/retention/limit-retention.js';
import { QuotaWarnings } from '../src/webhooks/quota-warnings.js';
import { createShares, givePoints } from './points-support.js';
import { startSite, type SiteApp } from './site-app.js';
import { ThirdParty, type RegisteredApp } from './support/third-party.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type AnyJson = any;
type Method = 'delete' | 'get' | 'patch' | 'post';

/** A developer with a reviewed application. */
interface Developer {
  readonly id: number;
  readonly app: RegisteredApp;
  readonly cookie: string;
}

let site: SiteApp;
let people: ThirdParty;
/** An administrator: only theirs may lead to this machine. */
let dev: Developer;
let receiver: WebhookReceiver;
beforeAll(async () => {
  site = await startSite({ API_RATE_LIMIT: '0' });
  people = new ThirdParty(site);
  dev = await developer();
  await people.sql.query(`UPDATE site_accounts SET role = 'administrator' WHERE id = $1`, [dev.id]);
});
afterAll(() => site.close());
beforeEach(async () => {
  receiver = await WebhookReceiver.start();
});
afterEach(async () => {
  await people.sql.query('DELETE FROM webhooks');
  await receiver[Symbol.asyncDispose]();
});

async function developer(): Promise<Developer> {
  const { id, name } = await people.user();
  return { id, app: await people.register(id), cookie: await people.cookie(name) };
}

function send(method: Method, path: string, body?: object, who = dev, clientId = who.app.clientId): request.Test {
  const call = request(site.url)[method](`/api/site/applications/${clientId}/webhooks${path}`);
  return call.set('Cookie', who.cookie).send(body);
}

async function data(call: request.Test): Promise<AnyJson> {
  const answer = await call;
  if (answer.status !== 200) throw new Error(answer.text);
  return (answer.body as { data: unknown }).data;
}

const hook = (body: object = {}): Promise<AnyJson> =>
  data(send('post', '', { name: 'mine', url: receiver.url, ...body }));

async function arrived(type: string): Promise<ReceivedMessage> {
  return waitFor(() => receiver.received.find(({ body }) => body.type === type));
}

/** The newest delivery of a webhook as soon as it is as wanted. */
const delivery = (id: number, wanted: (found: AnyJson) => boolean): Promise<AnyJson> =>
  waitFor(async () => {
    const [newest] = await data(send('get', `/${id}/deliveries`));
    return newest !== undefined && wanted(newest) && newest;
  });

/** What is due is sent now, without the wait. */
async function hurry(): Promise<void> {
  await people.sql.query(
    `UPDATE webhook_deliveries SET next_attempt_at = now() - interval '1 minute' WHERE status = 'pending'`,
  );
  await site.app.get(Jobs).add('webhook-fan-out', { requestedAt: Date.now() });
}

describe('events of an application', () => {
  it('report grants: made, changed and ended, signed, without what the user did to the account', async () => {
    const { id, secret } = await hook();
    const user = await people.user();
    await people.tokens(dev.app, user.id, { scope: 'meta query' });
    const created = await arrived('grant.created');
    expect(isSignedBy(secret, created)).toBe(true);
    expect(isSignedBy('whsec_AAAA', created)).toBe(false);
    expect(created.body).toMatchObject({
      type: 'grant.created',
      data: { client_id: dev.app.clientId, user_id: user.id, scopes: ['meta', 'query'], former_scopes: null },
    });
    expect(Math.abs(Date.parse(created.body.timestamp) - Date.now())).toBeLessThan(60_000);
    const sent = await delivery(id, ({ status }) => status === 'delivered');
    expect(created.headers['webhook-id']).toBe(`whd_${sent.id}`);

    await people.tokens(dev.app, user.id, { scope: 'meta' });
    const changed = await arrived('grant.changed');
    expect(changed.body.data).toMatchObject({ scopes: ['meta'], former_scopes: ['meta', 'query'] });

    await request(site.url)
      .delete('/api/site/sessions')
      .set('Cookie', await people.cookie(user.name))
      .expect(200);
    const ended = await arrived('grant.ended');
    expect(ended.body.data).toMatchObject({ user_id: user.id, reason: 'account' });
    await waitFor(() => receiver.received.filter(({ body }) => body.type === 'grant.ended').length === 2);
  });

  it('report reviews, also that the application was disabled', async () => {
    await hook({ event_types: ['application.reviewed'] });
    await people.review(dev.app.clientId, { status: 'disabled' });
    expect((await arrived('application.reviewed')).body.data).toEqual({
      event_id: expect.any(Number) as number,
      client_id: dev.app.clientId,
      status: 'disabled',
      auth_level: 'verified',
      scopes: ['meta', 'query', 'unlock', 'write', 'vip'],
      proposal: null,
    });
    await people.review(dev.app.clientId, { status: 'approved' });
    await waitFor(() => receiver.received.length === 2);
  });

  it('report unlocks that gave something new, once each', async () => {
    await hook({ event_types: ['share.unlocked'] });
    const [user, owner] = [await people.user(), await people.user()];
    await givePoints(people.sql, user.id, 100);
    const shares = [
      ...(await createShares(people.sql, owner.id, { price: 10 })),
      ...(await createShares(people.sql, owner.id, { price: null })),
    ];
    const slugs = shares.map(({ slug }) => slug.replaceAll('-', ''));
    const { access_token: token } = await people.tokens(dev.app, user.id);
    for (const slug of [...slugs, slugs[0]]) {
      await request(site.url)
        .post('/api/open/resources/unlock')
        .set({ 'X-API-Key': dev.app.secret, Authorization: `Bearer ${token}` })
        .send({ slug })
        .expect(200);
    }
    await waitFor(() => receiver.received.length === 2);
    const sent = receiver.received.map(({ body }) => body.data);
    expect(new Set(sent.map(({ slug }) => slug))).toEqual(new Set(slugs));
    const price = ({ via, points, user_id: id }: AnyJson): unknown[] => [via, points, id];
    const prices = [
      ['free', 0, user.id],
      ['points', 10, user.id],
    ];
    expect(new Set(sent.map(price))).toEqual(new Set(prices));
    const [left] = await people.sql.query('SELECT count(*)::integer AS n FROM application_events');
    expect(left).toEqual({ n: 0 });
  });

  it('report a quota that is nearly used up, and one that is, once a day each', async () => {
    await hook({ event_types: ['quota.near'] });
    const { date } = site.app.get(ServiceDays).at();
    const warn = (): Promise<void> =>
      site.app.get(UnitOfWork).run((tx) => site.app.get(QuotaWarnings, { strict: false }).note(tx));
    const use = (calls: number): Promise<unknown> =>
      people.sql.query(
        `INSERT INTO quota_used (key, day, used) VALUES ($1, $2, $3) ON CONFLICT (key, day) DO UPDATE SET used = excluded.used`,
        [`a:a${dev.app.application.id}`, date, calls],
      );
    const [{ limit }] = await people.sql.query(
      `SELECT app_per_day AS "limit" FROM quota_profiles WHERE name = 'default'`,
    );
    await use(Math.floor(limit * 0.79));
    await warn();
    await use(Math.ceil(limit * 0.8));
    for (let times = 0; times < 2; times++) await warn();
    await hurry();
    const near = await arrived('quota.near');
    expect(near.body.data).toMatchObject({ quota: 'app-day', percent: 80, limit, used: Math.ceil(limit * 0.8) });
    expect(Date.parse(near.body.data.resets_at)).toBeGreaterThan(Date.now());
    await use(limit);
    for (let times = 0; times < 2; times++) await warn();
    await hurry();
    await waitFor(() => receiver.received.length === 2);
    expect(receiver.received[1]?.body.data.percent).toBe(100);
    await people.sql.query('DELETE FROM quota_used');
  });

  it('go only to their own application, and only to webhooks that want them', async () => {
    const other = await developer();
    await people.sql.query(`UPDATE site_accounts SET role = 'administrator' WHERE id = $1`, [other.id]);
    await using elsewhere = await WebhookReceiver.start();
    await data(send('post', '', { name: 'theirs', url: elsewhere.url }, other));
    await hook({ event_types: ['grant.ended'] });
    const user = await people.user();
    await people.tokens(dev.app, user.id);
    await people.tokens(other.app, user.id);
    await waitFor(() => elsewhere.received.length === 1);
    expect(elsewhere.received[0]?.body.data.client_id).toBe(other.app.clientId);
    const { rows } = await people.sql
      .query('SELECT count(*)::integer AS rows FROM webhook_deliveries')
      .then(([row]) => row);
    expect(rows).toBe(1);
    expect(receiver.received).toEqual([]);
  });

  it('are not written at all while no webhook wants them', async () => {
    await hook({ enabled: undefined, event_types: ['quota.near'] });
    await people.tokens(dev.app, (await people.user()).id);
    expect(await people.sql.query('SELECT * FROM application_events')).toEqual([]);
  });
});

describe('a delivery', () => {
  const happens = async (): Promise<void> => void (await people.tokens(dev.app, (await people.user()).id));

  it('is retried with the same message after growing waits, and each attempt is in the log', async () => {
    receiver.answers.push(500, 302);
    receiver.text = 'out of order\u0000 \u202e';
    const { id } = await hook({ event_types: ['grant.created'] });
    await happens();
    const first = await delivery(id, ({ response_status: status }) => status === 500);
    expect(first).toMatchObject({ status: 'pending', attempts: 1, error: 'the answer was 500' });
    expect(Date.parse(first.next_attempt_at)).toBeGreaterThan(Date.now() + 3_000);
    await hurry();
    const second = await delivery(id, ({ response_status: status }) => status === 302);
    expect(Date.parse(second.next_attempt_at)).toBeGreaterThan(Date.now() + 25_000);
    await hurry();
    await delivery(id, ({ status }) => status === 'delivered');
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook', '/hook', '/hook']);
    expect(new Set(receiver.received.map(({ text, headers }) => `${String(headers['webhook-id'])} ${text}`)).size).toBe(
      1,
    );
    const details = await data(send('get', `/${id}/deliveries/${first.id}`));
    expect(details.body).toBe(receiver.received[0]?.text);
    expect(details.log.map((row: AnyJson) => [row.response_status, row.response_excerpt, row.error])).toEqual([
      [204, null, null],
      [302, 'out of order\uFFFD \uFFFD', 'the answer was 302'],
      [500, 'out of order\uFFFD \uFFFD', 'the answer was 500'],
    ]);
    for (const { duration_ms: took } of details.log) expect(took).toBeGreaterThanOrEqual(0);
  });

  it('that was given up is sent again on demand, alone or with the others', async () => {
    receiver.answers.push(...Array.from({ length: 2 }, () => 500));
    const { id } = await hook({ event_types: ['grant.created'] });
    await happens();
    await happens();
    await waitFor(async () => {
      const all = await data(send('get', `/${id}/deliveries`));
      return all.length === 2 && all.every((row: AnyJson) => row.response_status === 500);
    });
    receiver.answers.push(500, 500);
    await people.sql.query('UPDATE webhook_deliveries SET attempts = $1', [MAX_ATTEMPTS - 1]);
    await hurry();
    const dead = await waitFor(async () => {
      const all = await data(send('get', `/${id}/deliveries?status=dead`));
      return all.length === 2 && all;
    });
    expect((await data(send('get', `/${id}`))).failing_since).not.toBeNull();

    const again = await data(send('post', `/${id}/deliveries/${dead[0].id}/replay`));
    expect(again).toMatchObject({ id: dead[0].id });
    await waitFor(() => receiver.received.length === 5);
    expect(receiver.received[4]?.headers['webhook-id']).toBe(`whd_${dead[0].id}`);
    await delivery(id, ({ status }) => status === 'delivered');
    expect((await data(send('get', `/${id}`))).failing_since).toBeNull();

    expect(await data(send('post', `/${id}/replay`))).toEqual({ replayed: 1 });
    await waitFor(() => receiver.received.length === 6);
    expect(receiver.received[5]?.headers['webhook-id']).toBe(`whd_${dead[1].id}`);
    await waitFor(async () => (await data(send('get', `/${id}/deliveries?status=delivered`))).length === 2);
    expect(await data(send('post', `/${id}/replay`))).toEqual({ replayed: 0 });
    // One that arrived, too.
    await data(send('post', `/${id}/deliveries/${dead[1].id}/replay`));
    await waitFor(() => receiver.received.length === 7);
  });

  it('that waits already is not sent twice', async () => {
    receiver.answers.push(500);
    const { id } = await hook({ event_types: ['grant.created'] });
    await happens();
    const waiting = await delivery(id, ({ response_status: status }) => status === 500);
    await send('post', `/${id}/deliveries/${waiting.id}/replay`).expect(409);
  });

  it('is the last after the receiver answered 410', async () => {
    receiver.answers.push(410);
    const { id } = await hook();
    await happens();
    await waitFor(async () => !(await data(send('get', `/${id}`))).enabled);
    await send('post', `/${id}/test`).expect(409);
    await send('post', `/${id}/replay`).expect(409);
    expect(await data(send('patch', `/${id}`, { enabled: true }))).toMatchObject({
      enabled: true,
      failing_since: null,
    });
    expect(await data(send('post', `/${id}/test`))).toMatchObject({ type: 'webhook.test', status: 'delivered' });
  });

  it('of a disabled developer is not sent', async () => {
    receiver.answers.push(500);
    const { id } = await hook({ event_types: ['grant.created'] });
    await happens();
    await delivery(id, ({ response_status: status }) => status === 500);
    await people.sql.query('UPDATE site_accounts SET disabled_at = now() WHERE id = $1', [dev.id]);
    await hurry();
    await waitFor(async () => {
      const [row] = await people.sql.query('SELECT status, error FROM webhook_deliveries');
      return row.status === 'dead' && row.error === 'the webhook is disabled';
    });
    await people.sql.query('UPDATE site_accounts SET disabled_at = NULL WHERE id = $1', [dev.id]);
    expect(receiver.received).toHaveLength(1);
  });

  it('is kept for a while: the newest 5,000, and those that arrived for a week', async () => {
    const { id } = await hook();
    await people.sql.query(
      `INSERT INTO webhook_deliveries (webhook_id, event_id, type, body, status, created_at, finished_at)
       SELECT $1, n, 'grant.created', '{}', CASE WHEN n <= 2 THEN 'dead' ELSE 'delivered' END, now(),
         now() - CASE WHEN n % 2 = 0 AND n < 10 THEN interval '8 days' ELSE interval '0' END
       FROM generate_series(1, 5100) AS n`,
      [id],
    );
    await new LimitRetention(site.app.get(UnitOfWork)).sweep();
    const [kept] = await people.sql.query(
      'SELECT count(*)::integer AS n, min(event_id)::integer AS oldest FROM webhook_deliveries WHERE webhook_id = $1',
      [id],
    );
    expect(kept).toEqual({ n: 5_000, oldest: 101 });
  });
});

describe('webhooks', () => {
  it('show their secret once, and keep it sealed', async () => {
    const { id, secret } = await hook();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const answers = [await send('get', `/${id}`), await send('get', '')];
    expect(answers.map(({ text }) => text).join()).not.toMatch(/secret|whsec/);
    const [row] = await people.sql.query('SELECT sealed_secret FROM webhooks');
    expect(Buffer.from(row.sealed_secret, 'base64').includes(secret.slice(6))).toBe(false);
    const { secret: newer } = await data(send('post', `/${id}/secret`));
    await data(send('post', `/${id}/test`));
    const [message] = receiver.received;
    if (!message) throw new Error('nothing came');
    expect([isSignedBy(secret, message), isSignedBy(newer, message)]).toEqual([false, true]);
    const [{ n }] = await people.sql.query(
      `SELECT count(*)::integer AS n FROM audit_events WHERE type LIKE 'app.webhook.%' AND details::text ~ 'whsec|http'`,
    );
    expect(n).toBe(0);
  });

  it('of developers who are not administrators cannot lead into the network of the service', async () => {
    const member = await developer();
    for (const url of [receiver.url, `https://127.0.0.1:${receiver.port}/`, 'https://[::1]/', 'https://localhost/']) {
      const answer = await send('post', '', { name: 'x', url }, member).expect(400);
      expect(answer.body).toMatchObject({ code: '400', details: [{ field: 'url' }] });
    }
    const { id } = await data(send('post', '', { name: 'x', url: 'https://hooks.example.org/' }, member));
    await send('patch', `/${id}`, { url: receiver.url }, member).expect(400);
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1']) {
      for (const scheme of ['http', 'https']) {
        // As if the address had been public when it was given.
        await people.sql.query('UPDATE webhooks SET url = $1 WHERE id = $2', [
          `${scheme}://${host}:${receiver.port}/`,
          id,
        ]);
        const result = await data(send('post', `/${id}/test`, {}, member));
        expect(result, host).toMatchObject({ status: 'dead', response_status: null });
      }
    }
    expect(receiver.connections).toBe(0);
  });

  it('are there for the owner of their application alone', async () => {
    const { id } = await hook();
    const { id: deliveryId } = await data(send('post', `/${id}/test`));
    const stranger = await developer();
    const calls: [Method, string, object?][] = [
      ['get', `/${id}`],
      ['patch', `/${id}`, { name: 'y' }],
      ['delete', `/${id}`],
      ['post', `/${id}/secret`],
      ['post', `/${id}/test`],
      ['post', `/${id}/replay`],
      ['get', `/${id}/deliveries`],
      ['get', `/${id}/deliveries/${deliveryId}`],
      ['post', `/${id}/deliveries/${deliveryId}/replay`],
    ];
    // In the address of the true application, and in that of their own.
    for (const [method, path, body] of [
      ...calls,
      ['get', ''],
      ['post', '', { name: 'x', url: 'https://a.example.org/' }],
    ] as typeof calls) {
      await send(method, path, body, stranger, dev.app.clientId).expect(404);
      await request(site.url)
        [method](`/api/site/applications/${dev.app.clientId}/webhooks${path}`)
        .send(body)
        .expect(401);
    }
    for (const [method, path, body] of calls) await send(method, path, body, stranger).expect(404);
    expect(await data(send('get', '', undefined, stranger))).toEqual([]);
    // A delivery of another webhook of the same application.
    const other = await hook();
    await send('get', `/${other.id}/deliveries/${deliveryId}`).expect(404);
    await send('post', `/${other.id}/deliveries/${deliveryId}/replay`).expect(404);
    expect(receiver.received).toHaveLength(1);
    expect(await data(send('get', `/${id}`))).toMatchObject({ name: 'mine' });
  });

  it('are ten at most, end with their application, and say what is wrong with a field', async () => {
    const member = await developer();
    const url = 'https://hooks.example.org/x';
    for (let n = 0; n < 10; n++) await data(send('post', '', { name: `n${n}`, url }, member));
    await send('post', '', { name: 'x', url }, member).expect(409);
    for (const [field, value] of [
      ['name', ''],
      ['name', 'a\u0007'],
      ['url', 'ftp://hooks.example.org/'],
      ['url', 'https://user:pass@hooks.example.org/'],
      ['url', 7],
      ['event_types', ['grant.unknown']],
      ['event_types', ['grant.ended', 'grant.ended']],
      ['event_types', null],
    ] as const) {
      const answer = await send('post', '', { name: 'x', url, [field]: value }, member).expect(400);
      expect((answer.body as AnyJson).details[0].field, `${field}`).toMatch(new RegExp(`^${field}`));
    }
    await request(site.url)
      .delete(`/api/site/applications/${member.app.clientId}`)
      .set('Cookie', member.cookie)
      .expect(200);
    expect(await people.sql.query('SELECT id FROM webhooks')).toEqual([]);
  });
});
