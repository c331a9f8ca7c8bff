import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseBase32, totpCode } from '@gatehouse/auth';
import { withClient } from '@gatehouse/persistence';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from './gateway-app.js';
import { caller, TunnelWorld, type Answer, type AnyJson, type Caller } from './support/tunnel-world.js';

const PASSWORD = 'correct horse battery';

let world: TunnelWorld;
let addresses = 0;
/** An address that has not failed yet. */
const fresh = (): string => `198.51.100.${++addresses}`;
const from = (address: string, url = world.gateway.url): Caller =>
  caller(url, { 'x-forwarded-for': address, 'user-agent': 'test/1' });
const logIn = (username: string, more: object = {}, address = fresh()): Promise<Answer> =>
  from(address)('POST', '/auth/login', { username, password: PASSWORD, ...more });
const bearer = (token: string): Caller => caller(world.gateway.url, { authorization: `Bearer ${token}` });

beforeAll(async () => {
  world = await TunnelWorld.start({ TRUSTED_PROXIES: '127.0.0.1' });
});
afterAll(() => world.close());

/** A user with a second factor; `code` of steps from now. */
async function withFactor(
  name: string,
): Promise<{ call: Caller; id: number; code: (steps: number) => string; recovery: string[] }> {
  const { call, id } = await world.user(name);
  const begun = await call('POST', '/auth/totp', { current_password: PASSWORD });
  const secret = parseBase32(begun.body.secret) ?? Buffer.alloc(0);
  const step = Math.floor(Date.now() / 30_000);
  const code = (steps: number): string => totpCode(secret, step + steps);
  const confirmed = await call('POST', '/auth/totp/confirm', { code: code(0) });
  expect(confirmed.status).toBe(200);
  return { call, id, code, recovery: confirmed.body.recovery_codes };
}

