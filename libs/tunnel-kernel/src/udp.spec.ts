import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from '@gatehouse/testing';
import { TunnelRig, type TestClient } from '../test/tunnel-rig.js';
import { ask, udpLine, udpSocket, type UdpLine } from '../test/udp-rig.js';
import type { DatagramSessions } from './datagrams/datagram-sessions.js';
import type { ClientConfig, TunnelAgentEnvironment, TunnelConfig, TunnelServerEnvironment } from './index.js';

const sockets: Socket[] = [];
let rig: TunnelRig;
let client: TestClient;
let line: UdpLine | null = null;

afterEach(async () => {
  await rig.close();
  line?.close();
  line = null;
  for (const socket of sockets.splice(0)) socket.close();
});

async function udp(): Promise<Socket> {
  const socket = await udpSocket();
  sockets.push(socket);
  return socket;
}

/** A target that sends everything back, with a prefix that identifies it. */
async function echo(prefix = ''): Promise<number> {
  const socket = await udp();
  socket.on('message', (payload, { port, address }) => {
    socket.send(Buffer.concat([Buffer.from(prefix), payload]), port, address);
  });
  return socket.address().port;
}

async function setUp(options: Partial<TunnelServerEnvironment> = {}, encrypt = false): Promise<void> {
  rig = new TunnelRig(options);
  await rig.listen();
  client = rig.client(encrypt);
}

interface StartOptions {
  agent?: Partial<TunnelAgentEnvironment>;
  tunnel?: Partial<TunnelConfig>;
}

async function start(targets: number[], { agent: options, tunnel }: StartOptions = {}) {
  const { agent } = rig.agent(client.key, options);
  await rig.online(1);
  return { agent, port: await rig.tunnel(1, targets, { mode: 'udp', ...tunnel }) };
}

/** The same tunnel, with something else about its client. */
async function change(target: number, client: Partial<ClientConfig>): Promise<void> {
  const config = rig.config({ tunnels: [rig.tunnelConfig(1, [target], { mode: 'udp' })] });
  await rig.server.apply({ ...config, clients: config.clients.map((one) => ({ ...one, ...client })) });
}

const viaPackets = (wanted: boolean): Promise<boolean> =>
  waitFor(() => rig.server.agents()[0]?.packets === wanted, { timeoutMs: 15_000 });

/** Asks until an answer comes: datagrams get lost while the way changes. */
async function askUntilAnswered(visitor: Socket, port: number, question: string): Promise<string> {
  let answer: Buffer | null = null;
  const listen = (payload: Buffer): void => {
    if (payload.includes(question)) answer = payload;
  };
  visitor.on('message', listen);
  await waitFor(
    () => {
      if (!answer) visitor.send(question, port, '127.0.0.1');
      return answer !== null;
    },
    { timeoutMs: 15_000, intervalMs: 50 },
  );
  visitor.off('message', listen);
  return String(answer);
}

