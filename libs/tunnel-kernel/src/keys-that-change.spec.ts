import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { logger, readAll, TunnelRig } from '../test/tunnel-rig.js';
import { udpSocket } from '../test/udp-rig.js';
import {
  agentKeyHash,
  certificateFingerprint,
  createAgentSecret,
  createServerIdentity,
  formatAgentKey,
  formatVisitorKey,
  parseAgentKey,
  systemDialer,
  TunnelVisitor,
  type AgentDialer,
  type AgentState,
  type TunnelServerEnvironment,
} from './index.js';
import { pinHint } from './wire/pin-hint.js';
import type { AgentReplaced } from './server-environment.js';

let rig: TunnelRig;
afterEach(() => rig.close());

async function open(options: ConstructorParameters<typeof TunnelRig>[0] = {}): Promise<void> {
  rig = new TunnelRig(options);
  await rig.listen();
}

/** How often the agent of client 1 has connected. */
function connectionsOf(agent: { history: { state: string }[] }): number {
  return agent.history.filter(({ state }) => state === 'online').length;
}

describe('a control connection', () => {
  it('is replaced before its keys are too old, and visitors do not notice', async () => {
    const came: AgentState[] = [];
    const left: unknown[] = [];
    await open({
      timeouts: { renew: 150 },
      events: { agentOnline: (agent) => came.push(agent), agentOffline: (_, reason) => left.push(reason) },
    });
    const agent = rig.agent(rig.client(true).key);
    await rig.online(1);
    const port = await rig.tunnel(1, [await rig.echo()]);
    const visitor = await rig.visit(port);
    const all = readAll(visitor);
    let said = 0;
    await waitFor(async () => {
      visitor.write(`${(said += 1)};`);
      expect(await rig.answerTo(port, 'one more')).toBe('one more');
      return connectionsOf(agent) > 4;
    });
    visitor.end();
    expect(String(await all)).toBe(Array.from({ length: said }, (_, index) => `${index + 1};`).join(''));
    expect(agent.history.some(({ state }) => state === 'waiting')).toBe(false);
    // The agent was there all the time.
    expect(came).toHaveLength(1);
    expect(left).toEqual([]);
  });

  it('is replaced when its packet keys were used often, on either side', async () => {
    const packetsPerKey = 150;
    await open({ datagrams: { packetsPerKey } });
    const agent = rig.agent(rig.client().key, { datagrams: { packetsPerKey } });
    await rig.online(1);
    const target = await udpSocket();
    target.on('message', (payload, { port, address }) => target.send(payload, port, address));
    const port = await rig.tunnel(1, [target.address().port], { mode: 'udp' });
    await waitFor(() => rig.server.agents()[0]?.packets, { timeoutMs: 15_000 });
    const visitor = await udpSocket();
    let answers = 0;
    visitor.on('message', () => (answers += 1));
    await waitFor(
      () => {
        for (let count = 0; count < 5; count++) visitor.send('question', port, '127.0.0.1');
        return connectionsOf(agent) > 3 && answers > 3 * packetsPerKey;
      },
      { timeoutMs: 20_000, intervalMs: 5 },
    );
    expect(agent.agent.status.state).toBe('online');
    for (const socket of [target, visitor]) socket.close();
  }, 30_000);
});

describe("a server's key", () => {
  it('can be changed: agents learn the next key, store it and drop the previous one', async () => {
    const next = createServerIdentity();
    const options: Partial<TunnelServerEnvironment> = { nextFingerprint: next.fingerprint };
    await open(options);
    const { key } = rig.client();
    const changed: string[] = [];
    const learning = rig.agent(key, { events: { keyChanged: (now) => changed.push(now) } });
    await waitFor(() => changed.length === 1);
    expect(changed).toEqual([`${key}.${next.fingerprint}`]);
    // An agent that gets the key string of that time knows both from the start.
    const { secret } = parseAgentKey(key);
    await rig.server.stop();
    Object.assign(options, { identity: next, nextFingerprint: undefined });
    await rig.restart();
    await waitFor(() => changed.length === 2);
    const after = formatAgentKey({ secret, fingerprint: next.fingerprint });
    expect(changed.at(-1)).toBe(after);
    await learning.agent.stop();
    const second: string[] = [];
    const started = rig.agent(changed[0] ?? '', { events: { keyChanged: (now) => second.push(now) } });
    await waitFor(() => second.length === 1);
    expect(second).toEqual([after]);
    // A client that never learned the new key rejects it, and one that dropped the old key rejects that.
    const late = rig.agent(key);
    await waitFor(() => late.agent.status.state === 'stopped');
    expect(late.history.at(-1)).toMatchObject({ reason: { code: 'server_key' } });
    await rig.server.stop();
    Object.assign(options, { identity: rig.identity });
    await rig.restart();
    await waitFor(() => started.agent.status.state === 'stopped');
    expect(started.history.at(-1)).toMatchObject({ reason: { code: 'server_key' } });
  });
});

