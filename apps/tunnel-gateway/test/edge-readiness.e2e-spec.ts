import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Programs, type StartedEdge } from './support/programs.js';
import type { AnyJson } from './support/tunnel-world.js';

const PATIENT = { timeoutMs: 60_000 };
const NAME = 'ready.example.org';

let programs: Programs;
let one: StartedEdge;
let origin: Server;
beforeAll(async () => {
  programs = await Programs.create();
  one = await programs.edge('one', { TUNNEL_EDGE_PEER_PORT: '0' });
  const { call } = await programs.service(one);
  origin = createServer((_, response) => response.end('served')).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  const { body: client } = await call('POST', '/clients', { name: 'ready' });
  await call('POST', '/hosts', {
    client_id: client.id,
    host: NAME,
    target_addr: `http://127.0.0.1:${(origin.address() as AddressInfo).port}`,
  });
  const agent = programs.agent(client.key, one.agents);
  await waitFor(() => agent.status.state === 'online', PATIENT);
  await waitFor(async () => (await statusAt(one)) === 200, PATIENT);
  // It is alone.
  expect(await healthOf(one)).toMatchObject({ code: 200 });
}, 180_000);
afterAll(async () => {
  origin.closeAllConnections();
  origin.close();
  await programs.close();
});

/** The status of the host at an edge. */
async function statusAt(edge: StartedEdge): Promise<number | undefined> {
  const sent = request({ host: '127.0.0.1', port: edge.http, headers: { host: NAME }, agent: false }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

async function healthOf({ health }: StartedEdge): Promise<AnyJson> {
  const response = await fetch(`http://127.0.0.1:${health}/healthz`);
  return { ...((await response.json()) as object), code: response.status };
}

describe('an edge that has just started', () => {
  it('is not ready before it knows the agents of the others, and lets visitors wait until then', async () => {
    const [{ pid }] = await programs.rows("SELECT pid FROM tunnel_gateway_ops.edges WHERE name = 'one'");
    process.kill(pid, 'SIGSTOP');
    // Slow machines: it must not be forgotten meanwhile.
    await programs.rows(
      "UPDATE tunnel_gateway_ops.edges SET lease_until = clock_timestamp() + interval '2 minutes' WHERE name = 'one'",
    );
    let two: StartedEdge;
    let visited: Promise<number | undefined>;
    try {
      two = await programs.edge('two', { TUNNEL_EDGE_PEER_PORT: '0' });
      visited = statusAt(two);
      visited.catch(() => undefined);
      expect(await healthOf(two)).toMatchObject({
        code: 503,
        problems: ['the edge does not know the agents of the other edges yet'],
      });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    expect(await visited).toBe(200);
    await waitFor(async () => (await healthOf(two)).code === 200, PATIENT);
  }, 120_000);
});