describe.each([
  ['UDP packets', true, false],
  ['TCP lanes', false, false],
  ['TCP lanes in TLS', false, true],
])('mode udp over %s', (_, packets, encrypt) => {
  beforeEach(() => setUp({}, encrypt));

  const startOn = async (targets: number[]) => {
    const started = await start(targets, { agent: { datagrams: { packets } } });
    await viaPackets(packets);
    return started;
  };

  it('carries datagrams of any length in both directions, with equal counts on both sides', async () => {
    const { port, agent } = await startOn([await echo()]);
    const visitor = await udp();
    let bytes = 0;
    for (const length of [0, 1, 1100, 1200, 1411, 1412, 1413, 1417, 1424, 9000, 32_768, 65_506, 65_507]) {
      const sent = randomBytes(length);
      expect((await ask(visitor, port, sent)).equals(sent)).toBe(true);
      bytes += length;
    }
    const counted = [{ upload: bytes, download: bytes, connections: 1 }];
    expect(rig.server.takeDeltas()).toMatchObject(counted);
    expect(agent.takeDeltas()).toMatchObject(counted);
    expect(rig.server.agents()[0]?.packets).toBe(packets);
  });

  it('keeps many visitors apart', async () => {
    const { port, agent } = await startOn([await echo()]);
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (__, index) => {
        const visitor = await udp();
        const questions = Array.from({ length: 5 }, (___, turn) => `${index}:${turn}`);
        const said: string[] = [];
        for (const question of questions) said.push(String(await ask(visitor, port, question)));
        return said.join() === questions.join();
      }),
    );
    expect(answers.every(Boolean)).toBe(true);
    expect(rig.server.flows).toBe(100);
    expect(agent.flows).toBe(100);
    expect(rig.server.datagramState()).toMatchObject({ sessions: 100, noRoute: 0, overRate: 0, tooLong: 0 });
  });

  it('carries DNS queries and answers', async () => {
    const target = await udp();
    target.on('message', (query, { port, address }) => {
      // The question, and one answer: an A record of 192.0.2.7 for the name at offset 12.
      const answer = Buffer.concat([
        query.subarray(0, query.indexOf(0, 12) + 5),
        Buffer.from('c00c000100010000003c0004c0000207', 'hex'),
      ]);
      answer.writeUInt16BE(0x8180, 2);
      answer.writeUInt16BE(1, 6);
      answer.writeUInt32BE(0, 8);
      target.send(answer, port, address);
    });
    const { port } = await startOn([target.address().port]);
    const resolver = new Resolver({ timeout: 5000, tries: 1 });
    resolver.setServers([`127.0.0.1:${port}`]);
    expect(await resolver.resolve4('inside.example')).toEqual(['192.0.2.7']);
  });

  it('continues with a restarted agent', async () => {
    const { port, agent } = await startOn([await echo()]);
    const visitor = await udp();
    await ask(visitor, port, 'before');
    await agent.stop();
    rig.agent(client.key, { datagrams: { packets } });
    expect(await askUntilAnswered(visitor, port, 'after')).toBe('after');
    expect(rig.server.flows).toBe(1);
  });
});

