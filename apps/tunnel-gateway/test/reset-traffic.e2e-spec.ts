import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyBatch } from '../src/edge/apply-batch.js';
import { EdgeDatabase } from '../src/common/edge-database.js';
import { UnsentFlows, type FlowBatch } from '../src/edge/flow-batch.js';
import { TunnelWorld, type AnyJson, type Caller } from './support/tunnel-world.js';

let world: TunnelWorld;
let ada: { call: Caller; id: number };
let client: AnyJson;
let tunnels: number[];
let host: number;
let database: EdgeDatabase;
beforeAll(async () => {
  world = await TunnelWorld.start({ WORKERS: 'separate' });
  database = new EdgeDatabase(world.gateway.databaseUrl);
  world.onClose(() => database.close());
  ada = await world.user('ada');
  client = await world.client({}, ada.call);
  const target = { client_id: client.id, target_addr: '127.0.0.1:9' };
  tunnels = [];
  for (let made = 0; made < 3; made += 1) {
    tunnels.push((await ada.call('POST', '/tunnels', { ...target, mode: 'tcp' })).body.id);
  }
  await world.assign(ada, 'a.example');
  host = (await ada.call('POST', '/hosts', { ...target, host: 'a.example' })).body.id;
});
afterAll(() => world.close());

/** One byte to each tunnel, two from each; twice that of the host. */
function batch(): FlowBatch {
  const unsent = new UnsentFlows();
  const add = (kind: 'tunnel' | 'host', id: number, upload: number): void =>
    unsent.add({ resource: { kind, id }, clientId: client.id, upload, download: upload * 2, connections: 1 }, ada.id);
  for (const id of tunnels) add('tunnel', id, 1);
  add('host', host, 2);
  return unsent.takeBatch(Date.now());
}

const OF_A_BATCH = 5;

async function totals(): Promise<AnyJson> {
  const [row] = await world.rows(`
    WITH part AS (
      SELECT 'tunnel' AS type, id, inlet_flow, export_flow FROM tunnel_gateway.tunnels
      UNION ALL SELECT 'host', id, inlet_flow, export_flow FROM tunnel_gateway.hosts
    )
    SELECT c.inlet_flow AS client, c.export_flow AS client_export, s.inlet_bytes AS counted,
      (SELECT sum(inlet_flow) FROM part) AS parts,
      (SELECT sum(f.inlet_bytes) FROM tunnel_gateway.flow_stats f JOIN part ON f.resource_type = part.type
        AND f.resource_id = part.id AND f.inlet_bytes = part.inlet_flow AND f.export_bytes = part.export_flow) AS equal,
      (SELECT inlet_bytes FROM tunnel_gateway.flow_stats WHERE resource_type = 'global') AS global,
      (SELECT inlet_bytes FROM tunnel_gateway.flow_stats WHERE resource_type = 'user') AS owner
    FROM tunnel_gateway.clients c
      JOIN tunnel_gateway.flow_stats s ON s.resource_type = 'client' AND s.resource_id = c.id
    WHERE c.id = ${client.id}`);
  return Object.fromEntries(Object.entries<AnyJson>(row).map(([name, value]) => [name, Number(value)]));
}

describe('resetting the traffic of a client', () => {
  it('sets its counters and those of its tunnels and hosts to zero, and no others', async () => {
    await applyBatch(database, batch());
    const { status, body } = await ada.call('POST', `/clients/${client.id}/reset-traffic`);
    expect([status, body.inlet_flow, body.export_flow]).toEqual([200, 0, 0]);
    const none = { client: 0, client_export: 0, counted: 0, parts: 0, equal: 0 };
    expect(await totals()).toEqual({ ...none, global: OF_A_BATCH, owner: OF_A_BATCH });
  });

  it('keeps every total equal to the sum of its parts while batches arrive', async () => {
    const before = (await totals()).global;
    let sent = 0;
    let resetting = true;
    const send = async (): Promise<void> => {
      for (; resetting; sent += 1) await applyBatch(database, batch());
    };
    const senders = [send(), send()];
    for (let reset = 0; reset < 40; reset += 1) {
      expect((await ada.call('POST', `/clients/${client.id}/reset-traffic`)).status).toBe(200);
    }
    resetting = false;
    await Promise.all(senders);
    const { client: left, counted, parts, equal, global, owner, client_export: back } = await totals();
    expect(global).toBe(before + sent * OF_A_BATCH);
    expect(owner).toBe(global);
    expect([counted, parts, equal, back]).toEqual([left, left, left, left * 2]);
    expect(left % OF_A_BATCH).toBe(0);
    expect(left).toBeLessThan(global);
  });

  it('needs the right to change the client', async () => {
    const eve = await world.user('eve');
    expect((await eve.call('POST', `/clients/${client.id}/reset-traffic`)).status).toBe(404);
    const viewer = await world.user('vic', 'viewer');
    expect((await viewer.call('POST', `/clients/${client.id}/reset-traffic`)).status).toBe(403);
  });
});
