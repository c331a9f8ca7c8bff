import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createConnection, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import { createServer, type TLSSocket } from 'node:tls';
import { ByteReader } from '@gatehouse/net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { howItEnds, logger, readAll, TunnelRig } from '../../test/tunnel-rig.js';
import {
  agentKeyHash,
  createAgentSecret,
  formatVisitorKey,
  systemDialer,
  TunnelError,
  TunnelVisitor,
  type AgentDialer,
  type TunnelAgent,
  type TunnelAgentEnvironment,
} from '../index.js';
import { PinnedServer } from '../session/pinned-tls.js';
import { mappingProof, MAPPING_PROTOCOL, readMapping, type PathMessage } from '../wire/rendezvous.js';
import { AgentSearch } from './agent-search.js';
import { MeetingPoint } from './meeting-point.js';
import { mayKnock, mayMeetNearby } from './reachable.js';
import type { TunnelVisitorEnvironment } from '../visitor/tunnel-visitor.js';

const secret = createAgentSecret();
let rig: TunnelRig;
const visitors: TunnelVisitor[] = [];
beforeEach(async () => {
  rig = new TunnelRig();
  await rig.listen();
});
afterEach(async () => {
  for (const visitor of visitors.splice(0)) visitor.stop();
  await rig.close();
});

async function open(
  options: Partial<TunnelVisitorEnvironment> = {},
): Promise<{ visitor: TunnelVisitor; port: number }> {
  const key = formatVisitorKey({ tunnelId: 7, secret, fingerprint: rig.identity.fingerprint });
  const visitor = new TunnelVisitor({ server: { host: '127.0.0.1', port: rig.port }, key, logger, ...options });
  visitors.push(visitor);
  return { visitor, port: await visitor.listen({ host: '127.0.0.1', port: 0 }) };
}

async function tunnel(target: number, agentOptions: Partial<TunnelAgentEnvironment> = {}): Promise<TunnelAgent> {
  const { agent } = rig.agent(rig.client().key, agentOptions);
  await rig.online(1);
  await rig.tunnel(1, [target], { mode: 'p2p', visitorKeyHash: agentKeyHash(secret) });
  return agent;
}

async function direct(
  options: Partial<TunnelVisitorEnvironment> = {},
): Promise<{ visitor: TunnelVisitor; port: number }> {
  const opened = await open(options);
  await waitFor(() => opened.visitor.route === 'direct');
  return opened;
}

/** A connection that has echoed a byte, so that it stands all the way. */
async function echoed(port: number): Promise<Socket> {
  const socket = await rig.visit(port);
  socket.write('x');
  await once(socket, 'data');
  return socket;
}