describe('second factors', () => {
  it('are required once they are confirmed, and accept each code once', async () => {
    const { call, id, code } = await withFactor('tom');
    expect((await call('GET', '/auth/me')).body.totp).toBe(true);
    const without = await logIn('tom');
    expect(without).toMatchObject({ status: 401, body: { code: 'totp_required' } });
    expect((await logIn('tom', { code: code(0) })).body.code).toBe('login_failed');
    expect((await logIn('tom', { code: '000000' })).body.code).toBe('login_failed');
    expect((await logIn('tom', { password: 'wrong', code: code(1) })).body.code).toBe('login_failed');
    expect(await logIn('tom', { code: code(1) })).toMatchObject({ status: 200, body: { user: { id, totp: true } } });
    expect((await logIn('tom', { code: code(1) })).body.code).toBe('login_failed');
  });

  it('keep their secret sealed and show it once', async () => {
    const { call } = await world.user('sue');
    const { body } = await call('POST', '/auth/totp', { current_password: PASSWORD });
    expect(body.otpauth_uri).toBe(
      `otpauth://totp/Gatehouse%20tunnels:sue?secret=${body.secret}&issuer=Gatehouse%20tunnels` +
        '&algorithm=SHA1&digits=6&period=30',
    );
    const rows = JSON.stringify(await world.rows('SELECT * FROM tunnel_gateway_ops.user_totp'));
    const secret = parseBase32(body.secret) ?? Buffer.alloc(0);
    expect(rows).not.toContain(body.secret);
    expect(rows).not.toContain(secret.toString('base64'));
    expect(rows).not.toContain(secret.toString('hex'));
    // Not confirmed: logins need no code, and a wrong one confirms nothing.
    expect((await call('POST', '/auth/totp/confirm', { code: '000000' })).status).toBe(403);
    expect((await logIn('sue')).status).toBe(200);
  });

  it('come with recovery codes that work once, and are turned off with password and code', async () => {
    const { call, code, recovery } = await withFactor('rob');
    expect(new Set(recovery).size).toBe(10);
    expect(await logIn('rob', { code: recovery[0]?.toUpperCase() })).toMatchObject({ status: 200 });
    expect((await logIn('rob', { code: recovery[0] })).status).toBe(401);
    expect((await call('POST', '/auth/totp', { current_password: PASSWORD })).body.code).toBe('totp_required');
    const renewed = await call('POST', '/auth/totp/recovery-codes', { current_password: PASSWORD, code: recovery[1] });
    expect(renewed.body.recovery_codes).toHaveLength(10);
    expect((await logIn('rob', { code: recovery[2] })).status).toBe(401);
    expect((await call('POST', '/auth/totp/disable', { current_password: PASSWORD })).status).toBe(401);
    expect((await call('POST', '/auth/totp/disable', { current_password: PASSWORD, code: code(1) })).status).toBe(204);
    expect((await logIn('rob')).status).toBe(200);
    expect(
      await world.rows(`SELECT * FROM tunnel_gateway_ops.recovery_codes WHERE user_id IN
      (SELECT id FROM tunnel_gateway.users WHERE username = 'rob')`),
    ).toEqual([]);
  });

  it('lock the account for an hour after ten wrong codes, which needs the password first', async () => {
    const { call, id, code, recovery } = await withFactor('liz');
    for (let count = 0; count < 12; count++) await logIn('liz', { password: 'a guess', code: '000000' });
    for (let count = 0; count < 10; count++) expect((await logIn('liz', { code: '000000' })).status).toBe(401);
    for (const more of [{}, { code: code(1) }, { code: recovery[0] }]) {
      expect(await logIn('liz', more)).toMatchObject({ status: 423, body: { code: 'locked' } });
    }
    // Without the password nothing shows it, and logged-in users stay.
    expect((await logIn('liz', { password: 'a guess' })).status).toBe(401);
    expect((await call('GET', '/auth/me')).status).toBe(200);
    await world.rows(
      `UPDATE tunnel_gateway_ops.user_totp SET failures_since = now() - interval '61 minutes' WHERE user_id = $1`,
      [id],
    );
    expect((await logIn('liz', { code: code(1) })).status).toBe(200);
  });

  it('cannot be confirmed by guessing', async () => {
    const { call } = await world.user('ugo');
    const begin = (): Promise<Answer> => call('POST', '/auth/totp', { current_password: PASSWORD });
    await begin();
    for (let count = 0; count < 10; count++) {
      expect((await call('POST', '/auth/totp/confirm', { code: '0' })).status).toBe(403);
    }
    expect(await call('POST', '/auth/totp/confirm', { code: '0' })).toMatchObject({ status: 423 });
    const secret = parseBase32((await begin()).body.secret) ?? Buffer.alloc(0);
    const code = totpCode(secret, Math.floor(Date.now() / 30_000));
    expect((await call('POST', '/auth/totp/confirm', { code })).status).toBe(200);
  });

  it('can be removed by administrators', async () => {
    const { id } = await withFactor('ned');
    expect((await world.admin('PATCH', `/users/${id}`, { reset_totp: true })).body.totp).toBe(false);
    expect((await logIn('ned')).status).toBe(200);
  });
});