describe('a former key', () => {
  it('is presented to agents that know no other, which then learn the current key, until it expires', async () => {
    const next = createServerIdentity();
    let now = Date.now();
    const options: Partial<TunnelServerEnvironment> = { now: () => now };
    await open(options);
    const { key } = rig.client();
    const { secret } = parseAgentKey(key);
    // The agent sleeps through the whole exchange.
    await rig.server.stop();
    Object.assign(options, { identity: next, formerIdentity: { ...rig.identity, until: now + 60_000 } });
    await rig.restart();
    const changed: string[] = [];
    const late = rig.agent(key, { events: { keyChanged: (text) => changed.push(text) } });
    // The server may know of the agent before the agent has read the answer.
    await waitFor(() => changed.length === 1);
    expect(changed).toEqual([`${key}.${next.fingerprint}`]);
    await rig.online(1);
    expect(await rig.answerTo(await rig.tunnel(1, [await rig.echo()]), 'with the old key')).toBe('with the old key');
    await late.agent.stop();
    // One that knows both is shown the one in use, and gives the other up.
    const awake = rig.agent(changed[0] ?? '', { events: { keyChanged: (text) => changed.push(text) } });
    await waitFor(() => changed.length === 2);
    expect(changed[1]).toBe(formatAgentKey({ secret, fingerprint: next.fingerprint }));
    await awake.agent.stop();
    now += 60_000;
    const later = rig.agent(key);
    await waitFor(() => later.agent.status.state === 'stopped');
    expect(later.history.at(-1)).toMatchObject({ reason: { code: 'server_key' } });
    rig.agent(changed[1] ?? '');
    await rig.online(1);
  });

  it('is not the only key that an agent keeps when it reconnects with a resumed session', async () => {
    const former = createServerIdentity();
    await open({ timeouts: { renew: 150 }, formerIdentity: { ...former, until: Date.now() + 60_000 } });
    const { secret } = parseAgentKey(rig.client().key);
    const key = formatAgentKey({ secret, fingerprint: former.fingerprint });
    const changed: string[] = [];
    const agent = rig.agent(key, { events: { keyChanged: (text) => changed.push(text) } });
    await waitFor(() => connectionsOf(agent) > 4);
    // Either it still knows both keys, or a full handshake showed it the one in use.
    const last = parseAgentKey(changed.at(-1) ?? '');
    expect([last.fingerprint, last.nextFingerprint]).toContain(rig.identity.fingerprint);
    expect(changed).not.toContain(key);
  });

  it('is not presented to clients that pin neither key or that only claim to pin it', async () => {
    const former = createServerIdentity();
    const other = createServerIdentity();
    await open({ formerIdentity: { ...former, until: Date.now() + 60_000 } });
    const { secret } = parseAgentKey(rig.client().key);
    const stranger = rig.agent(formatAgentKey({ secret, fingerprint: other.fingerprint }));
    await waitFor(() => stranger.agent.status.state === 'stopped');
    expect(stranger.history.at(-1)).toMatchObject({ reason: { code: 'server_key' } });
    const shown = async (ALPNProtocols: string[]): Promise<string> => {
      const socket = tlsConnect({ host: '127.0.0.1', port: rig.port, rejectUnauthorized: false, ALPNProtocols });
      await once(socket, 'secureConnect');
      const fingerprint = certificateFingerprint(socket.getPeerCertificate().raw);
      socket.destroy();
      return fingerprint;
    };
    // Agents of earlier versions send no pins.
    expect(await shown(['gwt/1'])).toBe(rig.identity.fingerprint);
    const hints = [former, rig.identity].map(({ fingerprint }) => pinHint(fingerprint));
    expect(await shown(['gwt/1', ...hints])).toBe(rig.identity.fingerprint);
    expect(await shown(['gwt/1', ...hints.slice(0, 1)])).toBe(former.fingerprint);
  });

  it('is found by an agent over a WebSocket, and by a visitor’s program', async () => {
    const former = createServerIdentity();
    await open({ formerIdentity: { ...former, until: Date.now() + 60_000 } });
    const { secret } = parseAgentKey(rig.client(true).key);
    const websocket = { secure: false, host: '127.0.0.1', port: rig.port, path: '/__gw/agent' };
    const key = formatAgentKey({ secret, fingerprint: former.fingerprint });
    rig.agent(key, { transport: 'websocket', websocket });
    await rig.online(1);
    const hidden = createAgentSecret();
    await rig.tunnel(1, [await rig.echo()], { mode: 'secret', visitorKeyHash: agentKeyHash(hidden) });
    const visitor = new TunnelVisitor({
      server: { host: '127.0.0.1', port: rig.port },
      transport: 'raw',
      key: formatVisitorKey({ tunnelId: 7, secret: hidden, fingerprint: former.fingerprint }),
      logger,
      p2p: false,
    });
    const port = await visitor.listen({ host: '127.0.0.1', port: 0 });
    expect(await rig.answerTo(port, 'hidden')).toBe('hidden');
    visitor.stop();
  });
});

