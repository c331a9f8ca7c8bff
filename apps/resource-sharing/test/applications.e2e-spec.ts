import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuthorizationService } from '../src/oauth/authorization.service.js';
import { startOpenSite } from './support/open-site.js';
import { CALLBACK, PASSWORD, ThirdParty } from './support/third-party.js';

let site: Awaited<ReturnType<typeof startOpenSite>>;
let party: ThirdParty;
let cookies: { owner: string; stranger: string };
let owner: { id: number; name: string };
let stranger: { id: number; name: string };

beforeAll(async () => {
  site = await startOpenSite({ GATEHOUSE_ADMIN_PASSWORD: 'correct horse battery' });
  party = new ThirdParty(site);
  owner = await party.user();
  stranger = await party.user();
  cookies = { owner: await party.cookie(owner.name), stranger: await party.cookie(stranger.name) };
});
afterAll(() => site.close());

type Method = 'get' | 'post' | 'patch' | 'delete';
const as = (who: 'owner' | 'stranger', method: Method, path: string, body?: object): request.Test => {
  const call = request(site.url)[method](`/api/site/${path}`).set('Cookie', cookies[who]);
  return body === undefined ? call : call.send(body);
};
interface Data {
  data: Record<string, unknown> & { client_id: string; id: number; secret: { secret: string; id: number } };
  meta?: { total: number };
}
const read = (answer: request.Response): Data => answer.body as Data;
const VALID = { name: 'Client', redirect_uris: [CALLBACK], scopes: ['meta', 'query'] };

