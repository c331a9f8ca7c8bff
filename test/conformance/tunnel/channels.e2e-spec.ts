/** Each data channel belongs to a client: what chisel's suite asks of its channels (`acl_channel`), asked of this protocol. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { startHttpOrigin, waitFor } from '@gatehouse/testing';
import { DestinationRules, systemDialer, type AgentDialer } from '@gatehouse/tunnel-kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  FRAME,
  framed,
  opening,
  RawAgent,
  RawServer,
  readStart,
  Records,
  start,
  type Ticket,
} from '../../support/raw-agent.js';
import { askHttp } from '../../support/raw-http.js';
import { askUdp, exchange, readToEnd, visit } from '../../support/visitors.js';
import { TunnelYard, type YardClient } from '../../support/tunnel-yard.js';

let yard: TunnelYard;
beforeEach(async () => {
  yard = await TunnelYard.start({ timeouts: { open: 600 } });
});
afterEach(() => yard.close());

async function rawAgent(client: YardClient, agentId?: string): Promise<RawAgent> {
  const agent = await RawAgent.start(yard.port, client.secret, agentId);
  yard.onClose(() => agent.close());
  return agent;
}

/** Whether the server keeps a channel: it sends the start of the next visitor on it. */
async function isServed(channel: Socket, port: number): Promise<boolean> {
  if (channel.destroyed || channel.readableEnded) return false;
  const visitor = await visit(port);
  const started = await Promise.race([
    once(channel, 'data').then(() => true),
    once(channel, 'end').then(() => false),
    once(channel, 'close').then(() => false),
  ]);
  visitor.destroy();
  return started;
}

/** A visitor, and the channel that the server gave it. */
async function rawChannel(agent: RawAgent, port: number): Promise<{ visitor: Socket; channel: Socket }> {
  const channel = await agent.open(await agent.ticket());
  const visitor = await visit(port);
  await once(channel, 'data');
  return { visitor, channel };
}

async function ends(channel: Socket): Promise<void> {
  channel.resume();
  if (!channel.destroyed && !channel.readableEnded) await Promise.race([once(channel, 'end'), once(channel, 'close')]);
}

