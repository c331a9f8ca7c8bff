import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { deriveControlKey } from '@gatehouse/net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { link, peerAddressOf, PeerRigs, tunnelAt } from '../../test/peer-rig.js';
import { ask, udpSocket } from '../../test/udp-rig.js';
import { howItEnds, readAll, TunnelRig, type TestClient } from '../../test/tunnel-rig.js';
import type { SharedLimits } from '../limits/shared-limits.js';
import { systemDialer, type AgentDialer, type HostConfig, type TunnelAgentEnvironment } from '../index.js';
import type { EdgeAddress } from '../wire/messages.js';

const rigs = new PeerRigs();
const server = rigs.server.bind(rigs);
afterEach(() => rigs.close());

interface Pair {
  /** Where visitors come. */
  near: TunnelRig;
  /** Where the agent is connected. */
  far: TunnelRig;
  client: TestClient;
}

/** Two linked servers; the client's agent is connected to the second one. */
async function pair(encrypt = false, agent: Partial<TunnelAgentEnvironment> = {}): Promise<Pair> {
  const far = await server();
  const near = await server(far);
  await link(near, far);
  const client = far.client(encrypt);
  far.agent(client.key, agent);
  await far.online(client.record.id);
  await waitFor(() => near.server.peers?.states()[0]?.agents === 1);
  return { near, far, client };
}

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe.each([
  ['plain channels', false, {}],
  ['sealed channels', true, {}],
  ['an agent over a WebSocket', false, { transport: 'websocket' as const }],
])('two servers, %s', (_, encrypt, options) => {
  async function connected(): Promise<Pair> {
    if (!('transport' in options)) return pair(encrypt);
    const far = await server();
    const websocket = { secure: false, host: '127.0.0.1', port: far.port, path: '/__gw/agent' };
    const near = await server(far);
    await link(near, far);
    const client = far.client(encrypt);
    far.agent(client.key, { ...options, websocket });
    await far.online(client.record.id);
    await waitFor(() => near.server.peers?.states()[0]?.agents === 1);
    return { near, far, client };
  }

  it('serve a visitor of one through the agent of the other, byte for byte, counted once', async () => {
    const { near, far } = await connected();
    const port = await tunnelAt([near, far], [await far.echo()]);
    const bytes = randomBytes(3_000_000);
    for (const attempt of [1, 2, 3]) {
      const visitor = await near.visit(port);
      const back = readAll(visitor);
      visitor.end(bytes);
      expect(digest(await back), `visitor ${attempt}`).toBe(digest(bytes));
    }
    await waitFor(() => near.records.length === 3);
    expect(near.records.map(({ upload, download }) => [upload, download])).toEqual([
      [bytes.length, bytes.length],
      [bytes.length, bytes.length],
      [bytes.length, bytes.length],
    ]);
    expect(far.records).toEqual([]);
    expect(far.server.takeDeltas()).toEqual([]);
  });

  it('serve many visitors at once', async () => {
    const { near, far } = await connected();
    const port = await tunnelAt([near, far], [await far.echo()]);
    const texts = Array.from({ length: 60 }, (__, index) => `visitor ${index}`);
    expect(await Promise.all(texts.map((text) => near.answerTo(port, text)))).toEqual(texts);
  });

  it('reset the visitor when the target resets', async () => {
    const { near, far } = await connected();
    const port = await tunnelAt([near, far], [await far.target((socket) => socket.resetAndDestroy())]);
    const visitor = near.visitor(port);
    visitor.write('?');
    expect(await howItEnds(visitor)).toBe('ECONNRESET');
  });
});