describe('applications', () => {
  it('are registered with a secret that is shown once', async () => {
    const answer = await as('owner', 'post', 'applications', { ...VALID, description: 'About' });
    expect(answer.status).toBe(200);
    const { data } = read(answer);
    expect(data).toMatchObject({
      name: 'Client',
      kind: 'confidential',
      auth_level: 'unverified',
      status: 'pending',
      scopes: ['meta', 'query'],
      redirect_uris: [CALLBACK],
      require_pkce: false,
      bound_to_owner: false,
    });
    expect(data.secret.secret).toMatch(/^hk_/);
    expect((await party.probe('meta', data.secret.secret)).status).toBe(200);
    const shown = [
      await as('owner', 'get', 'applications'),
      await as('owner', 'get', `applications/${data.client_id}`),
      await as('owner', 'get', `applications/${data.client_id}/secrets`),
    ];
    for (const { text, status } of shown) {
      expect(status).toBe(200);
      expect(text).not.toContain(data.secret.secret);
    }
    expect(await party.events('app.created')).not.toHaveLength(0);
  });

  it.each([
    [{ ...VALID, redirect_uris: ['javascript:alert(1)'] }, 'redirect_uris[0]'],
    [{ ...VALID, redirect_uris: [CALLBACK, 'http://client.example/'] }, 'redirect_uris[1]'],
    [{ ...VALID, redirect_uris: [] }, 'redirect_uris'],
    [{ ...VALID, scopes: ['root'] }, 'scopes'],
    [{ ...VALID, scopes: [] }, 'scopes'],
    [{ ...VALID, name: '' }, 'name'],
    [{ ...VALID, name: '\u202egnp.exe' }, 'name'],
    [{ ...VALID, name: 'Admin\u200b' }, 'name'],
    [{ ...VALID, kind: 'secret' }, 'kind'],
    [{ ...VALID, ip_allow: ['300.0.0.1'] }, 'ip_allow'],
    [{ ...VALID, status: 'approved' }, 'status'],
    [{ ...VALID, auth_level: 'internal' }, 'auth_level'],
  ])('cannot be registered with %j', async (body, field) => {
    const answer = await as('owner', 'post', 'applications', body);
    expect(answer.status).toBe(400);
    expect((answer.body as { details: { field: string }[] }).details.map((detail) => detail.field)).toContain(field);
  });

  it('can be changed by their owner, within limits', async () => {
    const { data } = read(await as('owner', 'post', 'applications', VALID));
    const path = `applications/${data.client_id}`;
    const changed = await as('owner', 'patch', path, {
      name: 'Other',
      redirect_uris: ['https://client.example/two'],
      scopes: ['meta', 'unlock'],
      test_user_ids: [stranger.id],
      bound_to_owner: true,
      current_password: PASSWORD,
    });
    expect(read(changed).data).toMatchObject({
      name: 'Other',
      redirect_uris: ['https://client.example/two'],
      scopes: ['meta', 'unlock'],
      test_user_ids: [stranger.id],
      bound_to_owner: true,
    });
    expect((await party.probe('unlock', data.secret.secret)).body).toMatchObject({ data: { userId: owner.id } });
    await party.review(data.client_id, { authLevel: 'verified', status: 'approved' });
    expect((await as('owner', 'patch', path, { scopes: ['meta', 'write'] })).status).toBe(403);
    expect((await as('owner', 'patch', path, { scopes: ['meta'] })).status).toBe(200);
    const mobile = read(await as('owner', 'post', 'applications', { ...VALID, kind: 'native' })).data;
    expect((await as('owner', 'patch', `applications/${mobile.client_id}`, { require_pkce: false })).status).toBe(400);
    expect((await as('owner', 'patch', `applications/${mobile.client_id}`, { bound_to_owner: true })).status).toBe(400);
  });

  describe('that were reviewed', () => {
    const SEEN = 'https://client.example/new';
    const shown = async (clientId: string, redirectUri: string): Promise<{ name: string; description: string }> => {
      const asked = { client_id: clientId, redirect_uri: redirectUri };
      const { request: preview } = await site.app.get(AuthorizationService).preview(asked, stranger.id);
      return preview.application;
    };
    const decide = (clientId: string, body: object): request.Test =>
      request(site.url).patch(`/api/site/admin/applications/${clientId}`).set('Cookie', administrator).send(body);
    const stateOf = async (clientId: string): Promise<{ updated_at: string; proposed: object | null }> =>
      (await decide(clientId, {})).body.data as never;
    let administrator: string;
    beforeAll(async () => (administrator = await party.cookie('admin')));

    it('change what users see, and where they are sent, only after an administrator has accepted it', async () => {
      const mine = await party.register(owner.id, { name: 'Honest', description: 'Does good' });
      const pair = await party.tokens(mine, stranger.id);
      const path = `applications/${mine.clientId}`;
      const wanted = { name: 'Your bank', description: 'Type your PIN', redirect_uris: [CALLBACK, SEEN] };
      const answer = await as('owner', 'patch', path, { ...wanted, scopes: ['meta', 'unlock'] });
      expect(read(answer).data).toMatchObject({
        name: 'Honest',
        description: 'Does good',
        redirect_uris: [CALLBACK],
        scopes: ['meta', 'unlock'],
        proposed: wanted,
        status: 'approved',
      });
      expect(await shown(mine.clientId, CALLBACK)).toMatchObject({ name: 'Honest', description: 'Does good' });
      await expect(shown(mine.clientId, SEEN)).rejects.toMatchObject({ code: 'INVALID_REDIRECT_URI' });
      expect((await party.probe('meta', mine.secret, pair.access_token)).status).toBe(200);
      const refreshed = await party.refresh(mine, pair.refresh_token);
      expect(refreshed.status).toBe(200);

      const { updated_at: seen_at } = await stateOf(mine.clientId);
      const accepted = await decide(mine.clientId, { proposal: 'accept', seen_at });
      expect(read(accepted).data).toMatchObject({ ...wanted, redirect_uris: [CALLBACK, SEEN], proposed: null });
      expect(await shown(mine.clientId, SEEN)).toMatchObject({ name: 'Your bank' });
      const [event] = (await party.events('app.proposal_accepted')).slice(-1);
      expect(event?.details).toMatchObject({ name: 'Your bank' });
    });

    it('stay unchanged if the change is rejected, or withdrawn by their owner', async () => {
      const mine = await party.register(owner.id, { name: 'Honest' });
      const path = `applications/${mine.clientId}`;
      await as('owner', 'patch', path, { name: 'Your bank' });
      const { updated_at: seen_at } = await stateOf(mine.clientId);
      const refused = await decide(mine.clientId, { proposal: 'refuse', seen_at });
      expect(read(refused).data).toMatchObject({ name: 'Honest', proposed: null });
      await as('owner', 'patch', path, { name: 'Your bank' });
      await as('owner', 'patch', path, { description: 'More' });
      expect((await stateOf(mine.clientId)).proposed).toEqual({ name: 'Your bank', description: 'More' });
      const back = await as('owner', 'patch', path, { name: 'Honest', description: '' });
      expect(read(back).data).toMatchObject({ name: 'Honest', proposed: null });
    });

    it('can remove an address at once, but not the last one', async () => {
      const mine = await party.register(owner.id, { redirectUris: [CALLBACK, SEEN] });
      const path = `applications/${mine.clientId}`;
      const other = 'https://client.example/third';
      const answer = await as('owner', 'patch', path, { redirect_uris: [SEEN, other] });
      expect(read(answer).data).toMatchObject({ redirect_uris: [SEEN], proposed: { redirect_uris: [SEEN, other] } });
      await expect(shown(mine.clientId, CALLBACK)).rejects.toMatchObject({ code: 'INVALID_REDIRECT_URI' });
      const moved = await as('owner', 'patch', path, { redirect_uris: [other] });
      expect(read(moved).data).toMatchObject({ redirect_uris: [SEEN], proposed: { redirect_uris: [other] } });
      const { updated_at: seen_at } = await stateOf(mine.clientId);
      await decide(mine.clientId, { proposal: 'accept', seen_at });
      await expect(shown(mine.clientId, SEEN)).rejects.toMatchObject({ code: 'INVALID_REDIRECT_URI' });
      expect(await shown(mine.clientId, other)).toMatchObject({ name: 'Client' });
    });

    it('cannot be approved unseen: 409 if they have changed since, also at the first review', async () => {
      const mine = await party.register(owner.id, { name: 'Honest' });
      const path = `applications/${mine.clientId}`;
      await as('owner', 'patch', path, { name: 'Still honest' });
      const { updated_at: seen_at } = await stateOf(mine.clientId);
      await as('owner', 'patch', path, { name: 'Your bank' });
      expect((await decide(mine.clientId, { proposal: 'accept', seen_at })).status).toBe(409);
      expect((await decide(mine.clientId, { proposal: 'accept' })).status).toBe(400);
      expect(await shown(mine.clientId, CALLBACK)).toMatchObject({ name: 'Honest' });
      const fresh = await party.register(owner.id, { name: 'Honest' }, { reviewed: false });
      const looked = (await stateOf(fresh.clientId)).updated_at;
      await as('owner', 'patch', `applications/${fresh.clientId}`, { name: 'Your bank' });
      const approval = { auth_level: 'verified', status: 'approved', seen_at: looked };
      expect((await decide(fresh.clientId, approval)).status).toBe(409);
      expect((await decide(fresh.clientId, { ...approval, proposal: 'accept' })).status).toBe(409);
      const { updated_at: now } = await stateOf(fresh.clientId);
      expect((await decide(fresh.clientId, { ...approval, seen_at: now })).status).toBe(200);
    });

    it('are listed for administrators while a change waits', async () => {
      const mine = await party.register(owner.id);
      const waiting = async (): Promise<string[]> => {
        const list = await request(site.url)
          .get('/api/site/admin/applications?proposed=true')
          .set('Cookie', administrator);
        return (list.body as { data: { client_id: string }[] }).data.map(({ client_id: id }) => id);
      };
      expect(await waiting()).not.toContain(mine.clientId);
      await as('owner', 'patch', `applications/${mine.clientId}`, { name: 'Another' });
      expect(await waiting()).toContain(mine.clientId);
    });
  });

  it.each([true, false])('refuse null in every field (reviewed: %s)', async (reviewed) => {
    const { id, name } = await party.user();
    const cookie = await party.cookie(name);
    const { clientId } = await party.register(id, {}, { reviewed });
    const fields = ['name', 'description', 'redirect_uris', 'scopes', 'test_user_ids', 'bound_to_owner'];
    for (const field of [...fields, 'current_password']) {
      const answer = await request(site.url)
        .patch(`/api/site/applications/${clientId}`)
        .set('Cookie', cookie)
        .send({ [field]: null });
      expect([answer.status, (answer.body as { details: { field: string }[] }).details[0]?.field]).toEqual([
        400,
        field,
      ]);
    }
  });

  it('serve only their owner and at most five test users before the review', async () => {
    const mine = await party.register(owner.id, {}, { reviewed: false });
    const path = `applications/${mine.clientId}`;
    await expect(party.code(mine, stranger.id)).rejects.toMatchObject({ error: 'access_denied' });
    expect((await as('owner', 'patch', path, { test_user_ids: [1, 2, 3, 4, 5, 6] })).status).toBe(400);
    await as('owner', 'patch', path, { test_user_ids: [stranger.id] });
    const pair = await party.tokens(mine, stranger.id);
    expect((await party.probe('meta', mine.secret, pair.access_token)).status).toBe(200);
    await as('owner', 'patch', path, { test_user_ids: [] });
    expect((await party.probe('meta', mine.secret, pair.access_token)).body).toMatchObject({
      code: 'OPENAPI_REAUTH_REQUIRED',
    });
    expect((await party.refresh(mine, pair.refresh_token)).status).toBe(401);
  });

  it('rotate their secret with an overlap, and can revoke one', async () => {
    const { data } = read(await as('owner', 'post', 'applications', VALID));
    const path = `applications/${data.client_id}/secrets`;
    const rotated = await as('owner', 'post', path, { overlap_seconds: 3_600 });
    const next = (rotated.body as { data: { secret: string; expires_at: null } }).data;
    expect(next.expires_at).toBeNull();
    for (const secret of [data.secret.secret, next.secret])
      expect((await party.probe('meta', secret)).status).toBe(200);
    const listed = (await as('owner', 'get', path)).body as { data: { expires_at: string | null }[]; meta: object };
    expect(listed.data.map(({ expires_at }) => expires_at === null)).toEqual([true, false]);
    expect((await as('owner', 'delete', `${path}/${data.secret.id}`)).status).toBe(200);
    expect((await party.probe('meta', data.secret.secret)).body).toMatchObject({ code: 'DISABLED_API_KEY' });
    expect((await as('owner', 'post', path)).status).toBe(200);
    expect((await as('owner', 'post', path, { overlap_seconds: -1 })).status).toBe(400);
  });

  it('are deleted with all their authorizations', async () => {
    const mine = await party.register(owner.id);
    const pair = await party.tokens(mine, stranger.id);
    expect((await as('owner', 'delete', `applications/${mine.clientId}`)).status).toBe(200);
    expect((await party.probe('meta', mine.secret, pair.access_token)).body).toMatchObject({ code: 'INVALID_API_KEY' });
    expect((await as('owner', 'get', `applications/${mine.clientId}`)).status).toBe(404);
  });
});

