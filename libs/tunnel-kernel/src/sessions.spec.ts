import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect as tlsConnect, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { waitFor } from '@gatehouse/testing';
import { howItEnds, readAll, TunnelRig } from '../test/tunnel-rig.js';
import { createServerIdentity, formatAgentKey, parseAgentKey } from './index.js';
import { encodeMessage } from './wire/codec.js';
import { encodeFrame } from './wire/frame.js';

let rig: TunnelRig;
afterEach(() => rig.close());

async function open(...options: ConstructorParameters<typeof TunnelRig>): Promise<void> {
  rig = new TunnelRig(...options);
  await rig.listen();
}

/** One byte there and back. */
async function ask(port: number): Promise<string> {
  const visitor = await rig.visit(port);
  visitor.end('?');
  return String(await readAll(visitor));
}

/** A control connection by hand. */
async function handMade(): Promise<TLSSocket> {
  const options = { port: rig.port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['gwt/1'] };
  const socket = tlsConnect(options);
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}

describe('an agent', () => {
  it('sends nothing to a server that has another key', async () => {
    let asked = 0;
    await open({ clients: { findByKeyHash: async () => (asked++, null) } });
    const { secret } = parseAgentKey(rig.client().key);
    const { history } = rig.agent(formatAgentKey({ secret, fingerprint: createServerIdentity().fingerprint }));
    await waitFor(() => history.at(-1)?.state === 'stopped');
    expect(history.at(-1)).toMatchObject({ reason: { code: 'server_key' } });
    expect(asked).toBe(0);
  });

  it('stops when its key is not known', async () => {
    await open();
    const { key } = rig.client();
    rig.clients.clear();
    const { history } = rig.agent(key);
    await waitFor(() => history.at(-1)?.state === 'stopped');
    expect(history.at(-1)).toMatchObject({ reason: { code: 'unauthorized' } });
    expect(rig.server.agents()).toEqual([]);
  });

  it('of a disabled client waits, is served when the client is enabled, and reports once why it waits', async () => {
    await open({ timeouts: { park: 50 } });
    const { key, record } = rig.client();
    record.enabled = false;
    let asked = 0;
    const find = rig.clients.get.bind(rig.clients);
    rig.clients.get = (hash) => (asked++, find(hash));
    const { history } = rig.agent(key);
    await waitFor(() => asked >= 3);
    expect(history.map(({ state }) => state)).toEqual(['connecting', 'waiting']);
    expect(history.at(-1)).toMatchObject({ reason: { code: 'disabled' } });
    record.enabled = true;
    await rig.server.apply(rig.config({}));
    await waitFor(() => history.at(-1)?.state === 'online');
    expect(history.map(({ state }) => state)).toEqual(['connecting', 'waiting', 'online']);
  });

  it('of a client that is enabled while it waits is served on the same connection', async () => {
    await open({ timeouts: { park: 60_000 } });
    const { key, record } = rig.client();
    record.enabled = false;
    let asked = 0;
    const find = rig.clients.get.bind(rig.clients);
    rig.clients.get = (hash) => (asked++, find(hash));
    const { history } = rig.agent(key);
    await waitFor(() => asked === 1);
    await rig.server.apply(rig.config({}));
    await waitFor(() => asked === 2);
    expect(rig.server.agents()).toEqual([]);
    record.enabled = true;
    await rig.server.apply(rig.config({}));
    await waitFor(() => history.at(-1)?.state === 'online');
    expect(history.map(({ state }) => state)).toEqual(['connecting', 'online']);
  });

  it('of a client that is disabled and enabled again is back at once', async () => {
    await open();
    const { key, record } = rig.client();
    const { history } = rig.agent(key);
    await rig.online(record.id);
    record.enabled = false;
    await rig.server.apply(rig.config({}));
    await waitFor(() => history.at(-1)?.state === 'waiting');
    expect(history.at(-1)).toMatchObject({ reason: { code: 'disabled' } });
    expect((history.at(-1) as { retryMs: number }).retryMs).toBeLessThan(600);
    record.enabled = true;
    await rig.server.apply(rig.config({}));
    await rig.online(record.id);
  });

  it('of a disabled client comes back later if many are already waiting', async () => {
    await open({ timeouts: { park: 60_000 } });
    const { key, record } = rig.client();
    record.enabled = false;
    const sessions = (rig.server as unknown as { sessions: { context: { mayPark: () => boolean } } }).sessions;
    sessions.context.mayPark = () => false;
    const { history } = rig.agent(key);
    await waitFor(() => history.at(-1)?.state === 'waiting');
    expect((history.at(-1) as { retryMs: number }).retryMs).toBeGreaterThanOrEqual(30_000);
  });

  it('that was kicked comes back about a second later', async () => {
    await open();
    const { history } = rig.agent(rig.client().key);
    await rig.online(1);
    await rig.tunnel(1, [await rig.echo()]);
    rig.server.disconnect(1);
    await waitFor(() => history.at(-1)?.state === 'waiting');
    expect(history.at(-1)).toMatchObject({ reason: { code: 'kicked' }, retryMs: 1_050 });
    await rig.online(1);
  });

  it('retries while the server cannot look up keys', async () => {
    let fails = 1;
    const rows = new Map<string, Awaited<ReturnType<TunnelRig['client']>>['record']>();
    await open({
      clients: {
        findByKeyHash: async (hash) => {
          if (fails-- > 0) throw new Error('the database is away');
          return rows.get(hash) ?? null;
        },
      },
    });
    const { key, record } = rig.client();
    rows.set(record.keyHash, record);
    const { history } = rig.agent(key);
    await waitFor(() => history.at(-1)?.state === 'online');
    expect(history.map(({ state }) => state)).toEqual(['connecting', 'waiting', 'connecting', 'online']);
  });

  it('is online again after its server was restarted, and serves on the same port', async () => {
    await open();
    const { key } = rig.client();
    const { history } = rig.agent(key);
    await rig.online(1);
    const echo = await rig.echo();
    const port = await rig.tunnel(1, [echo]);
    expect(await ask(port)).toBe('?');
    await rig.server.stop();
    await waitFor(() => history.at(-1)?.state === 'waiting');
    await rig.restart();
    await rig.online(1);
    expect(await rig.tunnel(1, [echo], { listen: { host: '127.0.0.1', port } })).toBe(port);
    expect(await ask(port)).toBe('?');
  });

  it('that was asked to move keeps its connections until they end', async () => {
    await open();
    const { key } = rig.client();
    const { history } = rig.agent(key);
    await rig.online(1);
    const echo = await rig.echo();
    const port = await rig.tunnel(1, [echo]);
    const visitor = await rig.visit(port);
    visitor.write('before');
    expect(String((await once(visitor, 'data'))[0])).toBe('before');
    const before = rig.server;
    const drained = before.drain({ spreadMs: 50, deadlineMs: 10_000 });
    await rig.restart();
    await rig.online(1);
    expect(await rig.tunnel(1, [echo], { listen: { host: '127.0.0.1', port } })).toBe(port);
    expect(await ask(port)).toBe('?');
    // The connection of the server that goes is still there, and the server waits for it.
    expect(before.flows).toBe(1);
    visitor.end('after');
    expect(String(await readAll(visitor))).toBe('after');
    await drained;
    await before.stop();
    expect(history.map(({ state }) => state)).toEqual(['connecting', 'online', 'online']);
  });

  it('that is stopped gracefully lets connections end and accepts no new ones', async () => {
    await open();
    const { key } = rig.client();
    const { agent } = rig.agent(key);
    await rig.online(1);
    const port = await rig.tunnel(1, [await rig.echo()]);
    const visitor = await rig.visit(port);
    visitor.write('x');
    await once(visitor, 'data');
    const stopped = agent.stop(10_000);
    await waitFor(() => rig.server.agents().length === 0);
    expect(await howItEnds(rig.visitor(port))).toBe('ECONNRESET');
    visitor.end('y');
    expect(String(await readAll(visitor))).toBe('y');
    await stopped;
    expect(agent.status).toMatchObject({ state: 'stopped' });
  });
});

