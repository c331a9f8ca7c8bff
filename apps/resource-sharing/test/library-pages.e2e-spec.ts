import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PointsLedger } from '../src/points/points-ledger.js';
import { auditBooks, createShares, givePoints, liftLimits, setPremium, SOUND } from './points-support.js';
import type { SiteApp } from './site-app.js';
import { startOpenSite } from './support/open-site.js';
import { PageReader } from './support/page-reader.js';
import { PASSWORD, ThirdParty } from './support/third-party.js';

let site: SiteApp;
let sql: DataSource;
let people: ThirdParty;

beforeAll(async () => {
  site = await startOpenSite({ SITE_REGISTRATIONS_PER_HOUR: '1000', WEEKLY_FREE_LIMIT: '2' });
  sql = site.app.get(DataSource);
  await liftLimits(sql);
  people = new ThirdParty(site);
});
afterAll(async () => {
  expect(await auditBooks(sql)).toMatchObject(SOUND);
  await site.close();
});

interface Person {
  readonly id: number;
  readonly reader: PageReader;
}

async function member(points = 0): Promise<Person> {
  const user = await people.user(`person-${randomBytes(5).toString('hex')}`);
  if (points > 0) await givePoints(sql, user.id, points);
  const reader = new PageReader(site.url);
  await reader.logIn(user.name, PASSWORD);
  return { id: user.id, reader };
}

const balance = ({ id }: Person): Promise<number> => site.app.get(PointsLedger).balance(id);

/** A share of a new title, as pages name it. */
async function newShare(
  owner: Person,
  { price = 10, name = 'The Third Gate' }: { price?: number | null; name?: string } = {},
): Promise<{ slug: string; path: string; number: string; secret: string }> {
  const [made] = await createShares(sql, owner.id, { price });
  const number = String(1_000_000 + Number(made!.id));
  const [title] = await sql.query<{ id: number }[]>(
    "INSERT INTO titles (media_type, tmdb_id, title) VALUES ('movie', $1, $2) RETURNING id",
    [number, name],
  );
  const [share] = await sql.query<{ url: string }[][]>(
    'UPDATE shares SET movie_id = $2, title = $3 WHERE id = $1 RETURNING url',
    [made!.id, title!.id, `${name} in 4K`],
  );
  const slug = made!.slug.replaceAll('-', '');
  return { slug, path: `/shares/${slug}`, number, secret: share![0]!.url };
}

let sharer: Person;
beforeEach(async () => {
  sharer = await member();
});

describe('a member’s way from a search to a link', () => {
  it('leads over the title and the share, pays once, and finds the link again', async () => {
    const name = `Harbour ${randomBytes(4).toString('hex')}`;
    const share = await newShare(sharer, { name });
    const person = await member(25);
    const { reader } = person;
    await reader.get(`/titles?search=${encodeURIComponent(name.toUpperCase())}`);
    expect(reader.page).toContain(`<a href="/titles/movie/${share.number}">${name}</a>`);
    await reader.get(`/titles/movie/${share.number}`);
    expect(reader.page).toContain(`<a href="${share.path}">${name} in 4K</a>`);
    expect(reader.page).not.toContain(share.secret);
    await reader.get(share.path);
    expect(reader.text).toContain('Unlocking costs 10 points. You have 25, 15 will be left.');
    expect(reader.page).not.toContain(share.secret);
    await reader.submit(`${share.path}/unlock`);
    expect([reader.last?.status, reader.location]).toEqual([303, `${share.path}?done=unlocked`]);
    await reader.follow();
    expect(reader.text).toContain('The share is unlocked.');
    expect(reader.page).toContain(`<code>${share.secret}`);
    expect(reader.text).toContain('Access code: a1b2');
    expect([await balance(person), await balance(sharer)]).toEqual([15, 10]);

    await reader.get(`/unlocked?search=${encodeURIComponent(name.slice(0, 10))}`);
    expect(reader.page).toContain(share.secret);
    await reader.get('/');
    expect(reader.page).toContain(share.secret);
    await reader.get('/points');
    expect(reader.text).toContain(`You unlocked ${name} in 4K -10 15`);
    await sharer.reader.get('/points');
    expect(sharer.reader.text).toContain(`A member unlocked your share ${name} in 4K +10 10`);
  });

  it('charges one of two simultaneous clicks, and none afterwards', async () => {
    const share = await newShare(sharer);
    const person = await member(25);
    await person.reader.get(share.path);
    const [, token = ''] = /name="_token" value="([^"]+)"/.exec(person.reader.page) ?? [];
    const click = (): Promise<unknown> => person.reader.post(`${share.path}/unlock`, { _token: token });
    await Promise.all([click(), click()]);
    await click();
    expect(person.reader.last?.status).toBe(303);
    expect(await balance(person)).toBe(15);
  });

  it('shows a link to nobody else, deleted shares to no new users, and answers 404 for missing pages', async () => {
    const share = await newShare(sharer);
    const [owner, stranger] = [await member(25), await member(25)];
    await owner.reader.get(share.path);
    await owner.reader.submit(`${share.path}/unlock`);
    await stranger.reader.get(share.path);
    await stranger.reader.get('/unlocked');
    expect(stranger.reader.page).not.toContain(share.secret);
    await sharer.reader.get('/shares');
    await sharer.reader.submit(`${share.path}/delete`);
    expect((await stranger.reader.get(share.path)).status).toBe(404);
    expect((await owner.reader.get(share.path)).text).toContain(share.secret);
    for (const path of ['/shares/nothing', `/shares/${'0'.repeat(32)}`, '/titles/book/1', '/titles/movie/x'])
      expect((await stranger.reader.get(path)).status, path).toBe(404);
    const { status, text } = await new PageReader(site.url).get(share.path);
    expect([status, text]).toEqual([303, expect.not.stringContaining(share.secret)]);
  });

  it('needs the form token', async () => {
    const share = await newShare(sharer);
    const person = await member(25);
    expect((await person.reader.post(`${share.path}/unlock`, {})).status).toBe(403);
    expect((await person.reader.post('/points/check-in', {})).status).toBe(403);
    expect(await balance(person)).toBe(25);
  });

  it('reports missing points in the language of the reader', async () => {
    const share = await newShare(sharer, { price: 30 });
    const person = await member(25);
    await person.reader.get(share.path);
    expect(person.reader.text).toContain('Unlocking costs 30 points, you have 25.');
    await person.reader.submit('/preferences', { language: 'zh-CN', theme: 'system' });
    await person.reader.get(share.path);
    const [, token = ''] = /name="_token" value="([^"]+)"/.exec(person.reader.page) ?? [];
    const refused = await person.reader.post(`${share.path}/unlock`, { _token: token });
    expect(refused.status).toBe(402);
    expect(person.reader.text).toContain('积分不足。');
    expect(await balance(person)).toBe(25);
  });

  it('costs nothing for a free share, and nothing with lifetime Premium', async () => {
    const free = await newShare(sharer, { price: null });
    const dear = await newShare(sharer, { price: 500 });
    const person = await member();
    await person.reader.get(free.path);
    expect(person.reader.text).toContain('This share is free.');
    await person.reader.submit(`${free.path}/unlock`);
    await setPremium(sql, person.id, '30 years');
    await person.reader.get(dear.path);
    expect(person.reader.text).toContain('Your Premium covers this share.');
    await person.reader.submit(`${dear.path}/unlock`);
    await person.reader.get('/unlocked');
    for (const { secret } of [free, dear]) expect(person.reader.page).toContain(secret);
    await person.reader.get('/points');
    expect(person.reader.text).toContain('Free unlocks this week 1');
  });
});

