import { randomUUID } from 'node:crypto';
import { pgPool } from '@gatehouse/persistence';
import { waitFor } from '@gatehouse/testing';
import { Ajv2020 } from 'ajv/dist/2020.js';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PointGrants } from '../src/points/point-grants.js';
import { PointsLedger } from '../src/points/points-ledger.js';
import { createApplication, createCaller, newShare, type ShareCaller } from './share-callers.js';
import { startSite, type SiteApp } from './site-app.js';

let site: SiteApp;
let owner: ShareCaller;
let other: ShareCaller;

beforeAll(async () => {
  site = await startSite({ API_RATE_LIMIT: '1000000' });
  owner = await createCaller(site);
  other = await createCaller(site);
});
afterAll(() => site.close());

const sql = async <Row>(text: string, values: unknown[] = []): Promise<Row[]> =>
  (await site.app.get(DataSource).query(text, values)) as Row[];

async function share(caller: ShareCaller, changes: object = {}): Promise<Record<string, unknown> & { slug: string }> {
  const answer = await caller.post('/shares', newShare(changes));
  expect(answer.status, answer.text).toBe(200);
  return (answer.body as { data: Record<string, unknown> & { slug: string } }).data;
}

const hyphenated = (slug: string): string =>
  slug.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5').toUpperCase();

const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