describe('a ticket opens', () => {
  it('one channel, for the session that it was sent to', async () => {
    const client = yard.client();
    const port = await yard.open(client, [1]);
    const agent = await rawAgent(client);
    const ticket = await agent.ticket();
    const channel = await agent.open(ticket);
    await waitFor(() => yard.server.agents()[0]?.idleChannels === 1);
    const visitor = await visit(port);
    const [bytes] = (await once(channel, 'data')) as [Buffer];
    expect(readStart(bytes, ticket.key)).toEqual({ flags: 6, id: 7, kind: 0, destination: '' });
    channel.write(framed('hello'));
    expect(String((await once(visitor, 'data'))[0])).toBe('hello');
    // Again, while it is in use and after.
    await ends(await agent.open(ticket));
    visitor.destroy();
    await ends(await agent.open(ticket));
  });

  it('one sealed channel if the client requires encryption, and no other', async () => {
    const client = yard.client({ encrypt: true });
    const port = await yard.open(client, [1]);
    const agent = await rawAgent(client);
    const ticket = await agent.ticket();
    // Not sealed, with a proof as it should be: what lies between could have asked for it.
    await ends(await agent.open(ticket, 1));
    const channel = await agent.open(ticket, 2);
    await waitFor(() => yard.server.agents()[0]?.idleChannels === 1);
    const visitor = await visit(port);
    const records = new Records(ticket, 'agent');
    const [bytes] = (await once(channel, 'data')) as [Buffer];
    expect(readStart(records.open(bytes)[0] ?? bytes, ticket.key)).toEqual({
      flags: 12,
      id: 7,
      kind: 0,
      destination: '',
    });
    visitor.write('question');
    const [said] = (await once(channel, 'data')) as [Buffer];
    expect(String(records.open(said)[0])).toBe('question');
    const answer = readToEnd(visitor);
    channel.write(Buffer.concat([records.seal('an'), records.seal('swer'), records.seal('')]));
    expect(await answer).toEqual({ text: 'answer', reset: false });
    // Used, as it was and as anything else.
    await ends(await agent.open(ticket, 2));
    await ends(await agent.open(ticket, 1));
  });

  it.each([
    ['changed', (record: Buffer) => Buffer.concat([record.subarray(0, -1), Buffer.of((record.at(-1) ?? 0) ^ 1)])],
    ['from another channel', () => new Records({ id: randomBytes(16), key: randomBytes(32) }, 'agent').seal('swer')],
    ['cut', (record: Buffer) => record.subarray(0, -1)],
  ])('a sealed channel whose bytes are %s on the way: visitors see an abort', async (_, change) => {
    const client = yard.client({ encrypt: true });
    const port = await yard.open(client, [1]);
    const agent = await rawAgent(client);
    const ticket = await agent.ticket();
    const channel = await agent.open(ticket, 2);
    await waitFor(() => yard.server.agents()[0]?.idleChannels === 1);
    const visitor = await visit(port);
    const answer = readToEnd(visitor);
    await once(channel, 'data');
    const records = new Records(ticket, 'agent');
    channel.write(records.seal('an'));
    channel.end(change(records.seal('swer')));
    const { text, reset } = await answer;
    expect(reset).toBe(true);
    expect('an').toContain(text);
  });

  it('a plain channel without an end frame: visitors see an abort', async () => {
    const client = yard.client();
    const port = await yard.open(client, [1]);
    const agent = await rawAgent(client);
    const channel = await agent.open(await agent.ticket());
    await waitFor(() => yard.server.agents()[0]?.idleChannels === 1);
    const [visitor, other] = [await visit(port), await rawChannel(agent, port)];
    const answers = [readToEnd(visitor), readToEnd(other.visitor)];
    // What the system of a killed process does.
    channel.end(framed('half'));
    other.channel.end(Buffer.concat([framed('all'), framed('')]));
    const [half, all] = await Promise.all(answers);
    expect(half?.reset).toBe(true);
    expect(all).toEqual({ text: 'all', reset: false });
  });

  it.each([
    ['with the proof of another ticket', ({ id }: Ticket, other: Ticket) => ({ id, key: other.key })],
    ['with no proof', ({ id }: Ticket) => ({ id, key: Buffer.alloc(32) })],
    ['that was never issued', () => ({ id: randomBytes(16), key: randomBytes(32) })],
  ])('no channel %s', async (_, forge) => {
    const client = yard.client();
    const port = await yard.open(client, [1]);
    const agent = await rawAgent(client);
    const [ticket, other] = [await agent.ticket(), await agent.ticket()];
    await ends(await agent.open(forge(ticket, other)));
    // The ticket itself is as good as before.
    expect(await isServed(await agent.open(ticket), port)).toBe(true);
  });

  it('channels of its own client, over any transport', async () => {
    const [mine, theirs] = [yard.client(), yard.client()];
    const tunnels = [yard.tunnel(mine, [1]), yard.tunnel(theirs, [1], { id: 8 })];
    const [first, second] = await yard.apply({ tunnels });
    const [agent, other] = [await rawAgent(mine), await rawAgent(theirs)];
    // Another agent's connection with a ticket of `mine` gets visitors of `mine`, and none of its own client.
    const ticket = await agent.ticket();
    const channel = await other.open(ticket);
    await waitFor(() => yard.server.agents().find(({ clientId }) => clientId === mine.id)?.idleChannels === 1);
    expect(await exchange(second?.port ?? 0, 'x')).toBeNull();
    const visitor = await visit(first?.port ?? 0);
    const [bytes] = (await once(channel, 'data')) as [Buffer];
    expect(readStart(bytes, ticket.key).id).toBe(7);
    visitor.destroy();
  });

  it.each([
    ['the session is over', async (agent: RawAgent) => agent.close()],
    [
      'another agent took the client over',
      async (_: RawAgent, client: YardClient) => void (await rawAgent(client, 'b')),
    ],
    [
      'the client is disabled',
      async (_: RawAgent, client: YardClient) => {
        client.config.enabled = false;
        await yard.apply({});
      },
    ],
    ['the client is gone', async (_: RawAgent, { id }: YardClient) => yard.server.disconnect(id)],
  ])('nothing after %s', async (_, happens) => {
    const client = yard.client();
    await yard.open(client, [1]);
    const agent = await rawAgent(client);
    const [used, unused] = [await agent.ticket(), await agent.ticket()];
    const idle = await agent.open(used);
    await waitFor(() => yard.server.agents()[0]?.idleChannels === 1);
    await happens(agent, client);
    await ends(idle);
    await ends(await agent.open(unused));
    client.config.enabled = true;
  });

  it('nothing for an agent that sends before it was asked', async () => {
    const client = yard.client();
    const port = await yard.open(client, [1]);
    const agent = await rawAgent(client);
    const channel = await agent.open(await agent.ticket());
    channel.write('hello, visitor');
    await ends(channel);
    const visitor = await visit(port);
    expect((await readToEnd(visitor)).text).toBe('');
  });
});