describe('an agent that replaces another', () => {
  const from = (localAddress: string): AgentDialer => ({
    ...systemDialer,
    server: async ({ host, port }) => {
      const socket: Socket = connect({ host, port, localAddress }).on('error', () => undefined);
      socket.pause();
      await once(socket, 'connect');
      return socket;
    },
  });

  it('is reported to the client if its address is different, and not if it is the same', async () => {
    const replaced: AgentReplaced[] = [];
    await open({ events: { agentReplaced: (change) => replaced.push(change) } });
    const { key } = rig.client();
    const history = () => rig.agents.at(-1)?.history.at(-1)?.state;
    rig.agent(key, { software: 'first' });
    await rig.online(1);
    rig.agent(key, { software: 'second' });
    await waitFor(() => history() === 'online');
    expect(replaced).toEqual([]);
    rig.agent(key, { software: 'third', dialer: from('127.0.0.3') });
    await waitFor(() => history() === 'online');
    expect(replaced).toEqual([
      { clientId: 1, address: '127.0.0.3', software: 'third', before: { address: '127.0.0.1', software: 'second' } },
    ]);
  });
});

describe('an agent of a client without encryption', () => {
  it('that requires encryption carries nothing, and works as soon as it is switched on', async () => {
    await open();
    const { key, record } = rig.client(false);
    const { history } = rig.agent(key, { requireEncryption: true });
    await waitFor(() => history.at(-1)?.state === 'waiting');
    expect(history.at(-1)).toMatchObject({ reason: { code: 'unencrypted' } });
    expect(history.some(({ state }) => state === 'online')).toBe(false);
    record.encrypt = true;
    await waitFor(() => history.at(-1)?.state === 'online');
    expect(await rig.answerTo(await rig.tunnel(1, [await rig.echo()]), 'sealed')).toBe('sealed');
  });

  it.each([
    ['websocket', false, 1],
    ['websocket', true, 0],
    ['raw', false, 0],
  ] as const)('over %s, encrypt %s, is warned %i times that others read along', async (transport, encrypt, times) => {
    await open();
    const warnings: string[] = [];
    const { key } = rig.client(encrypt);
    const websocket = { secure: false, host: '127.0.0.1', port: rig.port, path: '/__gw/agent' };
    rig.agent(key, { transport, websocket, logger: { ...logger, warn: (text) => warnings.push(text) } });
    await rig.online(1);
    rig.server.disconnect(1);
    await waitFor(() => connectionsOf(rig.agents[0] ?? { history: [] }) === 2);
    expect(warnings.filter((text) => text.includes('not encrypted'))).toHaveLength(times);
  });
});
