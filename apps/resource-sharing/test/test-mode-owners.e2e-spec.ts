import { waitFor } from '@gatehouse/testing';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestDataRetention } from '../src/retention/test-data-retention.js';
import { newShare } from './share-callers.js';
import { codeOf, dataOf, TestModeSite } from './support/test-mode-site.js';
import type { RegisteredApp } from './support/third-party.js';

let mode: TestModeSite;
beforeAll(async () => {
  mode = await TestModeSite.start();
});
afterAll(() => mode.site.close());

describe('the owner’s routes', () => {
  const route = (app: RegisteredApp, rest: string): string => `/api/site/applications/${app.clientId}/${rest}`;

  it('make two keys at most, list and revoke them, and show each once', async () => {
    const owner = await mode.party.user();
    const cookie = await mode.party.cookie(owner.name);
    const app = await mode.party.register(owner.id, {}, { reviewed: false });
    const post = (): request.Test => request(mode.site.url).post(route(app, 'test-keys')).set('Cookie', cookie);
    const made = await post().expect(200);
    const { secret, id, hint } = dataOf<{ secret: string; id: number; hint: string }>(made);
    expect(hint).toBe(`ht_…${secret.slice(-4)}`);
    const together = await Promise.all([post(), post(), post()]);
    expect(together.map(({ status }) => String(status)).toSorted()).toEqual(['200', '409', '409']);
    const list = await request(mode.site.url).get(route(app, 'test-keys')).set('Cookie', cookie).expect(200);
    expect(list.text).not.toContain(secret);
    expect(dataOf<{ id: number }[]>(list)).toHaveLength(2);
    // They are not among the secrets, and replacing these leaves them alone.
    const secrets = await request(mode.site.url).get(route(app, 'secrets')).set('Cookie', cookie).expect(200);
    expect(dataOf<{ id: number }[]>(secrets).map((one) => one.id)).toEqual([app.secretId]);
    await mode.party.secrets.rotate(owner.id, app.clientId);
    await mode.party.secrets.rotate(owner.id, app.clientId);
    await mode.call({ path: '/ping', key: secret }).expect(200);
    await request(mode.site.url)
      .delete(route(app, `secrets/${id}`))
      .set('Cookie', cookie)
      .expect(404);
    await request(mode.site.url)
      .delete(route(app, `test-keys/${id}`))
      .set('Cookie', cookie)
      .expect(200);
    await request(mode.site.url)
      .delete(route(app, `test-keys/${id}`))
      .set('Cookie', cookie)
      .expect(404);
    await mode.call({ path: '/ping', key: secret }).expect(401);
    await post().expect(200);
  });

  it('set points, and empty the data, on every replica at once', async () => {
    const setup = await mode.setUp();
    const { owner, app, key, token } = setup;
    const cookie = await mode.party.cookie(owner.name);
    const put = (body: object): request.Test =>
      request(mode.site.url).put(route(app, 'test-points')).set('Cookie', cookie).send(body);
    await put({ points: 5 }).expect(200);
    expect(await mode.balanceOf(setup)).toBe(5);
    const { cheap: slug = '' } = await mode.madeUp(setup);
    const poor = await mode.call({ method: 'post', path: '/resources/unlock', body: { slug }, key, token });
    expect([poor.status, codeOf(poor)]).toEqual([402, 'INSUFFICIENT_POINTS']);
    await put({ points: 2_000_000 }).expect(200);
    await put({ points: 0 }).expect(200);
    expect(await mode.balanceOf(setup)).toBe(0);
    for (const points of [-1, 1.5, 10_000_001, '5', null]) {
      const answer = await put({ points });
      expect([points, answer.status]).toEqual([points, 400]);
      expect(answer.text).toContain('points');
    }
    // Of a user whom the application has; nobody else's.
    const stranger = await mode.party.user();
    await put({ points: 5, user_id: stranger.id }).expect(404);
    await mode.sql.query('UPDATE applications SET test_user_ids = $2 WHERE id = $1', [
      app.application.id,
      [stranger.id],
    ]);
    await put({ points: 5, user_id: stranger.id }).expect(200);

    const replica = await mode.site.replica();
    try {
      await mode.call({ path: '/shares', key, token, url: replica.url }).expect(200);
      await request(mode.site.url).delete(route(app, 'test-data')).set('Cookie', cookie).expect(200);
      expect(
        await mode.read('SELECT id FROM resource_sharing_test.test_accounts WHERE application_id = $1', [
          app.application.id,
        ]),
      ).toEqual([]);
      await waitFor(async () => {
        const made = await mode.call({
          method: 'post',
          path: '/shares',
          body: newShare(),
          key,
          token,
          url: replica.url,
        });
        return made.status === 200;
      });
      expect(await mode.balanceOf(setup)).toBe(1_000);
    } finally {
      await replica.close();
    }
  });

  it('serve the owner of the application alone', async () => {
    const setup = await mode.setUp();
    const stranger = await mode.party.user();
    const cookie = await mode.party.cookie(stranger.name);
    const calls: [method: 'get' | 'post' | 'put' | 'delete', rest: string, body?: object][] = [
      ['get', 'test-keys'],
      ['post', 'test-keys'],
      ['delete', `test-keys/${setup.keyId}`],
      ['get', 'test-shares'],
      ['put', 'test-points', { points: 7 }],
      ['delete', 'test-data'],
    ];
    for (const [method, rest, body] of calls) {
      const anonymous = await request(mode.site.url)[method](route(setup.app, rest)).send(body);
      expect([rest, anonymous.status]).toEqual([rest, 401]);
      const foreign = await request(mode.site.url)[method](route(setup.app, rest)).set('Cookie', cookie).send(body);
      expect([rest, foreign.status]).toEqual([rest, 404]);
    }
    // Nor with a key of another application of the same person.
    const mine = await mode.party.register(stranger.id);
    await request(mode.site.url)
      .delete(route(mine, `test-keys/${setup.keyId}`))
      .set('Cookie', cookie)
      .expect(404);
    await mode.call({ path: '/ping', key: setup.key }).expect(200);
  });

  it('leave nothing in test mode when the application or its owner’s account goes', async () => {
    const left = async (id: number): Promise<number> =>
      (
        await mode.read<{ n: number }>(
          'SELECT count(*)::integer AS n FROM resource_sharing_test.test_accounts WHERE application_id = $1',
          [id],
        )
      )[0]?.n ?? -1;
    const [removed, ended] = [await mode.setUp(), await mode.setUp()];
    for (const { key, token } of [removed, ended]) {
      await mode.call({ method: 'post', path: '/shares', body: newShare(), key, token }).expect(200);
    }
    expect(await left(removed.app.application.id)).toBe(2);
    const cookie = await mode.party.cookie(removed.owner.name);
    await request(mode.site.url).delete(route(removed.app, '').slice(0, -1)).set('Cookie', cookie).expect(200);
    expect(await left(removed.app.application.id)).toBe(0);
    const ownCookie = await mode.party.cookie(ended.owner.name);
    await request(mode.site.url)
      .post('/api/site/me/delete')
      .set('Cookie', ownCookie)
      .send({ password: 'correct horse battery' })
      .expect(200);
    expect(await left(ended.app.application.id)).toBe(0);
  });

  it('keep nothing that a user wrote into a share when the account of that user is deleted', async () => {
    const setup = await mode.setUp();
    const user = await mode.party.user();
    await mode.sql.query('UPDATE applications SET test_user_ids = $2 WHERE id = $1', [
      setup.app.application.id,
      [user.id],
    ]);
    const { access_token: token } = await mode.party.tokens(setup.app, user.id);
    const body = newShare({ title: 'Wrote this', remark: 'And that' });
    const made = await mode.call({ method: 'post', path: '/shares', body, key: setup.key, token }).expect(200);
    const { id } = dataOf<{ media: { id: number } }>(made).media;
    const target = { target_type: 'media_resource', target_key: `movie:${id}` };
    await mode.call({ method: 'post', path: '/subscriptions', body: target, key: setup.key, token }).expect(200);
    const cookie = await mode.party.cookie(user.name);
    const end = request(mode.site.url).post('/api/site/me/delete').set('Cookie', cookie);
    await end.send({ password: 'correct horse battery' }).expect(200);
    const rows = await mode.read<{ t: string }>(
      'SELECT t::text FROM resource_sharing_test.shares t WHERE application_id = $1 AND made_up IS NULL',
      [setup.app.application.id],
    );
    expect(rows).toHaveLength(1);
    expect(
      await mode.read('SELECT 1 FROM resource_sharing_test.title_subscriptions WHERE title_id = $1', [id]),
    ).toEqual([]);
    for (const text of ['Wrote this', 'And that', String(body['url']).slice(-20, -16), 'a1b2']) {
      expect(rows[0]?.t).not.toContain(text);
    }
  });

  it('test data that nobody uses for 90 days are removed', async () => {
    const [used, unused] = [await mode.setUp(), await mode.setUp()];
    const ids = [used.app.application.id, unused.app.application.id];
    for (const { key, token } of [used, unused]) await mode.call({ path: '/shares', key, token }).expect(200);
    const long = "now() - interval '91 days'";
    await mode.sql.query(
      `UPDATE resource_sharing_test.test_accounts SET created_at = ${long} WHERE application_id = ANY ($1)`,
      [ids],
    );
    await mode.sql.query(`UPDATE credentials SET created_at = ${long}, last_used_at = ${long} WHERE id = $1`, [
      unused.keyId,
    ]);
    const retention = new TestDataRetention(mode.sql, mode.party.unitOfWork);
    await retention.sweep(AbortSignal.abort());
    const left =
      'SELECT DISTINCT application_id AS id FROM resource_sharing_test.test_accounts WHERE application_id = ANY ($1)';
    expect(await mode.read(left, [ids])).toHaveLength(2);
    await retention.sweep();
    expect(await mode.read(left, [ids])).toEqual([{ id: ids[0] }]);
  });
});