describe('mode udp', () => {
  it('uses the targets in turn, and skips one where no program listens', async () => {
    await setUp();
    const closed = await udpSocket();
    const nobody = closed.address().port;
    closed.close();
    const { port } = await start([await echo('a'), nobody, await echo('b')]);
    const answers = new Set<string>();
    for (let visit = 0; visit < 6; visit++) answers.add(await askUntilAnswered(await udp(), port, 'x'));
    expect([...answers].sort()).toEqual(['ax', 'bx']);
    await waitFor(() => rig.failures.includes('refused'));
  });

  it('does not send to targets that the agent does not allow', async () => {
    await setUp();
    const target = await udp();
    let arrived = 0;
    target.on('message', () => (arrived += 1));
    const { port } = await start([target.address().port], { agent: { allows: () => false } });
    (await udp()).send('x', port, '127.0.0.1');
    await waitFor(() => rig.failures.length === 1);
    expect(rig.failures).toEqual(['forbidden']);
    expect(arrived).toBe(0);
  });

  it('sends the visitor’s address to targets', async () => {
    await setUp();
    const { port } = await start([await echo()], { tunnel: { proxyProtocol: 2 } });
    const visitor = await udp();
    const answer = await ask(visitor, port, 'hello');
    expect(answer.toString('hex', 0, 24)).toBe('0d0a0d0a000d0a515549540a2112000c7f0000017f000001');
    expect(answer.readUInt16BE(24)).toBe(visitor.address().port);
    expect(answer.readUInt16BE(26)).toBe(port);
    expect(answer.toString('utf8', 28)).toBe('hello');
    // With the header it is longer than UDP has datagrams: lost, and the target has not failed for it.
    visitor.send(Buffer.alloc(65_507), port, '127.0.0.1');
    expect((await ask(visitor, port, 'again')).toString('utf8', 28)).toBe('again');
    expect(rig.failures).toEqual([]);
  });

  it('ends idle sessions on both sides', async () => {
    await setUp({ datagrams: { idleMs: 300 } });
    const { port, agent } = await start([await echo()]);
    const visitor = await udp();
    await ask(visitor, port, 'x');
    await waitFor(() => rig.server.flows === 0 && agent.flows === 0);
    expect(rig.records).toMatchObject([{ upload: 1, download: 1, reason: 'idle' }]);
    expect(String(await ask(visitor, port, 'again'))).toBe('again');
  });

  it('limits the number of visitors', async () => {
    await setUp({ datagrams: { visitors: 2 } });
    const { port } = await start([await echo()]);
    const [first, second, third] = [await udp(), await udp(), await udp()];
    await ask(first, port, 'x');
    await ask(second, port, 'x');
    third.send('x', port, '127.0.0.1');
    await ask(first, port, 'y');
    expect(rig.server.flows).toBe(2);
    third.on('message', () => expect.unreachable());
    await ask(second, port, 'z');
  });

  it('replaces only sessions that no target has answered', async () => {
    await setUp({ datagrams: { visitors: 2 } });
    const target = await udp();
    const received: string[] = [];
    target.on('message', (payload, { port, address }) => {
      received.push(String(payload));
      if (payload.includes('?')) target.send(payload, port, address);
    });
    const { port } = await start([target.address().port]);
    await ask(await udp(), port, 'first?');
    for (const text of ['one', 'two', 'three']) {
      const stranger = await udp();
      stranger.send(text, port, '127.0.0.1');
      await waitFor(() => received.includes(text));
    }
    expect(rig.server.flows).toBe(2);
    expect(rig.records).toHaveLength(2);
    expect(String(await ask(await udp(), port, 'last?'))).toBe('last?');
  });

  it('has no sessions for a client without an agent, and keeps room for other clients', async () => {
    await setUp({ datagrams: { sessions: 8 } });
    const { port } = await start([await echo()]);
    const quiet = rig.client();
    const away = rig.tunnelConfig(quiet.record.id, [1], { id: 8, mode: 'udp' });
    const here = rig.tunnelConfig(1, [await echo()], { mode: 'udp', listen: { host: '127.0.0.1', port } });
    const states = await rig.server.apply(rig.config({ tunnels: [here, away] }));
    const awayPort = states.find(({ id }) => id === 8)?.port ?? 0;
    for (let count = 0; count < 20; count += 1) (await udp()).send('x', awayPort, '127.0.0.1');
    await waitFor(() => rig.server.datagramState().noRoute > 0);
    expect(rig.server.datagramState().sessions).toBe(0);
    for (let count = 0; count < 4; count += 1) await ask(await udp(), port, 'x');
    expect(rig.server.datagramState().sessions).toBe(4);
  });

  it('ends the sessions of a disabled client', async () => {
    await setUp();
    const target = await echo();
    const { port } = await start([target]);
    await ask(await udp(), port, 'x');
    await change(target, { enabled: false });
    await waitFor(() => rig.server.flows === 0);
    expect(rig.records).toMatchObject([{ reason: 'stopped' }]);
  });

  it('ends the sessions of an expired client', async () => {
    await setUp();
    const target = await echo();
    const { port } = await start([target]);
    await ask(await udp(), port, 'x');
    await change(target, { expiresAt: Date.now() + 400 });
    expect(rig.server.flows).toBe(1);
    await waitFor(() => rig.server.flows === 0);
    expect(rig.records).toMatchObject([{ reason: 'stopped' }]);
  });

  it('counts a visitor as a connection of its client', async () => {
    await setUp();
    const target = await echo();
    const { port } = await start([target]);
    await change(target, { maxConnections: 1 });
    const [first, second] = [await udp(), await udp()];
    await ask(first, port, 'x');
    second.send('x', port, '127.0.0.1');
    await ask(first, port, 'y');
    expect(rig.server.flows).toBe(1);
  });

  it('drops datagrams above the client’s rate, and counts them', async () => {
    await setUp();
    const target = await echo();
    const { port } = await start([target]);
    await change(target, { rateLimit: 1000 });
    const visitor = await udp();
    for (let count = 0; count < 20; count++) visitor.send(Buffer.alloc(9000), port, '127.0.0.1');
    // The burst of 64 KiB lets seven of them go, or fewer and some answers.
    await waitFor(() => rig.server.datagramState().overRate >= 13);
    const [moved] = rig.server.takeDeltas();
    expect((moved?.upload ?? 0) + (moved?.download ?? 0)).toBeLessThanOrEqual(65_536 + 1000);
  });

  it('serves a visitor after the verifier has admitted it', async () => {
    let decide: (allowed: boolean) => void = () => undefined;
    const asked: string[] = [];
    await setUp({
      verifier: {
        allows: (__, ___, { address }) => {
          asked.push(address);
          return new Promise((resolve) => (decide = resolve));
        },
        verify: () => ({ allowed: false, answer: { status: 403, headers: [], body: '' } }),
        checkPassword: () => false,
        guards: () => true,
      },
    });
    const { port } = await start([await echo()]);
    const [good, bad] = [await udp(), await udp()];
    bad.send('let me in', port, '127.0.0.1');
    await waitFor(() => asked.length === 1);
    decide(false);
    bad.send('please', port, '127.0.0.1');
    const answer = once(good, 'message');
    good.send('first', port, '127.0.0.1');
    await waitFor(() => asked.length === 2);
    expect(rig.server.flows).toBe(0);
    decide(true);
    expect(String((await answer)[0])).toBe('first');
    expect(rig.server.flows).toBe(1);
  });

  it('releases the port with its tunnel, and reports a port that cannot be bound', async () => {
    await setUp();
    const { port } = await start([await echo()]);
    await ask(await udp(), port, 'x');
    await rig.server.apply(rig.config({}));
    expect(rig.server.flows).toBe(0);
    const taken = await udpSocket(port);
    sockets.push(taken);
    await rig.tunnel(1, [1], { mode: 'udp', listen: { host: '127.0.0.1', port } });
    expect(rig.server.tunnels()).toMatchObject([{ state: 'error', error: `127.0.0.1:${port} is in use` }]);
  });

  it('sends the datagrams of a tunnel to its new targets', async () => {
    await setUp();
    const { port } = await start([await echo('old ')]);
    const visitor = await udp();
    expect(String(await ask(visitor, port, 'x'))).toBe('old x');
    const listen = { host: '127.0.0.1', port };
    await rig.tunnel(1, [await echo('new ')], { mode: 'udp', listen });
    await waitFor(async () => (await askUntilAnswered(visitor, port, 'x')) === 'new x');
  });
});