describe('creating a share', () => {
  it('answers 200 with the list item, without link or code', async () => {
    const body = newShare({
      title: 'A film',
      share_size: '58.3 GB',
      video_resolution: ['4K', '1080P'],
      source: ['WEB-DL/WEBRip'],
      subtitle_language: ['简中', '简英双语'],
      subtitle_type: ['内封'],
      remark: 'two\nlines',
      unlock_points: 10,
      access_code: 'a1b2',
    });
    const answer = await owner.post('/shares', body);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      success: true,
      code: '200',
      message: '分享成功',
      data: {
        slug: expect.stringMatching(/^[0-9a-f]{32}$/),
        title: 'A film',
        pan_type: '115',
        share_size: '58.3 GB',
        video_resolution: ['4K', '1080P'],
        source: ['WEB-DL/WEBRip'],
        subtitle_language: ['简中', '简英双语'],
        subtitle_type: ['内封'],
        remark: 'two\nlines',
        unlock_points: 10,
        is_unlocked: true,
        unlocked_users_count: 0,
        validate_status: null,
        validate_message: null,
        last_validated_at: null,
        is_official: false,
        user: { id: owner.id, nickname: expect.stringContaining('Nick'), avatar_url: null },
        created_at: expect.stringMatching(TIME),
        media: { id: expect.any(Number) as number, type: 'movie', tmdb_id: '603', title: null },
      },
    });
    const [row] = await sql<{ hide_link: boolean; is_anonymous: boolean }>(
      "SELECT hide_link, is_anonymous FROM shares WHERE title = 'A film'",
    );
    expect(row).toEqual({ hide_link: true, is_anonymous: false });
  });

  it('accepts and ignores fields that later clients send', async () => {
    const made = await share(owner, { is_official: true, owner_id: other.id, season: 2, constructor: 'x' });
    expect(made).toMatchObject({ is_official: false, user: { id: owner.id } });
    const checked = await owner.post('/check/resource', { url: 'https://115.com/s/swlater', season: 2 });
    expect([checked.status, (checked.body as { data: object }).data]).toEqual([
      200,
      expect.objectContaining({ share_id: 'swlater' }),
    ]);
  });

  it.each([[undefined], [0], [null]])('is free with unlock_points %j', async (unlock_points) => {
    expect((await share(owner, { unlock_points })).unlock_points).toBeNull();
  });

  it('uses one title for one tmdb_id and type, no matter who names it first', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => owner.post('/shares', newShare({ tmdb_id: '777001', media_type: 'tv' }))),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(await sql("SELECT title FROM titles WHERE tmdb_id = '777001'")).toEqual([{ title: null }]);
    expect((await other.get('/resources/tv/777001')).body).toMatchObject({ meta: { total: 8 } });
    expect((await other.get('/resources/movie/777001')).body).toMatchObject({ data: [], meta: { total: 0 } });
  });

  it('takes the ids of titles that exist', async () => {
    const ids = await sql<{ id: number }>(
      `INSERT INTO titles (media_type, tmdb_id, title)
       VALUES ('movie', '880', 'M'), ('tv', '880', 'T'), ('collection', '880', 'C') RETURNING id`,
    );
    const [movie, tv, collection] = ids.map(({ id }) => id);
    const without = { tmdb_id: undefined, media_type: undefined };
    expect((await share(owner, { ...without, movie_id: movie }))['media']).toEqual({
      id: movie,
      type: 'movie',
      tmdb_id: '880',
      title: 'M',
    });
    expect((await share(owner, { ...without, tv_id: tv }))['media']).toMatchObject({ type: 'tv', title: 'T' });
    expect((await share(owner, { ...without, collection_id: collection }))['media']).toMatchObject({
      type: 'collection',
    });
    await share(owner, { tmdb_id: '880', movie_id: movie, collection_id: collection });
    for (const [field, wrong] of [
      ['movie_id', tv],
      ['tv_id', movie],
      ['collection_id', 999_999_999],
      ['movie_id', 999_999_999],
    ] as const) {
      const answer = await owner.post('/shares', newShare({ ...without, [field]: wrong }));
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: '400', details: [{ field }] });
    }
    const conflict = await owner.post('/shares', newShare({ tmdb_id: '881', movie_id: movie }));
    expect(conflict.body).toMatchObject({ code: '400', details: [{ field: 'movie_id' }] });
  });

  it.each([
    ['no title', { tmdb_id: undefined, media_type: undefined }, ''],
    ['half a pair', { media_type: undefined }, 'media_type'],
    ['the other half', { tmdb_id: undefined }, 'tmdb_id'],
    ['a type that is none', { media_type: 'collection' }, 'media_type'],
    ['an id that is none', { tmdb_id: 'tt0133093' }, 'tmdb_id'],
    ['no link', { url: 'hello' }, 'url'],
    ['a script', { url: 'javascript:alert(1)' }, 'url'],
    ['a link that is too long', { url: `https://a.example/${'x'.repeat(2048)}` }, 'url'],
    ['a bad code', { access_code: 'a b' }, 'access_code'],
    ['a negative price', { unlock_points: -1 }, 'unlock_points'],
    ['a broken price', { unlock_points: 1.5 }, 'unlock_points'],
    ['a price above the bound', { unlock_points: 1001 }, 'unlock_points'],
    ['a text for a price', { unlock_points: '5' }, 'unlock_points'],
    ['a control character', { title: 'a\u0000b' }, 'title'],
    ['another one', { remark: 'a\u0000b' }, 'remark'],
    ['a resolution twice', { video_resolution: ['4K', '4K'] }, 'video_resolution'],
    ['no boolean', { hide_link: 'yes' }, 'hide_link'],
  ])('refuses %s', async (_, changes, field) => {
    const answer = await owner.post('/shares', newShare(changes));
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ success: false, code: '400', data: null });
    const { details = [] } = answer.body as { details?: { field: string }[] };
    expect(new Set(details.map((detail) => detail.field))).toEqual(new Set(field === '' ? [] : [field]));
  });

  it.each([
    ['video_resolution', '540P'],
    ['source', 'CAM'],
    ['subtitle_language', '火星文'],
    ['subtitle_type', '外置'],
  ])('names the word of %s that is not known', async (field, word) => {
    const answer = await owner.post('/shares', newShare({ [field]: [word] }));
    expect(answer.status).toBe(400);
    expect((answer.body as { message: string }).message).toContain(word);
  });

  it('refuses a link that is shared, however it is written, until it is taken back', async () => {
    const first = await share(owner, { url: 'https://115.com/s/swtwice?password=a1b2' });
    for (const url of ['https://115cdn.com/s/swtwice', '链接：https://anxia.com/s/swtwice#', 'swtwice-a1b2']) {
      const answer = await other.post('/shares', newShare({ url }));
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({ success: false, code: 'SHARE_LINK_EXISTS' });
    }
    expect((await owner.delete(`/shares/${first.slug}`)).status).toBe(200);
    await share(other, { url: 'https://115cdn.com/s/swtwice' });
  });

  it('stays shut when its owner is enabled while another account shares the link', async () => {
    const url = 'https://pan.quark.cn/s/ddddeeeeffff';
    const former = await createCaller(site);
    const shut = await share(former, { url });
    const setDisabled = (at: string): Promise<unknown[]> =>
      sql(`UPDATE site_accounts SET disabled_at = ${at} WHERE id = $1`, [former.id]);
    await setDisabled('now()');
    const runner = site.app.get(DataSource).createQueryRunner();
    try {
      await runner.startTransaction();
      const changed = { id: -1, slug: randomUUID(), owner_id: other.id, deleted_at: null, shut_with_owner: false };
      await runner.query(
        `INSERT INTO shares SELECT (jsonb_populate_record(s, $2::jsonb)).* FROM shares s WHERE slug = $1`,
        [shut.slug, JSON.stringify(changed)],
      );
      const enabled = setDisabled('NULL');
      await waitFor(async () => {
        const [row] = await sql<{ waiting: number }>(
          `SELECT count(*)::int AS waiting FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'UPDATE site_accounts%'`,
        );
        return row?.waiting === 1;
      });
      await runner.commitTransaction();
      await enabled;
    } finally {
      if (runner.isTransactionActive) await runner.rollbackTransaction();
      await runner.release();
    }
    expect(await sql('SELECT disabled_at FROM site_accounts WHERE id = $1', [former.id])).toEqual([
      { disabled_at: null },
    ]);
    const open =
      'SELECT owner_id FROM shares WHERE deleted_at IS NULL AND link_key = (SELECT link_key FROM shares WHERE slug = $1)';
    expect(await sql(open, [shut.slug])).toEqual([{ owner_id: other.id }]);
  });

  it('lets one of many win a link', async () => {
    const url = 'https://pan.quark.cn/s/aaaabbbbcccc';
    const answers = await Promise.all(Array.from({ length: 20 }, () => owner.post('/shares', newShare({ url }))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
  });
});

