import { createHash } from 'node:crypto';
import { IdempotencyStore } from '@gatehouse/auth';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bearerOf, TunnelWorld, type AnyJson } from './support/tunnel-world.js';

let world: TunnelWorld;
let token: string;
beforeAll(async () => {
  world = await TunnelWorld.start({ WORKERS: 'separate' });
  token = await bearerOf(world.gateway, 'admin');
});
afterAll(() => world.close());

async function post(path: string, key: string, body: object, as = token): Promise<{ status: number; body: AnyJson }> {
  const response = await fetch(`${world.gateway.url}/api/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

const clients = async (): Promise<number> => (await world.rows('SELECT id FROM tunnel_gateway.clients')).length;

describe('a POST with an Idempotency-Key', () => {
  it('is executed once; a repeat gets the same answer, with the key that is shown once', async () => {
    const before = await clients();
    const first = await post('/clients', 'one', { name: 'a' });
    expect(first.status).toBe(201);
    expect(await post('/clients', 'one', { name: 'a' })).toEqual(first);
    expect(await clients()).toBe(before + 1);
    const kept = JSON.stringify(await world.rows('SELECT * FROM tunnel_gateway_ops.idempotency_keys'));
    expect(kept).not.toContain(first.body.key);
    expect(kept).not.toContain(first.body.key.split('.')[0]);
  });

  it('stores nothing that would confirm a guessed password', async () => {
    const body = { username: 'pia', password: 'a long password' };
    expect((await post('/users', 'user', body)).status).toBe(201);
    expect((await post('/users', 'user', body)).status).toBe(201);
    const kept = JSON.stringify(await world.rows('SELECT * FROM tunnel_gateway_ops.idempotency_keys'));
    for (const content of [body, body.password, ['POST', '/api/v1/users', body]]) {
      const text = typeof content === 'string' ? content : JSON.stringify(content);
      expect(kept).not.toContain(createHash('sha256').update(text).digest('hex'));
    }
  });

  it('creates one row for many concurrent requests', async () => {
    const before = await clients();
    const all = await Promise.all(Array.from({ length: 8 }, () => post('/clients', 'many', { name: 'b' })));
    expect(await clients()).toBe(before + 1);
    expect(all.map(({ status }) => status).filter((status) => status !== 409 && status !== 201)).toEqual([]);
    expect(new Set(all.filter(({ status }) => status === 201).map(({ body }) => body.id)).size).toBe(1);
  });

  it('is refused if the key was used for another request', async () => {
    await post('/clients', 'other', { name: 'c' });
    expect((await post('/clients', 'other', { name: 'd' })).status).toBe(422);
    expect((await post('/tunnels', 'other', { name: 'c' })).status).toBe(422);
    expect((await post('/clients', 'with blank', { name: 'c' })).status).toBe(400);
  });

  it('keeps its answer from the commit on, also the key in it, whatever fails afterwards', async () => {
    const { id: client } = (await post('/clients', 'owner', { name: 'owner' })).body;
    const target = { client_id: client, target_addr: '127.0.0.1:1' };
    const requests: [string, object][] = [
      ['/clients', { name: 'crash' }],
      [`/clients/${client}/rotate-key`, {}],
      ['/api-keys', { name: 'crash', current_password: 'correct horse battery' }],
      ['/users', { username: 'crash', password: 'a long password' }],
      ['/tunnels', { ...target, mode: 'secret', name: 'crash' }],
      ['/hosts', { ...target, host: 'crash.example' }],
      ['/webhooks', { name: 'crash', url: 'https://hooks.example/crash' }],
    ];
    const made: string[] = [];
    for (const [path, body] of requests) {
      // The process ends here: the answer reaches nobody, and is not kept after the commit.
      const died = vi.spyOn(IdempotencyStore.prototype, 'remember').mockRejectedValueOnce(new Error('killed'));
      expect([path, (await post(path, `crash ${path}`.replace(' ', '-'), body)).status]).toEqual([path, 500]);
      const [, answer] = died.mock.calls.at(-1) ?? [];
      died.mockRestore();
      const repeat = await post(path, `crash ${path}`.replace(' ', '-'), body);
      expect([path, repeat.status, repeat.body]).toEqual([
        path,
        expect.any(Number),
        JSON.parse(JSON.stringify(answer)),
      ]);
      expect(repeat.status).toBeLessThan(300);
      made.push(...[repeat.body.key, repeat.body.visitor_key, repeat.body.secret].filter((secret) => secret != null));
    }
    expect(made).toHaveLength(5);
    const kept = JSON.stringify(await world.rows('SELECT * FROM tunnel_gateway_ops.idempotency_keys'));
    for (const secret of made) expect(kept).not.toContain(secret);
  });

  it('is separate for each user, and the key can be used again after a failure and after a day', async () => {
    await world.user('eve');
    const eve = await bearerOf(world.gateway, 'eve');
    const [mine, hers] = [
      await post('/clients', 'shared', { name: 'e' }),
      await post('/clients', 'shared', { name: 'e' }, eve),
    ];
    expect(hers.status).toBe(201);
    expect(hers.body.id).not.toBe(mine.body.id);
    const tunnel = { client_id: 999_999, mode: 'tcp', target_addr: '127.0.0.1:1' };
    expect((await post('/tunnels', 'again', tunnel)).status).toBe(404);
    expect((await post('/tunnels', 'again', { ...tunnel, client_id: mine.body.id })).status).toBe(201);
    await world.rows(`UPDATE tunnel_gateway_ops.idempotency_keys SET created_at = now() - interval '25 hours'`);
    expect((await post('/clients', 'shared', { name: 'other' })).status).toBe(201);
  });
});
