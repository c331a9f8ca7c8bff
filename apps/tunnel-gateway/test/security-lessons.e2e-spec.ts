import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from './gateway-app.js';
import { caller, TunnelWorld } from './support/tunnel-world.js';

const PASSWORD = 'correct horse battery';
const JSON_BODY = { 'content-type': 'application/json' };

let world: TunnelWorld;
let token: string;
let cookie: string;
beforeAll(async () => {
  world = await TunnelWorld.start();
  const answer = await logIn();
  token = (await answer.json()).token;
  cookie = cookieOf(answer);
});
afterAll(() => world.close());

const logIn = (headers: Record<string, string> = {}, url = world.gateway.url): Promise<Response> =>
  fetch(`${url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { ...JSON_BODY, ...headers },
    body: JSON.stringify({ username: 'admin', password: PASSWORD, cookie: true }),
  });
const cookieOf = (answer: Response): string => answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
const status = async (path: string, headers: Record<string, string>, method = 'GET'): Promise<number> =>
  (await fetch(`${world.gateway.url}/api/v1${path}`, { method, headers })).status;

describe('mistakes of other products', () => {
  it('an empty key, token or cookie is not a credential', async () => {
    for (const headers of [
      { authorization: '' },
      { authorization: 'Bearer ' },
      { authorization: 'Bearer undefined' },
      { authorization: 'Bearer null' },
      { authorization: 'Basic YWRtaW46' },
      { 'x-api-key': '' },
      { 'x-api-key': 'gtk_' },
      { 'x-api-key': `gtk_${'0'.repeat(49)}` },
      { cookie: 'gw_session=' },
      { cookie: `${cookie}; ${cookie}` },
    ]) {
      expect(await status('/auth/me', headers), JSON.stringify(headers)).toBe(401);
    }
    const empty = await caller(world.gateway.url, {})('POST', '/auth/login', { username: 'admin', password: '' });
    expect(empty.status).toBe(422);
  });

  it('two different credentials in one request are refused', async () => {
    const { body } = await world.admin('POST', '/api-keys', { name: 'k', current_password: PASSWORD });
    expect(await status('/auth/me', { authorization: `Bearer ${token}`, 'x-api-key': body.key })).toBe(400);
    expect(await status('/auth/me', { authorization: 'Bearer wrong', cookie })).toBe(401);
  });

  it('a page of another site can neither act for a logged-in user nor log one in', async () => {
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of foreign) {
      expect(await status('/sessions', { cookie, ...headers }, 'DELETE'), JSON.stringify(headers)).toBe(403);
      expect((await logIn(headers)).status).toBe(403);
      expect(await status('/auth/me', { cookie, ...headers })).toBe(200);
    }
    const answer = await fetch(`${world.gateway.url}/api/v1/auth/me`, {
      headers: { cookie, origin: 'https://evil.example' },
    });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('a login ends the previous session of the browser', async () => {
    const former = cookieOf(await logIn());
    expect((await logIn({ cookie: former })).status).toBe(200);
    expect(await status('/auth/me', { cookie: former })).toBe(401);
  });

  it('cookies are limited to the host, and to HTTPS if the console uses it', async () => {
    await using gateway = await startGateway({
      GATEHOUSE_ADMIN_PASSWORD: PASSWORD,
      TUNNEL_GATEWAY_PUBLIC_URL: 'https://console.example.org',
    });
    const [set] = (await logIn({}, gateway.url)).headers.getSetCookie();
    expect(set).toMatch(/^__Host-gw_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
  });

  it('keys are shown once, and stored values open nothing', async () => {
    const { body } = await world.admin('POST', '/api-keys', { name: 'k', current_password: PASSWORD });
    const [row] = await world.rows(
      `SELECT encode(key_hash, 'hex') AS hash FROM tunnel_gateway_ops.api_keys WHERE id = $1`,
      [body.id],
    );
    const [session] = await world.rows('SELECT token FROM tunnel_gateway.sessions ORDER BY id DESC LIMIT 1');
    for (const kept of [row.hash, `gtk_${row.hash}`, session.token]) {
      expect(await status('/auth/me', { authorization: `Bearer ${kept}` })).toBe(401);
    }
    expect(JSON.stringify((await world.admin('GET', '/api-keys')).body)).not.toContain(body.key);
  });

  it('an unknown name gets the same answer as a wrong password', async () => {
    const tries = await Promise.all(
      ['admin', 'nobody-of-that-name'].map((username) =>
        caller(world.gateway.url, {})('POST', '/auth/login', { username, password: 'a guess' }),
      ),
    );
    const said = tries.map(({ body: { request_id: _id, ...rest } }) => rest);
    expect(said[0]).toEqual(said[1]);
  });

  it('every request checks the session, so no token outlives its user', async () => {
    const { call, id } = await world.user('gone');
    expect((await call('GET', '/auth/me')).status).toBe(200);
    expect((await world.admin('DELETE', `/users/${id}`)).status).toBe(204);
    expect((await call('GET', '/auth/me')).status).toBe(401);
  });
});