describe('visitors at a server without the agent', () => {
  it('send datagrams, and get the answers, even where the agent uses packets with its own server', async () => {
    const { near, far } = await pair();
    const echo = await udpSocket();
    echo.on('message', (payload, { port, address }) => echo.send(payload, port, address));
    const [at, own] = [
      await tunnelAt([near, far], [echo.address().port], { mode: 'udp' }),
      await far.tunnel(1, [echo.address().port], { mode: 'udp' }),
    ];
    const [visitor, neighbour] = [await udpSocket(), await udpSocket()];
    try {
      await waitFor(() => far.server.agents()[0]?.packets === true);
      expect(String(await ask(neighbour, own, 'beside'))).toBe('beside');
      expect(String(await ask(visitor, at, 'one'))).toBe('one');
      expect(String(await ask(visitor, at, 'two'))).toBe('two');
      expect(near.server.datagramState()).toMatchObject({ sessions: 1 });
    } finally {
      for (const socket of [visitor, neighbour, echo]) socket.close();
    }
  });

  it('are answered by web servers behind the agent', async () => {
    const { near, far } = await pair();
    const origin = await far.target((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello'));
    });
    const http = await near.server.listenHttp({ host: '127.0.0.1', port: 0 });
    const host: HostConfig = {
      id: 3,
      clientId: 1,
      host: 'a.example',
      location: '/',
      scheme: 'all',
      targets: [{ host: '127.0.0.1', port: origin, weight: 1, scheme: 'http', insecure: false }],
      certificate: null,
      redirectToHttps: false,
      rewriteHost: null,
      requestHeaders: {},
      responseHeaders: {},
    };
    await Promise.all([near, far].map((rig) => rig.server.apply(rig.config({ hosts: [host] }))));
    const body = await new Promise<string>((resolve, reject) => {
      const asked = request({ port: http, host: '127.0.0.1', headers: { host: 'a.example' } }, (answer) => {
        answer.setEncoding('utf8').on('data', resolve);
      });
      asked.on('error', reject).end();
    });
    expect(body).toBe('hello');
  });

  it('are reported there when the agent cannot reach the target', async () => {
    const { near, far } = await pair();
    const port = await tunnelAt([near, far], [await near.unusedPort()]);
    expect(await howItEnds(near.visitor(port))).toBe('ECONNRESET');
    await waitFor(() => near.failures.length > 0);
    expect(near.failures).toEqual(['refused']);
    expect(far.failures).toEqual([]);
  });

  it('are refused once the agent has left, and the tunnel waits for it', async () => {
    const { near, far } = await pair();
    const port = await tunnelAt([near, far], [await far.echo()]);
    expect(near.server.tunnels()).toMatchObject([{ state: 'running' }]);
    expect(await near.answerTo(port, 'here')).toBe('here');
    await far.agents[0]?.agent.stop();
    await waitFor(() => near.server.tunnels()[0]?.state === 'waiting');
    expect(await howItEnds(near.visitor(port))).toBe('ECONNRESET');
  });

  it('are served again after the link was lost', async () => {
    const { near, far } = await pair();
    const port = await tunnelAt([near, far], [await far.echo()]);
    const lost = (far.server.peers as unknown as { links: Set<{ close(): void }> }).links;
    for (const one of lost) one.close();
    await waitFor(() => near.server.tunnels()[0]?.state === 'waiting');
    await waitFor(() => near.server.tunnels()[0]?.state === 'running');
    expect(await near.answerTo(port, 'again')).toBe('again');
  });

  it('may finish when the server of the agent drains', async () => {
    const { near, far } = await pair();
    const port = await tunnelAt([near, far], [await far.echo()]);
    const visitor = await near.visit(port);
    const back = readAll(visitor);
    visitor.write('first ');
    await waitFor(() => near.server.connections(1)[0]?.download === 6);
    let ended = false;
    const drained = far.server.drain({ spreadMs: 0, deadlineMs: 60_000 }).then(() => (ended = true));
    visitor.write('second');
    await waitFor(() => near.server.connections(1)[0]?.download === 12);
    expect(ended).toBe(false);
    visitor.end();
    expect(String(await back)).toBe('first second');
    await drained;
  });
});

describe('the limits of a client', () => {
  it('count connections at all servers, but not those of a server that has left', async () => {
    const { near, far } = await pair();
    const target = await far.echo();
    const ports = await Promise.all(
      [near, far].map(async (rig) => {
        const config = rig.config({ tunnels: [rig.tunnelConfig(1, [target])] });
        const clients = config.clients.map((client) => ({ ...client, maxConnections: 3 }));
        const [state] = await rig.server.apply({ ...config, clients });
        return state?.port ?? 0;
      }),
    );
    const [nearPort = 0, farPort = 0] = ports;
    const enter = async (rig: TunnelRig, port: number): Promise<Socket> => {
      const visitor = await rig.visit(port);
      visitor.write('x');
      await once(visitor, 'data');
      return visitor;
    };
    await enter(near, nearPort);
    await enter(near, nearPort);
    const seen = (rig: TunnelRig): number => limitsOf(rig).connectionsElsewhere(1);
    await waitFor(() => seen(far) === 2);
    const third = await enter(far, farPort);
    await waitFor(() => seen(near) === 1);
    expect(await howItEnds(near.visitor(nearPort))).toBe('ECONNRESET');
    expect(await howItEnds(far.visitor(farPort))).toBe('ECONNRESET');
    third.destroy();
    await waitFor(() => seen(near) === 0);
    await enter(near, nearPort);
    await waitFor(() => seen(far) === 3);
    await near.server.stop();
    await waitFor(() => seen(far) === 0);
    await enter(far, farPort);
  });
});