describe('resources of a title', () => {
  it('shows who shares, unless they stay anonymous, and what the caller has', async () => {
    const open = await share(owner, { tmdb_id: '5001', unlock_points: 5 });
    const hidden = await share(owner, { tmdb_id: '5001', is_anonymous: true });
    const [row] = await sql<{ id: number }>('SELECT id FROM shares WHERE slug = $1', [open.slug]);
    await unlockFor(other, row?.id ?? 0);
    const answer = await other.get('/resources/movie/5001');
    expect(answer.body).toMatchObject({
      message: 'success',
      meta: { total: 2 },
      data: [
        { slug: hidden.slug, user: null, is_unlocked: false, unlock_points: null },
        { slug: open.slug, user: { id: owner.id }, is_unlocked: true, unlock_points: 5 },
      ],
    });
    expect(answer.text).not.toContain('115.com');
    expect(answer.text).not.toMatch(/\ba1b2\b/);
  });

  it.each(['999999999', '0', 'nothing', '%00', '9'.repeat(40)])('are none for %s', async (tmdbId) => {
    const answer = await owner.get(`/resources/tv/${tmdbId}`);
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, code: '200', message: 'success', data: [], meta: { total: 0 } },
    ]);
  });

  it('come in pages for those who ask, with their true number', async () => {
    const title = { tmdb_id: '5003' };
    await share(owner, title);
    await sql(
      `INSERT INTO shares (owner_id, movie_id, kind, link_key, url, access_code)
       SELECT owner_id, movie_id, kind, '115:' || key, 'https://115.com/s/' || key, ''
       FROM (SELECT * FROM shares WHERE movie_id = (SELECT id FROM titles WHERE tmdb_id = '5003') LIMIT 1) s,
         (SELECT replace(gen_random_uuid()::text, '-', '') AS key FROM generate_series(1, 519)) keys`,
    );
    const listed = async (query = ''): Promise<{ slugs: string[]; meta: object }> => {
      const { body } = await other.get(`/resources/movie/5003${query}`);
      const { data, meta } = body as { data: { slug: string }[]; meta: object };
      return { slugs: data.map(({ slug }) => slug), meta };
    };
    const known = await listed();
    expect([known.slugs.length, known.meta]).toEqual([500, { total: 520 }]);
    const second = await listed('?page=2&page_size=300');
    expect([second.slugs.length, second.meta]).toEqual([220, { total: 520, page: 2, page_size: 300 }]);
    const first = await listed('?page_size=300');
    expect(new Set([...first.slugs, ...second.slugs]).size).toBe(520);
    expect((await listed('?page=3')).meta).toEqual({ total: 520, page: 3, page_size: 100 });
    expect((await listed('?page_size=9999')).meta).toEqual({ total: 520, page: 1, page_size: 500 });
    expect((await other.get('/resources/movie/5003?page=0')).status).toBe(400);
  });

  it('are of films and series only', async () => {
    const answer = await owner.get('/resources/book/603');
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([400, '400']);
  });

  it('are one statement, however many there are', async () => {
    for (let count = 0; count < 3; count++) await share(owner, { tmdb_id: '5002' });
    const pool = pgPool(site.app.get(DataSource));
    const asked = vi.spyOn(pool, 'query');
    // What the service asks by the clock is of no matter here.
    const statements = (): string[] =>
      asked.mock.calls
        .map(([query]) => (query as { name?: string }).name ?? 'unnamed')
        .filter((name) => name.startsWith('share') || name === 'unnamed');
    await other.get('/resources/movie/5002');
    expect(statements()).toEqual(['shares_of_movie']);
    asked.mockClear();
    expect((await other.get('/shares?include=link')).status).toBe(200);
    expect(statements()).toEqual(['shares_of_owner', 'share_count']);
  });

  it.each([
    ['shares_movie_id_idx', 'movie_id = 1'],
    ['shares_tv_id_idx', 'tv_id = 1'],
    ['shares_collection_id_idx', 'collection_id = 1'],
    ['shares_owner_idx', 'owner_id = 1'],
  ])('have the index %s', async (index, condition) => {
    const plan = await site.app.get(DataSource).transaction(async (tx) => {
      await tx.query('SET LOCAL enable_seqscan = off');
      await tx.query('SET LOCAL enable_sort = off');
      return (await tx.query(
        `EXPLAIN SELECT id FROM shares WHERE ${condition} AND deleted_at IS NULL ORDER BY id DESC LIMIT 20`,
      )) as Record<string, string>[];
    });
    expect(JSON.stringify(plan)).toContain(index);
    expect(JSON.stringify(plan)).not.toContain('Sort');
  });
});

