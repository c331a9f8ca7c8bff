import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import { connect, createServer as createNetServer, type AddressInfo, type Socket } from 'node:net';
import type { TunnelAgent } from '@gatehouse/tunnel-kernel';
import { reservePort, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Programs, type StartedEdge } from './support/programs.js';
import type { AnyJson, Caller } from './support/tunnel-world.js';

const PATIENT = { timeoutMs: 60_000 };
const NAME = 'shown.example.org';
/** Edge two opens the ports of tunnels here. */
const OTHER_ADDRESS = '127.0.0.2';

let programs: Programs;
let one: StartedEdge;
let two: StartedEdge;
let call: Caller;
let origin: Server;
let client: AnyJson;
let agent: TunnelAgent;
beforeAll(async () => {
  programs = await Programs.create();
  const peerPort = await reservePort();
  one = await programs.edge('one', { TUNNEL_EDGE_PEER_PORT: String(peerPort) });
  two = await programs.edge('two', { TUNNEL_EDGE_PEER_PORT: '0', TUNNEL_EDGE_TUNNEL_ADDRESS: OTHER_ADDRESS });
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
async function visitor(edge: StartedEdge, host = NAME): Promise<{ gone: boolean }> {
  const state = { gone: false };
  const answer = await waitFor(async () => {
    const sent = request({ host: '127.0.0.1', port: edge.http, headers: { host }, agent: false }).end();
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

/** Null: nothing listens there yet. */
function connected(port: number, host: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(port, host, () => resolve(socket));
    socket.on('error', () => resolve(null));
  });
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

  it('shows the requests of a host at both, each with its edge', async () => {
    const { body: host } = await call('POST', '/hosts', {
      client_id: client.id,
      host: 'seen.example.org',
      target_addr: `http://127.0.0.1:${(origin.address() as AddressInfo).port}`,
      record_requests: 'full',
    });
    const list = async (query = ''): Promise<AnyJson> => (await call('GET', `/hosts/${host.id}/requests${query}`)).body;
    for (const edge of [one, two]) {
      // An edge may get the host a moment later than the other, and record only from then on.
      await waitFor(async () => {
        await visitor(edge, 'seen.example.org');
        return (await list()).items.some((item: AnyJson) => item.edge === (edge === one ? 'one' : 'two'));
      }, PATIENT);
    }
    const page = await waitFor(async () => {
      const answer = await list('?limit=1&status=200');
      return answer.silent_edges.length === 0 && answer;
    }, PATIENT);
    expect(page).toMatchObject({ items: [{ edge: 'two', ended_ms: null }], next_cursor: expect.any(String) });
    const rest = (await list(`?limit=200&status=200&cursor=${page.next_cursor}`)).items;
    const places: string[] = rest.map(({ edge }: AnyJson) => edge);
    expect(places).toEqual(places.toSorted().toReversed());
    expect(places.at(-1)).toBe('one');
    for (const { id, edge } of [page.items[0], rest.at(-1)]) {
      const { body } = await call('GET', `/hosts/${host.id}/requests/${id}`);
      expect(body).toMatchObject({ id, edge, answer: { body: { content: 'begun ' } } });
    }
    expect((await list('/har')).log.entries).toHaveLength(rest.length + 1);
  }, 180_000);

  it('has both check the targets of a host, and hears of a change once', async () => {
    const gone = await reservePort();
    const { body: host } = await call('POST', '/hosts', {
      client_id: client.id,
      host: 'checked.example.org',
      target_addr: `http://127.0.0.1:${(origin.address() as AddressInfo).port},http://127.0.0.1:${gone}`,
      health_check: { type: 'tcp', interval_seconds: 1 },
    });
    const places = async (): Promise<string[]> => {
      const { body } = await call('GET', `/hosts/${host.id}`);
      return body.targets.map(({ edge, state }: AnyJson) => `${edge} ${state}`).toSorted();
    };
    await waitFor(async () => (await places()).join() === 'one down,one up,two down,two up', PATIENT);
    const events = async (): Promise<string[]> => {
      const { body } = await call('GET', `/events?resource_type=host&resource_id=${host.id}`);
      return body.items.map(({ type }: AnyJson) => type).filter((type: string) => type.startsWith('host.target'));
    };
    await waitFor(async () => (await events()).length > 0, PATIENT);
    const server = createServer().listen(gone, '127.0.0.1');
    await once(server, 'listening');
    await waitFor(async () => (await events()).includes('host.target_up'), PATIENT);
    await waitFor(async () => (await places()).join() === 'one up,one up,two up,two up', PATIENT);
    server.close();
    await waitFor(async () => (await places()).join() === 'one down,one up,two down,two up', PATIENT);
    await waitFor(async () => (await events()).length > 2, PATIENT);
    expect(await events()).toEqual(['host.target_down', 'host.target_up', 'host.target_down']);
    await call('DELETE', `/hosts/${host.id}`);
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
      const [{ id }] = await programs.rows('SELECT id FROM tunnel_gateway.hosts WHERE host = $1', [NAME]);
      expect((await call('GET', `/hosts/${id}/requests`)).body.silent_edges).toEqual(['two']);
      expect((await call('GET', `/hosts/${id}/requests/${'0'.repeat(28)}`)).status).toBe(503);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await waitFor(async () => (await shown()).online === true, PATIENT);
  }, 180_000);

  it('says that the port of a tunnel is open where one edge has it and another one cannot open it', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { body: tunnel } = await call('POST', '/tunnels', {
      client_id: client.id,
      mode: 'tcp',
      listen_ip: '127.0.0.1',
      listen_port: (taken.address() as AddressInfo).port,
      target_addr: `127.0.0.1:${(origin.address() as AddressInfo).port}`,
    });
    const steps = async (): Promise<string[]> =>
      (await call('POST', `/tunnels/${tunnel.id}/check`)).body.steps.map(({ code }: AnyJson) => code);
    await waitFor(async () => (await steps()).includes('port_open'), PATIENT);
    expect((await call('GET', `/tunnels/${tunnel.id}`)).body).toMatchObject({ run_status: 1, error: null });
    const visitor = connect(tunnel.listen_port, OTHER_ADDRESS);
    visitor.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(String((await once(visitor, 'data'))[0])).toContain('200 OK');
    visitor.destroy();
    taken.close();
  }, 180_000);

  it('reports one arrival and one departure of a client with agents at both edges', async () => {
    const { body: both } = await call('POST', '/clients', { name: 'both' });
    const types = async (): Promise<string[]> => {
      const { body } = await call('GET', `/events?resource_type=client&resource_id=${both.id}`);
      return body.items.map(({ type }: AnyJson) => type as string).toReversed();
    };
    const placed = async (): Promise<number> => (await call('GET', `/clients/${both.id}`)).body.agents?.length ?? 0;
    const first = programs.agent(both.key, one.agents, true);
    // An edge writes its events each second, a busy one later: its arrival could come after the departure of the other.
    await waitFor(async () => (await types()).includes('client.online'), PATIENT);
    const agents = [first, programs.agent(both.key, two.agents, true)];
    await waitFor(async () => (await placed()) === 2, PATIENT);
    for (const left of agents) {
      const before = await placed();
      await left.stop();
      await waitFor(async () => (await placed()) < before, PATIENT);
    }
    await waitFor(async () => (await types()).includes('client.offline'), PATIENT);
    expect(await types()).toEqual(['client.online', 'client.offline']);
  }, 180_000);

  it('has both hold the rate of a tunnel, and count its bytes, as one', async () => {
    const rate = 256 * 1024;
    const received = [0, 0];
    const sink = createNetServer((socket) => {
      socket.on('error', () => undefined);
      // A visitor says with every byte which one it is.
      socket.on('data', (part: Buffer) => (received[part[0] ?? 0]! += part.length));
    }).listen(0, '127.0.0.1');
    await once(sink, 'listening');
    const { body: rated } = await call('POST', '/clients', { name: 'rated' });
    const agents = [programs.agent(rated.key, one.agents, true), programs.agent(rated.key, two.agents, true)];
    await waitFor(() => agents.every(({ status }) => status.state === 'online'), PATIENT);
    const { body: tunnel } = await call('POST', '/tunnels', {
      client_id: rated.id,
      mode: 'tcp',
      listen_ip: '127.0.0.1',
      listen_port: await reservePort(),
      target_addr: `127.0.0.1:${(sink.address() as AddressInfo).port}`,
      rate_limit: rate / 1024,
    });
    const visitors = await Promise.all(
      ['127.0.0.1', OTHER_ADDRESS].map(async (address, index) => {
        const socket = await waitFor(() => connected(tunnel.listen_port, address), PATIENT);
        socket.write(Buffer.alloc(16_000_000, index));
        return socket;
      }),
    );
    const moved = (): number => received[0]! + received[1]!;
    // Each edge lets a second's worth pass at once, and they agree within half a second.
    await waitFor(() => moved() > 4 * rate, PATIENT);
    const [from, before, at] = [moved(), [...received], performance.now()];
    await waitFor(() => moved() >= from + 4 * rate, PATIENT);
    const perSecond = (moved() - from) / ((performance.now() - at) / 1_000);
    expect(perSecond / rate).toBeGreaterThan(0.6);
    // Each with a limit of its own, they would carry twice as much.
    expect(perSecond / rate).toBeLessThan(1.4);
    for (const [index, bytes] of before.entries()) expect(received[index]).toBeGreaterThan(bytes);
    for (const socket of visitors) socket.destroy();
    await waitFor(async () => {
      const [{ body: ofClient }, { body: ofTunnel }] = await Promise.all([
        call('GET', `/clients/${rated.id}`),
        call('GET', `/tunnels/${tunnel.id}`),
      ]);
      return ofTunnel.inlet_flow >= moved() && ofClient.inlet_flow === ofTunnel.inlet_flow;
    }, PATIENT);
    for (const stopped of agents) await stopped.stop();
    sink.close();
  }, 180_000);

  it('has a process that replaces another one listen for edges on the port of its predecessor', async () => {
    const serving = async (): Promise<AnyJson> =>
      (
        await programs.rows(
          "SELECT pid, peer_address FROM tunnel_gateway_ops.edges WHERE name = 'one' AND state = 'serving'",
        )
      )[0];
    const before = await serving();
    // A visitor who stays keeps the predecessor and its connections to other edges.
    const stays = await visitor(one);
    one.child.kill('SIGUSR2');
    const after = await waitFor(async () => {
      const found = await serving();
      return found !== undefined && found.pid !== before.pid ? found : undefined;
    }, PATIENT);
    expect(after.peer_address).toBe(before.peer_address);
    await visitor(one);
    expect(stays.gone).toBe(false);
  }, 180_000);
});
