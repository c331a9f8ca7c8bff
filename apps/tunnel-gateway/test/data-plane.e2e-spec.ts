import { once } from 'node:events';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closed, TunnelWorld } from './support/tunnel-world.js';

let world: TunnelWorld;
beforeAll(async () => void (world = await TunnelWorld.start()));
afterAll(() => world.close());

describe('a client with its agent', () => {
  it('carries bytes, with equal counters on all levels', async () => {
    const client = await world.client();
    expect(client.command).toMatch(/^node gatehouse-agent\.mjs --server 127\.0\.0\.1:\d+ --key gtk1\./);
    expect((await world.admin('GET', `/clients/${client.id}`)).body).toMatchObject({ online: false, agent: null });
    await world.online(client.key);
    expect((await world.admin('GET', `/clients/${client.id}`)).body).toMatchObject({
      online: true,
      agent: { address: '127.0.0.1', software: 'test-agent/1' },
    });
    const tunnels = [
      await world.tunnel(client.id, await world.echo()),
      await world.tunnel(client.id, await world.echo()),
    ];
    const sent = tunnels.map((_, index) => 'x'.repeat(10_000 * (index + 1)));
    for (const [index, tunnel] of tunnels.entries()) {
      expect(await world.ask(tunnel.listen_port, sent[index] ?? '')).toBe(sent[index]);
    }
    const { owner_user_id: user } = client;
    const all = { inlet_bytes: 30_000, export_bytes: 30_000 };
    await waitFor(async () => expect(await totals('client', client.id)).toEqual(all) ?? true);
    expect(await totals('user', user)).toEqual(all);
    expect(await totals('global', 0)).toEqual(all);
    expect(await totals('tunnel', tunnels[0].id)).toEqual({ inlet_bytes: 10_000, export_bytes: 10_000 });
    expect((await world.admin('GET', `/clients/${client.id}`)).body).toMatchObject({
      inlet_flow: 30_000,
      export_flow: 30_000,
    });
    expect((await world.admin('GET', `/tunnels/${tunnels[1].id}`)).body).toMatchObject({ inlet_flow: 20_000 });
    expect(
      await world.rows('SELECT resource_type, ip, hit_count FROM tunnel_gateway.request_ips WHERE resource_id = $1', [
        client.id,
      ]),
    ).toContainEqual({ resource_type: 'client', ip: '127.0.0.1', hit_count: 2 });
  });

  it('lists and disconnects its visitors', async () => {
    const client = await world.client();
    const { history } = await world.online(client.key);
    const tunnel = await world.tunnel(client.id, await world.echo());
    const visitor = await world.visit(tunnel.listen_port);
    visitor.write('hello');
    await once(visitor, 'data');
    const listed = await world.admin('GET', `/clients/${client.id}/connections`);
    expect(listed.body).toMatchObject({
      items: [{ resource_type: 'tunnel', resource_id: tunnel.id, visitor_ip: '127.0.0.1', inlet_bytes: 5 }],
      total: 1,
    });
    const cut = closed(visitor);
    expect((await world.admin('POST', `/clients/${client.id}/kick`)).status).toBe(204);
    await cut;
    await waitFor(() => history.at(-1)?.state === 'waiting');
  });

  it('is disconnected within a second of being disabled', async () => {
    const client = await world.client();
    await world.online(client.key);
    const tunnel = await world.tunnel(client.id, await world.echo());
    const visitor = await world.visit(tunnel.listen_port);
    visitor.write('hello');
    await once(visitor, 'data');
    const cut = closed(visitor);
    const from = performance.now();
    expect((await world.admin('PATCH', `/clients/${client.id}`, { status: 0 })).body).toMatchObject({ status: 0 });
    await cut;
    expect(performance.now() - from).toBeLessThan(1_000);
    await waitFor(async () => (await world.ask(tunnel.listen_port, 'x')) === null);
    await waitFor(async () => (await world.admin('GET', `/tunnels/${tunnel.id}`)).body.run_status === 0);
    expect((await world.admin('GET', `/clients/${client.id}`)).body.online).toBe(false);
  });

  it('is served again without a back-off when it is enabled or its expiry is lifted', async () => {
    const client = await world.client();
    const { history } = await world.online(client.key);
    const tunnel = await world.tunnel(client.id, await world.echo());
    const past = new Date(Date.now() - 1_000).toISOString();
    for (const [shut, open] of [
      [{ status: 0 }, { status: 1 }],
      [{ expire_at: past }, { expire_at: null }],
    ]) {
      expect((await world.admin('PATCH', `/clients/${client.id}`, shut)).status).toBe(200);
      await waitFor(() => history.at(-1)?.state === 'waiting');
      expect((await world.admin('PATCH', `/clients/${client.id}`, open)).status).toBe(200);
      // An agent that was sent away would come back after half a minute.
      await waitFor(async () => (await world.ask(tunnel.listen_port, 'x')) === 'x');
    }
  });

  it('is refused with a replaced key', async () => {
    const client = await world.client();
    const { agent, history } = await world.online(client.key);
    const rotated = await world.admin('POST', `/clients/${client.id}/rotate-key`);
    expect(rotated.status).toBe(200);
    await waitFor(() => history.some(({ state }) => state === 'waiting'));
    await agent.stop();
    const late = world.agent(client.key);
    await waitFor(() => late.agent.status.state === 'stopped');
    await world.online(rotated.body.key);
  });

  it('can use its old key for a while after a change, also across a restart of the edge', async () => {
    const client = await world.client();
    const old = await world.online(client.key);
    const tunnel = await world.tunnel(client.id, await world.echo());
    const visitor = await world.visit(tunnel.listen_port);
    const path = `/clients/${client.id}`;
    const rotated = await world.admin('POST', `${path}/rotate-key`, { grace_seconds: 600 });
    expect(rotated.status).toBe(200);
    const until = rotated.body.previous_key_until;
    expect(Date.parse(until)).toBeGreaterThan(Date.now() + 500_000);
    await waitFor(async () => (await world.admin('GET', path)).body.agent?.uses_previous_key === true);
    expect((await world.admin('GET', path)).body).toMatchObject({ previous_key_until: until, online: true });
    visitor.write('still here');
    expect(String((await once(visitor, 'data'))[0])).toBe('still here');

    process.kill(world.edges.pid ?? 0, 'SIGKILL');
    await waitFor(async () => (await world.ask(tunnel.listen_port, 'again')) === 'again', { timeoutMs: 20_000 });
    expect((await world.admin('GET', path)).body).toMatchObject({ agent: { uses_previous_key: true } });

    const cut = old.history.length;
    await world.rows(
      `UPDATE tunnel_gateway_ops.client_options SET previous_key_until = now() + interval '1 second' WHERE client_id = $1`,
      [client.id],
    );
    await waitFor(() => old.history.slice(cut).some(({ state }) => state === 'stopped'), { timeoutMs: 20_000 });
    expect((await world.admin('GET', path)).body).toMatchObject({ previous_key_until: null });
    await world.online(rotated.body.key);
    await waitFor(async () => (await world.admin('GET', path)).body.agent?.uses_previous_key === false);
  });

  it('has at most one previous key, and none after a change without a grace period', async () => {
    const client = await world.client();
    const rotate = async (grace_seconds: number): Promise<string> =>
      (await world.admin('POST', `/clients/${client.id}/rotate-key`, { grace_seconds })).body.key;
    const second = await rotate(600);
    const third = await rotate(600);
    const first = world.agent(client.key);
    await waitFor(() => first.agent.status.state === 'stopped');
    const { agent, history } = await world.online(second);
    await rotate(0);
    await waitFor(() => history.some(({ state }) => state === 'stopped'));
    await agent.stop();
    const late = world.agent(third);
    await waitFor(() => late.agent.status.state === 'stopped');
    for (const grace_seconds of [-1, 0.5, '60', null, 2_592_001]) {
      const refused = await world.admin('POST', `/clients/${client.id}/rotate-key`, { grace_seconds });
      expect([refused.status, JSON.stringify(refused.body)]).toEqual([422, expect.stringContaining('grace_seconds')]);
    }
  });

  it('gets sealed channels as soon as encryption is switched on, and unsealed ones end', async () => {
    const client = await world.client({ encrypt: false });
    const { agent, history } = await world.online(client.key);
    const tunnel = await world.tunnel(client.id, await world.echo());
    const visitor = await world.visit(tunnel.listen_port);
    visitor.write('x');
    await once(visitor, 'data');
    const cut = closed(visitor);
    await world.admin('PATCH', `/clients/${client.id}`, { name: 'another' });
    await world.admin('PATCH', `/clients/${client.id}`, { encrypt: true });
    await cut;
    await waitFor(
      () => agent.status.state === 'online' && history.filter(({ state }) => state === 'online').length === 2,
    );
    expect(await world.ask(tunnel.listen_port, 'y')).toBe('y');
  });

  it('follows a new address rule at once', async () => {
    const client = await world.client();
    await world.online(client.key);
    const tunnel = await world.tunnel(client.id, await world.echo());
    const visitor = await world.visit(tunnel.listen_port);
    const cut = closed(visitor);
    const from = performance.now();
    await world.rows(
      `INSERT INTO tunnel_gateway.ip_rules (scope, resource_id, type, pattern) VALUES ('tunnel', $1, 'deny', '127.0.0.1')`,
      [tunnel.id],
    );
    await cut;
    expect(performance.now() - from).toBeLessThan(1_000);
    expect(await world.ask(tunnel.listen_port, 'x')).toBeNull();
  });
});