describe('a tunnel of mode p2p', () => {
  it('carries connections directly; both sides and the server count them', async () => {
    const target = await rig.target((socket) => {
      let question = '';
      socket.on('data', (part) => (question += String(part)));
      socket.on('end', () => socket.end(`answer to ${question}`));
    });
    const agent = await tunnel(target);
    const { visitor, port } = await direct();
    for (const _ of [1, 2]) {
      const socket = await rig.visit(port);
      socket.end('the question');
      // The end of one direction leaves the other one open.
      expect(String(await readAll(socket))).toBe('answer to the question');
    }
    expect(visitor.carried).toEqual({ direct: { upload: 24, download: 44 }, relayed: { upload: 0, download: 0 } });
    await waitFor(() => agent.flows === 0);
    expect(agent.takeDeltas()).toMatchObject([{ upload: 24, download: 44, connections: 2 }]);
    const counted = { upload: 0, download: 0, connections: 0 };
    await waitFor(() => {
      for (const delta of rig.server.takeDeltas()) {
        counted.upload += delta.upload;
        counted.download += delta.download;
        counted.connections += delta.connections;
      }
      return counted.connections === 2 && counted.download === 44;
    });
    expect(counted).toEqual({ upload: 24, download: 44, connections: 2 });
    expect(rig.server.takeVisitors()).toMatchObject([{ address: '127.0.0.1', hits: 2 }]);
    visitor.stop();
    await waitFor(() => rig.records.length === 1);
    expect(rig.records).toMatchObject([{ upload: 24, download: 44 }]);
  });

  it('carries a megabyte in each direction unchanged', async () => {
    await tunnel(await rig.echo());
    const { port } = await direct();
    const sent = Buffer.alloc(1024 * 1024, 'some bytes that repeat;');
    const socket = await rig.visit(port);
    const received = readAll(socket);
    socket.end(sent);
    expect((await received).equals(sent)).toBe(true);
  });

  it('passes aborts in both directions', async () => {
    const ends: Promise<string>[] = [];
    const target = await rig.target((socket) => {
      ends.push(howItEnds(socket));
      socket.once('data', (part) => String(part) === 'abort' && socket.resetAndDestroy());
    });
    await tunnel(target);
    const { visitor, port } = await direct();
    const first = await rig.visit(port);
    first.write('abort');
    expect(await howItEnds(first)).toBe('ECONNRESET');
    const second = await rig.visit(port);
    second.write('stay');
    await waitFor(() => ends.length === 2);
    second.resetAndDestroy();
    expect(await ends[1]).toBe('ECONNRESET');
    expect(visitor.route).toBe('direct');
  });

  it('resets connections to a missing target', async () => {
    await tunnel(await rig.unusedPort());
    const { port } = await direct();
    expect(await howItEnds(rig.visitor(port))).toBe('ECONNRESET');
    await waitFor(() => rig.failures.includes('refused'));
  });

  it.each(['server', 'agent', 'visitor'] as const)(
    'uses the server if the %s supports no direct paths',
    async (who) => {
      if (who === 'server') {
        await rig.close();
        rig = new TunnelRig({ p2p: false });
        await rig.listen();
      }
      await tunnel(await rig.echo(), { p2p: who !== 'agent' });
      const { visitor, port } = await open({ p2p: who !== 'visitor' });
      const socket = await echoed(port);
      expect(visitor.route).toBe('relayed');
      expect(visitor.carried).toMatchObject({ direct: { upload: 0 }, relayed: { upload: 1, download: 1 } });
      socket.destroy();
    },
  );

  it('uses the server while the agent is not at the address that the server sees', async () => {
    const line = await rig.line();
    // The server sees the far end of the line, where nobody listens.
    await tunnel(await rig.echo(), { server: { host: '127.0.0.1', port: line.port } });
    const attempts = line.accepted;
    const { visitor, port } = await open();
    await waitFor(() => line.accepted > attempts);
    await echoed(port);
    expect(visitor.route).toBe('relayed');
    expect(visitor.carried).toMatchObject({ direct: { upload: 0 }, relayed: { upload: 1, download: 1 } });
  });

  it('uses the server again when the visitor loses the path, and its connections end', async () => {
    const line = await rig.line();
    await tunnel(await rig.echo());
    // Its rendezvous goes through the line; the server sees a port of the line's, which the agent does not have to reach.
    const { visitor, port } = await direct({ server: { host: '127.0.0.1', port: line.port } });
    const held = await echoed(port);
    const ended = howItEnds(held);
    line.cut();
    await waitFor(() => visitor.route === 'relayed');
    await echoed(port);
    expect(visitor.carried.relayed).toEqual({ upload: 1, download: 1 });
    expect(await ended).toBe('ECONNRESET');
  });

  it('outlives the control connection of an agent that reconnects, and ends when the server ends it', async () => {
    const line = await rig.line();
    const server: AgentDialer['server'] = (address, ms) => systemDialer.server({ ...address, port: line.port }, ms);
    const agent = await tunnel(await rig.echo(), { dialer: { ...systemDialer, server }, p2p: true });
    const { visitor, port } = await direct();
    const held = await echoed(port);
    const ended = howItEnds(held);
    const { history } = rig.agents[0]!;
    line.cut();
    await waitFor(() => history.filter(({ state }) => state === 'online').length === 2);
    held.write('y');
    await waitFor(() => visitor.carried.direct.download === 2);
    expect(visitor.route).toBe('direct');
    expect(agent.flows).toBe(1);
    await rig.server.apply(rig.config({}));
    expect(await ended).toBe('ECONNRESET');
    await waitFor(() => rig.records.some(({ upload }) => upload === 2));
  });

  it.each(['tunnel', 'client', 'key', 'agent'] as const)('ends at once with its %s', async (what) => {
    const target = await rig.echo();
    const agent = await tunnel(target);
    const { visitor, port } = await direct();
    const held = await echoed(port);
    const ended = howItEnds(held);
    const same = { mode: 'p2p' as const, visitorKeyHash: agentKeyHash(secret) };
    const changed = { ...same, visitorKeyHash: agentKeyHash(createAgentSecret()) };
    const tunnels = [rig.tunnelConfig(1, [target], what === 'key' ? changed : same)];
    const config = rig.config({ tunnels: what === 'tunnel' ? [] : tunnels });
    const clients = config.clients.map((client) => ({ ...client, enabled: what !== 'client' }));
    if (what === 'agent') await agent.stop();
    else await rig.server.apply({ ...config, clients });
    expect(await ended).toBe('ECONNRESET');
    await waitFor(() => visitor.route === 'relayed');
    await waitFor(() => rig.records.length === 1);
    // The agent of a client that is switched off has no connection for its last count.
    if (what !== 'client') expect(rig.records).toMatchObject([{ upload: 1, download: 1 }]);
  });
});