describe('passwords', () => {
  it('are changed with the current password, and the change ends other logins and keys', async () => {
    const { call } = await world.user('pat');
    const other = bearer((await logIn('pat')).body.token);
    const key = await call('POST', '/api-keys', { name: 'ci', current_password: PASSWORD });
    const change = (body: object): Promise<Answer> => call('POST', '/auth/password', body);
    expect((await change({ current_password: 'no', new_password: 'another password' })).status).toBe(403);
    for (const [guessable, field] of [
      ['short', 'new_password'],
      ['Password1', 'new_password'],
    ]) {
      const refused = await change({ current_password: PASSWORD, new_password: guessable });
      expect(refused.body.errors).toMatchObject([{ field }]);
    }
    expect((await change({ current_password: PASSWORD, new_password: 'another password' })).status).toBe(204);
    expect((await call('GET', '/auth/me')).status).toBe(200);
    expect((await other('GET', '/auth/me')).status).toBe(401);
    expect((await bearer(key.body.key)('GET', '/auth/me')).status).toBe(401);
    expect((await logIn('pat')).status).toBe(401);
    expect((await logIn('pat', { password: 'another password' })).status).toBe(200);
  });

  it('and second factors of one’s own cannot be changed without proof, whatever rights the user has over others', async () => {
    const { call, id } = await world.user('root2', 'admin');
    for (const changes of [{ password: 'another password' }, { reset_totp: true }]) {
      expect(await call('PATCH', `/users/${id}`, changes)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    expect((await call('PATCH', `/users/${id}`, { username: 'root3' })).status).toBe(200);
    expect((await logIn('root3')).status).toBe(200);
  });

  it('cannot be guessed faster with a stolen login', async () => {
    await world.user('una');
    const { body } = await logIn('una');
    const stolen = caller(world.gateway.url, { authorization: `Bearer ${body.token}`, 'x-forwarded-for': fresh() });
    const guess = (): Promise<Answer> =>
      stolen('POST', '/auth/password', { current_password: 'a guess', new_password: 'another password' });
    const answers: number[] = [];
    for (let count = 0; count < 11; count++) answers.push((await guess()).status);
    expect(answers).toContain(429);
    expect(answers.filter((status) => status === 403).length).toBeLessThanOrEqual(10);
    expect((await logIn('una')).status).toBe(200);
  });
});

describe('login limits', () => {
  it('allow five failures a minute from one address, and lock out nobody elsewhere', async () => {
    await world.user('ivy');
    const stranger = fresh();
    const tries: number[] = [];
    for (let count = 0; count < 7; count++) tries.push((await logIn('ivy', { password: 'a guess' }, stranger)).status);
    expect(tries).toEqual([401, 401, 401, 401, 401, 429, 429]);
    expect((await logIn('ivy', {}, stranger)).status).toBe(429);
    expect((await logIn('ivy')).status).toBe(200);
    // Nor does any other user from that address, whichever account is guessed next.
    expect((await logIn('admin', {}, stranger)).status).toBe(429);
  });
});

describe('logins', () => {
  it('are listed with their origin, and can be ended one by one or all at once', async () => {
    const { call, id } = await world.user('mia');
    const address = fresh();
    const { body } = await logIn('mia', {}, address);
    const listed = await call('GET', '/sessions?sort=-created_at');
    expect(listed.body.items[0]).toMatchObject({
      user_id: id,
      username: 'mia',
      address,
      software: 'test/1',
      current: false,
    });
    expect(listed.body.items[1]).toMatchObject({ current: true });
    expect(JSON.stringify(listed.body)).not.toContain(body.token);
    const [other] = listed.body.items;
    expect((await call('DELETE', `/sessions/${other.id}`)).status).toBe(204);
    expect((await bearer(body.token)('GET', '/auth/me')).status).toBe(401);
    const more = await Promise.all([logIn('mia'), logIn('mia')]);
    expect((await call('DELETE', '/sessions')).body).toEqual({ ended: 2 });
    for (const { body: login } of more) expect((await bearer(login.token)('GET', '/auth/me')).status).toBe(401);
    expect((await call('GET', '/auth/me')).status).toBe(200);
  });

  it('are visible only to their user and to administrators', async () => {
    const [{ call, id }, { call: other }] = [await world.user('kim'), await world.user('lou')];
    const [session] = (await call('GET', '/sessions')).body.items;
    expect((await other('GET', `/sessions?user_id=${id}`)).body.items).toEqual([]);
    expect((await other('DELETE', `/sessions/${session.id}`)).status).toBe(404);
    expect((await world.admin('GET', `/sessions?user_id=${id}`)).body.items).toHaveLength(1);
    expect((await world.admin('DELETE', `/sessions/${session.id}`)).status).toBe(204);
    expect((await call('GET', '/auth/me')).status).toBe(401);
  });

  it('of a user who is removed during the request are not listed', async () => {
    const { id } = await world.user('ida');
    const asked = await withClient(world.gateway.databaseUrl, async (client) => {
      await client.query('BEGIN');
      await client.query('LOCK TABLE tunnel_gateway_ops.session_details');
      const answer = world.admin('GET', '/sessions?limit=200');
      // The logins were read: what is not in their rows is waited for.
      await waitFor(async () => {
        const sql = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
          AND query LIKE 'SELECT%session_details%'`;
        return (await world.rows(sql)).length > 0;
      });
      await client.query('DELETE FROM tunnel_gateway.users WHERE id = $1', [id]);
      await client.query('COMMIT');
      return answer;
    });
    expect(asked.status).toBe(200);
    expect(asked.body.items).not.toEqual([]);
    expect(JSON.stringify(asked.body)).not.toContain('ida');
  });

  it('are events, without the text typed for an unknown name', async () => {
    const { id } = await world.user('eva');
    const address = fresh();
    await logIn('eva', { password: 'a guess' }, address);
    await logIn('my secret password', {}, address);
    const rows = await world.rows(
      `SELECT type, resource_id, data FROM tunnel_gateway_ops.events WHERE data->>'address' = $1 ORDER BY entry`,
      [address],
    );
    expect(rows).toMatchObject([
      { type: 'user.login_failed', resource_id: id, data: { username: 'eva' } },
      { type: 'user.login_failed', resource_id: null, data: { username: null } },
    ]);
    expect(JSON.stringify(await world.rows('SELECT * FROM tunnel_gateway_ops.events'))).not.toContain('my secret');
  });
});

describe('API keys', () => {
  it('are shown once, and can do no more than their scopes and their user', async () => {
    const { call, id } = await world.user('bea');
    const make = async (body: object): Promise<AnyJson> =>
      (await call('POST', '/api-keys', { name: 'ci', current_password: PASSWORD, ...body })).body;
    const reading = await make({});
    expect(reading).toMatchObject({ user_id: id, scopes: ['read'], key: expect.stringMatching(/^gtk_/) });
    const rows = JSON.stringify(await world.rows('SELECT * FROM tunnel_gateway_ops.api_keys'));
    expect(rows).not.toContain(reading.key);
    const writing = await make({ scopes: ['write'] });
    expect(await make({ scopes: ['admin'] })).toMatchObject({ status: 403 });
    expect((await bearer(reading.key)('GET', '/clients')).status).toBe(200);
    expect((await bearer(reading.key)('POST', '/clients', { name: 'x' })).status).toBe(403);
    expect((await bearer(writing.key)('POST', '/clients', { name: 'x' })).body).toMatchObject({ owner_user_id: id });
    expect((await call('GET', '/api-keys')).body.items).toHaveLength(2);
    expect((await call('DELETE', `/api-keys/${reading.id}`)).status).toBe(204);
    expect((await bearer(reading.key)('GET', '/clients')).status).toBe(401);
    expect((await call('GET', `/api-keys/${reading.id}`)).status).toBe(404);
    // A user who only reads from now on has keys that only read.
    await world.admin('PATCH', `/users/${id}`, { role: 'viewer' });
    expect((await bearer(writing.key)('GET', '/clients')).status).toBe(200);
    expect((await bearer(writing.key)('POST', '/clients', { name: 'x' })).status).toBe(403);
  });

  it('end at their expiry, and cannot be created with one in the past', async () => {
    const past = await world.admin('POST', '/api-keys', {
      name: 'old',
      current_password: PASSWORD,
      expires_at: '2020-01-01T00:00:00Z',
    });
    expect(past.body).toMatchObject({ status: 422, errors: [{ field: 'expires_at' }] });
    const { body } = await world.admin('POST', '/api-keys', {
      name: 'soon',
      current_password: PASSWORD,
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    });
    await world.rows(`UPDATE tunnel_gateway_ops.api_keys SET expires_at = now() WHERE id = $1`, [body.id]);
    expect((await bearer(body.key)('GET', '/clients')).status).toBe(401);
  });

  it('cannot manage credentials, so a leaked key creates no others', async () => {
    const { body } = await world.admin('POST', '/api-keys', {
      name: 'all',
      scopes: ['admin'],
      current_password: PASSWORD,
    });
    const key = bearer(body.key);
    const ann = await withFactor('ann');
    expect((await key('GET', '/users')).status).toBe(200);
    const proof = { current_password: PASSWORD };
    for (const [method, path, sent] of [
      ['POST', '/api-keys', { name: 'x', ...proof }],
      ['DELETE', `/api-keys/${body.id}`, undefined],
      ['POST', '/auth/password', { ...proof, new_password: 'another password' }],
      ['POST', '/auth/totp', proof],
      ['POST', '/auth/totp/confirm', { code: '000000' }],
      ['POST', '/auth/totp/disable', proof],
      ['POST', '/auth/totp/recovery-codes', proof],
      ['DELETE', '/sessions', undefined],
      ['PATCH', `/users/${ann.id}`, { password: 'another password' }],
      ['PATCH', `/users/${ann.id}`, { reset_totp: true }],
      ['PATCH', `/users/${ann.id}`, { role: 'admin' }],
      ['PATCH', `/users/${ann.id}`, { status: 0 }],
      ['PATCH', `/users/${ann.id}`, { username: 'else' }],
      ['DELETE', `/users/${ann.id}`, undefined],
      ['POST', '/users', { username: 'backdoor', password: 'a long password', role: 'admin' }],
      ['POST', '/users', { username: 'helper', password: 'a long password' }],
    ] as const) {
      expect((await key(method, path, sent)).status, `${method} ${path}`).toBe(403);
    }
    expect((await world.admin('GET', '/users?q=backdoor')).body.items).toEqual([]);
    expect((await world.admin('GET', `/users/${ann.id}`)).body).toMatchObject({
      username: 'ann',
      role: 'user',
      status: 1,
    });
  });
});

describe('the first setup', () => {
  it('accepts the token from the file once', async () => {
    await using gateway = await startGateway({ TUNNEL_FIRST_ADMINISTRATOR: 'setup', TRUSTED_PROXIES: '127.0.0.1' });
    const file = join(gateway.home, 'setup-token.txt');
    const token = readFileSync(file, 'utf8').trim();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(join(gateway.home, 'first-login.txt'))).toBe(false);
    const call = (): Caller => from(fresh(), gateway.url);
    expect((await call()('GET', '/auth/setup')).body).toEqual({ needed: true });
    const body = { token, username: 'Root', password: 'a long password' };
    expect((await call()('POST', '/auth/setup', { ...body, token: 'gst_wrong' })).status).toBe(403);
    expect((await call()('POST', '/auth/setup', { ...body, password: 'password' })).status).toBe(422);
    const both = await Promise.all([
      call()('POST', '/auth/setup', body),
      call()('POST', '/auth/setup', { ...body, username: 'other' }),
    ]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, expect.toBeOneOf([403, 409])]);
    expect(both.find(({ status }) => status === 200)?.body).toMatchObject({ user: { role: 'admin' } });
    expect((await call()('GET', '/auth/setup')).body).toEqual({ needed: false });
    expect((await call()('POST', '/auth/setup', { ...body, username: 'third' })).status).toBe(409);
    expect(existsSync(file)).toBe(false);
  });

  it('is over once there is an administrator', async () => {
    const body = { token: 'gst_x', username: 'root', password: 'a long password' };
    expect(await from(fresh())('POST', '/auth/setup', body)).toMatchObject({ status: 409 });
  });
});
