import type request from 'supertest';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LimitRetention } from '../src/retention/limit-retention.js';
import { liftLimits } from './points-support.js';
import { createCaller, newShare, type ShareCaller } from './share-callers.js';
import { startSite, type SiteApp } from './site-app.js';

let site: SiteApp;
let sql: DataSource;
let fan: ShareCaller;
let sharer: ShareCaller;
/** Each test has a title of its own. */
let tmdb = 700;
let media: { id: number };

beforeAll(async () => {
  site = await startSite();
  sql = site.app.get(DataSource);
  await liftLimits(sql);
});
afterAll(() => site.close());
beforeEach(async () => {
  fan = await createCaller(site);
  sharer = await createCaller(site, { permissions: ['resource:notify'] });
  tmdb += 1;
  media = mediaOf(await share().expect(200));
});

interface Message {
  id: number;
  slug: string;
  title: string;
  event_type: string;
  is_read: boolean;
}

const share = (by = sharer): request.Test =>
  by.post('/shares', newShare({ tmdb_id: String(tmdb), media_type: 'tv', title: 'S01E01' }));
const dataOf = <T>(answer: request.Response): T => (answer.body as { data: T }).data;
const mediaOf = (answer: request.Response): { id: number } => dataOf<{ media: { id: number } }>(answer).media;
const slugOf = (answer: request.Response): string => dataOf<{ slug: string }>(answer).slug;
const keyOf = ({ id }: { id: number }): string => `tv:${id}`;
/** As clients do: by what the detail of a share says of its title. */
const subscribe = (by = fan, of = media): request.Test =>
  by.post('/subscriptions', { target_type: 'media_resource', target_id: of.id, target_key: keyOf(of) });
const idOf = async (made: request.Test): Promise<number> => dataOf<{ id: number }>(await made.expect(200)).id;
const messagesOf = async (by = fan, query = ''): Promise<Message[]> =>
  dataOf<Message[]>(await by.get(`/messages${query}`).expect(200));
const unreadOf = async (by = fan): Promise<number> =>
  dataOf<{ unread_count: number }>(await by.get('/messages/unread-count').expect(200)).unread_count;

describe('a subscription', () => {
  it('is made by the title of a share, listed and found by its key, and ends', async () => {
    const made = await subscribe().expect(200);
    expect(dataOf(made)).toMatchObject({
      target_type: 'media_resource',
      target_id: media.id,
      target_key: keyOf(media),
      status: 'active',
      media: { id: media.id, type: 'tv', tmdb_id: String(tmdb) },
    });
    const id = dataOf<{ id: number }>(made).id;
    const query = `?target_type=media_resource&status=active&q=${keyOf(media)}&page=1&page_size=20`;
    const listed = await fan.get(`/subscriptions${query}`).expect(200);
    expect(listed.body).toMatchObject({ data: [{ id }], meta: { total: 1, page: 1, page_size: 20 } });
    expect(dataOf(await fan.get('/subscriptions?q=no+such+title').expect(200))).toEqual([]);
    await fan.delete(`/subscriptions/${id}`).expect(200);
    expect(dataOf(await fan.get('/subscriptions').expect(200))).toEqual([]);
    await fan.delete(`/subscriptions/${id}`).expect(404);
  });

  it('made twice, also at once: is one', async () => {
    const made = await Promise.all([subscribe(), subscribe(), subscribe()].map((one) => idOf(one)));
    expect(new Set(made).size).toBe(1);
    expect(await idOf(subscribe())).toBe(made[0]);
  });

  it('belongs to its user: another one neither sees nor ends it', async () => {
    const id = await idOf(subscribe());
    const other = await createCaller(site);
    expect(dataOf(await other.get('/subscriptions').expect(200))).toEqual([]);
    await other.delete(`/subscriptions/${id}`).expect(404);
    expect(dataOf(await fan.get('/subscriptions').expect(200))).toMatchObject([{ id }]);
  });

  it.each([
    ['an unknown title', () => ({ target_key: 'tv:999999999', target_id: 999999999 }), 404, undefined],
    ['a title of another type', () => ({ target_key: `movie:${media.id}`, target_id: media.id }), 404, undefined],
    ['two numbers', () => ({ target_id: media.id + 1 }), 422, 'target_id'],
    ['null in the place of the number', () => ({ target_id: null }), 400, 'target_id'],
    ['what is no key', () => ({ target_key: 'tv:x', target_id: undefined }), 400, 'target_key'],
    ['another kind of target', () => ({ target_type: 'user' }), 400, 'target_type'],
    ['filters, which would not be kept', () => ({ media_filters: { pan_type: '115' } }), 400, 'media_filters'],
  ])('of %s: refused', async (_, changes, status, field) => {
    const body = { target_type: 'media_resource', target_id: media.id, target_key: keyOf(media), ...changes() };
    const answer = await fan.post('/subscriptions', body).expect(status);
    expect((answer.body as { details?: { field: string }[] }).details?.[0]?.field).toBe(field);
  });

  it('is one of 500 at most', async () => {
    await sql.query(
      `WITH made AS (
         INSERT INTO titles (media_type, tmdb_id) SELECT 'tv', (8000000 + n)::text FROM generate_series(1, 500) n
         ON CONFLICT (media_type, tmdb_id) DO UPDATE SET title = titles.title RETURNING id
       ) INSERT INTO title_subscriptions (user_id, title_id) SELECT $1, id FROM made`,
      [fan.id],
    );
    await subscribe().expect(409);
    await sql.query('DELETE FROM title_subscriptions WHERE user_id = $1', [fan.id]);
    await subscribe().expect(200);
  });
});