async function unlockFor(caller: ShareCaller, shareId: number): Promise<void> {
  await sql("INSERT INTO unlocks (user_id, share_id, via, points) VALUES ($1, $2, 'free', 0)", [caller.id, shareId]);
}

describe('the detail of a share', () => {
  it('never has the link or the code, and takes slugs with hyphens', async () => {
    const { slug } = await share(owner, { unlock_points: 10, title: 'Detail' });
    for (const path of [slug, hyphenated(slug)]) {
      const answer = await other.get(`/shares/${path}`);
      expect(answer.body).toMatchObject({
        data: {
          slug,
          title: 'Detail',
          unlock_points: 10,
          actual_unlock_points: 10,
          is_unlocked: false,
          is_free_for_user: false,
          unlock_message: '需要 10 积分解锁',
          media: { id: expect.any(Number) as number, type: 'movie', tmdb_id: '603', title: null },
          user: { id: owner.id },
          created_at: expect.stringMatching(TIME) as string,
        },
      });
      expect(answer.text).not.toMatch(/115\.com|\ba1b2\b|"url"|access_code/);
    }
  });

  it('says what it costs whom', async () => {
    const paid = await share(owner, { unlock_points: 7 });
    const free = await share(owner);
    const view = async (caller: ShareCaller, slug: string): Promise<unknown> => {
      const { data } = (await caller.get(`/shares/${slug}`)).body as { data: Record<string, unknown> };
      return [data['actual_unlock_points'], data['is_free_for_user'], data['is_unlocked'], data['unlock_message']];
    };
    expect(await view(owner, paid.slug)).toEqual([0, true, true, '自己的分享']);
    expect(await view(other, free.slug)).toEqual([0, true, false, '免费资源']);
    expect(await view(owner, free.slug)).toEqual([0, true, true, '免费资源']);
    expect(await view(other, paid.slug)).toEqual([7, false, false, '需要 7 积分解锁']);
    const [row] = await sql<{ id: number }>('SELECT id FROM shares WHERE slug = $1', [paid.slug]);
    await unlockFor(other, row?.id ?? 0);
    expect(await view(other, paid.slug)).toEqual([0, true, true, '已解锁']);
  });

  it('is free for long-term Premium as far as the week goes', async () => {
    const premium = await createCaller(site);
    const soon = await createCaller(site);
    await sql("UPDATE site_accounts SET premium_until = now() + interval '99 years' WHERE id = $1", [premium.id]);
    await sql("UPDATE site_accounts SET premium_until = now() + interval '1 year' WHERE id = $1", [soon.id]);
    const { slug } = await share(owner, { unlock_points: 7 });
    const price = async (caller: ShareCaller): Promise<unknown> => {
      const { data } = (await caller.get(`/shares/${slug}`)).body as { data: Record<string, unknown> };
      return [data['unlock_points'], data['actual_unlock_points'], data['is_free_for_user'], data['unlock_message']];
    };
    expect(await price(premium)).toEqual([7, 0, true, '需要 0 积分解锁']);
    expect(await price(soon)).toEqual([7, 7, false, '需要 7 积分解锁']);
    await sql('UPDATE weekly_free SET used = 1000000 WHERE user_id = $1', [premium.id]);
    expect(await price(premium)).toEqual([7, 7, false, '需要 7 积分解锁']);
    await sql('UPDATE shares SET is_official = true WHERE slug = $1', [slug]);
    expect(await price(premium)).toEqual([7, 0, true, '需要 0 积分解锁']);
    expect((await premium.get(`/shares/${slug}`)).body).toMatchObject({ data: { is_official: true } });
  });

  it('counts who looks', async () => {
    const { slug } = await share(owner);
    await Promise.all([other.get(`/shares/${slug}`), owner.get(`/shares/${slug}`)]);
    await waitFor(async () => {
      const { data } = (await other.get(`/shares/${slug}`)).body as { data: { click_count: number } };
      return data.click_count >= 2;
    });
  });

  it.each(['nothing', '%00', '00000000000000000000000000000000', '0000-0000', "' OR 1=1"])(
    'is 404 for %s',
    async (slug) => {
      const answer = await owner.get(`/shares/${slug}`);
      expect([answer.status, (answer.body as { code: string }).code]).toEqual([404, '404']);
    },
  );

  it('uses the zone of the service', async () => {
    const { slug } = await share(owner);
    await sql(
      "UPDATE shares SET created_at = '2026-01-31T16:00:00Z', last_validated_at = '2026-07-01T00:00:00Z' WHERE slug = $1",
      [slug],
    );
    expect((await owner.get(`/shares/${slug}`)).body).toMatchObject({
      data: { created_at: '2026-02-01 00:00:00', last_validated_at: '2026-07-01 08:00:00' },
    });
  });
});