describe('personal keys', () => {
  it('are created, listed and revoked', async () => {
    const answer = await as('owner', 'post', 'keys', {
      current_password: PASSWORD,
      name: 'script',
      scopes: ['meta'],
      expires_at: '2999-01-01T00:00:00Z',
      ip_allow: ['127.0.0.0/8'],
    });
    expect(answer.status).toBe(200);
    const { secret, id } = (answer.body as { data: { secret: string; id: number } }).data;
    expect((await party.probe('meta', secret)).status).toBe(200);
    const listed = await as('owner', 'get', 'keys');
    expect(listed.text).not.toContain(secret);
    expect(read(listed).meta).toMatchObject({ total: 1 });
    expect((await as('owner', 'delete', `keys/${id}`)).status).toBe(200);
    expect((await party.probe('meta', secret)).body).toMatchObject({ code: 'DISABLED_API_KEY' });
    expect((await as('owner', 'delete', `keys/${id}`)).status).toBe(404);
  });

  it('have no more rights than their owner: vip needs Premium, the end must be in the future, and 20 is the limit', async () => {
    const vip = await as('stranger', 'post', 'keys', { current_password: PASSWORD, name: 'k', scopes: ['vip'] });
    expect([vip.status, vip.body]).toEqual([403, expect.objectContaining({ code: 'VIP_REQUIRED' })]);
    expect(
      (
        await as('stranger', 'post', 'keys', {
          current_password: PASSWORD,
          name: 'k',
          scopes: ['meta'],
          expires_at: '2020-01-01T00:00:00Z',
        })
      ).status,
    ).toBe(400);
    expect(
      (
        await as('stranger', 'post', 'keys', {
          current_password: PASSWORD,
          name: 'k',
          scopes: ['meta'],
          expires_at: 'soon',
        })
      ).status,
    ).toBe(400);
    const made = await Promise.all(
      Array.from({ length: 24 }, () =>
        as('stranger', 'post', 'keys', { current_password: PASSWORD, name: 'k', scopes: ['meta'] }),
      ),
    );
    expect(made.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(made.filter(({ status }) => status === 409)).toHaveLength(4);
  });
});

it('an account can register 20 applications, also with concurrent requests', async () => {
  const { id } = await party.user();
  const made = await Promise.allSettled(Array.from({ length: 23 }, () => party.register(id, {}, { reviewed: false })));
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
  for (const one of made) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'CONFLICT' });
});

