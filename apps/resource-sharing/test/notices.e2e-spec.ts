import { randomBytes } from 'node:crypto';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NOTICE_TYPES } from '../src/notices/notice-text.js';
import { Notices } from '../src/notices/notices.service.js';
import { UnlockDigest } from '../src/notices/unlock-digest.js';
import { PointGrants } from '../src/points/point-grants.js';
import { trail } from '../src/messages/en/trail.js';
import { createShares, givePoints, liftLimits, type TestShare } from './points-support.js';
import { createCaller, type ShareCaller } from './share-callers.js';
import type { SiteApp } from './site-app.js';
import { startOpenSite } from './support/open-site.js';
import { PageReader } from './support/page-reader.js';
import { PASSWORD, ThirdParty } from './support/third-party.js';

let site: SiteApp;
let sql: DataSource;
let people: ThirdParty;
let notices: Notices;

beforeAll(async () => {
  site = await startOpenSite({ SITE_REGISTRATIONS_PER_HOUR: '1000', TRUSTED_PROXIES: '127.0.0.1,::1' });
  sql = site.app.get(DataSource);
  await liftLimits(sql);
  people = new ThirdParty(site);
  notices = site.app.get(Notices);
});
afterAll(() => site.close());

interface Person {
  readonly id: number;
  readonly name: string;
  readonly reader: PageReader;
}

async function member(): Promise<Person> {
  const user = await people.user(`person-${randomBytes(5).toString('hex')}`);
  const reader = new PageReader(site.url);
  await reader.logIn(user.name, PASSWORD);
  return { ...user, reader };
}

const typesOf = async ({ id }: Pick<Person, 'id'>): Promise<string[]> =>
  (await notices.list(id)).notices.map(({ type }) => type);

const give = (person: Person, points: number, note?: string) =>
  site.app
    .get(PointGrants)
    .grant({ userId: person.id, points, ref: randomBytes(8).toString('hex'), actorId: 0, note: note ?? null });

async function signInFrom(name: string, address: string): Promise<void> {
  const call = request(site.url).post('/api/site/login').set('X-Forwarded-For', address);
  await call.send({ username: name, password: PASSWORD }).expect(200);
}

/** An API call with the session of a person. */
const as = async ({ name }: Person, method: 'get' | 'post', path: string, body?: object): Promise<request.Response> => {
  const call = request(site.url)
    [method](path)
    .set('Cookie', await people.cookie(name));
  return body === undefined ? call : call.send(body);
};

describe('which events become notices', () => {
  it('are exactly those that have a text', async () => {
    const known = Object.keys(trail.trail).map((name) => name.replaceAll('-', '.'));
    const stored = await sql.query<{ prosrc: string }[]>("SELECT prosrc FROM pg_proc WHERE proname = 'is_notice'");
    const named = [...(stored[0]?.prosrc ?? '').matchAll(/'([a-z]+(?:\.[a-z_]+)+)'/g)].map(([, type = '']) => type);
    expect(named.toSorted()).toEqual(NOTICE_TYPES.toSorted());
    expect(NOTICE_TYPES.map((type) => type.replaceAll('_', '.')).filter((type) => !known.includes(type))).toEqual([]);
  });

  it('leave out what a notice says already: a password change ends keys and authorizations', async () => {
    const person = await member();
    const app = await people.register((await member()).id);
    await people.tokens(app, person.id);
    await people.keys.create(person.id, { name: 'Laptop', scopes: ['meta'] });
    await person.reader.get('/account');
    await person.reader.submit('/account/password', {
      current_password: PASSWORD,
      new_password: 'another long password',
      revoke_keys: 'true',
    });
    expect(person.reader.location).toContain('done=password');
    expect(await typesOf(person)).toEqual(['user.password_changed', 'key.created', 'grant.created']);
  });

  it('leave out what members do themselves without giving anybody access', async () => {
    const person = await member();
    await person.reader.get('/account');
    await person.reader.submit('/account/profile', { nickname: 'Somebody', email: '' });
    expect(await typesOf(person)).toEqual([]);
    await person.reader.get('/account');
    await person.reader.submit('/account/profile', { nickname: 'Somebody', email: 'some@example.org' });
    await person.reader.get('/account');
    await person.reader.submit('/account/profile', { nickname: 'Other', email: 'some@example.org' });
    expect(await typesOf(person)).toEqual(['user.profile_changed']);
  });

  it('are a sign-in from a new address, but not the first one and not another address of one network', async () => {
    const { id, name } = await people.user();
    await signInFrom(name, '192.0.2.1');
    await signInFrom(name, '192.0.2.1');
    expect(await typesOf({ id })).toEqual([]);
    await signInFrom(name, '2001:db8:1:2::1');
    await signInFrom(name, '2001:db8:1:2:aaaa::9');
    await signInFrom(name, '192.0.2.1');
    const [notice, ...more] = (await notices.list(id)).notices;
    expect(notice).toMatchObject({ type: 'user.new_sign_in_address', ip: '2001:db8:1:2::1' });
    expect(more).toEqual([]);
  });

  it('do not outlive the account', async () => {
    const person = await member();
    await give(person, 5);
    await people.keys.create(person.id, { name: 'Laptop', scopes: ['meta'] });
    await person.reader.get('/account');
    await person.reader.submit('/account/delete', { password: PASSWORD });
    expect(person.reader.location).toContain('done=deleted');
    expect(await typesOf(person)).toEqual([]);
    const networks = await sql.query<object[]>('SELECT FROM sign_in_networks WHERE user_id = $1', [person.id]);
    expect(networks).toHaveLength(0);
  });
});