describe('a control connection', () => {
  it.each([
    ['with another secret', { secret: 'A'.repeat(43) }, 'unauthorized'],
    ['with no version that is known', { versions: [2, 99] }, 'version'],
  ])('%s gets no ticket', async (_, fields, code) => {
    const client = yard.client();
    const agent = await RawAgent.connect(yard.port);
    const auth = { versions: [1], secret: client.secret, agentId: 'a', epoch: 1, software: 'x', ...fields };
    agent.send(FRAME.auth, JSON.stringify(auth));
    await waitFor(() => agent.frames.of(FRAME.close).length === 1);
    expect(JSON.parse(String(agent.frames.of(FRAME.close)[0]))).toMatchObject({ code });
    expect(agent.frames.of(FRAME.channels)).toEqual([]);
  });

  it('reveals no tunnel or host of other clients', async () => {
    const [mine, theirs] = [yard.client(), yard.client()];
    const hosts = [yard.host(mine, [1]), yard.host(theirs, [1], { id: 12, host: 'b.test' })];
    await yard.apply({ tunnels: [yard.tunnel(mine, [1]), yard.tunnel(theirs, [1], { id: 8 })], hosts });
    const agent = await rawAgent(mine);
    await waitFor(() => agent.frames.of(FRAME.config).length === 1);
    const config = JSON.parse(String(agent.frames.of(FRAME.config)[0])) as Record<
      'tunnels' | 'hosts',
      { id: number }[]
    >;
    expect(config.tunnels.map(({ id }) => id)).toEqual([7]);
    expect(config.hosts.map(({ id }) => id)).toEqual([11]);
  });

  it('cannot report failures for tunnels of other clients', async () => {
    await yard.close();
    const failed: number[] = [];
    yard = await TunnelYard.start({ events: { targetFailed: ({ id }) => failed.push(id) } });
    const [mine, theirs] = [yard.client(), yard.client()];
    await yard.apply({ tunnels: [yard.tunnel(mine, [1]), yard.tunnel(theirs, [1], { id: 8 })] });
    const agent = await rawAgent(mine);
    for (const id of [8, 99, 7]) {
      agent.send(FRAME.refused, JSON.stringify({ kind: 'tunnel', id, channel: '00', reason: 'refused' }));
    }
    await waitFor(() => failed.length > 0);
    expect(failed).toEqual([7]);
  });
});

describe('a start', () => {
  let server: RawServer;
  let target = 0;
  let reached = 0;

  beforeEach(async () => {
    server = await RawServer.start(yard.identity);
    yard.onClose(() => server.close());
    reached = 0;
    target = await yard.target((socket) => {
      reached += 1;
      socket.end('target');
    });
    yard.agent(yard.client(), {
      server: { host: '127.0.0.1', port: server.port },
      allows: (_, address) => address === '127.0.0.1',
    });
    const tunnel = { proxyProtocol: 0, destinations: [], file: null, entrance: '' };
    const targets = [{ host: '127.0.0.1', port: target, weight: 1 }];
    await server.welcome({
      tunnels: [
        { ...tunnel, id: 7, mode: 'tcp', targets },
        { ...tunnel, id: 8, mode: 'socks5', targets: [], destinations: [`127.0.0.1:${target}`] },
        { ...tunnel, id: 9, mode: 'tcp', targets: [{ host: '127.0.0.2', port: target, weight: 1 }] },
      ],
      hosts: [{ id: 11, name: 'a.test/', targets }],
    });
  });

  async function answerTo(make: (ticket: Ticket) => Buffer): Promise<string> {
    const ticket = { id: randomBytes(16), key: randomBytes(32) };
    const channel = await server.channel(ticket);
    const read = readToEnd(channel);
    channel.write(make(ticket));
    return (await read).text;
  }

  it('that is valid reaches the target', async () => {
    expect(await answerTo(({ key }) => start(key, { id: 7 }))).toBe('target');
    expect(await answerTo(({ key }) => start(key, { kind: 1, id: 11, target: 0 }))).toBe('target');
    expect(await answerTo(({ key }) => start(key, { id: 8, destination: `127.0.0.1:${target}` }))).toBe('target');
    expect(reached).toBe(3);
  });

  it.each([
    ['a tunnel that is not the agent’s', { id: 70 }],
    ['a host that is not the agent’s', { kind: 1, id: 7, target: 0 }],
    ['a target that the host does not have', { kind: 1, id: 11, target: 1 }],
    ['a target that the agent does not allow', { id: 9 }],
    ['a kind that there is not', { kind: 9, id: 7 }],
    ['another version', { version: 2, id: 7 }],
    ['no destination in a proxy mode', { id: 8 }],
    ['a destination in a tunnel that is no proxy', { id: 70, destination: '127.0.0.1:1' }],
    ['a destination outside of those of the tunnel', { id: 8, destination: '127.0.0.1:1' }],
    ['a destination that is none', { id: 8, destination: '127.0.0.1' }],
  ])('for %s reaches nothing', async (_, fields) => {
    expect(await answerTo(({ key }) => start(key, fields))).toBe('');
    expect(reached).toBe(0);
    // The agent serves the next one.
    expect(await answerTo(({ key }) => start(key, { id: 7 }))).toBe('target');
  });

  it('that was made for another channel, or changed on the way, reaches nothing', async () => {
    expect(await answerTo(() => start(randomBytes(32), { id: 7 }))).toBe('');
    for (const at of [1, 5, 13, 20]) {
      const answer = await answerTo(({ key }) => {
        const bytes = start(key, { id: 9 });
        bytes.writeUInt8((bytes[at] ?? 0) ^ 2, at);
        return bytes;
      });
      expect(answer).toBe('');
    }
    expect(reached).toBe(0);
  });

  it('can ask for frames with an explicit end', async () => {
    const ticket = { id: randomBytes(16), key: randomBytes(32) };
    const channel = await server.channel(ticket);
    const read = readToEnd(channel);
    channel.write(start(ticket.key, { id: 7, flags: 2 }));
    expect((await read).text).toBe(String(Buffer.concat([framed('target'), framed('')])));
  });

  it('needs a proof, so that a channel does not reveal its key', async () => {
    const ticket = { id: randomBytes(16), key: randomBytes(32) };
    expect(opening(ticket).includes(ticket.key.subarray(0, 8))).toBe(false);
  });
});

