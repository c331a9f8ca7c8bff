import { randomBytes } from 'node:crypto';
import { createServiceApp, JsonLogger, loadSettings, ServiceSettings } from '@gatehouse/platform';
import { UnitOfWork, withClient } from '@gatehouse/persistence';
import { createTestDatabase, type TestDatabase } from '@gatehouse/testing';
import type { INestApplication } from '@nestjs/common';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KnownUsers } from './guard/known-users.js';
import { GuardedNotesModule, openness, users } from './guarded-notes.fixture.js';
import { ApiKeyStore } from './keys/api-key-store.js';
import { SessionStore } from './sessions/session-store.js';
import { createAuthTables } from './tables/auth-tables.js';
import { TokenSigner } from './tokens/token-signer.js';

let database: TestDatabase;
let app: INestApplication;
let keys: { read: string; write: string; admin: string };
let token: string;
let session: string;

beforeAll(async () => {
  database = await createTestDatabase();
  await withClient(database.url, (client) =>
    createAuthTables({ query: (sql) => client.query(sql) }, { sessions: true }),
  );
  app = await createServiceApp({
    name: 'notes',
    module: GuardedNotesModule.forRoot(database.url, randomBytes(32)),
    settings: loadSettings(ServiceSettings, { DATABASE_URL: database.url }),
    http: { errorFormat: 'proxy' },
    logger: new JsonLogger({ service: 'notes', level: 'silent' }),
  });
  await app.init();
  const store = app.get(ApiKeyStore);
  const [read, write, admin] = await Promise.all(
    (['read', 'write', 'admin'] as const).map(
      async (scope) => (await store.create({ name: scope, scopes: [scope] })).key,
    ),
  );
  keys = { read: read ?? '', write: write ?? '', admin: admin ?? '' };
  ({ token } = await app.get(TokenSigner).issue({ name: 'administrator', scopes: ['admin'] }, 60));
  ({ token: session } = await app.get(SessionStore).create(1));
});

afterAll(async () => {
  await app.close();
  await database.drop();
});

const server = (): ReturnType<typeof request> => request(app.getHttpServer());

