import { createServer, request } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TunnelWorld } from './support/tunnel-world.js';

let world: TunnelWorld;
let hostId: number;
beforeAll(async () => {
  world = await TunnelWorld.start({ TRUSTED_PROXIES: '127.0.0.1/32' });
  const origin = createServer((_, response) => response.end('in')).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  world.onClose(() => origin.close());
  const client = await world.client();
  await world.online(client.key);
  const { body } = await world.admin('POST', '/hosts', {
    client_id: client.id,
    host: 'countries.example',
    target_addr: `http://127.0.0.1:${(origin.address() as AddressInfo).port}`,
  });
  hostId = body.id;
  await waitFor(async () => (await visitFrom('8.8.8.8')) === 200);
});
afterAll(() => world.close());

/** The status for a visitor whose address a trusted proxy forwards. */
function visitFrom(address: string): Promise<number> {
  const headers = { host: 'countries.example', 'x-forwarded-for': address };
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: world.edges.ports.http, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

describe('country rules', () => {
  it('apply to visitors from that country within a second', async () => {
    const rule = { scope: 'host', resource_id: hostId, type: 'deny', pattern_kind: 'country', pattern: 'US' };
    const { status, body } = await world.admin('POST', '/ip-rules', rule);
    expect(status).toBe(201);
    await waitFor(async () => (await visitFrom('8.8.8.8')) === 403);
    expect(await visitFrom('133.242.0.1')).toBe(200);
    await world.admin('DELETE', `/ip-rules/${body.id}`);
    await waitFor(async () => (await visitFrom('8.8.8.8')) === 200);
    const { body: others } = await world.admin('POST', '/ip-rules', { ...rule, pattern: '!US' });
    await waitFor(async () => (await visitFrom('133.242.0.1')) === 403);
    expect(await visitFrom('8.8.8.8')).toBe(200);
    await world.admin('DELETE', `/ip-rules/${others.id}`);
  });

  it('with unknown countries are refused, and do not block other changes', async () => {
    const rule = { scope: 'host', resource_id: hostId, type: 'deny', pattern_kind: 'country' };
    for (const pattern of ['XX', '!xx', 'UK']) {
      expect((await world.admin('POST', '/ip-rules', { ...rule, pattern })).status, pattern).toBe(422);
    }
    await world.rows(`INSERT INTO tunnel_gateway.ip_rules (scope, resource_id, type, pattern, pattern_kind)
      VALUES ('host', ${hostId}, 'deny', 'XX', 'country'), ('global', 0, 'deny', '10.0.0.1/8', 'cidr')`);
    const { body: made } = await world.admin('POST', '/ip-rules', { ...rule, pattern: 'US' });
    await waitFor(async () => (await visitFrom('8.8.8.8')) === 403);
    expect((await world.admin('GET', `/ip-rules/check?ip=8.8.8.8`)).status).toBe(200);
    await world.admin('DELETE', `/ip-rules/${made.id}`);
    await waitFor(async () => (await visitFrom('8.8.8.8')) === 200);
    // A rule that allows an unreadable country allows nobody, and then others are not allowed either.
    await world.rows(`UPDATE tunnel_gateway.ip_rules SET type = 'allow' WHERE pattern = 'XX'`);
    await waitFor(async () => (await visitFrom('8.8.8.8')) === 403);
    await world.rows(`DELETE FROM tunnel_gateway.ip_rules WHERE pattern IN ('XX', '10.0.0.1/8')`);
    await waitFor(async () => (await visitFrom('8.8.8.8')) === 200);
  });
});