describe('destinations of visitors', () => {
  /** Every name leads somewhere inside: what a name says is no leave to go where it leads. */
  const dialer: AgentDialer = {
    ...systemDialer,
    target: async ({ host, port }, timeoutMs, permits) => {
      const address = /^[\d.]+$/.test(host) ? host : '127.0.0.1';
      if (!permits(address)) throw Object.assign(new Error('not permitted'), { code: 'EACCES' });
      return systemDialer.target({ host: address, port }, timeoutMs, () => true);
    },
  };

  it.each(['http_proxy', 'mix_proxy'] as const)('of %s: unlisted destinations are not reached', async (mode) => {
    await using origin = await startHttpOrigin();
    const allowed = new DestinationRules(['good.test', '10.0.0.0/8']);
    const member = await yard.member({}, { dialer, allows: (target, address) => allowed.match(target, address) });
    const port = await yard.open(member, [], {
      mode,
      destinations: [`good.test:${origin.port}`, 'bad.test', '10.0.0.0/8'],
    });
    const ask = async (name: string): Promise<number> => {
      const answer = await exchange(port, `CONNECT ${name} HTTP/1.1\r\nHost: ${name}\r\n\r\n`);
      return Number(/^HTTP\/1\.1 (\d+)/.exec(answer ?? '')?.[1] ?? 0);
    };
    expect(await ask(`good.test:${origin.port}`)).toBe(200);
    // An address of the tunnel but not of the agent; of both, but leading elsewhere; of neither.
    for (const name of [
      'bad.test:80',
      'good.test:81',
      `127.0.0.1:${origin.port}`,
      `[::1]:${origin.port}`,
      '2130706433:80',
    ]) {
      expect(await ask(name)).toBeGreaterThanOrEqual(400);
    }
    const host = `bad.test:${origin.port}`;
    expect((await askHttp({ port, host, path: `http://${host}/` })).status).toBeGreaterThanOrEqual(400);
    expect(origin.requests).toEqual([]);
  });

  it.each(['socks5', 'mix_proxy'] as const)('of %s: unlisted destinations are not reached', async (mode) => {
    const target = await yard.named('target');
    const member = await yard.member({}, { dialer });
    const port = await yard.open(member, [], { mode, destinations: [`good.test:${target}`, `10.0.0.0/8`] });
    const ask = async (name: string, to: number): Promise<number> => {
      const bytes = Buffer.concat([
        Buffer.of(5, 1, 0, 5, 1, 0, 3, name.length),
        Buffer.from(name),
        Buffer.of(to >> 8, to & 255),
      ]);
      return Buffer.from((await exchange(port, bytes)) ?? '', 'latin1')[3] ?? -1;
    };
    expect(await ask('good.test', target)).toBe(0);
    expect(await ask('good.test', target + 1)).toBe(2);
    // A name outside, even one that leads inside the prefix or to the same address.
    expect(await ask('rebound.test', target)).toBe(2);
    expect(await ask('127.0.0.1', target)).toBe(2);
  });

  it('of UDP over SOCKS: datagrams reach the listed destinations only', async () => {
    const [named, other] = [await yard.udpEcho(), await yard.udpEcho()];
    const member = await yard.member();
    const port = await yard.open(member, [], { mode: 'socks5', destinations: [`127.0.0.1:${named}`] });
    const control = await visit(port);
    control.write(Buffer.of(5, 1, 0));
    await once(control, 'data');
    control.write(Buffer.of(5, 3, 0, 1, 0, 0, 0, 0, 0, 0));
    const [reply] = (await once(control, 'data')) as [Buffer];
    const relay = reply.readUInt16BE(8);
    const visitor = await yard.udpSocket();
    const to = (target: number, text: string): Buffer =>
      Buffer.concat([Buffer.of(0, 0, 0, 1, 127, 0, 0, 1, target >> 8, target & 255), Buffer.from(text)]);
    const received: string[] = [];
    visitor.on('message', (bytes) => received.push(bytes.toString('latin1', 10)));
    visitor.send(to(other, 'forbidden'), relay, '127.0.0.1');
    await askUdp(visitor, relay, to(named, 'fine'));
    expect(new Set(received)).toEqual(new Set(['fine']));
    control.destroy();
  });
});