describe('the meeting of agent and visitor', () => {
  it('admits nobody without the token, and trusts nobody with another key', async () => {
    let refusals = 0;
    const counting = { ...logger, debug: () => void (refusals += 1) };
    const { key, certificate: cert, fingerprint } = rig.identity;
    const looker = createServer({ key, cert, ALPNProtocols: [MAPPING_PROTOCOL] }).listen(0, '127.0.0.1');
    await once(looker, 'listening');
    const server = { host: '127.0.0.1', port: (looker.address() as AddressInfo).port };
    const token = randomBytes(32).toString('base64url');
    const visitor = { address: '127.0.0.1', port: await rig.unusedPort() };
    const message = { type: 'rendezvous' as const, id: 'ab'.repeat(16), tunnelId: 7, visitor, token };
    const met = new MeetingPoint(message, { server, pinned: new PinnedServer(fingerprint), logger: counting }).meet();
    const [mapping] = (await once(looker, 'secureConnection')) as [TLSSocket];
    const said = await readMapping(new ByteReader(mapping));
    expect(said.proof).toBe(mappingProof(Buffer.from(token, 'base64url'), said));
    const search = (path: Partial<PathMessage>): AgentSearch =>
      new AgentSearch({ agent: said.local, ...said, token, ...path }, { host: '127.0.0.1', port: 0 });
    for (const wrong of [{ token: randomBytes(32).toString('base64url') }, { fingerprint: fingerprint }]) {
      const before = refusals;
      const one = search(wrong);
      const found = one.find().catch((error: TunnelError) => error.code);
      await waitFor(() => refusals > before);
      one.fail(new TunnelError('stopped', 'given up'));
      expect(await found).toBe('stopped');
    }
    const found = await search({}).find();
    const stream = await met;
    expect(stream.remotePort).toBe(found.localPort);
    found.destroy();
    stream.destroy();
    looker.close();
  });
});

it('a visitor does not connect to an address of its own machine that an agent claims as its own', async () => {
  let connections = 0;
  const service = createTcpServer(() => (connections += 1)).listen(0, '127.0.0.77');
  await once(service, 'listening');
  const local = { address: '127.0.0.77', port: (service.address() as AddressInfo).port };
  const agent = { address: '127.0.0.1', port: await rig.unusedPort() };
  const path = { agent, local, fingerprint: 'f', token: randomBytes(32).toString('base64url') };
  const search = new AgentSearch(path, { host: '127.0.0.1', port: 0 });
  const found = search.find().catch((error: TunnelError) => error.code);
  // By then whatever was tried at first has arrived.
  await once(createConnection(local.port, '127.0.0.77'), 'connect');
  await waitFor(() => connections === 1);
  search.fail(new TunnelError('stopped', 'given up'));
  expect(await found).toBe('stopped');
  expect(connections).toBe(1);
  service.close();
});

describe('local addresses that an agent claims as its own', () => {
  const address = (cidr: string) => ({ address: cidr.split('/')[0], cidr, internal: false });
  const interfaces = {
    lo: [address('127.0.0.1/8')],
    eth0: [address('192.168.0.5/24'), address('fe80::5/64'), address('fd00:1::5/64')],
  } as unknown as NodeJS.Dict<NetworkInterfaceInfo[]>;
  it.each([
    ['192.168.0.9', '192.168.0.5', true],
    ['fd00:1::9', 'fd00:1::5', true],
    ['192.168.0.5', '192.168.0.5', false],
    ['::ffff:192.168.0.5', '192.168.0.5', false],
    ['fd00:1:0::5', 'fd00:1::5', false],
    ['192.168.1.9', '192.168.0.5', false],
    ['127.0.0.77', '127.0.0.1', false],
    ['::1', '192.168.0.5', false],
    ['169.254.169.254', '192.168.0.5', false],
    ['fe80::9', 'fe80::5', false],
    ['8.8.8.8', '192.168.0.5', false],
    ['nobody', '192.168.0.5', false],
  ])('%s from %s: %s', (theirs, own, may) => expect(mayMeetNearby(theirs, own, interfaces)).toBe(may));
});

describe('addresses that the other side names', () => {
  it.each([
    ['8.8.8.8', '127.0.0.1', true],
    ['127.0.0.1', '127.0.0.1', true],
    ['127.0.0.1', '8.8.4.4', false],
    ['169.254.169.254', '127.0.0.1', false],
    ['10.1.2.3', '127.0.0.1', false],
    ['224.0.0.1', '127.0.0.1', false],
    ['not an address', '127.0.0.1', false],
    ['::1', '127.0.0.1', false],
  ])('%s from %s: %s', (address, own, may) => expect(mayKnock(address, own)).toBe(may));
});