describe('datagrams to any destination', () => {
  /** A session as a proxy mode opens it. */
  const associate = async (destinations: string[], agent: Partial<TunnelAgentEnvironment> = {}) => {
    await setUp();
    rig.agent(client.key, agent);
    await rig.online(1);
    const tunnel = { ...rig.tunnelConfig(1, []), mode: 'socks5' as const, destinations };
    await rig.server.apply(rig.config({ tunnels: [tunnel] }));
    const answers: string[] = [];
    const visitor = { address: '192.0.2.1', port: 4000 };
    const { datagrams } = rig.server as unknown as { datagrams: DatagramSessions };
    const session = datagrams.open({
      admitted: { resource: { kind: 'tunnel', id: 7 }, clientId: 1, visitor, asked: undefined, throttle: () => null },
      entrance: { address: '192.0.2.2', port: 1080 },
      idleMs: 0,
      onDatagram: (payload, source) =>
        answers.push(`${Buffer.from(payload).toString()} from ${source?.host}:${source?.port}`),
    });
    return { session, answers, tunnel };
  };

  it('go to an address or a name, and answers name their source', async () => {
    const { session, answers } = await associate([]);
    const [first, second] = [await echo('1'), await echo('2')];
    session.send(Buffer.from('x'), { host: '127.0.0.1', port: first });
    await waitFor(() => answers.length === 1);
    session.send(Buffer.from('y'), { host: 'localhost', port: second });
    await waitFor(() => answers.length === 2);
    expect(answers[0]).toBe(`1x from 127.0.0.1:${first}`);
    expect(answers[1]).toContain('2y from ');
    session.close();
    expect(rig.server.flows).toBe(0);
  });

  it('follow the rules of the tunnel and of the agent, also after a change', async () => {
    const asked: string[] = [];
    const allows = ({ port }: { port: number }): boolean => asked.push(String(port)) > 0 && port !== 9;
    const [open, closed] = [await echo(), await echo()];
    const { session, answers, tunnel } = await associate([`127.0.0.1:${open}`, '127.0.0.1:9'], { allows });
    for (const port of [closed, 9, open]) session.send(Buffer.from('x'), { host: '127.0.0.1', port });
    session.send(Buffer.from('to no target'));
    await waitFor(() => answers.length === 1);
    expect(answers).toEqual([`x from 127.0.0.1:${open}`]);
    expect(asked).toEqual(['9', String(open)]);
    await rig.server.apply(rig.config({ tunnels: [{ ...tunnel, destinations: [`127.0.0.1:${closed}`] }] }));
    await waitFor(() => {
      session.send(Buffer.from('y'), { host: '127.0.0.1', port: closed });
      return answers.length > 1;
    });
    const before = answers.length;
    session.send(Buffer.from('z'), { host: '127.0.0.1', port: open });
    session.send(Buffer.from('last'), { host: '127.0.0.1', port: closed });
    await waitFor(() => answers.at(-1)?.startsWith('last') === true);
    expect(answers.slice(before).filter((answer) => answer.startsWith('z'))).toEqual([]);
    expect(rig.failures).toEqual([]);
  });

  it('get no answers from addresses to which nothing was sent', async () => {
    const { session, answers } = await associate([]);
    const stranger = await udp();
    const target = await udp();
    target.on('message', (payload, { port, address }) => {
      stranger.send('not asked', port, address, () => target.send(payload, port, address));
    });
    session.send(Buffer.from('x'), { host: '127.0.0.1', port: target.address().port });
    await waitFor(() => answers.length === 1);
    expect(answers).toEqual([`x from 127.0.0.1:${target.address().port}`]);
  });
});