describe('authorized applications', () => {
  it('are listed with their scopes, and their user can revoke them', async () => {
    const mine = await party.register(owner.id);
    const first = await party.tokens(mine, stranger.id, { scope: 'meta' });
    const second = await party.tokens(mine, stranger.id, { scope: 'query meta' });
    await party.code(mine, stranger.id);
    const listed = (await as('stranger', 'get', 'grants')).body as {
      data: { client_id: string; scopes: string[]; grant_ids: number[] }[];
    };
    const entry = listed.data.find(({ client_id }) => client_id === mine.clientId);
    expect(entry).toMatchObject({ scopes: ['meta', 'query'] });
    expect(entry?.grant_ids).toHaveLength(2);
    const call = (token: string): request.Test => party.probe('meta', mine.secret, token);
    await as('stranger', 'delete', `grants/${entry?.grant_ids[0]}`).expect(200);
    expect((await call(first.access_token)).body).toMatchObject({ code: 'OPENAPI_REAUTH_REQUIRED' });
    expect((await call(second.access_token)).status).toBe(200);
    await as('stranger', 'delete', `grants/applications/${mine.clientId}`).expect(200);
    expect((await call(second.access_token)).body).toMatchObject({ code: 'OPENAPI_REAUTH_REQUIRED' });
    await as('stranger', 'delete', `grants/applications/${mine.clientId}`).expect(404);
  });
});

