import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { howItEnds, readAll, TunnelRig } from '../../test/tunnel-rig.js';
import {
  agentKeyHash,
  createAgentSecret,
  formatVisitorKey,
  systemDialer,
  TunnelError,
  TunnelVisitor,
  type AgentDialer,
  type TunnelConfig,
  type WebSocketAddress,
} from '../index.js';
import type { TunnelVisitorEnvironment } from './tunnel-visitor.js';

let rig: TunnelRig;
let secret: string;
const visitors: TunnelVisitor[] = [];
const cleanups: (() => unknown)[] = [];
beforeEach(async () => {
  secret = createAgentSecret();
  rig = new TunnelRig({ trustedProxies: ['127.0.0.1'] });
  await rig.listen();
});
afterEach(async () => {
  vi.useRealTimers();
  for (const visitor of visitors.splice(0)) visitor.stop();
  for (const cleanup of cleanups.splice(0)) cleanup();
  await rig.close();
});

const at = (port: number): WebSocketAddress => ({ secure: false, host: '127.0.0.1', port, path: '/__gw/agent' });
const place = (port: number) => ({ host: '127.0.0.1', port });
const keyOf = (said = secret): string =>
  formatVisitorKey({ tunnelId: 7, secret: said, fingerprint: rig.identity.fingerprint });

interface Opened {
  visitor: TunnelVisitor;
  port: number;
  said: string[];
  warned: unknown[];
}

async function open(options: Partial<TunnelVisitorEnvironment> = {}): Promise<Opened> {
  const said: string[] = [];
  const warned: unknown[] = [];
  const quiet = (): void => undefined;
  const logger = {
    debug: quiet,
    error: quiet,
    info: (message: string) => void said.push(message),
    warn: (_: string, fields?: object) => void warned.push(fields),
  };
  const visitor = new TunnelVisitor({ server: place(rig.port), key: keyOf(), logger, p2p: false, ...options });
  visitors.push(visitor);
  return { visitor, port: await visitor.listen(place(0)), said, warned };
}

async function tunnel(target: number, more: Partial<TunnelConfig> = {}): Promise<void> {
  rig.agent(rig.client().key);
  await rig.online(1);
  await rig.tunnel(1, [target], { mode: 'secret', visitorKeyHash: agentKeyHash(secret), ...more });
}

async function ask(port: number, question = '?'): Promise<string> {
  const socket = await rig.visit(port);
  socket.end(question);
  return String(await readAll(socket));
}

/** A reverse proxy that forwards the visitor's address, as nginx does. */
async function reverseProxy(forwardedFor: string): Promise<{ port: number; cut(): void }> {
  const sockets = new Set<Socket>();
  const proxy = createServer().listen(0, '127.0.0.1');
  proxy.on('upgrade', ({ url, headers }: IncomingMessage, near: Socket, head: Buffer) => {
    sockets.add(near.on('error', () => undefined));
    const asked = request({ ...place(rig.port), path: url, headers: { ...headers, 'x-forwarded-for': forwardedFor } });
    asked.on('upgrade', (answer, far: Socket) => {
      const fields = answer.rawHeaders.map((text, index) => text + (index % 2 === 0 ? ': ' : '\r\n')).join('');
      near.write(`HTTP/1.1 101 Switching Protocols\r\n${fields}\r\n`);
      far.on('error', () => near.destroy()).write(head);
      far.pipe(near).pipe(far);
    });
    asked.on('error', () => near.destroy()).end();
  });
  cleanups.push(() => proxy.close());
  await once(proxy, 'listening');
  const cut = (): void => sockets.forEach((socket) => socket.resetAndDestroy());
  cleanups.push(cut);
  return { port: (proxy.address() as AddressInfo).port, cut };
}