describe("the caller's shares", () => {
  let mine: ShareCaller;
  const slugs: string[] = [];

  beforeAll(async () => {
    mine = await createCaller(site);
    for (let count = 0; count < 23; count++) slugs.unshift((await share(mine)).slug);
  });

  it('come in pages of 20, newest first, without links', async () => {
    const first = await mine.get('/shares');
    expect(first.body).toMatchObject({ success: true, meta: { total: 23, page: 1, page_size: 20 } });
    const second = await mine.get('/shares?page=2');
    const found = [first, second].flatMap(({ body }) => (body as { data: { slug: string }[] }).data);
    expect(found.map(({ slug }) => slug)).toEqual(slugs);
    expect(first.text).not.toMatch(/"url"|access_code/);
    expect((await mine.get('/shares?page=3')).body).toMatchObject({ data: [], meta: { total: 23, page: 3 } });
  });

  it('show their links when asked', async () => {
    const answer = await mine.get('/shares?page_size=1&include=link');
    expect(answer.body).toMatchObject({
      data: [{ url: expect.stringMatching(/^https:\/\/115\.com\/s\/sw\d+x$/) as string, access_code: 'a1b2' }],
    });
  });

  it.each([
    ['page_size=1000', 100],
    ['page_size=0', 1],
    ['page_size=7', 7],
  ])('%s is %d', async (query, size) => {
    expect((await mine.get(`/shares?${query}`)).body).toMatchObject({ meta: { page_size: size } });
  });

  it.each([
    'page=0',
    'page=-1',
    'page=1.5',
    'page=x',
    'page=',
    'page_size=x',
    'page_size=1e1',
    'include=all',
    'sort=a',
    'page=1&page=2',
  ])('refuses %s', async (query) => {
    const answer = await mine.get(`/shares?${query}`);
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([400, '400']);
  });
});

describe('changing a share', () => {
  it('changes what is named, and null clears', async () => {
    const { slug } = await share(owner, { title: 'Before', remark: 'r', unlock_points: 5, video_resolution: ['4K'] });
    const answer = await owner.patch(`/shares/${hyphenated(slug)}`, {
      title: 'After',
      unlock_points: 6,
      is_anonymous: true,
    });
    expect(answer.body).toMatchObject({
      success: true,
      code: '200',
      data: { slug, title: 'After', remark: 'r', unlock_points: 6, user: null, video_resolution: ['4K'] },
    });
    const cleared = await owner.patch(`/shares/${slug}`, {
      title: null,
      remark: null,
      unlock_points: null,
      video_resolution: null,
      access_code: null,
    });
    expect(cleared.body).toMatchObject({
      data: { title: null, remark: null, unlock_points: null, video_resolution: [] },
    });
    expect(await sql('SELECT access_code FROM shares WHERE slug = $1', [slug])).toEqual([{ access_code: '' }]);
  });

  it('changes link and code, and keeps the code of the same link', async () => {
    const { slug } = await share(owner, { url: 'https://115.com/s/swlink1?password=a1b2' });
    const stored = async (): Promise<unknown> =>
      (
        await sql('SELECT kind, plain_link_key(link_key) AS link_key, url, access_code FROM shares WHERE slug = $1', [
          slug,
        ])
      )[0];
    await owner.patch(`/shares/${slug}`, { url: 'https://115cdn.com/s/swlink1' });
    expect(await stored()).toEqual({
      kind: '115',
      link_key: '115:swlink1',
      url: 'https://115cdn.com/s/swlink1',
      access_code: 'a1b2',
    });
    await owner.patch(`/shares/${slug}`, { access_code: 'c3d4' });
    expect(await stored()).toMatchObject({ access_code: 'c3d4' });
    await owner.patch(`/shares/${slug}`, { url: 'https://pan.quark.cn/s/abcdefabcdef' });
    expect(await stored()).toEqual({
      kind: 'quark',
      link_key: 'quark:abcdefabcdef',
      url: 'https://pan.quark.cn/s/abcdefabcdef',
      access_code: '',
    });
    await share(other, { url: 'https://115.com/s/swlink1' });
    const back = await owner.patch(`/shares/${slug}`, { url: 'https://anxia.com/s/swlink1' });
    expect([back.status, (back.body as { code: string }).code]).toEqual([409, 'SHARE_LINK_EXISTS']);
  });

  it.each([
    ['nothing', {}],
    ['an unknown field', { tmdb_id: '1' }],
    ['an official mark', { is_official: true }],
    ['null for the link', { url: null }],
    ['null for a flag', { is_anonymous: null }],
    ['a bad word', { source: ['CAM'] }],
    ['a price above the bound', { unlock_points: 1001 }],
    ['a bad link', { url: 'x' }],
  ])('refuses %s', async (_, body) => {
    const { slug } = await share(owner);
    const answer = await owner.patch(`/shares/${slug}`, body);
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([400, '400']);
  });

  it('notifies followers only with the permission', async () => {
    const { slug } = await share(owner);
    const refused = await owner.patch(`/shares/${slug}`, { title: 'x', notify: true });
    expect([refused.status, (refused.body as { code: string }).code]).toEqual([403, 'FORBIDDEN']);
    expect((await owner.patch(`/shares/${slug}`, { notify: false })).status).toBe(200);
    const herald = await createCaller(site, { permissions: ['resource:notify'] });
    const own = await share(herald);
    expect((await herald.patch(`/shares/${own.slug}`, { notify: true })).status).toBe(200);
    expect(await sql("SELECT user_id FROM audit_events WHERE type = 'share.notified'")).toEqual([
      { user_id: herald.id },
    ]);
    expect((await herald.patch(`/shares/${slug}`, { notify: true })).status).toBe(403);
  });
});

