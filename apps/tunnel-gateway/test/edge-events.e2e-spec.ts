import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TunnelWorld, type AnyJson, type Caller } from './support/tunnel-world.js';

let world: TunnelWorld;
let ann: { call: Caller; id: number };
beforeAll(async () => {
  world = await TunnelWorld.start();
  ann = await world.user('ann');
});
afterAll(() => world.close());

/** Events of a resource, the oldest first, as soon as there are so many. Each way of an agent takes seconds. */
async function events(kind: string, id: number, count: number, call = world.admin): Promise<AnyJson[]> {
  const there = async (): Promise<AnyJson[]> => {
    const { body } = await call('GET', `/events?resource_type=${kind}&resource_id=${id}`);
    if (body.items.length < count) throw new Error(`only ${types(body.items).join(', ')}`);
    return body.items.toReversed();
  };
  return waitFor(there, { timeoutMs: 15_000 });
}
const types = (all: AnyJson[]): string[] => all.map(({ type }) => type);

describe('the events of the edge', () => {
  it('report when agents connect and leave', async () => {
    const client = await world.client({}, ann.call);
    const { agent } = await world.online(client.key);
    await events('client', client.id, 1);
    expect((await world.admin('POST', `/clients/${client.id}/kick`)).status).toBe(204);
    await events('client', client.id, 4);
    await agent.stop();
    const all = await events('client', client.id, 5, ann.call);
    expect(types(all).toSorted()).toEqual(
      ['client.online', 'client.kicked', 'client.offline', 'client.online', 'client.offline'].toSorted(),
    );
    expect(all[0]).toMatchObject({ owner_user_id: ann.id, data: { software: 'test-agent/1', address: '127.0.0.1' } });
    expect(all.find(({ type }) => type === 'client.kicked').message).toBe('home was cut off by admin');
  });

  it('report agents once when another edge takes them over', async () => {
    const client = await world.client();
    const { agent } = await world.online(client.key);
    await events('client', client.id, 1);
    const { pid } = world.edges;
    await world.edges.replace();
    expect(world.edges.pid).not.toBe(pid);
    // An agent that is still on its way is online, at the edge that may no longer report it.
    await waitFor(async () => (await world.edges.agents([client.id]))?.length === 1);
    await agent.stop();
    expect(types(await events('client', client.id, 2))).toEqual(['client.online', 'client.offline']);
  });

  it('report when a client expires', async () => {
    const client = await world.client({ expire_at: new Date(Date.now() + 1_500).toISOString() });
    await world.online(client.key);
    const all = await events('client', client.id, 3);
    expect(types(all)).toContain('client.expired');
  });

  it('report when tunnels start, fail and stop', async () => {
    const client = await world.client({}, ann.call);
    await world.online(client.key);
    const tunnel = await world.tunnel(client.id, await world.echo());
    await world.admin('POST', `/tunnels/${tunnel.id}/stop`);
    const all = await events('tunnel', tunnel.id, 2, ann.call);
    expect(types(all)).toEqual(['tunnel.started', 'tunnel.stopped']);
    expect(all[0].data).toMatchObject({ port: tunnel.listen_port, client_id: client.id });
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { body: taken } = await world.admin('POST', '/tunnels', {
      client_id: client.id,
      mode: 'tcp',
      listen_ip: '127.0.0.1',
      listen_port: port,
      target_addr: '127.0.0.1:9',
    });
    expect((await events('tunnel', taken.id, 1))[0]).toMatchObject({ type: 'tunnel.failed' });
    other.close();
    expect(types(await events('tunnel', taken.id, 2))).toEqual(['tunnel.failed', 'tunnel.started']);
  });

  it('report changes of hosts', async () => {
    const client = await world.client({}, ann.call);
    await world.assign(ann, 'app.example.org');
    const { body: host } = await ann.call('POST', '/hosts', {
      client_id: client.id,
      host: 'app.example.org',
      target_addr: 'http://127.0.0.1:80',
    });
    await ann.call('PATCH', `/hosts/${host.id}`, { location: '/api' });
    await ann.call('DELETE', `/hosts/${host.id}`);
    const all = await events('host', host.id, 3, ann.call);
    expect(all.map(({ message }) => message)).toEqual([
      'app.example.org/ was added by ann',
      'app.example.org/api was changed by ann',
      'app.example.org/api was removed by ann',
    ]);
  });

  it('report a flood of refused visitors once, with a count', async () => {
    const client = await world.client({}, ann.call);
    await world.online(client.key);
    const tunnel = await world.tunnel(client.id, await world.echo());
    await world.admin('POST', '/ip-rules', {
      scope: 'tunnel',
      resource_id: tunnel.id,
      type: 'deny',
      pattern: '127.0.0.1',
    });
    await waitFor(async () => (await world.ask(tunnel.listen_port, 'x')) === null);
    for (let i = 0; i < 300; i++) await world.ask(tunnel.listen_port, 'x');
    const all = await events('tunnel', tunnel.id, 2, ann.call);
    const denied = all.filter(({ type }) => type === 'acl.denied');
    expect(denied).toHaveLength(1);
    expect(denied[0].data).toMatchObject({ reason: 'address_denied', address: '127.0.0.1', scope: 'tunnel', count: 1 });
  });

  it('report too many visitors and a rate that is used up', async () => {
    const client = await world.client({ max_conn: 1, rate_limit: 64 });
    await world.online(client.key);
    const tunnel = await world.tunnel(client.id, await world.echo());
    const visitor = await world.visit(tunnel.listen_port);
    visitor.write(Buffer.alloc(300_000));
    visitor.resume();
    await once(visitor, 'data');
    expect(await world.ask(tunnel.listen_port, 'x')).toBeNull();
    const full = await events('tunnel', tunnel.id, 2);
    expect(full.at(-1)).toMatchObject({
      type: 'limit.max_conn',
      message: 'A visitor was refused: too many connections',
    });
    const slow = await waitFor(async () =>
      (await events('client', client.id, 1)).find(({ type }) => type === 'limit.rate'),
    );
    expect(slow.data).toEqual({ count: 1 });
  });

  it('report a tunnel whose own rate is used up, and not its client', async () => {
    const client = await world.client({}, ann.call);
    await world.online(client.key);
    const tunnel = await world.tunnel(client.id, await world.echo(), { rate_limit: 64 });
    expect(tunnel.rate_limit).toBe(64);
    const visitor = await world.visit(tunnel.listen_port);
    visitor.resume().write(Buffer.alloc(300_000));
    const all = await events('tunnel', tunnel.id, 2, ann.call);
    expect(all.at(-1)).toMatchObject({ type: 'limit.rate', data: { count: 1, client_id: client.id } });
    expect(types(await events('client', client.id, 1))).toEqual(['client.online']);
    // A change reaches the visitor that is connected.
    const more = once(visitor.pause(), 'end');
    await ann.call('PATCH', `/tunnels/${tunnel.id}`, { rate_limit: 0 });
    visitor.resume().end();
    await more;
  });
});