describe.each(['secret', 'p2p'] as const)('a visitor of mode %s over a WebSocket', (mode) => {
  const p2p = true;

  it('ends each direction separately, and is counted', async () => {
    const target = await rig.target((socket) => {
      let question = '';
      socket.on('data', (part) => (question += String(part)));
      socket.on('end', () => socket.end(`answer to ${question}`));
    });
    await tunnel(target, { mode });
    const { visitor, port } = await open({ transport: 'websocket', websocket: at(rig.port), p2p });
    expect(await ask(port, 'the question')).toBe('answer to the question');
    await waitFor(() => rig.records.length === 1);
    expect(rig.records).toMatchObject([{ upload: 12, download: 22, visitor: { address: '127.0.0.1' } }]);
    expect(visitor.carried.relayed).toEqual({ upload: 12, download: 22 });
    expect(visitor.route).toBe('relayed');
  });

  it('sees aborts, and its own aborts are seen', async () => {
    const ends: Promise<string>[] = [];
    const target = await rig.target((socket) => {
      ends.push(howItEnds(socket));
      socket.once('data', (part) => String(part) === 'abort' && socket.resetAndDestroy());
    });
    await tunnel(target, { mode });
    const { port } = await open({ transport: 'websocket', websocket: at(rig.port), p2p });
    const first = await rig.visit(port);
    first.write('abort');
    expect(await howItEnds(first)).toBe('ECONNRESET');
    const second = await rig.visit(port);
    second.write('stay');
    await waitFor(() => ends.length === 2);
    second.resetAndDestroy();
    expect(await ends[1]).toBe('ECONNRESET');
  });
});

describe('connections over one WebSocket', () => {
  it('can be many at a time, with separate bytes', async () => {
    await tunnel(await rig.echo());
    const line = await rig.line();
    const { port } = await open({ transport: 'websocket', websocket: at(line.port) });
    const questions = Array.from({ length: 20 }, (_, index) => `${index};`.repeat(50_000));
    expect(await Promise.all(questions.map((question) => ask(port, question)))).toEqual(questions);
    expect(line.accepted).toBe(1);
  });

  it('go on over a new WebSocket if the previous one was cut', async () => {
    await tunnel(await rig.echo());
    const line = await rig.line();
    const { port, warned } = await open({ transport: 'websocket', websocket: at(line.port) });
    expect(await ask(port)).toBe('?');
    line.cut();
    expect(await ask(port)).toBe('?');
    expect([line.accepted, warned]).toEqual([2, []]);
  });

  it('end with it', async () => {
    await tunnel(await rig.echo());
    const line = await rig.line();
    const { port } = await open({ transport: 'websocket', websocket: at(line.port) });
    const socket = await rig.visit(port);
    socket.write('x');
    await once(socket, 'data');
    const ended = howItEnds(socket);
    line.cut();
    expect(await ended).toBe('ECONNRESET');
    await waitFor(() => rig.server.flows === 0);
  });
});

describe('a silent WebSocket', () => {
  it('is given up with its connections and replaced', async () => {
    await tunnel(await rig.echo());
    const line = await rig.line();
    // The agent's own heartbeat goes on in real time.
    await waitFor(() => rig.agents[0]?.agent.status.state === 'online');
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { port } = await open({ transport: 'websocket', websocket: at(line.port) });
    const socket = await rig.visit(port);
    socket.write('x');
    await once(socket, 'data');
    const ended = howItEnds(socket);
    line.die(true);
    for (let question = 0; question < 4; question++) await vi.advanceTimersByTimeAsync(10_000);
    expect(await ended).toBe('ECONNRESET');
    line.die(false);
    expect(await ask(port)).toBe('?');
  });
});