describe('links that move between shares', () => {
  it('never fail the service, and no link is shared twice', async () => {
    const links = ['https://pan.quark.cn/s/0000aaaa0001', 'https://pan.quark.cn/s/0000aaaa0002'];
    const [first, second] = [await share(owner, { url: links[0] }), await share(owner, { url: links[1] })];
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, turn) =>
        owner.patch(`/shares/${(turn % 2 === 0 ? first : second).slug}`, { url: links[Math.floor(turn / 2) % 2] }),
      ),
    );
    for (const { status } of answers) expect([200, 409]).toContain(status);
    const keys = await sql<{ link_key: string }>(
      "SELECT plain_link_key(link_key) AS link_key FROM shares WHERE link_key LIKE '%quark:0000aaaa%'",
    );
    expect(new Set(keys.map(({ link_key }) => link_key)).size).toBe(2);
  });

  it('of a magnet has no access code, and a long address takes one', async () => {
    const magnet = await share(owner, { url: `magnet:?xt=urn:btih:${'ab'.repeat(20)}`, access_code: 'a1b2' });
    expect((await owner.patch(`/shares/${magnet.slug}`, { access_code: 'a1b2' })).status).toBe(200);
    const long = await share(owner, { url: `https://a.example/${'长'.repeat(670)}` });
    expect((await owner.patch(`/shares/${long.slug}`, { access_code: 'a1b2' })).status).toBe(200);
    expect((await owner.patch(`/shares/${long.slug}`, { access_code: 'a b' })).status).toBe(400);
    const codes = await sql('SELECT access_code FROM shares WHERE slug = ANY ($1) ORDER BY id', [
      [magnet.slug, long.slug],
    ]);
    expect(codes).toEqual([{ access_code: '' }, { access_code: 'a1b2' }]);
  });
});

async function liveSharesOf({ id }: ShareCaller): Promise<number> {
  const rows = await sql('SELECT 1 FROM shares WHERE owner_id = $1 AND deleted_at IS NULL', [id]);
  return rows.length;
}

describe('taking a share back', () => {
  it('hides it, and leaves it to who unlocked it', async () => {
    const { slug } = await share(owner, { tmdb_id: '6001' });
    const unlock = (caller: ShareCaller): request.Test => caller.post('/resources/unlock', { slug: hyphenated(slug) });
    const first = await unlock(other);
    expect(first.body).toMatchObject({ data: { access_code: 'a1b2', already_owned: false } });
    const answer = await owner.delete(`/shares/${slug}`);
    expect(answer.body).toEqual({ success: true, code: '200', message: '删除成功', data: null });
    expect((await owner.get(`/shares/${slug}`)).status).toBe(404);
    expect((await other.get(`/shares/${slug}`)).body).toMatchObject({ data: { slug, is_unlocked: true } });
    expect((await other.get('/resources/movie/6001')).body).toMatchObject({ data: [] });
    expect((await owner.get('/shares?page_size=100')).text).not.toContain(slug);
    expect((await owner.get('/shares?page_size=1')).body).toMatchObject({
      meta: { total: await liveSharesOf(owner) },
    });
    const { url } = (first.body as { data: { url: string } }).data;
    expect((await unlock(other)).body).toMatchObject({ data: { url, already_owned: true } });
    expect((await unlock(await createCaller(site))).status).toBe(404);
    expect((await owner.delete(`/shares/${slug}`)).status).toBe(404);
    expect((await owner.patch(`/shares/${slug}`, { title: 'x' })).status).toBe(404);
  });

  it('counts who unlocked it', async () => {
    const { slug } = await share(owner, { tmdb_id: '6002' });
    await Promise.all(
      [other, other, await createCaller(site)].map((caller) => caller.post('/resources/unlock', { slug })),
    );
    expect((await owner.get('/resources/movie/6002')).body).toMatchObject({ data: [{ unlocked_users_count: 2 }] });
  });
});