describe('searching', () => {
  it('finds titles by TMDB id and by the name of a share, and treats % and _ literally', async () => {
    const mark = randomBytes(4).toString('hex');
    const share = await newShare(sharer, { name: `100%_${mark}` });
    const other = await newShare(sharer, { name: `100 x ${mark}` });
    const { reader } = await member();
    const found = async (search: string): Promise<boolean[]> => {
      await reader.get(`/titles?search=${encodeURIComponent(search)}`);
      return [share, other].map(({ number }) => reader.page.includes(`/titles/movie/${number}"`));
    };
    expect(await found(share.number)).toEqual([true, false]);
    expect(await found(`${mark} in 4k`)).toEqual([true, true]);
    expect(await found('100%_')).toEqual([true, false]);
    expect(await found(`<script>${mark}`)).toEqual([false, false]);
    expect(reader.text).toContain(`No title matches “<script>${mark}”.`);
  });

  it('pages through several pages of titles', async () => {
    const mark = randomBytes(4).toString('hex');
    for (let n = 0; n < 31; n++) await newShare(sharer, { name: `Part ${mark} ${n}` });
    const { reader } = await member();
    await reader.get(`/titles?search=${mark}`);
    expect(reader.page).toContain(`href="/titles?search=${mark}&amp;page=2" rel="next"`);
    await reader.get(`/titles?search=${mark}&page=2`);
    expect(reader.page.match(/<td class="grow"/g)).toHaveLength(1);
  });
});

describe('the points of a member', () => {
  it('grow by one check-in a day', async () => {
    const { reader, id } = await member();
    await reader.get('/points');
    expect(reader.text).toContain('Check-ins in a row 0 days');
    await reader.submit('/points/check-in', {}, { containing: '>Check in<' });
    await reader.follow();
    const points = await balance({ id, reader });
    expect(points).toBeGreaterThanOrEqual(4);
    expect(reader.text).toContain(`You checked in today: ${points} points more.`);
    expect(reader.text).toContain('Check-ins in a row 1 day');
    const [, token = ''] = /name="_token" value="([^"]+)"/.exec(reader.page) ?? [];
    await reader.post('/points/check-in', { _token: token, is_gambler: 'true' });
    expect(await balance({ id, reader })).toBe(points);
  });

  it('are listed fifty to a page', async () => {
    const person = await member();
    for (let n = 0; n < 51; n++) await givePoints(sql, person.id, 1);
    await person.reader.get('/points');
    const [, older = ''] = /href="(\/points\?before=\d+)" rel="next"/.exec(person.reader.page) ?? [];
    await person.reader.get(older);
    expect(person.reader.text).toContain('From an administrator +1 1');
    expect(person.reader.page).not.toContain('rel="next"');
    expect((await person.reader.get('/points?before=x')).status).toBe(200);
  });
});