describe('links between servers', () => {
  it('are refused without the key of the gateway', async () => {
    const far = await server();
    const other = deriveControlKey(randomBytes(32), 'peers');
    const peers = { id: '0', keys: [other], listen: { host: '127.0.0.1', port: 0 } };
    const near = await server(far, { peers });
    const [a, b] = [await peerAddressOf(near), await peerAddressOf(far)];
    near.server.peers?.apply([a, b]);
    far.server.peers?.apply([a, b]);
    far.agent(far.client().key);
    await far.online(1);
    expect(near.server.peers?.states()).toMatchObject([{ connected: false, agents: 0 }]);
    expect(far.server.peers?.states()).toMatchObject([{ connected: false }]);
  });

  it('carry questions, and fail at once for a server that is not linked', async () => {
    const { near, far } = await pair();
    const { id = '' } = far.server.peers ?? {};
    expect(await near.server.peers?.ask(id, 'agents', [1], 5_000)).toEqual({ by: id, method: 'agents', params: [1] });
    await expect(near.server.peers?.ask('nobody', 'agents', null, 5_000)).rejects.toMatchObject({
      code: 'unavailable',
    });
  });

  it('end with the server, which the others forget', async () => {
    const { near, far } = await pair();
    await far.server.stop();
    await waitFor(() => near.server.peers?.states()[0]?.connected === false);
    near.server.peers?.apply([]);
    expect(near.server.peers?.states()).toEqual([]);
  });
});

describe('agents of one client', () => {
  it('replace each other across servers: the newest serves', async () => {
    const { near, far, client } = await pair();
    const { history } = near.agent(client.key);
    await near.online(1);
    await waitFor(() => far.agents[0]?.history.at(-1)?.state === 'stopped');
    expect(far.agents[0]?.history.at(-1)).toMatchObject({ reason: { code: 'replaced' } });
    expect(history.at(-1)).toMatchObject({ state: 'online' });
  });

  it('serve it together as replicas, in turn, and one can leave', async () => {
    const rig = await server();
    const { key } = rig.client();
    const names = ['a', 'b', 'c'];
    const answers = await Promise.all(names.map((name) => rig.target((socket) => socket.end(name))));
    const dialers = answers.map((port) => ({ replica: true, dialer: dialerTo(port) }));
    for (const options of dialers) rig.agent(key, options);
    await waitFor(() => rig.server.agents().length === 3);
    const port = await rig.tunnel(1, [1]);
    const seen = await Promise.all(Array.from({ length: 12 }, () => rig.answerTo(port, '')));
    expect([...new Set(seen)].toSorted()).toEqual(names);
    await rig.agents[1]?.agent.stop();
    await waitFor(() => rig.server.agents().length === 2);
    const later = await Promise.all(Array.from({ length: 12 }, () => rig.answerTo(port, '')));
    expect([...new Set(later)].toSorted()).toEqual(['a', 'c']);
  });

  it('answer datagrams of visitors who come while one of them is leaving', async () => {
    const { near, far, client } = await pair(false, { replica: true });
    const stays = near.agent(client.key, { replica: true });
    await waitFor(() => stays.agent.status.state === 'online');
    const echo = await udpSocket();
    echo.on('message', (text, from) => echo.send(text, from.port, from.address));
    const ports = [
      await tunnelAt([near, far], [echo.address().port], { mode: 'udp' }),
      await far.tunnel(1, [echo.address().port], { mode: 'udp' }),
    ];
    const visit = async (port: number): Promise<void> => {
      const visitor = await udpSocket();
      const answered = once(visitor, 'message');
      const again = setInterval(() => visitor.send('hello', port, '127.0.0.1'), 50);
      await answered;
      clearInterval(again);
      visitor.close();
    };
    const everywhere = async (): Promise<void> => {
      for (let count = 0; count < 8; count += 1) await Promise.all(ports.map(visit));
    };
    await everywhere();
    // Its visitors may go on, so it stays for a while.
    const leaving = far.agents[0]?.agent.stop(600_000);
    leaving?.catch(() => undefined);
    await waitFor(() => near.server.peers?.states()[0]?.agents === 0);
    await everywhere();
    echo.close();
  });

  it('serve it together as replicas at different servers', async () => {
    const { near, far, client } = await pair(false, { replica: true });
    near.agent(client.key, { replica: true });
    await near.online(1);
    await waitFor(() => far.server.peers?.states()[0]?.agents === 1);
    expect(far.server.agents()).toHaveLength(1);
    expect(near.server.agents()).toHaveLength(1);
  });

  it('end the others when one is not a replica', async () => {
    const rig = await server();
    const { key } = rig.client();
    const replicas = [rig.agent(key, { replica: true }), rig.agent(key, { replica: true })];
    await waitFor(() => rig.server.agents().length === 2);
    rig.agent(key);
    await waitFor(() => replicas.every(({ history }) => history.at(-1)?.state === 'stopped'));
    expect(rig.server.agents()).toHaveLength(1);
  });
});