describe('datagram packets', () => {
  beforeEach(async () => {
    await setUp();
    line = await udpLine(rig);
  });

  const startOnLine = async (path: UdpLine) => {
    const started = await start([await echo()], { agent: { server: { host: '127.0.0.1', port: path.port } } });
    await viaPackets(true);
    return started;
  };

  it('give way to lanes while they do not get through, and come back', async () => {
    const path = line as UdpLine;
    const { port } = await startOnLine(path);
    const visitor = await udp();
    await ask(visitor, port, 'packets');
    path.longest = 0;
    expect(await askUntilAnswered(visitor, port, 'lanes')).toBe('lanes');
    await viaPackets(false);
    path.longest = 65_535;
    await viaPackets(true);
    const before = path.seen.length;
    expect(await askUntilAnswered(visitor, port, 'packets again')).toBe('packets again');
    expect(path.seen.length).toBeGreaterThan(before);
    expect(rig.server.flows).toBe(1);
  }, 40_000);

  it('are not used if they get through in one direction only, which the agent learns', async () => {
    const path = line as UdpLine;
    const { port } = await startOnLine(path);
    const visitor = await udp();
    await ask(visitor, port, 'both');
    path.oneWay = true;
    expect(await askUntilAnswered(visitor, port, 'one')).toBe('one');
    await viaPackets(false);
  }, 40_000);

  it('reach targets from the same port after the control connection was lost', async () => {
    const path = line as UdpLine;
    const target = await udp();
    const from = new Set<number>();
    target.on('message', (payload, { port, address }) => {
      from.add(port);
      target.send(payload, port, address);
    });
    const agent = { server: { host: '127.0.0.1', port: path.port } };
    const { port } = await start([target.address().port], { agent });
    await viaPackets(true);
    const visitor = await udp();
    await ask(visitor, port, 'x');
    const since = rig.server.agents()[0]?.connectedAt ?? 0;
    path.cut();
    await waitFor(() => (rig.server.agents()[0]?.connectedAt ?? 0) > since);
    expect(await askUntilAnswered(visitor, port, 'y')).toBe('y');
    await viaPackets(true);
    expect(from.size).toBe(1);
  });

  it('that arrive before the agent knows their tunnel wait for its configuration', async () => {
    const path = line as UdpLine;
    const other = await rig.tunnel(1, [await echo()], { mode: 'udp' });
    rig.agent(client.key, { server: { host: '127.0.0.1', port: path.port } });
    await viaPackets(true);
    expect(String(await ask(await udp(), other, 'known'))).toBe('known');
    path.hold(true);
    const tunnels = [{ ...rig.tunnelConfig(1, [await echo()], { mode: 'udp' }), id: 8 }];
    const [state] = await rig.server.apply(rig.config({ tunnels }));
    const port = state?.port ?? 0;
    const before = path.seen.length;
    const answer = ask(await udp(), port, 'early');
    // The agent has sent everything that it has to report about it.
    await waitFor(() => path.seen.length > before);
    path.hold(false);
    expect(String(await answer)).toBe('early');
    expect(rig.failures).toEqual([]);
  });

  it('are shorter if only short ones get through', async () => {
    const path = line as UdpLine;
    path.longest = 1280;
    const { port } = await startOnLine(path);
    const visitor = await udp();
    const sent = randomBytes(9000);
    expect((await ask(visitor, port, sent)).equals(sent)).toBe(true);
    expect(Math.max(...path.seen.map(({ length }) => length))).toBeLessThanOrEqual(1200);
  });

  it('find the agent at a new address', async () => {
    const path = line as UdpLine;
    const { port } = await startOnLine(path);
    const visitor = await udp();
    await ask(visitor, port, 'here');
    await path.rebind();
    expect(await askUntilAnswered(visitor, port, 'there')).toBe('there');
    await viaPackets(true);
    expect(String(await ask(visitor, port, 'still'))).toBe('still');
  }, 40_000);

  it('that are forged, changed or repeated are dropped without any effect', async () => {
    const path = line as UdpLine;
    const { port } = await startOnLine(path);
    const visitor = await udp();
    await ask(visitor, port, 'x');
    const seen = [...path.seen];
    // Packets do not overtake each other here: the server has those of before.
    await ask(visitor, port, 'all of them have arrived');
    rig.server.takeDeltas();
    const [genuine] = seen.slice(-1);
    const changed = Buffer.from(genuine ?? '');
    changed[20] = (changed[20] ?? 0) ^ 1;
    // Of a number that was not used yet, and so not known to be old.
    changed.writeUIntBE(2 ** 40, 6, 6);
    for (const packet of [...seen, changed, randomBytes(60), Buffer.alloc(0), Buffer.alloc(12)]) {
      path.inject(packet);
    }
    await waitFor(() => rig.server.datagramState().rejected > seen.length);
    expect(String(await ask(visitor, port, 'y'))).toBe('y');
    expect(rig.server.takeDeltas()).toMatchObject([{ upload: 1, download: 1 }]);
  });
});
