import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caller, TunnelWorld, type Answer, type Caller } from './support/tunnel-world.js';

const PASSWORD = 'a long password';

let world: TunnelWorld;
beforeAll(async () => {
  world = await TunnelWorld.start({ TRUSTED_PROXIES: '127.0.0.1' });
});
afterAll(() => world.close());

const make = (body: object): Promise<Answer> => world.admin('POST', '/users', { password: PASSWORD, ...body });
let addresses = 0;
async function logIn(username: string, password = PASSWORD): Promise<Caller> {
  const anonymous = caller(world.gateway.url, { 'x-forwarded-for': `198.51.100.${++addresses}` });
  const { body } = await anonymous('POST', '/auth/login', { username, password });
  return caller(world.gateway.url, { authorization: `Bearer ${body.token}` });
}

describe('users', () => {
  it('are created, found, changed and deleted by administrators', async () => {
    const { status, body } = await make({ username: ' Ada@Example.org ', role: 'viewer' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ username: 'ada@example.org', role: 'viewer', status: 1, totp: false });
    expect(JSON.stringify(body)).not.toContain('argon2');
    expect((await make({ username: 'ADA@example.org' })).body).toMatchObject({ status: 409, code: 'username_taken' });
    const found = await world.admin('GET', '/users?q=EXAMPLE&role=viewer&status=1');
    expect(found.body.items).toMatchObject([{ id: body.id }]);
    const changed = await world.admin('PATCH', `/users/${body.id}`, { role: 'user', username: 'ada' });
    expect(changed.body).toMatchObject({ role: 'user', username: 'ada' });
    expect((await world.admin('PATCH', `/users/${body.id}`, { username: 'admin' })).body.code).toBe('username_taken');
    expect((await (await logIn('Ada'))('GET', '/auth/me')).body.id).toBe(body.id);
    expect((await world.admin('DELETE', `/users/${body.id}`)).status).toBe(204);
    expect((await world.admin('GET', `/users/${body.id}`)).status).toBe(404);
  });

  it.each([
    [{}, 'username'],
    [{ username: '' }, 'username'],
    [{ username: 'a b' }, 'username'],
    [{ username: '-a' }, 'username'],
    [{ username: 'a'.repeat(65) }, 'username'],
    [{ username: 'x1', password: 'short' }, 'password'],
    [{ username: 'x1', password: 'changeme' }, 'password'],
    [{ username: 'somebody-else', password: 'Somebody-Else' }, 'password'],
    [{ username: 'x1', role: 'root' }, 'role'],
    [{ username: 'x1', status: 2 }, 'status'],
    [{ username: 'x1', password_hash: 'x' }, 'password_hash'],
    [{ username: 'x1', id: 1 }, 'id'],
  ])('are refused as %j', async (body, field) => {
    const answer = await make(body);
    expect(answer.status).toBe(422);
    expect(answer.body.errors.map((error: { field: string }) => error.field)).toContain(field);
  });

  it('see only themselves, and cannot change their own role', async () => {
    const { call, id } = await world.user('bob');
    expect((await call('GET', '/users')).body.items).toMatchObject([{ id, username: 'bob' }]);
    expect((await call('GET', `/users/${id}`)).status).toBe(200);
    expect((await call('GET', '/users/1')).status).toBe(404);
    for (const answer of [
      await call('PATCH', `/users/${id}`, { role: 'admin' }),
      await call('POST', '/users', { username: 'mallory', password: PASSWORD, role: 'admin' }),
      await call('DELETE', '/users/1'),
    ]) {
      expect(answer.status).toBe(403);
    }
    expect((await call('POST', '/auth/login', { username: 'bob', password: PASSWORD, role: 'admin' })).status).toBe(
      422,
    );
    expect((await call('GET', '/auth/me')).body.role).toBe('user');
  });

  it('lose access at the next request when disabled, with sessions, keys and agents', async () => {
    const { call, id } = await world.user('dan');
    const client = await world.client({}, call);
    const { agent } = await world.online(client.key);
    const { body } = await call('POST', '/api-keys', { name: 'ci', current_password: 'correct horse battery' });
    const key = caller(world.gateway.url, { 'x-api-key': body.key });
    expect((await key('GET', '/clients')).status).toBe(200);
    expect((await world.admin('PATCH', `/users/${id}`, { status: 0 })).status).toBe(200);
    expect((await call('GET', '/auth/me')).status).toBe(401);
    expect((await key('GET', '/clients')).status).toBe(401);
    expect((await (await logIn('dan', 'correct horse battery'))('GET', '/auth/me')).status).toBe(401);
    await waitFor(() => agent.status.state !== 'online');
    expect(await world.rows('SELECT 1 FROM tunnel_gateway.sessions WHERE user_id = $1', [id])).toEqual([]);
    // Enabled again the key works; the logins are gone.
    await world.admin('PATCH', `/users/${id}`, { status: 1 });
    expect((await key('GET', '/clients')).status).toBe(200);
    expect((await call('GET', '/auth/me')).status).toBe(401);
  });

  it('have a new role from the next request on', async () => {
    const { call, id } = await world.user('fay', 'admin');
    expect((await call('GET', '/users')).body.items.length).toBeGreaterThan(1);
    await world.admin('PATCH', `/users/${id}`, { role: 'user' });
    expect((await call('GET', '/users')).body.items).toHaveLength(1);
    expect((await call('POST', '/users', { username: 'x9', password: PASSWORD })).status).toBe(403);
  });

  it('can get a new password from administrators, which ends earlier sessions', async () => {
    const { call, id } = await world.user('gil');
    expect((await world.admin('PATCH', `/users/${id}`, { password: 'another password' })).status).toBe(200);
    expect((await call('GET', '/auth/me')).status).toBe(401);
    expect((await (await logIn('gil', 'another password'))('GET', '/auth/me')).status).toBe(200);
  });

  it('cannot be deleted while they have clients, unless another user gets them', async () => {
    const [{ call, id }, heir] = [await world.user('hal'), await world.user('ian')];
    const client = await world.client({}, call);
    expect((await world.admin('DELETE', `/users/${id}`)).body).toMatchObject({ status: 409, code: 'in_use' });
    expect((await call('GET', '/auth/me')).status).toBe(200);
    for (const wrong of [id, 999_999]) {
      expect((await world.admin('DELETE', `/users/${id}?transfer_to=${wrong}`)).status).toBe(422);
    }
    expect((await world.admin('DELETE', `/users/${id}?transfer_to=${heir.id}`)).status).toBe(204);
    expect((await heir.call('GET', `/clients/${client.id}`)).body.owner_user_id).toBe(heir.id);
    expect((await call('GET', '/auth/me')).status).toBe(401);
  });

  it('always include an administrator', async () => {
    const { id, call } = await world.user('joe', 'admin');
    const me = (await world.admin('GET', '/auth/me')).body.id;
    const conflict = { status: 409, body: { code: 'conflict' } };
    expect((await call('DELETE', `/users/${me}`)).status).toBe(204);
    for (const changes of [{ status: 0 }, { role: 'viewer' }]) {
      expect(await call('PATCH', `/users/${id}`, changes)).toMatchObject(conflict);
    }
    expect(await call('DELETE', `/users/${id}`)).toMatchObject(conflict);
    const other = (await call('POST', '/users', { username: 'kay', password: PASSWORD, role: 'admin' })).body.id;
    const both = await Promise.all([
      call('PATCH', `/users/${id}`, { role: 'user' }),
      call('PATCH', `/users/${other}`, { role: 'user' }),
    ]);
    expect(both.filter(({ status }) => status === 200).length).toBeLessThan(2);
    const left = await world.rows(`SELECT 1 FROM tunnel_gateway.users WHERE role = 'admin' AND status = 1`);
    expect(left).toHaveLength(1);
  });
});