describe('a message', () => {
  it('comes with a new share of the title and says which; its sharer and strangers get none', async () => {
    await subscribe().expect(200);
    await subscribe(sharer).expect(200);
    const stranger = await createCaller(site);
    const slug = slugOf(await share().expect(200));
    const [message, ...others] = await messagesOf(fan, '?type=subscription&status=unread&page=1&page_size=50');
    expect(others).toEqual([]);
    expect(message).toMatchObject({
      type: 'subscription',
      event_type: 'share.created',
      title: '《S01E01》有新资源',
      slug,
      media: { id: media.id, type: 'tv', tmdb_id: String(tmdb) },
      is_read: false,
    });
    expect([await messagesOf(sharer), await messagesOf(stranger)]).toEqual([[], []]);
    await fan.get(`/shares/${message?.slug}`).expect(200);
  });

  it('comes again when the sharer asks followers to look, and not with other changes', async () => {
    const slug = slugOf(await share().expect(200));
    await subscribe().expect(200);
    await sharer.patch(`/shares/${slug}`, { remark: 'now with episode 2' }).expect(200);
    expect(await messagesOf()).toEqual([]);
    await sharer.patch(`/shares/${slug}`, { remark: 'now with episode 3', notify: true }).expect(200);
    expect(await messagesOf()).toMatchObject([{ event_type: 'share.updated', slug, title: '《S01E01》的资源有更新' }]);
  });

  it('is counted until it is read; ids of others change nothing', async () => {
    await subscribe().expect(200);
    const other = await createCaller(site);
    await subscribe(other).expect(200);
    for (let number = 0; number < 3; number += 1) await share().expect(200);
    await fan.get('/messages/unread-count?subscription_only=maybe').expect(400);
    const ids = (await messagesOf()).map(({ id }) => id);
    expect(await unreadOf()).toBe(3);
    for (const value of ['true', 'True', 'false']) {
      await fan.get(`/messages/unread-count?subscription_only=${value}`).expect(200);
    }
    await other.post('/messages/read', { ids }).expect(200);
    expect(await unreadOf()).toBe(3);
    await fan.post('/messages/read', { ids: ids.slice(0, 1) }).expect(200);
    expect([await unreadOf(), await unreadOf(other)]).toEqual([2, 3]);
    expect((await messagesOf(fan, '?status=read')).map(({ id }) => id)).toEqual(ids.slice(0, 1));
    await fan.post('/messages/read-all', {}).expect(200);
    expect([await unreadOf(), await unreadOf(other)]).toEqual([0, 3]);
    expect((await messagesOf()).every(({ is_read }) => is_read)).toBe(true);
  });

  it('is gone with the share, and after 90 days; a subscription that ended brings no more', async () => {
    const id = await idOf(subscribe());
    const slug = slugOf(await share().expect(200));
    await share().expect(200);
    await sharer.delete(`/shares/${slug}`).expect(200);
    expect([(await messagesOf()).length, await unreadOf()]).toEqual([1, 1]);
    await fan.delete(`/subscriptions/${id}`).expect(200);
    await share().expect(200);
    expect(await messagesOf()).toHaveLength(1);
    await sql.query("UPDATE messages SET created_at = now() - interval '91 days' WHERE user_id = $1", [fan.id]);
    await site.app.get(LimitRetention).sweep();
    expect(await messagesOf()).toEqual([]);
  });

  it('is one of pages', async () => {
    await subscribe().expect(200);
    for (let number = 0; number < 3; number += 1) await share().expect(200);
    const answer = await fan.get('/messages?page=2&page_size=2').expect(200);
    expect(answer.body).toMatchObject({ meta: { total: 3, page: 2, page_size: 2 } });
    expect(dataOf<Message[]>(answer)).toHaveLength(1);
  });

  it.each(['?type=system', '?status=old', '?page=0', '?page_size=101', '?page=x'])('%s: 400', async (query) => {
    await fan.get(`/messages${query}`).expect(400);
  });
});