describe('the fee for taking a share back', () => {
  const balance = async ({ id }: ShareCaller): Promise<number> => site.app.get(PointsLedger).balance(id);

  it('is paid by the sharer, once, as far as there are points', async () => {
    const payer = await createCaller(site);
    const admin = await createCaller(site);
    await site.app.get(PointGrants).grant({ userId: payer.id, points: 2, ref: 'fee test', actorId: admin.id });
    const [first, second, third] = [await share(payer), await share(payer), await share(payer)];
    const answers = await Promise.all(Array.from({ length: 10 }, () => payer.delete(`/shares/${first.slug}`)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(9);
    expect(await balance(payer)).toBe(1);
    const moderator = await createCaller(site, { permissions: ['share:manage'] });
    expect((await moderator.delete(`/shares/${second.slug}`)).status).toBe(200);
    expect([await balance(payer), await balance(moderator)]).toEqual([0, 0]);
    expect((await payer.delete(`/shares/${third.slug}`)).status).toBe(200);
    expect(await balance(payer)).toBe(0);
    const events = await sql<{ details: { fee: number } }>(
      "SELECT details FROM audit_events WHERE type = 'share.deleted' AND user_id = $1 ORDER BY id",
      [payer.id],
    );
    expect(events.map(({ details }) => details.fee)).toEqual([1, 1, 0]);
  });
});

describe('creating with an Idempotency-Key', () => {
  it('makes one share, and answers repeats with it', async () => {
    const body = newShare();
    const send = (sent: object, key = 'share-once'): request.Test =>
      owner.post('/shares', sent).set('Idempotency-Key', key);
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(body)));
    const made = answers.filter(({ status }) => status === 200);
    expect(made.length).toBeGreaterThan(0);
    for (const { status } of answers) expect([200, 409]).toContain(status);
    const repeat = await send(body);
    expect(repeat.body).toEqual(made[0]?.body);
    expect(repeat.headers['idempotency-replayed']).toBe('true');
    expect((await send(newShare())).status).toBe(422);
    const other = await send(body, 'share-again');
    expect([other.status, (other.body as { code: string }).code]).toEqual([409, 'SHARE_LINK_EXISTS']);
    expect((await send(newShare({ url: 'no' }), 'fails')).status).toBe(400);
    expect((await send(newShare(), 'fails')).status).toBe(200);
  });
});

describe('whose share it is', () => {
  it('is refused to others, allowed to who manages shares', async () => {
    const { slug } = await share(owner, { title: 'Mine' });
    for (const answer of [
      await other.patch(`/shares/${slug}`, { title: 'Theirs' }),
      await other.delete(`/shares/${slug}`),
    ]) {
      expect(answer.status).toBe(403);
      expect(answer.body).toMatchObject({ success: false, code: 'FORBIDDEN', data: null });
    }
    expect((await owner.get(`/shares/${slug}`)).body).toMatchObject({ data: { title: 'Mine' } });
    const moderator = await createCaller(site, { permissions: ['share:manage'] });
    expect((await moderator.patch(`/shares/${slug}`, { title: 'Edited' })).body).toMatchObject({
      data: { title: 'Edited', user: { id: owner.id } },
    });
    expect((await moderator.delete(`/shares/${slug}`)).status).toBe(200);
    const [event] = await sql(
      "SELECT user_id, actor_id FROM audit_events WHERE type = 'share.deleted' ORDER BY id DESC LIMIT 1",
    );
    expect(event).toEqual({ user_id: owner.id, actor_id: moderator.id });
  });

  it('does not show in the lists of others', async () => {
    const stranger = await createCaller(site);
    await share(owner);
    expect((await stranger.get('/shares')).body).toMatchObject({ data: [], meta: { total: 0 } });
  });

  it('needs a key, the scope, and for writing a user', async () => {
    const { slug } = await share(owner);
    expect((await request(site.url).get(`/api/open/shares/${slug}`)).body).toMatchObject({ code: 'MISSING_API_KEY' });
    const reads = await createCaller(site, { scopes: ['query'] });
    expect((await reads.get(`/shares/${slug}`)).status).toBe(200);
    for (const answer of [
      await reads.get('/shares'),
      await reads.post('/shares', newShare()),
      await reads.patch(`/shares/${slug}`, { title: 'x' }),
      await reads.delete(`/shares/${slug}`),
    ]) {
      expect([answer.status, (answer.body as { code: string }).code]).toEqual([403, 'SCOPE_NOT_ALLOWED']);
    }
    const writes = await createCaller(site, { scopes: ['write'] });
    expect((await writes.get('/resources/movie/603')).status).toBe(403);
    expect((await writes.post('/check/resource', { url: 'https://115.com/s/abc' })).status).toBe(403);
  });
});

