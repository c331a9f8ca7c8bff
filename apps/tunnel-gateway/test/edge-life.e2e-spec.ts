import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { withClient } from '@gatehouse/persistence';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Edges } from '../src/edge-host/edges.service.js';
import { DatabaseLine } from './support/database-line.js';
import { closed, TunnelWorld, type AnyJson } from './support/tunnel-world.js';

let world: TunnelWorld;
let line: DatabaseLine;
beforeAll(async () => {
  world = await TunnelWorld.start({}, async (url) => {
    line = await DatabaseLine.to(url);
    return line.url;
  });
});
afterAll(async () => {
  line.mend();
  await world.close();
  await line.close();
});

const ready = async (): Promise<AnyJson> => (await fetch(`${world.gateway.url}/readyz`)).json();

async function running(): Promise<{ client: AnyJson; tunnel: AnyJson }> {
  const client = await world.client();
  await world.online(client.key);
  return { client, tunnel: await world.tunnel(client.id, await world.echo()) };
}

describe('an edge process', () => {
  it('is back within seconds with its ports after it was killed', async () => {
    const { tunnel } = await running();
    const before = world.edges.pid ?? 0;
    const from = performance.now();
    process.kill(before, 'SIGKILL');
    await waitFor(async () => (await world.ask(tunnel.listen_port, 'again')) === 'again', { timeoutMs: 10_000 });
    expect(performance.now() - from).toBeLessThan(8_000);
    expect(world.edges.pid).not.toBe(before);
  });

  it('keeps serving without the database and loses no count', async () => {
    const { client, tunnel } = await running();
    const visitor = await world.visit(tunnel.listen_port);
    visitor.write('a'.repeat(1_000));
    await received(visitor, 1_000);
    line.cut();
    await waitFor(async () => (await ready()).failing?.includes('edge'));
    visitor.write('b'.repeat(2_000));
    await received(visitor, 2_000);
    expect(await world.ask(tunnel.listen_port, 'c'.repeat(4_000))).toHaveLength(4_000);
    line.mend();
    await waitFor(async () => (await ready()).status === 'ok', { timeoutMs: 15_000 });
    await waitFor(async () => (await flow(client.id))?.inlet_bytes === 7_000, { timeoutMs: 10_000 });
    expect(await flow(client.id)).toEqual({ inlet_bytes: 7_000, export_bytes: 7_000 });
    visitor.destroy();
  });

  it('receives changes again after its connections were terminated', async () => {
    const { client, tunnel } = await running();
    await withClient(world.gateway.databaseUrl, (database) =>
      database.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      ),
    );
    await waitFor(async () => (await world.admin('PATCH', `/clients/${client.id}`, { status: 0 })).status === 200);
    await waitFor(async () => (await world.ask(tunnel.listen_port, 'x')) === null, { timeoutMs: 12_000 });
  });

  it('reloads everything when the database comes back, because it may be another one', async () => {
    const { tunnel } = await running();
    line.cut();
    await waitFor(async () => (await ready()).failing?.includes('edge'));
    // As after a backup came back that has a history of its own, as long as the one before.
    await withClient(world.gateway.databaseUrl, async (database) => {
      await database.query(`SET session_replication_role = replica`);
      await database.query('UPDATE tunnel_gateway.tunnels SET status = 0 WHERE id = $1', [tunnel.id]);
    });
    line.mend();
    await waitFor(async () => (await world.ask(tunnel.listen_port, 'x')) === null, { timeoutMs: 12_000 });
  });

  it('rejects a configuration that cannot be served, keeps the previous one, and accepts the next valid one', async () => {
    const { client, tunnel } = await running();
    await world.rows(
      `INSERT INTO tunnel_gateway.tunnels (id, client_id, mode, listen_port, target_addr) VALUES (-1, $1, 'tcp', 1, 'a:1')`,
      [client.id],
    );
    const said = (): boolean =>
      world.gateway.logs.some((line) => JSON.stringify(line).includes('the configuration cannot be served'));
    await waitFor(said);
    expect(await world.ask(tunnel.listen_port, 'still')).toBe('still');
    // Nor does an edge that starts with it end: it serves when it can.
    process.kill(world.edges.pid ?? 0, 'SIGKILL');
    await waitFor(async () => (await world.edges.status()).source === 'database', { timeoutMs: 15_000 });
    const { pid } = world.edges;
    await world.rows('DELETE FROM tunnel_gateway.tunnels WHERE id = -1');
    await waitFor(async () => (await world.ask(tunnel.listen_port, 'again')) === 'again', { timeoutMs: 15_000 });
    expect(world.edges.pid).toBe(pid);
    await world.admin('PATCH', `/clients/${client.id}`, { status: 0 });
    await waitFor(async () => (await world.ask(tunnel.listen_port, 'x')) === null);
  });

  it('starts from its snapshot while the database is away', async () => {
    const { client, tunnel } = await running();
    const folder = join(world.gateway.home, 'tunnel-gateway');
    const snapshot = join(folder, 'snapshot.json');
    await waitFor(
      () => existsSync(snapshot) && readFileSync(snapshot, 'utf8').includes(`"targetAddr":"${tunnel.target_addr}"`),
    );
    for (const file of [snapshot, join(folder, 'identity.json')]) {
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(readFileSync(file, 'utf8')).not.toMatch(/PRIVATE KEY|gtk1\./);
    }
    line.cut();
    const before = world.edges.pid ?? 0;
    process.kill(before, 'SIGKILL');
    await waitFor(async () => (await world.ask(tunnel.listen_port, 'still')) === 'still', { timeoutMs: 15_000 });
    expect(world.edges.pid).not.toBe(before);
    await waitFor(async () => (await world.edges.status()).source === 'snapshot');
    // Not at once: an edge that took another's place may serve its snapshot for ten seconds.
    await waitFor(async () => (await ready()).failing?.includes('edge'));
    line.mend();
    await waitFor(async () => (await world.edges.status()).source === 'database', { timeoutMs: 20_000 });
    await waitFor(async () => (await ready()).status === 'ok', { timeoutMs: 15_000 });
    await waitFor(async () => (await flow(client.id))?.inlet_bytes === 5, { timeoutMs: 10_000 });
  });

  it('is replaced without dropping a visitor', async () => {
    const { client, tunnel } = await running();
    const visitor = await world.visit(tunnel.listen_port);
    visitor.write('before');
    await received(visitor, 6);
    const before = world.edges.pid;
    process.kill(process.pid, 'SIGUSR2');
    await waitFor(() => world.gateway.logs.some(({ message }) => message === 'another edge took over'), {
      timeoutMs: 15_000,
    });
    expect(world.edges.pid).not.toBe(before);
    // Its agent has not connected yet: visitors who arrive now wait for it.
    expect(await world.ask(tunnel.listen_port, 'at once')).toBe('at once');
    visitor.write('during');
    await received(visitor, 6);
    await waitFor(async () => (await world.admin('GET', `/tunnels/${tunnel.id}`)).body.run_status === 1);
    const gone = closed(visitor);
    await world.admin('PATCH', `/clients/${client.id}`, { status: 0 });
    await gone;
    await waitFor(async () => (await flow(client.id))?.inlet_bytes === 19, { timeoutMs: 10_000 });
  });
});

describe('a gateway', () => {
  it('writes its counters when it stops, and that nothing runs', async () => {
    const other = await TunnelWorld.start();
    const client = await other.client();
    await other.online(client.key);
    const tunnel = await other.tunnel(client.id, await other.echo());
    expect(await other.ask(tunnel.listen_port, 'last')).toBe('last');
    await other.gateway.app.get(Edges, { strict: false }).beforeApplicationShutdown();
    const [row] = await other.rows('SELECT run_status, inlet_flow FROM tunnel_gateway.tunnels WHERE id = $1', [
      tunnel.id,
    ]);
    expect(row).toEqual({ run_status: 0, inlet_flow: 4 });
    await other.close();
  });
});

async function flow(clientId: number): Promise<AnyJson> {
  const sql = `SELECT inlet_bytes, export_bytes FROM tunnel_gateway.flow_stats
    WHERE resource_type = 'client' AND resource_id = $1`;
  return (await world.rows(sql, [clientId]))[0];
}

async function received(socket: Awaited<ReturnType<TunnelWorld['visit']>>, bytes: number): Promise<void> {
  for (let left = bytes; left > 0;) left -= ((await once(socket, 'data'))[0] as Buffer).length;
}
