/** Logins of machines with a code (RFC 8628), as `gatehouse-agent login` asks for them. */
import { randomBytes } from 'node:crypto';
import { parseBase32, totpCode } from '@gatehouse/auth';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Retention } from '../src/retention/retention.js';
import { startGateway } from './gateway-app.js';
import { caller, TunnelWorld, type AnyJson, type Caller } from './support/tunnel-world.js';

const PASSWORD = 'correct horse battery';
const proof = { current_password: PASSWORD };

const SETTINGS = {
  TRUSTED_PROXIES: '127.0.0.1',
  API_RATE_LIMIT: '0',
  // That of all replicas.
  GATEHOUSE_SECRET_KEY: randomBytes(32).toString('base64'),
};

let world: TunnelWorld;
let machine: Caller;
let addresses = 0;
/** Somebody at an address that has not entered a code yet. */
const elsewhere = (): Caller => caller(world.gateway.url, { 'x-forwarded-for': `198.51.100.${++addresses}` });

beforeAll(async () => {
  world = await TunnelWorld.start(SETTINGS);
  machine = caller(world.gateway.url, { 'x-forwarded-for': '192.0.2.7' });
});
afterAll(() => world.close());

async function begin(name = 'laptop'): Promise<AnyJson> {
  const { status, body } = await machine('POST', '/auth/device', { machine: name });
  expect(status).toBe(200);
  return body;
}

async function poll({ device_code: code }: AnyJson): Promise<AnyJson> {
  return (await machine('POST', '/auth/device/token', { device_code: code })).body;
}

/** Lets machines ask again at once, as when they have waited. */
const waited = (): Promise<unknown> =>
  world.rows(`UPDATE tunnel_gateway_ops.device_logins SET polled_at = now() - interval '1 hour'`);

const decide = (call: Caller, codes: AnyJson, more: object) =>
  call('POST', '/auth/device/decide', { user_code: codes.user_code, ...more });