describe('an application without a user', () => {
  it('reads, and writes nothing', async () => {
    const application = await createApplication(site, owner);
    const { slug } = await share(owner, { tmdb_id: '7001', unlock_points: 4 });
    expect((await application.get('/resources/movie/7001')).body).toMatchObject({
      data: [{ slug, is_unlocked: false, user: { id: owner.id } }],
    });
    expect((await application.get(`/shares/${slug}`)).body).toMatchObject({
      data: { actual_unlock_points: 4, is_unlocked: false, unlock_message: '需要 4 积分解锁' },
    });
    expect((await application.post('/check/resource', { url: 'https://115.com/s/abc' })).status).toBe(200);
    for (const answer of [
      await application.get('/shares'),
      await application.post('/shares', newShare()),
      await application.patch(`/shares/${slug}`, { title: 'x' }),
      await application.delete(`/shares/${slug}`),
    ]) {
      expect([answer.status, (answer.body as { code: string }).code]).toEqual([403, 'OPENAPI_USER_REQUIRED']);
    }
  });
});

describe('the interface description', () => {
  it('has the shape of every answer', async () => {
    const { body: document } = await request(site.url).get('/api/open/openapi.json');
    const ajv = new Ajv2020({ strict: false });
    ajv.addSchema(document as object, 'api');
    const expectDescribed = (operation: string, answer: request.Response): void => {
      expect(answer.status).toBe(200);
      const validate = ajv.compile({ $ref: `api#/paths/${operation}/responses/200/content/application~1json/schema` });
      expect(validate(answer.body), JSON.stringify(validate.errors)).toBe(true);
      expect(validate({ ...(answer.body as object), data: 5 })).toBe(false);
    };
    const created = await owner.post('/shares', newShare({ tmdb_id: '7002', is_anonymous: true }));
    const { slug } = (created.body as { data: { slug: string } }).data;
    expectDescribed('~1api~1open~1shares/post', created);
    expectDescribed('~1api~1open~1shares~1%7Bslug%7D/get', await other.get(`/shares/${slug}`));
    expectDescribed('~1api~1open~1shares/get', await owner.get('/shares?include=link'));
    expectDescribed('~1api~1open~1resources~1%7Btype%7D~1%7Btmdb_id%7D/get', await other.get('/resources/movie/7002'));
    expectDescribed(
      '~1api~1open~1shares~1%7Bslug%7D/patch',
      await owner.patch(`/shares/${slug}`, { is_anonymous: false }),
    );
    expectDescribed(
      '~1api~1open~1check~1resource/post',
      await other.post('/check/resource', { url: 'https://115.com/s/a' }),
    );
    expectDescribed('~1api~1open~1shares~1%7Bslug%7D/delete', await owner.delete(`/shares/${slug}`));
  });
});

describe('checking a link', () => {
  it('returns its kind and code', async () => {
    const answer = await owner.post('/check/resource', { url: 'https://115.com/s/abc123#xxxx 访问码:1234' });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      success: true,
      code: '200',
      message: 'success',
      data: {
        website: '115',
        pan_type: '115',
        supported: true,
        url: 'https://115.com/s/abc123',
        base_link: 'https://115.com/s/abc123',
        access_code: '1234',
        access_code_conflict: false,
        share_id: 'abc123',
        full_url: 'https://115.com/s/abc123?password=1234',
        default_unlock_points: 10,
      },
    });
  });

  it('knows others, and refuses what is no link', async () => {
    expect((await owner.post('/check/resource', { url: 'https://evil.example/?u=115.com' })).body).toMatchObject({
      code: '200',
      data: { website: 'others', supported: false, share_id: null, default_unlock_points: 0 },
    });
    expect(
      (await owner.post('/check/resource', { url: 'https://pan.baidu.com/s/1abc?pwd=aaaa', access_code: 'bbbb' })).body,
    ).toMatchObject({
      data: { access_code: 'bbbb', access_code_conflict: true, full_url: 'https://pan.baidu.com/s/1abc?pwd=bbbb' },
    });
    for (const body of [
      { url: 'hello' },
      { url: '' },
      {},
      { url: 5 },
      { url: 'x'.repeat(3000) },
      { url: '链'.repeat(700) },
    ]) {
      const answer = await owner.post('/check/resource', body);
      expect([answer.status, (answer.body as { code: string }).code]).toEqual([400, '400']);
    }
  });
});

it('writes no link and no access code into its log', async () => {
  const secret = { url: 'https://115.com/s/swsecretlink?password=zq9x' };
  const { slug } = await share(owner, secret);
  await other.post('/shares', newShare(secret));
  const taker = await share(other);
  expect((await other.patch(`/shares/${taker.slug}`, secret)).status).toBe(409);
  await owner.patch(`/shares/${slug}`, { url: 'nolinkswsecretlink' });
  await owner.post('/check/resource', { url: 'nolinkswsecretlink' });
  const logged = JSON.stringify(site.logs) + JSON.stringify(await sql('SELECT * FROM audit_events'));
  expect(logged).not.toMatch(/swsecretlink|zq9x/);
});