describe('sessions of one client', () => {
  it('the newest connection wins at once, and the other agent does not reconnect', async () => {
    await open();
    const { key } = rig.client();
    const first = rig.agent(key);
    await rig.online(1);
    const port = await rig.tunnel(1, [await rig.echo()]);
    const visitor = await rig.visit(port);
    visitor.write('1');
    await once(visitor, 'data');
    const agentId = rig.server.agents()[0]?.agentId;
    const second = rig.agent(key);
    await waitFor(() => second.history.at(-1)?.state === 'online');
    expect(rig.server.agents()).toHaveLength(1);
    expect(rig.server.agents()[0]?.agentId).not.toBe(agentId);
    await waitFor(() => first.history.at(-1)?.state === 'stopped');
    expect(first.history.at(-1)).toMatchObject({ reason: { code: 'replaced' } });
    expect(await ask(port)).toBe('?');
    // What ran through the first agent goes on.
    visitor.end('2');
    expect(String(await readAll(visitor))).toBe('2');
  });

  it('survive a cut line: visitors are reset, and the agent reconnects', async () => {
    await open();
    const { key } = rig.client(true);
    const line = await rig.line();
    const { agent } = rig.agent(key, { server: { host: '127.0.0.1', port: line.port } });
    await rig.online(1);
    const port = await rig.tunnel(1, [await rig.echo()]);
    const visitors = await Promise.all(Array.from({ length: 20 }, () => rig.visit(port)));
    const block = randomBytes(64 * 1024);
    await Promise.all(visitors.map((visitor) => (visitor.write(block), once(visitor, 'data'))));
    const ends = visitors.map(howItEnds);
    line.cut();
    expect(new Set(await Promise.all(ends))).toEqual(new Set(['ECONNRESET']));
    await waitFor(() => rig.server.flows === 0 && agent.flows === 0);
    await waitFor(() => agent.status.state === 'online');
    expect(await ask(port)).toBe('?');
  });

  it('end on both sides when the other side is silent, and their connections end later', async () => {
    await open({ timeouts: { heartbeat: 50, silentGrace: 100 } });
    const { key } = rig.client();
    const line = await rig.line();
    const { agent, history } = rig.agent(key, { server: { host: '127.0.0.1', port: line.port } });
    await rig.online(1);
    await waitFor(() => (rig.server.agents()[0]?.roundTripMs ?? -1) >= 0);
    const port = await rig.tunnel(1, [await rig.echo()]);
    const visitor = await rig.visit(port);
    visitor.write('x');
    await once(visitor, 'data');
    const ended = howItEnds(visitor);
    line.die(true);
    await waitFor(() => rig.server.agents().length === 0 && history.at(-1)?.state === 'waiting');
    expect(history.at(-1)).toMatchObject({ reason: { code: 'silent' } });
    expect(await ended).toBe('ECONNRESET');
    line.die(false);
    line.cut();
    await waitFor(() => agent.status.state === 'online', { timeoutMs: 15_000 });
    expect(await ask(port)).toBe('?');
  });

  it('end with their connections when the client is disabled', async () => {
    await open();
    const { key, record } = rig.client();
    const { history } = rig.agent(key);
    await rig.online(1);
    const port = await rig.tunnel(1, [await rig.echo()]);
    const visitor = await rig.visit(port);
    visitor.write('x');
    await once(visitor, 'data');
    const ended = howItEnds(visitor);
    record.enabled = false;
    rig.server.disconnect(1);
    expect(await ended).toBe('ECONNRESET');
    await waitFor(() => history.at(-1)?.state === 'waiting');
    expect(rig.server.tunnels()).toMatchObject([{ state: 'waiting' }]);
  });
});