describe('the login of a machine', () => {
  it('waits until its user approves it, and gets a key once, which is listed, limited, and can be revoked', async () => {
    const codes = await begin();
    const publicUrl = 'http://127.0.0.1:8082';
    expect(codes).toMatchObject({ verification_uri: `${publicUrl}/#/device`, expires_in: 600, interval: 2 });
    expect(codes.user_code).toMatch(/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/);
    expect(codes.verification_uri_complete).toBe(`${publicUrl}/#/device?user_code=${codes.user_code}`);
    expect(await poll(codes)).toMatchObject({ status: 'authorization_pending', interval: 2, api_key: null });
    expect(await poll(codes)).toMatchObject({ status: 'slow_down', interval: 7 });
    // Once too early, the interval is longer for good.
    await world.rows(`UPDATE tunnel_gateway_ops.device_logins SET polled_at = now() - interval '5 seconds'`);
    expect(await poll(codes)).toMatchObject({ status: 'slow_down', interval: 12 });

    const { call, id } = await world.user('ann');
    // As people type it.
    const typed = codes.user_code.toLowerCase().replace('-', ' ');
    const found = await call('POST', '/auth/device/find', { user_code: typed });
    expect(found).toMatchObject({
      status: 200,
      body: { user_code: codes.user_code, machine: 'laptop', address: '192.0.2.7' },
    });
    expect((await decide(call, codes, { approved: true, ...proof })).status).toBe(204);
    const granted = await poll(codes);
    expect(granted).toMatchObject({ status: 'approved', username: 'ann', api_key: expect.stringMatching(/^gtk_/) });
    expect(await poll(codes)).toMatchObject({ status: 'expired_token', api_key: null });

    const key = caller(world.gateway.url, { 'x-api-key': granted.api_key });
    expect((await call('GET', '/api-keys')).body.items).toMatchObject([{ name: 'laptop', scopes: ['read', 'write'] }]);
    expect((await key('POST', '/clients', { name: 'published' })).status).toBe(201);
    expect((await key('POST', '/api-keys', { name: 'x', ...proof })).status).toBe(403);
    const { items } = (await call('GET', '/events?type=user.login')).body;
    expect(items[0]).toMatchObject({ data: { machine: 'laptop', address: '192.0.2.7' }, resource_id: id });
    const logged = async () => (await world.admin('GET', '/audit-logs?resource_type=api_key')).body.items as AnyJson[];
    const made = await waitFor(async () => (await logged()).find(({ resource_name: name }) => name === 'laptop'));
    expect(made).toMatchObject({ action: 'api_key.create', actor: { name: 'ann' }, ip: '192.0.2.7' });

    // The machine logs out; a login cannot do that for it.
    expect((await call('DELETE', '/api-keys/current')).status).toBe(403);
    expect((await key('DELETE', '/api-keys/current')).status).toBe(204);
    expect((await key('GET', '/auth/me')).status).toBe(401);
    expect((await call('GET', '/api-keys')).body.items).toEqual([]);
  });

  it('is refused by its user, without a password, and decided once', async () => {
    const codes = await begin();
    const { call } = await world.user('ben');
    expect((await decide(call, codes, { approved: false })).status).toBe(204);
    expect(await poll(codes)).toMatchObject({ status: 'access_denied', api_key: null });
    const again = await decide(call, codes, { approved: true, ...proof });
    expect(again).toMatchObject({ status: 422, body: { errors: [{ field: 'user_code' }] } });
    expect(await poll(codes)).toMatchObject({ status: 'access_denied' });
  });

  it('needs the password, and the second factor of those who have one', async () => {
    const codes = await begin();
    const { call } = await world.user('tom');
    expect((await decide(call, codes, { approved: true })).body.errors).toMatchObject([{ field: 'current_password' }]);
    expect((await decide(call, codes, { approved: true, current_password: 'a guess' })).status).toBe(403);
    const { body: begun } = await call('POST', '/auth/totp', proof);
    const secret = parseBase32(begun.secret) ?? Buffer.alloc(0);
    const step = Math.floor(Date.now() / 30_000);
    await call('POST', '/auth/totp/confirm', { code: totpCode(secret, step) });
    expect((await decide(call, codes, { approved: true, ...proof })).body.code).toBe('totp_required');
    expect(await poll(codes)).toMatchObject({ status: 'authorization_pending' });
    const code = totpCode(secret, step + 1);
    expect((await decide(call, codes, { approved: true, ...proof, code })).status).toBe(204);
    expect(await poll(codes)).toMatchObject({ status: 'approved' });
  });

  it('gets nothing after ten minutes, for a guess, or after the session of its user has ended', async () => {
    const late = await begin();
    await world.rows('UPDATE tunnel_gateway_ops.device_logins SET expires_at = now()');
    expect(await poll(late)).toMatchObject({ status: 'expired_token' });
    for (const guess of ['gtd_guess', `gtd_${'0'.repeat(49)}`, 'x']) {
      expect(await poll({ device_code: guess })).toMatchObject({ status: 'expired_token' });
    }
    const { call } = await world.user('eve');
    expect((await call('POST', '/auth/device/find', { user_code: late.user_code })).status).toBe(422);
    const approved = await begin();
    expect((await decide(call, approved, { approved: true, ...proof })).status).toBe(204);
    await call('POST', '/auth/logout');
    expect(await poll(approved)).toMatchObject({ status: 'expired_token', api_key: null });
    const disabled = await world.user('dan');
    const other = await begin();
    await decide(disabled.call, other, { approved: true, ...proof });
    await world.admin('PATCH', `/users/${disabled.id}`, { status: 0 });
    expect((await poll(other)).api_key).toBeNull();
  });

  it('is open to nobody who could not publish, and to no program', async () => {
    const codes = await begin();
    const viewer = await world.user('vic', 'viewer');
    expect((await decide(viewer.call, codes, { approved: true, ...proof })).status).toBe(403);
    const { call } = await world.user('uma');
    const { body } = await call('POST', '/api-keys', { name: 'k', scopes: ['write'], ...proof });
    const key = caller(world.gateway.url, { 'x-api-key': body.key });
    for (const who of [key, elsewhere()]) {
      for (const path of ['/auth/device/find', '/auth/device/decide']) {
        const { status } = await who('POST', path, { user_code: codes.user_code, approved: true, ...proof });
        expect([401, 403]).toContain(status);
      }
    }
    expect(await poll(codes)).toMatchObject({ status: 'authorization_pending' });
  });

  it('cannot be approved by a page of another site', async () => {
    const codes = await begin();
    const login = await fetch(`${world.gateway.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'admin', password: PASSWORD, cookie: true }),
    });
    const cookie = login.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    for (const foreign of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
      const forged = caller(world.gateway.url, { cookie, ...(foreign as Record<string, string>) });
      expect((await decide(forged, codes, { approved: true, ...proof })).status).toBe(403);
    }
    expect((await decide(caller(world.gateway.url, { cookie }), codes, { approved: true, ...proof })).status).toBe(204);
  });

  it('shows no name that hides what it is', async () => {
    for (const name of ['', 'a\u0007b', 'gro.elpmaxe\u202e', 'x'.repeat(65)]) {
      const { status, body } = await machine('POST', '/auth/device', { machine: name });
      expect([status, body.errors[0].field]).toEqual([422, 'machine']);
    }
  });

  it('may begin, be approved, and be asked for at different replicas, which count guesses together', async () => {
    const { databaseUrl } = world.gateway;
    await using replica = await startGateway(SETTINGS, () => Promise.resolve(databaseUrl));
    const there = caller(replica.url, { 'x-forwarded-for': '203.0.113.9' });
    const { body: codes } = await there('POST', '/auth/device', { machine: 'laptop' });
    expect(await poll(codes)).toMatchObject({ status: 'authorization_pending' });
    const { call } = await world.user('rae');
    expect((await decide(call, codes, { approved: true, ...proof })).status).toBe(204);
    const granted = await there('POST', '/auth/device/token', { device_code: codes.device_code });
    expect(granted.body).toMatchObject({ status: 'approved', username: 'rae' });
    const key = caller(world.gateway.url, { 'x-api-key': granted.body.api_key });
    expect((await key('GET', '/auth/me')).body.username).toBe('rae');
    // Both ask at once: one of them gets the key.
    const next = await begin();
    await decide(call, next, { approved: true, ...proof });
    const sent = { device_code: next.device_code };
    const both = await Promise.all([poll(next), there('POST', '/auth/device/token', sent).then(({ body }) => body)]);
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set(['approved', 'expired_token']));
    const [{ hits }] = await world.rows(
      `SELECT hits FROM tunnel_gateway_ops.throttle_windows WHERE key = 'device begun 203.0.113.9'`,
    );
    expect(hits).toBe(1);
  });

  it('leaves no row once it has expired', async () => {
    await begin();
    await world.rows('UPDATE tunnel_gateway_ops.device_logins SET expires_at = now()');
    await world.gateway.app.get(Retention, { strict: false }).sweep();
    expect(await world.rows('SELECT * FROM tunnel_gateway_ops.device_logins')).toEqual([]);
  });

  it('has codes that cannot be read in the database', async () => {
    const codes = await begin();
    const rows = JSON.stringify(await world.rows('SELECT to_jsonb(d) AS row FROM tunnel_gateway_ops.device_logins d'));
    for (const code of [codes.device_code, codes.user_code]) expect(rows).not.toContain(code);
  });
});

describe('guesses at codes', () => {
  it('end after thirty in an hour, and so do logins that are begun after sixty', async () => {
    const codes = await begin();
    const { call } = await world.user('gus');
    for (let count = 0; count < 30; count++) {
      expect((await call('POST', '/auth/device/find', { user_code: 'BCDF-GHJK' })).status).toBe(422);
    }
    for (const [path, more] of [
      ['find', {}],
      ['decide', { approved: true, ...proof }],
    ] as const) {
      const refused = await call('POST', `/auth/device/${path}`, { user_code: codes.user_code, ...more });
      expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    }
    await waited();
    expect(await poll(codes)).toMatchObject({ status: 'authorization_pending' });
    const flood = elsewhere();
    for (let count = 0; count < 60; count++) await flood('POST', '/auth/device', { machine: 'flood' });
    expect((await flood('POST', '/auth/device', { machine: 'flood' })).status).toBe(429);
    expect((await elsewhere()('POST', '/auth/device', { machine: 'another' })).status).toBe(200);
  });
});