describe('an agent of a gateway with several edges', () => {
  async function edges(): Promise<{ one: TunnelRig; two: TunnelRig; port: number; client: TestClient }> {
    const one = await server();
    const two = await server(one);
    await link(one, two);
    const list = [
      { id: 'one', host: '127.0.0.1', port: one.port },
      { id: 'two', host: '127.0.0.1', port: two.port },
    ];
    one.server.announceEdges({ own: 'one', edges: list });
    two.server.announceEdges({ own: 'two', edges: list });
    const client = one.client();
    return { one, two, client, port: await tunnelAt([two, one], [await one.echo()]) };
  }

  it('connects to two, and serves visitors after the first has left', async () => {
    const { one, two, client, port } = await edges();
    const { agent, history } = one.agent(client.key);
    await one.online(1);
    await two.online(1);
    await one.server.stop();
    expect(await two.answerTo(port, 'still here')).toBe('still here');
    expect(agent.status.state).toBe('online');
    expect(history.filter(({ state }) => state === 'waiting')).toEqual([]);
  });

  it('finds the others at the first attempt when one is gone, without moving the connection that is left', async () => {
    const dialled: number[] = [];
    const dialer: AgentDialer = {
      ...systemDialer,
      server: (address, timeoutMs) => {
        dialled.push(address.port);
        return systemDialer.server(address, timeoutMs);
      },
    };
    // Without visitors, agents then open no data channels: all connections are control connections.
    const options = { pool: { quietAbove: -1 } };
    const all = [await server(undefined, options)];
    for (let more = 0; more < 3; more++) all.push(await server(all[0], options));
    await link(...all);
    const edgeOf = (rig: TunnelRig): EdgeAddress => ({ id: String(rig.port), host: '127.0.0.1', port: rig.port });
    for (const rig of all) rig.server.announceEdges({ own: String(rig.port), edges: all.map(edgeOf) });
    const [first] = all;
    if (!first) throw new Error('there is no server');
    const { key } = first.client();
    first.agent(key, { dialer, p2p: false, random: () => 0 });
    await waitFor(() => all.filter((rig) => rig.server.agents().length === 1).length === 2);
    const second = all.find((rig) => rig !== first && rig.server.agents().length === 1);
    const { connectedAt } = second?.server.agents()[0] ?? {};
    dialled.length = 0;
    await first.server.stop();
    const others = all.filter((rig) => rig !== first && rig !== second);
    await waitFor(() => others.some((rig) => rig.server.agents().length === 1));
    expect(dialled).not.toContain(first.port);
    expect(second?.server.agents()[0]?.connectedAt).toBe(connectedAt);
    // The same for the second connection: of the edges that are left, only one is neither lost nor the first one's.
    await second?.server.stop();
    await waitFor(() => others.every((rig) => rig.server.agents().length === 1));
    expect(dialled).not.toContain(first.port);
    expect(dialled).not.toContain(second?.port);
  });

  it('connects to one if only one is named', async () => {
    const { one, two, client } = await edges();
    const only = { own: 'one', edges: [{ id: 'one', host: '127.0.0.1', port: one.port }] };
    one.server.announceEdges(only);
    one.agent(client.key);
    await one.online(1);
    one.server.announceEdges(only);
    expect(two.server.agents()).toEqual([]);
  });

  it('leaves both when it stops, and when another agent takes over', async () => {
    const { one, two, client } = await edges();
    const { agent } = one.agent(client.key);
    await two.online(1);
    await agent.stop();
    await waitFor(() => one.server.agents().length + two.server.agents().length === 0);
    const first = one.agent(client.key);
    await two.online(1);
    const second = two.agent(client.key);
    await waitFor(() => first.history.at(-1)?.state === 'stopped');
    await waitFor(() => one.server.agents().length === 1 && two.server.agents().length === 1);
    expect(second.agent.status.state).toBe('online');
  });
});

function limitsOf(rig: TunnelRig): SharedLimits {
  return (rig.server as unknown as { access: { shared: SharedLimits } }).access.shared;
}

/** Reaches one port, whatever target the server names. */
function dialerTo(port: number): NonNullable<TunnelAgentEnvironment['dialer']> {
  return {
    server: (address, timeoutMs) => systemDialer.server(address, timeoutMs),
    target: (_, timeoutMs, permits) => systemDialer.target({ host: '127.0.0.1', port }, timeoutMs, permits),
  };
}
