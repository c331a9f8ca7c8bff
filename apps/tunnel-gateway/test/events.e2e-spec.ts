import { UnitOfWork } from '@gatehouse/persistence';
import { waitFor } from '@gatehouse/testing';
import type { EntityManager } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EventLog, type NewEvent } from '../src/events/event-log.js';
import { EventClient } from './support/event-source.js';
import { caller, TunnelWorld, type Caller } from './support/tunnel-world.js';

let world: TunnelWorld;
let log: EventLog;
let unitOfWork: UnitOfWork;
let ann: { call: Caller; id: number };
beforeAll(async () => {
  world = await TunnelWorld.start();
  log = world.gateway.app.get(EventLog, { strict: false });
  unitOfWork = world.gateway.app.get(UnitOfWork, { strict: false });
  ann = await world.user('ann');
});
afterAll(() => world.close());
beforeEach(() => world.rows('DELETE FROM tunnel_gateway_ops.events'));

const event = (message: string, fields: Partial<NewEvent> = {}): NewEvent => ({
  type: 'host.updated',
  resource: { kind: 'host', id: 7 },
  ownerUserId: null,
  message,
  ...fields,
});

async function token(username: string): Promise<string> {
  const response = await fetch(`${world.gateway.url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password: 'correct horse battery' }),
  });
  return ((await response.json()) as { token: string }).token;
}

const messages = (client: EventClient): string[] => client.seen.map(({ data }) => data.message);

/** A transaction that records an event and commits on request. */
function transaction(
  message: string,
  more: (tx: EntityManager) => Promise<unknown> = () => Promise.resolve(),
): { recorded: Promise<void>; commit: () => void; done: Promise<void> } {
  const recorded = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const done = unitOfWork.run(async (tx) => {
    await log.record(event(message), tx);
    await more(tx);
    recorded.resolve();
    await go.promise;
  });
  return { recorded: recorded.promise, commit: () => go.resolve(), done };
}

describe('the list of events', () => {
  it('is paged, newest first, and can be filtered', async () => {
    for (let i = 1; i <= 5; i++) await log.record(event(`event ${i}`));
    await log.record(event('elsewhere', { type: 'tunnel.failed', resource: { kind: 'tunnel', id: 3 } }));
    const first = await world.admin('GET', '/events?limit=2&type=host.updated');
    expect(first.body.items.map((each: { message: string }) => each.message)).toEqual(['event 5', 'event 4']);
    const next = await world.admin('GET', `/events?limit=2&type=host.updated&cursor=${first.body.next_cursor}`);
    expect(next.body.items.map((each: { message: string }) => each.message)).toEqual(['event 3', 'event 2']);
    const failed = await world.admin('GET', '/events?resource_type=tunnel&resource_id=3&type=tunnel.failed,acl.denied');
    expect(failed.body.items).toHaveLength(1);
    expect((await world.admin('GET', '/events?to=2020-01-01T00:00:00Z')).body.items).toEqual([]);
    // PostgreSQL reads no offset of more than 15:59.
    expect((await world.admin('GET', '/events?to=1156-09-06T15:25:08.7%2B23:37')).body.items).toEqual([]);
    expect((await world.admin('GET', '/events?from=0000-01-01T00:00:00-23:59')).body.items).not.toEqual([]);
    expect((await world.admin('GET', '/events?from=9999-12-31T23:59:59-00:01')).status).toBe(422);
    expect((await world.admin('GET', '/events?type=unheard.of')).status).toBe(422);
  });

  it('shows each user only their own events', async () => {
    await log.record(event('of ann', { ownerUserId: ann.id }));
    await log.record(event('of nobody'));
    expect((await ann.call('GET', '/events')).body.items).toMatchObject([{ message: 'of ann', owner_user_id: ann.id }]);
    expect((await world.admin('GET', '/events?type=host.updated')).body.items).toHaveLength(2);
  });

  it('is in the language of the reader', async () => {
    await log.record(event('The agent came from 192.0.2.1', { type: 'client.online' }));
    await log.record(event('3 visitors were refused: too many connections', { type: 'limit.max_conn' }));
    const authorization = `Bearer ${await token('admin')}`;
    const texts = async (language: string): Promise<string[]> => {
      const ask = caller(world.gateway.url, { authorization, 'accept-language': language });
      const { items } = (await ask('GET', '/events?type=client.online,limit.max_conn')).body;
      return items.map((each: { message: string }) => each.message);
    };
    expect(await texts('zh-CN')).toEqual(['3 名访客被拒绝：连接数过多', '客户端已从 192.0.2.1 上线']);
    expect(await texts('en')).toContain('The agent came from 192.0.2.1');
    const client = await EventClient.open(world.gateway.url, await token('admin'), { 'accept-language': 'zh' });
    await log.record(event('The tunnel ended'));
    await client.until('host.updated', 1);
    expect(messages(client)).toContain('隧道已停止');
    client.close();
  });

  it('accepts any text that visitors and agents send', async () => {
    await log.record(
      event(`\0 \ud800 ${'x'.repeat(10_000)}`, { data: { software: 'a\0b', deep: { long: 'y'.repeat(9_000) } } }),
    );
    const { items } = (await world.admin('GET', '/events?type=host.updated')).body;
    expect(items[0].message).toHaveLength(500);
    expect(items[0].data).toEqual({ too_long: true });
  });

  it('keeps the event ids of a restored backup', async () => {
    await world.rows(
      `INSERT INTO tunnel_gateway_ops.events (id, type, message) VALUES (1000000, 'host.updated', 'of before')`,
    );
    const { items } = (await world.admin('GET', '/events?type=host.updated')).body;
    expect(items).toMatchObject([{ id: 1_000_000, message: 'of before' }]);
  });

  it('contains neither rolled-back nor uncommitted events', async () => {
    const open = transaction('open');
    await open.recorded;
    await expect(
      unitOfWork.run(async (tx) => {
        await log.record(event('never'), tx);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect((await world.admin('GET', '/events')).body.items).toEqual([]);
    open.commit();
    await open.done;
    expect((await world.admin('GET', '/events?type=host.updated')).body.items).toHaveLength(1);
  });
});

describe('the stream of events', () => {
  it('sends events in commit order, and resumes at the last one', async () => {
    const client = await EventClient.open(world.gateway.url, await token('admin'));
    const slow = transaction('slow');
    await slow.recorded;
    await log.record(event('quick'));
    await client.until('host.updated', 1);
    expect(messages(client)).toEqual(['quick']);
    client.close();
    slow.commit();
    await slow.done;
    // The slow one was recorded first; a reader who has seen the quick one still gets it.
    const again = await EventClient.open(world.gateway.url, await token('admin'), {
      'last-event-id': client.seen[0]?.id ?? '',
    });
    await again.until('host.updated', 1);
    expect(messages(again)).toEqual(['slow']);
    again.close();
  });

  it('neither loses nor repeats events while many commit at once and clients reconnect', async () => {
    const admin = await token('admin');
    const start = (await world.rows('SELECT last_value::int AS id FROM tunnel_gateway_ops.event_numbers'))[0].id;
    const names = Array.from({ length: 120 }, (_, i) => `many ${i}`);
    const writing = Promise.all(
      Array.from({ length: 6 }, async (_, writer) => {
        for (const name of names.filter((_name, i) => i % 6 === writer)) {
          const one = transaction(name);
          await one.recorded;
          await new Promise((resolve) => setImmediate(resolve));
          one.commit();
          await one.done;
        }
      }),
    );
    const seen: { id: number; message: string }[] = [];
    while (seen.length < names.length) {
      const last = String(seen.at(-1)?.id ?? start);
      const client = await EventClient.open(world.gateway.url, admin, { 'last-event-id': last });
      await client.until('host.updated', 1);
      client.close();
      seen.push(...client.seen.map(({ data }) => ({ id: data.id as number, message: data.message as string })));
    }
    await writing;
    expect(seen.map(({ message }) => message).sort()).toEqual(names.toSorted());
    expect(seen.map(({ id }) => id)).toEqual(seen.map(({ id }) => id).toSorted((a, b) => a - b));
  });

  it('does not deadlock with changes of the configuration', async () => {
    const clients = [await world.client(), await world.client()];
    const change = (id: number) => (tx: EntityManager) =>
      tx.query('UPDATE tunnel_gateway.clients SET max_conn = coalesce(max_conn, 0) + 1 WHERE id = $1', [id]);
    for (let round = 0; round < 20; round++) {
      const first = transaction('event first', change(clients[0]?.id ?? 0));
      const second = unitOfWork.run(async (tx) => {
        await change(clients[1]?.id ?? 0)(tx);
        await log.record(event('change first'), tx);
      });
      await first.recorded;
      first.commit();
      await Promise.all([first.done, second]);
    }
    expect((await world.admin('GET', '/events?limit=200&type=host.updated')).body.items).toHaveLength(40);
  });

  it('reports when the requested events were deleted', async () => {
    await log.record(event('old'));
    await log.record(event('new'));
    const [{ id }] = await world.rows('DELETE FROM tunnel_gateway_ops.events WHERE message = $1 RETURNING id', ['old']);
    const client = await EventClient.open(world.gateway.url, await token('admin'), { 'last-event-id': String(id - 1) });
    await client.until('host.updated', 1);
    expect(client.seen.map(({ type }) => type)).toEqual(['gap', 'host.updated']);
    client.close();
  });

  it('also reports this when all events were deleted', async () => {
    await log.record(event('seen'));
    await log.record(event('missed'));
    const rows = await world.rows('DELETE FROM tunnel_gateway_ops.events RETURNING id');
    const [seen, missed] = rows.map(({ id }) => Number(id)).toSorted((a, b) => a - b);
    const admin = await token('admin');
    await world.rows('DELETE FROM tunnel_gateway_ops.events');
    const behind = await EventClient.open(world.gateway.url, admin, { 'last-event-id': String(seen) });
    await behind.until('gap');
    behind.close();
    const [{ last }] = await world.rows('SELECT last_value AS last FROM tunnel_gateway_ops.event_numbers');
    expect(Number(last)).toBeGreaterThanOrEqual(missed ?? 0);
    const upToDate = await EventClient.open(world.gateway.url, admin, { 'last-event-id': String(last) });
    await log.record(event('next'));
    await upToDate.until('host.updated');
    expect(upToDate.seen.map(({ type }) => type)).toEqual(['host.updated']);
    upToDate.close();
  });

  it('also reports this when a restored backup does not know the last event', async () => {
    await log.record(event('kept'));
    const client = await EventClient.open(world.gateway.url, await token('admin'), { 'last-event-id': '900000000' });
    await client.until('gap');
    await log.record(event('next'));
    await client.until('host.updated');
    expect(messages(client).at(-1)).toBe('next');
    client.close();
  });

  it('sends each user only their own events, and only the requested types', async () => {
    const own = await EventClient.open(world.gateway.url, await token('ann'));
    await log.record(event('of nobody'));
    await log.record(event('of ann', { ownerUserId: ann.id }));
    await own.until('host.updated', 1);
    expect(messages(own)).toEqual(['of ann']);
    own.close();
  });

  it('ends with the session, and when the user is disabled', async () => {
    const [first, second] = [await token('ann'), await token('ann')];
    const leaving = await EventClient.open(world.gateway.url, first);
    const staying = await EventClient.open(world.gateway.url, second);
    await fetch(`${world.gateway.url}/api/v1/auth/logout`, {
      method: 'POST',
      headers: { authorization: `Bearer ${first}` },
    });
    await waitFor(() => leaving.ended);
    expect(staying.ended).toBe(false);
    await world.rows('UPDATE tunnel_gateway.users SET status = 0 WHERE id = $1', [ann.id]);
    await waitFor(() => staying.ended);
    await world.rows('UPDATE tunnel_gateway.users SET status = 1 WHERE id = $1', [ann.id]);
  });

  it('of a key ends when the role of its user changes', async () => {
    const { id } = await world.user('deb', 'admin');
    const login = { authorization: `Bearer ${await token('deb')}` };
    const proof = { name: 'reads', scopes: ['read'], current_password: 'correct horse battery' };
    const { body: made } = await caller(world.gateway.url, login)('POST', '/api-keys', proof);
    const client = await EventClient.open(world.gateway.url, made.key);
    await world.admin('PATCH', `/users/${id}`, { role: 'user' });
    await waitFor(() => client.ended);
    client.close();
  });

  it('works for programs with an API key until the key is revoked', async () => {
    const made = await world.admin('POST', '/api-keys', {
      name: 'watcher',
      scopes: ['read'],
      current_password: 'correct horse battery',
    });
    const client = await EventClient.open(world.gateway.url, made.body.key);
    await log.record(event('of ann', { ownerUserId: ann.id }));
    await client.until('host.updated');
    await world.admin('DELETE', `/api-keys/${made.body.id}`);
    await waitFor(() => client.ended);
  });

  it('is limited in number', async () => {
    const admin = await token('admin');
    const clients = await Promise.all(Array.from({ length: 17 }, () => EventClient.open(world.gateway.url, admin)));
    expect(clients.filter(({ status }) => status === 503)).toHaveLength(1);
    for (const client of clients) client.close();
    await waitFor(async () => {
      const one = await EventClient.open(world.gateway.url, admin);
      one.close();
      return one.status === 200;
    });
  });
});