describe('what the owner of an application and a share learns', () => {
  it('has the names of what it is about and says what came of it', async () => {
    const developer = await member();
    const app = await people.register(developer.id, { name: 'Film shelf' }, { reviewed: false });
    await people.review(app.clientId, { status: 'approved', authLevel: 'verified' });
    await people.secrets.rotate(developer.id, app.clientId);
    await people.review(app.clientId, { status: 'disabled' });
    await developer.reader.get('/notices');
    const { text } = developer.reader;
    expect(text).toContain('Your application “Film shelf” was disabled.');
    expect(text).toContain('A secret was created for “Film shelf”.');
    expect(text).toContain('Your application “Film shelf” was approved.');
  });

  it('includes a share that someone else removed, and not one that the owner removed', async () => {
    const owner = await member();
    const [kept, removed] = await createShares(sql, owner.id, { price: 1, count: 2 });
    const administrator = await member();
    await sql.query("UPDATE site_accounts SET role = 'administrator' WHERE id = $1", [administrator.id]);
    const slugOf = (share: { slug: string } | undefined): string => share?.slug.replaceAll('-', '') ?? '';
    const session = await people.cookie(administrator.name);
    const path = `/api/site/admin/shares/${slugOf(removed)}`;
    await request(site.url).delete(path).set('Cookie', session).expect(200);
    await owner.reader.get('/shares');
    await owner.reader.submit(`/shares/${slugOf(kept)}/delete`);
    expect(await typesOf(owner)).toEqual(['share.deleted']);
  });
});

describe('a pause of unlocks', () => {
  it('is a notice that says until when', async () => {
    const person = await member();
    await sql.query(
      `WITH made AS (INSERT INTO risk_states (user_id) VALUES ($1) RETURNING *)
       SELECT (risk_incident(made, 'applications', 2, NULL, now())).tier FROM made`,
      [person.id],
    );
    await person.reader.get('/notices');
    expect(person.reader.text).toContain(
      'Unlocking is paused because of unusual activity of your account. It lasts until 2',
    );
  });
});

describe('unlocks of shares by others', () => {
  const tomorrow = (): Date => new Date(Date.now() + 86_400_000);
  const unlock = async (by: ShareCaller, ...shares: TestShare[]): Promise<void> => {
    for (const { slug } of shares) await by.post('/resources/unlock', { slug }).expect(200);
  };

  it('are one notice to the owner when the day is over', async () => {
    const owner = await member();
    const disabled = await member();
    const [first, second] = (await createShares(sql, owner.id, { price: 5, count: 2 })) as [TestShare, TestShare];
    const others = await createShares(sql, disabled.id, { price: 5 });
    for (const shares of [[first, second, ...others], [first]]) {
      const caller = await createCaller(site);
      await givePoints(sql, caller.id, 50);
      await unlock(caller, ...shares);
    }
    await sql.query('UPDATE site_accounts SET disabled_at = now() WHERE id = $1', [disabled.id]);
    const digest = site.app.get(UnlockDigest);
    await digest.run();
    expect(await typesOf(owner)).toEqual([]);
    await Promise.all([digest.run(tomorrow()), digest.run(tomorrow())]);
    await digest.run(tomorrow());
    expect([await typesOf(owner), await typesOf(disabled)]).toEqual([['share.unlock_digest'], []]);
    await owner.reader.get('/account');
    expect(owner.reader.text).toMatch(/2 of your shares were unlocked on \w+ \d+, 20\d\d\. You earned 15 points\./);
    const chinese = await request(site.url)
      .get('/api/site/notices')
      .set({ Cookie: await people.cookie(owner.name), 'Accept-Language': 'zh-CN' });
    const [{ text, path }] = (chinese.body as { data: [{ text: string; path: string }] }).data;
    expect(text).toMatch(/^20\d\d年\d+月\d+日，2 个分享被解锁，获得 15 积分。$/);
    expect(path).toBe('/shares');
  });
});

describe('a refresh token that is used twice', () => {
  it('is one notice, which names the application', async () => {
    const person = await member();
    const app = await people.register((await member()).id, { name: 'Twice' });
    const { refresh_token: first } = await people.tokens(app, person.id);
    const second = await people.refresh(app, first);
    const { refresh_token: next } = (second.body as { data: { refresh_token: string } }).data;
    await people.refresh(app, next).expect(200);
    await people.refresh(app, first).expect(401);
    await person.reader.get('/notices');
    expect(person.reader.text).toContain('A refresh token of “Twice” was used twice.');
    expect(await typesOf(person)).toEqual(['refresh.reused', 'grant.created']);
  });
});