describe('tunnels', () => {
  it('run, wait for their agent, stop and start', async () => {
    const client = await world.client();
    const { agent } = await world.online(client.key);
    const tunnel = await world.tunnel(client.id, await world.echo());
    const status = async (): Promise<number> => (await world.admin('GET', `/tunnels/${tunnel.id}`)).body.run_status;
    await agent.stop();
    await waitFor(async () => (await status()) === 2);
    await world.online(client.key);
    await waitFor(async () => (await status()) === 1);
    expect((await world.admin('POST', `/tunnels/${tunnel.id}/stop`)).body.status).toBe(0);
    await waitFor(async () => (await status()) === 0);
    expect(await world.ask(tunnel.listen_port, 'x')).toBeNull();
    await world.admin('POST', `/tunnels/${tunnel.id}/start`);
    await waitFor(async () => (await world.ask(tunnel.listen_port, 'x')) === 'x');
  });

  it('show their real state, whatever a previous edge wrote last', async () => {
    const client = await world.client();
    await world.online(client.key);
    const tunnel = await world.tunnel(client.id, await world.echo());
    await world.rows('UPDATE tunnel_gateway.tunnels SET run_status = 0 WHERE id = $1', [tunnel.id]);
    await waitFor(async () => (await world.admin('GET', `/tunnels/${tunnel.id}`)).body.run_status === 1, {
      timeoutMs: 15_000,
    });
  });

  it('report why they failed', async () => {
    const client = await world.client();
    await world.online(client.key);
    const { body: tunnel } = await world.admin('POST', '/tunnels', {
      client_id: client.id,
      mode: 'tcp',
      listen_ip: '127.0.0.1',
      listen_port: await world.echo(),
      target_addr: '127.0.0.1:9',
    });
    const failed = await waitFor(async () => {
      const { body } = await world.admin('GET', `/tunnels/${tunnel.id}`);
      return body.run_status === 3 && body;
    });
    expect(failed.error).toContain('is in use');
  });
});

async function totals(type: string, id: number): Promise<object | undefined> {
  const sql = `SELECT inlet_bytes, export_bytes FROM tunnel_gateway.flow_stats
    WHERE resource_type = $1 AND resource_id = $2`;
  return (await world.rows(sql, [type, id]))[0];
}