describe('no user can reach the rows of another', () => {
  it('on any route: 404 as if they did not exist; 401 without a login; 403 from another site', async () => {
    const mine = await party.register(owner.id);
    const key = await party.keys.create(owner.id, { name: 'mine', scopes: ['meta'] });
    const pair = await party.tokens(mine, owner.id);
    const [grant] = (await party.sql.query('SELECT max(id) AS id FROM grants WHERE user_id = $1', [owner.id])) as [
      { id: number },
    ];
    const routes: [Method, string, object?][] = [
      ['get', `applications/${mine.clientId}`],
      ['patch', `applications/${mine.clientId}`, { name: 'taken' }],
      ['delete', `applications/${mine.clientId}`],
      ['get', `applications/${mine.clientId}/secrets`],
      ['post', `applications/${mine.clientId}/secrets`, {}],
      ['delete', `applications/${mine.clientId}/secrets/${mine.secretId}`],
      ['delete', `keys/${key.info.id}`],
      ['delete', `keys/${mine.secretId}`],
      ['delete', `grants/${grant.id}`],
      ['delete', `grants/applications/${mine.clientId}`],
    ];
    for (const [method, path, body] of routes) {
      expect([method, path, (await as('stranger', method, path, body)).status]).toEqual([method, path, 404]);
      const anonymous = await request(site.url)[method](`/api/site/${path}`).send(body);
      expect([method, path, anonymous.status]).toEqual([method, path, 401]);
      if (method === 'get') continue;
      const foreign = await as('owner', method, path, body).set('Origin', 'https://evil.example');
      expect([method, path, foreign.status]).toEqual([method, path, 403]);
    }
    const lists = [await as('stranger', 'get', 'applications'), await as('stranger', 'get', 'keys')];
    for (const { text } of lists) expect(text).not.toContain(mine.clientId);
    expect((await party.probe('meta', mine.secret, pair.access_token)).status).toBe(200);
    expect((await party.probe('meta', key.secret)).status).toBe(200);
  });

  it('with keys and tokens of the open API, which are not a login of the site', async () => {
    const mine = await party.register(owner.id);
    const pair = await party.tokens(mine, owner.id);
    for (const headers of [{ 'X-API-Key': mine.secret }, { Authorization: `Bearer ${pair.access_token}` }]) {
      expect((await request(site.url).get('/api/site/keys').set(headers)).status).toBe(401);
    }
  });
});