describe('the guard', () => {
  it('asks for credentials with a challenge', async () => {
    const answer = await server().get('/notes');
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="notes"');
    expect(answer.body).toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it.each([
    ['a token', () => ({ authorization: `Bearer ${token}` }), 'administrator', 'token'],
    ['an API key as bearer', () => ({ authorization: `Bearer ${keys.read}` }), 'read', 'api_key'],
    ['the scheme in another case', () => ({ authorization: `bearer ${keys.read}` }), 'read', 'api_key'],
    ['an API key in its own header', () => ({ 'x-api-key': keys.read }), 'read', 'api_key'],
    [
      'the same key in both headers',
      () => ({ 'x-api-key': keys.read, authorization: `Bearer ${keys.read}` }),
      'read',
      'api_key',
    ],
    ['a session token as bearer', () => ({ authorization: `Bearer ${session}` }), 'ada', 'session'],
    ['a session cookie', () => ({ cookie: `a=b; notes=${session}` }), 'ada', 'session'],
    [
      'a header rather than the cookie',
      () => ({ 'x-api-key': keys.read, cookie: `notes=${session}` }),
      'read',
      'api_key',
    ],
  ])('accepts %s', async (_what, headers, name, credential) => {
    const answer = await server().get('/notes').set(headers());
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ name, credential });
  });

  it.each([
    ['a changed token', () => ({ authorization: `Bearer ${token}x` })],
    ['a changed key', () => ({ 'x-api-key': `${keys.read}x` })],
    ['basic credentials', () => ({ authorization: 'Basic YTpi' })],
    ['a bearer without anything', () => ({ authorization: 'Bearer ' })],
    ['a key twice', () => ({ 'x-api-key': `${keys.read}, ${keys.read}` })],
    ['a planted second cookie', () => ({ cookie: `notes=${session}; notes=evil` })],
    ['an unknown session', () => ({ cookie: `notes=${'A'.repeat(43)}` })],
  ])('refuses %s', async (_what, headers) => {
    const answer = await server().get('/notes').set(headers());
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it('refuses two different credentials in one request', async () => {
    const answer = await server()
      .get('/notes')
      .set({ authorization: `Bearer ${token}`, 'x-api-key': keys.admin });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'CREDENTIALS_CONFLICT' });
  });

  it('limits the keys of a user to the user’s own rights, and refuses them once the user is gone', async () => {
    const { key } = await app.get(ApiKeyStore).create({ name: 'ci', scopes: ['admin'], userId: 7 });
    const readBy = (): request.Test => server().get('/notes').set('x-api-key', key);
    const become = async (scopes: ('read' | 'write' | 'admin')[] | null): Promise<void> => {
      await app.get(UnitOfWork).run((tx) => app.get(KnownUsers).forget(7, tx));
      if (scopes === null) users.delete(7);
      else users.set(7, { name: 'eve', role: 'user', scopes });
      await app.get(UnitOfWork).run((tx) => app.get(KnownUsers).forget(7, tx));
    };
    expect((await readBy()).status).toBe(401);
    await become(['write']);
    expect((await readBy()).body).toMatchObject({ userId: 7, name: 'ci', role: 'user', scopes: ['read', 'write'] });
    await become(['read']);
    expect((await server().post('/notes').set('x-api-key', key)).status).toBe(403);
    await become(null);
    expect((await readBy()).status).toBe(401);
  });

  it('refuses the session of a deleted user', async () => {
    const { token: orphan } = await app.get(SessionStore).create(2);
    expect((await server().get('/notes').set('cookie', `notes=${orphan}`)).status).toBe(401);
  });

  it.each([
    ['read', 'get', '/notes', 200],
    ['read', 'post', '/notes', 403],
    ['read', 'get', '/notes/admin', 403],
    ['write', 'get', '/notes', 200],
    ['write', 'post', '/notes', 201],
    ['write', 'get', '/notes/admin', 403],
    ['admin', 'get', '/notes', 200],
    ['admin', 'post', '/notes', 201],
    ['admin', 'get', '/notes/admin', 200],
  ] as const)('lets the scope %s %s %s: %i', async (scope, method, path, status) => {
    const answer = await server()[method](path).set('x-api-key', keys[scope]);
    expect(answer.status).toBe(status);
    if (status === 403) {
      expect(answer.body).toMatchObject({ code: 'FORBIDDEN' });
      expect(answer.headers['www-authenticate']).toContain('insufficient_scope');
    }
  });

  it('refuses API keys on routes for logins, whatever their scope, and admits everything in a service without logins', async () => {
    const status = async (headers: Record<string, string>): Promise<number> =>
      (await server().get('/notes/credentials').set(headers)).status;
    for (const key of Object.values(keys)) expect(await status({ 'x-api-key': key })).toBe(403);
    expect(await status({ authorization: `Bearer ${token}` })).toBe(200);
    expect(await status({ cookie: `notes=${session}` })).toBe(200);
    openness.open = true;
    expect(await status({})).toBe(200);
    openness.open = false;
  });

  describe('a route with the cookie as its only credential', () => {
    const cookie = (): string => `notes=${session}`;

    it.each([
      ['an API key', () => ({ 'x-api-key': keys.admin })],
      ['a key of another service', () => ({ 'x-api-key': 'hk_else' })],
      ['a token of another service', () => ({ authorization: 'Bearer hat_else' })],
      ['two different ones', () => ({ 'x-api-key': 'hk_else', authorization: 'Bearer hat_else' })],
      ['basic credentials', () => ({ authorization: 'Basic YTpi' })],
    ])('ignores %s next to the cookie, and does not accept it instead', async (_what, headers) => {
      const beside = await server()
        .get('/notes/mine')
        .set({ cookie: cookie(), ...headers() });
      expect([beside.status, beside.body]).toMatchObject([200, { name: 'ada', credential: 'session' }]);
      expect((await server().get('/notes/mine').set(headers())).status).toBe(401);
      const changed = await server()
        .post('/notes/mine')
        .set({ cookie: cookie(), ...headers() });
      expect(changed.status).toBe(201);
    });

    it('refuses pages of other sites, whatever they send with it', async () => {
      const headers = { cookie: cookie(), 'x-api-key': keys.admin, origin: 'http://evil.test' };
      expect((await server().post('/notes/mine').set(headers)).status).toBe(403);
    });
  });

  it('does not check public routes', async () => {
    const answer = await server().get('/notes/public').set('authorization', 'Bearer nonsense');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ actor: null });
  });

  it('answers an unknown address without asking for credentials', async () => {
    expect((await server().get('/nothing')).status).toBe(404);
  });

  it.each([
    ['its own pages', { origin: 'http://notes.test', host: 'notes.test' }, 201],
    ['a client without a browser', {}, 201],
    ['a page of another site', { origin: 'http://evil.test', host: 'notes.test' }, 403],
    ['another port of this host', { origin: 'http://notes.test:81', host: 'notes.test' }, 403],
    ['a sandboxed page', { origin: 'null', host: 'notes.test' }, 403],
    ['a cross-site form', { 'sec-fetch-site': 'cross-site', host: 'notes.test' }, 403],
  ])('treats a change by cookie from %s as %s', async (_what, headers, status) => {
    const answer = await server()
      .post('/notes')
      .set({ cookie: `notes=${session}`, ...headers });
    expect(answer.status).toBe(status);
  });

  it('opens and closes with the policy', async () => {
    openness.open = true;
    expect((await server().get('/notes/admin')).status).toBe(200);
    openness.open = false;
    expect((await server().get('/notes/admin')).status).toBe(401);
  });
});