describe('a visitor’s connection to the server', () => {
  it('uses a WebSocket if the port for agents cannot be reached, and reports it once', async () => {
    await tunnel(await rig.echo());
    const server = place(await rig.unusedPort());
    const { port, said } = await open({ server, websocket: at(rig.port) });
    expect([await ask(port), await ask(port)]).toEqual(['?', '?']);
    expect(said).toEqual(['the gateway is reached over a WebSocket']);
  });

  it('uses no WebSocket if that port can be reached', async () => {
    await tunnel(await rig.echo());
    const { port, said } = await open({ websocket: at(await rig.unusedPort()) });
    expect([await ask(port), said]).toEqual(['?', []]);
  });

  it('returns to that port when it can be reached again, and no connection waits for the attempt', async () => {
    await tunnel(await rig.echo());
    let now = 0;
    let blocked = true;
    let attempts = 0;
    const answered = Promise.withResolvers<void>();
    const server: AgentDialer['server'] = async (address, ms) => {
      if (address.port === 1) {
        attempts += 1;
        if (blocked) throw new TunnelError('timeout', 'nothing comes back');
        await answered.promise;
      }
      return systemDialer.server({ ...address, port: rig.port }, ms);
    };
    const { port, said } = await open({
      server: place(1),
      dialer: { server },
      websocket: at(rig.port),
      now: () => now,
    });
    expect(await ask(port)).toBe('?');
    blocked = false;
    expect([await ask(port), attempts]).toEqual(['?', 1]);
    now += 600_000;
    // The attempt hangs, the connection does not.
    expect([await ask(port), attempts]).toEqual(['?', 2]);
    answered.resolve();
    await waitFor(() => said.length === 2);
    expect(said[1]).toBe("the gateway is reached at its agents' port");
    expect([await ask(port), attempts]).toEqual(['?', 3]);
  });

  it('tries each way once if neither works, and reports both reasons', async () => {
    const [one, two] = [await rig.unusedPort(), await rig.unusedPort()];
    const { visitor, port, warned } = await open({ server: place(one), websocket: at(two) });
    expect(await howItEnds(rig.visitor(port))).toBe('ECONNRESET');
    expect(warned).toMatchObject([{ code: 'connection', reason: expect.stringMatching(`${one}; .*${two}$`) }]);
    await expect(visitor.probe()).rejects.toMatchObject({ code: 'connection' });
  });

  it('carries nothing if the other end does not have the pinned key', async () => {
    const stranger = new TunnelRig();
    await stranger.listen();
    cleanups.push(() => stranger.close());
    const { visitor } = await open({ transport: 'websocket', websocket: at(stranger.port) });
    await expect(visitor.probe()).rejects.toMatchObject({ code: 'server_key' });
  });

  it('is accepted once the server answers, and no other way is tried then', async () => {
    rig.client();
    await rig.tunnel(1, [1], { mode: 'secret', visitorKeyHash: agentKeyHash(secret) });
    const line = await rig.line();
    const { visitor } = await open({ transport: 'websocket', websocket: at(line.port) });
    await expect(visitor.probe()).rejects.toMatchObject({ code: 'offline' });
    const other = await open({ transport: 'websocket', websocket: at(line.port), key: keyOf(createAgentSecret()) });
    await expect(other.visitor.probe()).rejects.toMatchObject({ code: 'unauthorized' });
    expect(line.accepted).toBe(2);
  });
});

describe('behind a trusted reverse proxy', () => {
  const deny = { id: 1, scope: 'tunnel', resourceId: 7, type: 'deny', kind: 'cidr', priority: 1 } as const;

  it('a visitor has the address that the proxy sends, for rules, counters and targets', async () => {
    const heads: string[] = [];
    const target = await rig.target((socket) => socket.on('data', (part) => heads.push(String(part))));
    const shown = { proxyProtocol: 1 } as const;
    await tunnel(target, shown);
    const proxy = await reverseProxy('198.51.100.7');
    const { visitor, port } = await open({ transport: 'websocket', websocket: at(proxy.port) });
    const socket = await rig.visit(port);
    socket.write('x');
    await waitFor(() => heads.join('').endsWith('x'));
    expect(heads.join('')).toMatch(/^PROXY TCP4 198\.51\.100\.7 127\.0\.0\.1 0 \d+\r\nx$/);
    socket.resetAndDestroy();
    await waitFor(() => rig.records.length === 1);
    expect(rig.records[0]?.visitor.address).toBe('198.51.100.7');
    const tunnels = [rig.tunnelConfig(1, [target], { mode: 'secret', visitorKeyHash: agentKeyHash(secret) })];
    await rig.server.apply(rig.config({ tunnels, ipRules: [{ ...deny, pattern: '198.51.100.0/24' }] }));
    await expect(visitor.probe()).rejects.toMatchObject({ code: 'disabled' });
  });

  it('a visitor who tries keys delays nobody else', async () => {
    await tunnel(await rig.echo());
    const [bad, good] = [await reverseProxy('198.51.100.8'), await reverseProxy('198.51.100.9')];
    const guesser = await open({
      transport: 'websocket',
      websocket: at(bad.port),
      key: keyOf(createAgentSecret()),
    });
    const guess = (): Promise<string> =>
      guesser.visitor.probe().then(
        () => 'welcome',
        (error: TunnelError) => error.code,
      );
    for (let attempt = 0; attempt < 10; attempt++) expect(await guess()).toBe('unauthorized');
    // Answered late.
    void guess();
    const { port } = await open({ transport: 'websocket', websocket: at(good.port) });
    expect(await ask(port)).toBe('?');
  });
});