describe('sessions of datagrams', () => {
  it('belong to one tunnel, and end with it', async () => {
    const targets = [await yard.udpSocket(), await yard.udpSocket()];
    for (const [at, socket] of targets.entries()) {
      socket.on('message', (bytes, { port, address }) => socket.send(`${at} ${String(bytes)}`, port, address));
    }
    const [mine, theirs] = [await yard.member(), await yard.member()];
    const tunnels = [mine, theirs].map((client, at) =>
      yard.tunnel(client, [targets[at]?.address().port ?? 0], { id: at + 1, mode: 'udp' }),
    );
    const [first, second] = await yard.apply({ tunnels });
    const visitor = await yard.udpSocket();
    expect(String(await askUdp(visitor, first?.port ?? 0, 'a'))).toBe('0 a');
    expect(String(await askUdp(visitor, second?.port ?? 0, 'b'))).toBe('1 b');
    await yard.apply({ tunnels: tunnels.slice(1) });
    await waitFor(() => yard.server.datagramState().sessions === 1);
  });
});

describe('a sealed start', () => {
  let server: RawServer;
  let reached = 0;

  beforeEach(async () => {
    server = await RawServer.start(yard.identity);
    yard.onClose(() => server.close());
    reached = 0;
    const target = await yard.target((socket) => {
      reached += 1;
      socket.end('target');
    });
    yard.agent(yard.client(), { server: { host: '127.0.0.1', port: server.port } });
    const targets = [{ host: '127.0.0.1', port: target, weight: 1 }];
    const tunnel = { id: 7, mode: 'tcp', targets, proxyProtocol: 0, destinations: [], file: null, entrance: '' };
    await server.welcome({ tunnels: [tunnel] }, true);
  });

  async function answerTo(make: (ticket: Ticket, records: Records) => Buffer): Promise<Buffer> {
    const ticket = { id: randomBytes(16), key: randomBytes(32) };
    const channel = await server.channel(ticket);
    const read = readToEnd(channel);
    const records = new Records(ticket, 'server');
    channel.write(make(ticket, records));
    const opened = records.open(Buffer.from((await read).text, 'latin1'));
    return Buffer.concat(opened);
  }

  it('reaches the target, after any probes', async () => {
    const probe = Buffer.alloc(4);
    const answer = await answerTo(({ key }, records) =>
      Buffer.concat([records.seal(probe), records.seal(probe), records.seal(start(key, { id: 7 }))]),
    );
    expect(answer).toEqual(Buffer.concat([Buffer.of(0, 0), Buffer.from('target')]));
    expect(reached).toBe(1);
  });

  it.each([
    ['is not sealed', ({ key }: Ticket) => start(key, { id: 7 })],
    [
      'comes back to who sealed it',
      (ticket: Ticket) => new Records(ticket, 'agent').seal(start(ticket.key, { id: 7 })),
    ],
    [
      'comes out of its turn',
      ({ key }: Ticket, records: Records) => {
        records.seal('x');
        return records.seal(start(key, { id: 7 }));
      },
    ],
    ['was made for another channel', (_: Ticket, records: Records) => records.seal(start(randomBytes(32), { id: 7 }))],
  ])('that %s reaches nothing', async (_, make) => {
    expect(await answerTo(make)).toHaveLength(0);
    expect(reached).toBe(0);
  });
});
