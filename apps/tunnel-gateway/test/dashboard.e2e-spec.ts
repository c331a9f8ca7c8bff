import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FlowRollup } from '../src/rollup/flow-rollup.js';
import { closed, TunnelWorld, type AnyJson, type Caller } from './support/tunnel-world.js';

let world: TunnelWorld;
let ada: { call: Caller; id: number };
let eve: { call: Caller; id: number };
let own: AnyJson;
let tunnel: AnyJson;
beforeAll(async () => {
  world = await TunnelWorld.start();
  [ada, eve] = [await world.user('ada'), await world.user('eve')];
  own = await world.client({ name: 'own' }, ada.call);
  await world.client({ name: 'foreign', status: 0 }, eve.call);
  await world.online(own.key);
  tunnel = await world.tunnel(own.id, await world.echo(), { name: 'echo' });
});
afterAll(() => world.close());

const dashboard = async (call: Caller): Promise<AnyJson> => {
  const { status, body } = await call('GET', '/dashboard');
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};

const sum = (points: AnyJson[], field: string): number => points.reduce((all, point) => all + point[field], 0);

describe('the dashboard', () => {
  it('shows the bytes that sockets moved: now, in total and over time', async () => {
    const sent = 300_000;
    for (let visit = 0; visit < 3; visit += 1) {
      expect(await world.ask(tunnel.listen_port, 'x'.repeat(100_000))).toHaveLength(100_000);
    }
    const staying = await world.visit(tunnel.listen_port);
    const seen = await waitFor(async () => {
      const found = await dashboard(ada.call);
      return found.totals.export_bytes === sent && found.live.connections === 1 && found;
    });
    expect(seen.totals).toMatchObject({ inlet_bytes: sent, export_bytes: sent, users: null });
    const { live } = seen;
    expect(live.inlet_bytes_per_second * live.window_seconds).toBe(sent);
    expect(live.export_bytes_per_second * live.window_seconds).toBe(sent);
    const later = await waitFor(async () => {
      await world.gateway.app.get(FlowRollup, { strict: false }).run();
      const found = await dashboard(ada.call);
      return sum(found.series.minute, 'connections') === 4 && found;
    });
    for (const bucket of ['minute', 'hour', 'day']) {
      expect(sum(later.series[bucket], 'inlet_bytes')).toBe(sent);
      expect(sum(later.series[bucket], 'export_bytes')).toBe(sent);
      expect(sum(later.series[bucket], 'connections')).toBe(4);
    }
    const carried = { inlet_bytes: sent, export_bytes: sent, connections: 4 };
    expect(later.top_tunnels).toEqual([{ id: tunnel.id, client_id: own.id, name: 'echo', ...carried }]);
    expect(later.top_visitors).toMatchObject([{ ip: '127.0.0.1', hit_count: 4 }]);
    const gone = closed(staying);
    staying.destroy();
    await gone;
    await waitFor(async () => (await dashboard(ada.call)).live.connections === 0);
    const everybody = await dashboard(world.admin);
    expect(everybody.totals).toMatchObject({
      inlet_bytes: sent,
      users: 3,
      clients: { total: 2, enabled: 1, online: 1 },
    });
    expect(everybody.top_tunnels).toEqual(later.top_tunnels);
    // Without a name, its ports are its name.
    const name = (): Promise<string> => dashboard(ada.call).then(({ top_tunnels: [first] }) => first.name);
    const change = (body: object): Promise<unknown> => world.admin('PATCH', `/tunnels/${tunnel.id}`, body);
    await change({ name: null });
    expect(await name()).toBe(`tcp ${tunnel.listen_port}`);
    await change({ port_count: 2 });
    expect(await name()).toBe(`tcp ${tunnel.listen_port}-${tunnel.listen_port + 1}`);
    await change({ name: 'echo', port_count: 1 });
  });

  it('shows only rows that the user may see', async () => {
    const { totals, live, top_tunnels, top_hosts, top_visitors, series, recent_events } = await dashboard(eve.call);
    expect(totals).toEqual({
      users: null,
      clients: { total: 1, enabled: 0, online: 0 },
      tunnels: { total: 0, running: 0, waiting: 0, failed: 0, stopped: 0 },
      hosts: { total: 0, enabled: 0 },
      inlet_bytes: 0,
      export_bytes: 0,
    });
    expect([live.connections, live.inlet_bytes_per_second, live.new_connections_per_second]).toEqual([0, 0, 0]);
    expect([top_tunnels, top_hosts, top_visitors]).toEqual([[], [], []]);
    expect(sum(series.day, 'inlet_bytes')).toBe(0);
    expect(recent_events.filter(({ owner_user_id }: AnyJson) => owner_user_id !== eve.id)).toEqual([]);
  });

  it('has series without gaps for a day, a month and a year', async () => {
    const { series } = await dashboard(world.admin);
    expect(series.minute.length).toBeGreaterThanOrEqual(1440);
    expect(series.hour.length).toBeGreaterThanOrEqual(720);
    expect(series.day.length).toBeGreaterThanOrEqual(365);
  });

  it('counts rows by state', async () => {
    await world.admin('POST', `/tunnels/${tunnel.id}/stop`);
    const { totals } = await waitFor(async () => {
      const found = await dashboard(ada.call);
      return found.totals.tunnels.stopped === 1 && found;
    });
    expect(totals.tunnels).toEqual({ total: 1, running: 0, waiting: 0, failed: 0, stopped: 1 });
  });

  it('shows warnings to the owner and to administrators', async () => {
    const expire_at = new Date(Date.now() + 86_400_000).toISOString();
    await ada.call('PATCH', `/clients/${own.id}`, { expire_at });
    const expiring = { code: 'client_expiring', resource: { kind: 'client', id: own.id } };
    expect((await dashboard(ada.call)).warnings).toMatchObject([expiring]);
    expect((await dashboard(world.admin)).warnings).toMatchObject([expiring]);
    expect((await dashboard(eve.call)).warnings).toEqual([]);
  });

  it('reports when the data plane is away', async () => {
    process.kill(world.edges.pid ?? 0, 'SIGSTOP');
    const pid = world.edges.pid ?? 0;
    try {
      const { live, totals, warnings } = await dashboard(world.admin);
      expect([live.connections, totals.clients.online]).toEqual([null, null]);
      expect(warnings).toEqual(expect.arrayContaining([expect.objectContaining({ code: 'edge_unavailable' })]));
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });
});