describe('the port for agents', () => {
  it('closes only the socket that sent an invalid frame', async () => {
    await open();
    const { key } = rig.client();
    const { history } = rig.agent(key);
    await rig.online(1);
    const port = await rig.tunnel(1, [await rig.echo()]);
    const visitor = await rig.visit(port);
    visitor.write('x');
    await once(visitor, 'data');
    const bad = [
      Buffer.from([0x01, 0xff, 0xff, 0xff]),
      encodeFrame(0x01, Buffer.from('{')),
      encodeMessage({ type: 'leaving' }),
      encodeMessage({ type: 'move', spreadMs: 0 }),
      randomBytes(500),
    ];
    for (const bytes of bad) {
      const socket = await handMade();
      const closed = once(socket, 'close');
      socket.resume();
      socket.write(bytes);
      await closed;
    }
    visitor.end('y');
    expect(String(await readAll(visitor))).toBe('y');
    expect(history.map(({ state }) => state)).toEqual(['connecting', 'online']);
  });

  it('closes connections that do not identify themselves or have no ticket', async () => {
    await open({ timeouts: { handshake: 100 } });
    const silent = await rig.visit(rig.port);
    const unauthenticated = await handMade();
    const noTls = await rig.visit(rig.port);
    noTls.write('GET / HTTP/1.1\r\n');
    const noTicket = await rig.visit(rig.port);
    noTicket.write(Buffer.concat([Buffer.from('GWD\x01'), randomBytes(32)]));
    await Promise.all([silent, unauthenticated, noTls, noTicket].map(howItEnds));
  });

  it('accepts new connections however many others are silent or stop in their TLS handshake', async () => {
    await open({ maxUnidentified: 16 });
    const { key } = rig.client();
    const port = await rig.tunnel(1, [await rig.echo()]);
    const silent = await Promise.all(Array.from({ length: 16 }, () => rig.visit(rig.port)));
    rig.agent(key);
    await rig.online(1);
    const halves = await Promise.all(Array.from({ length: 16 }, () => rig.visit(rig.port)));
    for (const half of halves) half.write(Buffer.from([22]));
    await waitFor(() => silent[0]?.destroyed);
    for (let count = 0; count < 12; count++) expect(await ask(port)).toBe('?');
  });

  it('opens one channel for each ticket', async () => {
    await open({ pool: { start: 1 } });
    const { key } = rig.client();
    const openings: Buffer[] = [];
    const spy = await rig.target((near) => {
      near.pause();
      const far = rig.visitor(rig.port);
      near.once('data', (first: Buffer) => {
        if (first[0] === 0x47) openings.push(first);
      });
      near.pipe(far).pipe(near);
    });
    rig.agent(key, { server: { host: '127.0.0.1', port: spy } });
    await rig.online(1);
    await waitFor(() => rig.server.agents()[0]?.idleChannels === 1);
    const again = await rig.visit(rig.port);
    again.write(openings[0] ?? Buffer.alloc(0));
    await howItEnds(again);
    expect(openings[0]).toHaveLength(36);
    expect(rig.server.agents()[0]?.idleChannels).toBe(1);
  });
});
