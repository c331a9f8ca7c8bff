import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TunnelAgent } from '@gatehouse/tunnel-kernel';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Programs, type StartedEdge } from './support/programs.js';
import type { AnyJson, Caller } from './support/tunnel-world.js';

const PATIENT = { timeoutMs: 60_000 };
const NAME = 'shown.example.org';

let programs: Programs;
let one: StartedEdge;
let two: StartedEdge;
let call: Caller;
let origin: Server;
let client: AnyJson;
let agent: TunnelAgent;
beforeAll(async () => {
  programs = await Programs.create();
  one = await programs.edge('one', { TUNNEL_EDGE_PEER_PORT: '0' });
  two = await programs.edge('two', { TUNNEL_EDGE_PEER_PORT: '0' });
  ({ call } = await programs.service(one));
  origin = createServer((_, response) => void response.write('begun ')).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  ({ body: client } = await call('POST', '/clients', { name: 'elsewhere' }));
  await call('POST', '/hosts', {
    client_id: client.id,
    host: NAME,
    target_addr: `http://127.0.0.1:${(origin.address() as AddressInfo).port}`,
  });
  // Only at the edge that the service has no connection to.
  agent = programs.agent(client.key, two.agents);
  await waitFor(() => agent.status.state === 'online', PATIENT);
}, 180_000);
afterAll(async () => {
  origin.closeAllConnections();
  origin.close();
  await programs.close();
});

/** A visitor who is served and stays; resolves to whether they still are. */
async function visitor(edge: StartedEdge): Promise<{ gone: boolean }> {
  const state = { gone: false };
  const answer = await waitFor(async () => {
    const sent = request({ host: '127.0.0.1', port: edge.http, headers: { host: NAME }, agent: false }).end();
    sent.on('error', () => undefined);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response.statusCode === 200 ? response : null;
  }, PATIENT);
  answer
    .on('error', () => undefined)
    .on('close', () => (state.gone = true))
    .resume();
  return state;
}

const shown = async (): Promise<AnyJson> => (await call('GET', `/clients/${client.id}`)).body;

describe('a service that is connected to one of two edges', () => {
  it('says where an agent and its visitors are, and that a visitor of either edge is served', async () => {
    await waitFor(async () => (await shown()).online === true, PATIENT);
    expect(await shown()).toMatchObject({ agent: { edge: 'two' }, agents: [{ edge: 'two' }] });
    const [here, there] = [await visitor(one), await visitor(two)];
    const places = async (): Promise<string[]> => {
      const { body } = await call('GET', `/clients/${client.id}/connections`);
      return body.items.map(({ edge }: AnyJson) => edge as string).sort((a: string, b: string) => a.localeCompare(b));
    };
    await waitFor(async () => (await places()).join() === 'one,two', PATIENT);
    expect((await call('GET', '/dashboard')).body.totals.clients.online).toBe(1);

    // 503 where the other edge is too slow to answer.
    await waitFor(async () => (await call('POST', `/clients/${client.id}/kick`)).status === 204, PATIENT);
    await waitFor(() => here.gone && there.gone, PATIENT);
    await waitFor(() => agent.status.state === 'online', PATIENT);
  }, 180_000);

  it('does not say that a client is offline, or was cut off, while an edge does not answer', async () => {
    const [{ pid }] = await programs.rows("SELECT pid FROM tunnel_gateway_ops.edges WHERE name = 'two'");
    process.kill(pid, 'SIGSTOP');
    // Slow machines: it must not be forgotten meanwhile.
    await programs.rows(
      "UPDATE tunnel_gateway_ops.edges SET lease_until = clock_timestamp() + interval '2 minutes' WHERE name = 'two'",
    );
    try {
      await waitFor(async () => (await shown()).online === null, PATIENT);
      const { status, body } = await call('POST', `/clients/${client.id}/kick`);
      expect([status, body.code, body.detail]).toEqual([503, 'edge_unavailable', expect.stringContaining('two')]);
      expect((await call('GET', `/clients/${client.id}/connections`)).body.silent_edges).toEqual(['two']);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await waitFor(async () => (await shown()).online === true, PATIENT);
  }, 180_000);
});