describe('the notices page, without JavaScript', () => {
  it('counts what is unread on every page, and marks one or all as read', async () => {
    const person = await member();
    await give(person, 1, 'first');
    await give(person, 2, 'second');
    const { reader } = person;
    await reader.get('/points');
    expect(reader.page).toContain('2 unread');
    await reader.get('/account');
    expect(reader.text).toContain('An administrator gave you 2 points. Note: second');
    await reader.get('/notices');
    const [newest] = (await notices.list(person.id)).notices;
    await reader.submit(`/notices/${newest?.id}/read`);
    expect(reader.last?.status).toBe(303);
    await reader.follow();
    expect(reader.page).toContain('1 unread');
    await reader.get('/notices?unread=true');
    expect(reader.text).toContain('first');
    expect(reader.text).not.toContain('second');
    await reader.submit('/notices/read');
    await reader.follow();
    expect(reader.text).toContain('All notices are marked as read.');
    expect(reader.page).not.toContain('unread</span>');
    expect(reader.text).toContain('second');
  });

  it('leaves unread what came after the page was shown', async () => {
    const person = await member();
    await give(person, 1, 'seen');
    await person.reader.get('/notices');
    await give(person, 2, 'later');
    await person.reader.submit('/notices/read');
    expect(await notices.unread(person.id)).toBe(1);
  });

  it('shows older ones on further pages', async () => {
    const person = await member();
    for (let n = 1; n <= 32; n += 1) await give(person, 1, `number ${n}.`);
    await person.reader.get('/notices');
    expect(person.reader.text).toContain('number 3.');
    expect(person.reader.text).not.toContain('number 2.');
    const [, older = ''] = /href="([^"]*)" rel="next"/.exec(person.reader.page) ?? [];
    await person.reader.get(older);
    expect(person.reader.text).toContain('number 1.');
    expect(person.reader.page).not.toContain('rel="next"');
  });

  it('is in the reader’s language', async () => {
    const person = await member();
    await give(person, 3);
    await sql.query("UPDATE site_accounts SET language = 'zh-CN' WHERE id = $1", [person.id]);
    await person.reader.get('/notices');
    expect(person.reader.text).toContain('管理员发放了 3 积分。');
    expect(person.reader.page).toContain('1 条未读');
  });

  it('shows names of others as text', async () => {
    const person = await member();
    const app = await people.register((await member()).id, { name: '<b>Bold</b>' });
    await people.tokens(app, person.id);
    await person.reader.get('/notices');
    expect(person.reader.page).not.toContain('<b>Bold</b>');
    expect(person.reader.text).toContain('<b>Bold</b>');
  });
});

describe('notices in the API', () => {
  it('are listed with their text in the language that is asked for', async () => {
    const person = await member();
    await give(person, 3);
    const english = await as(person, 'get', '/api/site/notices');
    expect(english.body).toMatchObject({
      success: true,
      data: [{ type: 'points.granted', text: 'An administrator gave you 3 points.', path: '/points', read: false }],
    });
    const cookie = await people.cookie(person.name);
    const chinese = await request(site.url)
      .get('/api/site/notices')
      .set({ Cookie: cookie, 'Accept-Language': 'zh-CN' });
    expect(chinese.body).toMatchObject({ data: [{ text: '管理员发放了 3 积分。' }] });
    expect((await as(person, 'get', '/api/site/notices/unread')).body).toMatchObject({ data: { unread: 1 } });
    expect((await as(person, 'post', '/api/site/notices/read', {})).status).toBe(200);
    expect((await as(person, 'get', '/api/site/notices?unread=true')).body).toMatchObject({ data: [] });
  });

  it('are the owner’s alone: another member neither sees them nor marks them as read', async () => {
    const person = await member();
    const other = await member();
    await give(person, 3, 'between us');
    const [notice] = (await notices.list(person.id)).notices;
    const id = String(notice?.id);
    expect((await as(other, 'get', '/api/site/notices')).body).toMatchObject({ data: [] });
    expect((await as(other, 'post', `/api/site/notices/${id}/read`, {})).status).toBe(404);
    await as(other, 'post', '/api/site/notices/read', {});
    await other.reader.get('/notices');
    expect(other.reader.text).not.toContain('between us');
    const token = /name="_token" value="([^"]*)"/.exec(other.reader.page)?.[1] ?? '';
    await other.reader.post(`/notices/${id}/read`, { _token: token });
    expect(other.reader.last?.status).toBe(404);
    expect(await notices.unread(person.id)).toBe(1);
    await request(site.url).get('/api/site/notices').expect(401);
  });
});

it('has no secret in any text', async () => {
  const person = await member();
  const app = await people.register(person.id);
  const { access_token: access, refresh_token: refresh } = await people.tokens(app, person.id);
  const key = await people.keys.create(person.id, { name: 'Laptop', scopes: ['meta'] });
  await person.reader.get('/notices');
  const listed = await as(person, 'get', '/api/site/notices');
  for (const secret of [app.secret, access, refresh, key.secret, PASSWORD]) {
    expect(person.reader.page).not.toContain(secret);
    expect(listed.text).not.toContain(secret);
  }
});