it('audit events cannot be changed or removed', async () => {
  for (const change of ["UPDATE audit_events SET type = 'x'", 'DELETE FROM audit_events']) {
    await expect(party.sql.query(change)).rejects.toThrow('never changed or removed');
  }
});

it('values that a database cannot store are refused without a failure', async () => {
  const { client_id: id } = read(await as('owner', 'post', 'applications', VALID)).data;
  const calls: [Method, string, object | undefined, number][] = [
    ['get', 'applications/%00', undefined, 404],
    ['get', `applications/${'a'.repeat(500)}`, undefined, 404],
    ['delete', 'grants/applications/%00', undefined, 404],
    ['delete', 'grants/99999999999999999999', undefined, 404],
    ['delete', 'keys/1e400', undefined, 404],
    ['delete', 'keys/-1', undefined, 404],
    ['delete', `applications/${id}/secrets/99999999999999999999`, undefined, 404],
    ['post', 'applications', { ...VALID, name: 'a\0b' }, 400],
    ['post', 'applications', { ...VALID, description: '\0' }, 400],
    ['post', 'applications', { ...VALID, redirect_uris: ['https://a.example/\0'] }, 400],
    ['post', 'applications', { ...VALID, redirect_uris: 'https://a.example/' }, 400],
    ['patch', `applications/${id}`, { test_user_ids: [1e20] }, 400],
    ['patch', `applications/${id}`, { test_user_ids: [999_999_999] }, 200],
    [
      'post',
      'keys',
      { current_password: PASSWORD, name: 'k', scopes: ['meta'], expires_at: '+275760-09-14T00:00:00Z' },
      400,
    ],
    ['post', `applications/${id}/secrets`, { overlap_seconds: 1e300 }, 400],
  ];
  for (const [method, path, body, status] of calls) {
    expect([method, path, (await as('owner', method, path, body)).status]).toEqual([method, path, status]);
  }
  for (const query of [
    'client_id=%00',
    'client_id[]=a',
    `client_id=${id}&redirect_uri=%00`,
    `client_id=${id}&scope=%00`,
    `client_id=${id}&state=%00`,
  ]) {
    const answer = await request(site.url)
      .get(`/api/public/openapi/oauth/authorize?${query}`)
      .set('Cookie', cookies.owner);
    expect([query, answer.status]).toEqual([query, 400]);
  }
});

it('audit events are readable page by page, by their own user only', async () => {
  const user = await party.user();
  const session = await party.cookie(user.name);
  for (const name of ['one', 'two', 'three']) await party.keys.create(user.id, { name, scopes: ['meta'] });
  const page = async (query: object): Promise<{ id: number; type: string; details: { name: string } }[]> => {
    const answer = await request(site.url).get('/api/site/events').query(query).set('Cookie', session);
    expect(answer.status).toBe(200);
    return (answer.body as { data: never }).data;
  };
  const first = await page({ limit: 2 });
  expect(first.map(({ details }) => details.name)).toEqual(['three', 'two']);
  const second = await page({ before: first[1]?.id });
  expect(second.map(({ type, details }) => [type, details.name])).toEqual([['key.created', 'one']]);
  expect((await as('stranger', 'get', 'events')).text).not.toContain('"three"');
  expect((await as('owner', 'get', 'events?limit=0')).status).toBe(400);
});
