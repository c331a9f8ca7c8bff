/**
 * What frp's end-to-end suite asks of ports, as tests of this gateway; docs/tunnel-scenarios.md has the list of its titles,
 * with those that have no counterpart here.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { reservePorts, startHttpOrigin, waitFor } from '@gatehouse/testing';
import {
  agentKeyHash,
  createAgentSecret,
  formatVisitorKey,
  TunnelVisitor,
  type FlowRecord,
} from '@gatehouse/tunnel-kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerName } from '../support/name-server.js';
import { requirePeer } from '../support/peers.js';
import { Programs } from '../support/processes.js';
import { quietLogger, TunnelYard, type YardClient } from '../support/tunnel-yard.js';
import { askUdp, exchange, readToEnd, visit } from '../support/visitors.js';

const run = promisify(execFile);
const programs = new Programs();
const closed: FlowRecord[] = [];
const failures: string[] = [];
let yard: TunnelYard;
let member: YardClient;

beforeEach(async () => {
  closed.length = 0;
  failures.length = 0;
  yard = await TunnelYard.start({
    events: { flowClosed: (record) => closed.push(record), targetFailed: (_, reason) => failures.push(reason) },
    timeouts: { open: 2_000 },
    trustedProxies: ['127.0.0.0/8'],
  });
  member = await yard.member();
});
afterEach(async () => {
  await yard.close();
  await programs.stopAll();
});

describe.each([false, true])('TCP and UDP, data channels sealed: %s', (encrypt) => {
  beforeEach(async () => {
    member = await yard.member({ encrypt });
  });

  it('exposes a TCP echo server', async () => {
    const port = await yard.open(member, [await yard.echo()]);
    const text = randomBytes(300_000).toString('latin1');
    expect(await exchange(port, Buffer.from(text, 'latin1'))).toBe(text);
  });

  it('exposes a UDP echo server', async () => {
    const port = await yard.open(member, [await yard.udpEcho()], { mode: 'udp' });
    const visitor = await yard.udpSocket();
    for (const size of [0, 1, 1400, 9000]) {
      const question = randomBytes(size);
      expect((await askUdp(visitor, port, question)).equals(question)).toBe(true);
    }
  });

  it('carries iperf3', async (context) => {
    const iperf3 = requirePeer(context, 'iperf3');
    const target = await programs.start(iperf3, (port) => ['-s', '-B', '127.0.0.1', '-p', String(port)]);
    const port = await yard.open(member, [target]);
    for (const direction of [[], ['-R']]) {
      const options = ['-c', '127.0.0.1', '-p', String(port), '-t', '1', '-P', '2', '-J', ...direction];
      const { stdout } = await run(iperf3, options, { maxBuffer: 16 << 20 });
      const { end } = JSON.parse(stdout) as { end: { sum_received: { bytes: number } } };
      expect(end.sum_received.bytes).toBeGreaterThan(5 << 20);
    }
  });
});

describe('ports', () => {
  it('serves several of one client at once (range of ports)', async () => {
    const names = Array.from({ length: 12 }, (_, at) => `target ${at}`);
    const targets = await Promise.all(names.map((name) => yard.named(name)));
    const states = await yard.apply({
      tunnels: targets.map((port, at) => yard.tunnel(member, [port], { id: at + 1 })),
    });
    expect(new Set(states.map(({ port }) => port)).size).toBe(12);
    const answers = await Promise.all(states.map(({ port }) => exchange(port ?? 0, '')));
    expect(answers).toEqual(names);
  });

  it('serves a range of one tunnel, each port with its own target port (range ports mapping)', async () => {
    const count = 6;
    const from = await reservePorts(count);
    for (let port = from; port < from + count; port++) await yard.named(`target ${port}`, port);
    const listen = { host: '127.0.0.1', port: await reservePorts(count) };
    const [state] = await yard.apply({
      tunnels: [yard.tunnel(member, [from], { listen, ports: { count, mapped: true } })],
    });
    expect(state).toMatchObject({ port: listen.port, lastPort: listen.port + count - 1 });
    const ports = Array.from({ length: count }, (_, distance) => distance);
    const answers = await Promise.all(ports.map((distance) => exchange(listen.port + distance, '')));
    expect(answers).toEqual(ports.map((distance) => `target ${from + distance}`));
  });

  it('are assigned automatically for port 0, and kept as long as the tunnel exists', async () => {
    const tunnel = yard.tunnel(member, [await yard.named('here')]);
    const [first] = await yard.apply({ tunnels: [tunnel] });
    const [second] = await yard.apply({ tunnels: [{ ...tunnel, proxyProtocol: 1 }] });
    expect(first?.port).toBeGreaterThan(1023);
    expect(second?.port).toBe(first?.port);
  });

  it('that are taken are reported, and served when they are free (ports whitelist, port reuse)', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const listen = { host: '127.0.0.1', port: (taken.address() as AddressInfo).port };
    const tunnels = [yard.tunnel(member, [await yard.named('mine')], { listen })];
    const [state] = await yard.apply({ tunnels });
    expect(state?.state).toBe('error');
    taken.close();
    await once(taken, 'close');
    await waitFor(async () => (await yard.apply({ tunnels }))[0]?.state === 'running', { intervalMs: 100 });
    expect(await exchange(listen.port, '')).toBe('mine');
  });

  it('can be used by another client as soon as the first one has released them (port reuse)', async () => {
    const other = await yard.member();
    const port = await yard.open(member, [await yard.echo()]);
    const visitor = await visit(port);
    const ended = readToEnd(visitor);
    visitor.write('before');
    await waitFor(() => yard.server.flows === 1);
    const listen = { host: '127.0.0.1', port };
    const target = await yard.named('other');
    const [state] = await yard.apply({ tunnels: [yard.tunnel(other, [target], { id: 8, listen })] });
    expect(state).toMatchObject({ state: 'running', port });
    expect((await ended).reset).toBe(true);
    expect(await exchange(port, '')).toBe('other');
  });

  it('are changed and removed while the gateway runs (update, reload, close of a proxy)', async () => {
    const port = await yard.open(member, [await yard.named('one')]);
    expect(await exchange(port, '')).toBe('one');
    const listen = { host: '127.0.0.1', port };
    const target = await yard.named('two');
    await yard.open(member, [target], { listen });
    await waitFor(async () => (await exchange(port, '')) === 'two');
    await yard.apply({});
    expect(await exchange(port, '')).toBeNull();
  });
});

describe('several targets (load balancing, health)', () => {
  it('are used in turn, and a dead one is skipped', async () => {
    const names = ['a', 'b', 'c'];
    const targets = await Promise.all(names.map((name) => yard.named(name)));
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const dead = (gone.address() as AddressInfo).port;
    await new Promise((resolve) => gone.close(resolve));
    const port = await yard.open(member, [...targets, dead]);
    const seen = new Map<string | null, number>();
    for (let at = 0; at < 30; at++) {
      const answer = await exchange(port, '');
      seen.set(answer, (seen.get(answer) ?? 0) + 1);
    }
    expect(new Set(seen.keys())).toEqual(new Set(names));
    for (const count of seen.values()) expect(count).toBeGreaterThanOrEqual(8);
  });

  it('use a target again when it is back', async () => {
    const place = await startHttpOrigin();
    const other = await yard.named('other');
    await place.close();
    const port = await yard.open(member, [place.port, other]);
    for (let at = 0; at < 4; at++) expect(await exchange(port, '')).toBe('other');
    const back = createServer((socket) => socket.end('back')).listen(place.port, '127.0.0.1');
    await once(back, 'listening');
    yard.onClose(() => back.close());
    await waitFor(async () => (await exchange(port, '')) === 'back', { timeoutMs: 9_000, intervalMs: 200 });
  });

  it('reset visitors if all are away, and report why', async () => {
    const place = await startHttpOrigin();
    await place.close();
    const port = await yard.open(member, [place.port]);
    expect(await exchange(port, 'hello')).toBeNull();
    await waitFor(() => failures.includes('refused'));
  });
});

describe('limits', () => {
  it.each([
    ['from visitors', true],
    ['to visitors', false],
  ])('limit bytes %s to the rate of the client (bandwidth limit)', async (_, up) => {
    const rate = 400_000;
    const slow = await yard.member({ rateLimit: rate });
    const bytes = Buffer.alloc(1_200_000, 'x');
    let got = 0;
    const target = await yard.target((socket) => {
      if (!up) return socket.end(bytes);
      socket.on('data', (part) => (got += part.length));
      socket.on('end', () => socket.end(String(got)));
    });
    const port = await yard.open(slow, [target]);
    const from = performance.now();
    const answer = await exchange(port, up ? bytes : '');
    const seconds = (performance.now() - from) / 1000;
    expect(up ? Number(answer) : answer?.length).toBe(bytes.length);
    // What the bucket holds at the beginning goes at once.
    expect(bytes.length / seconds).toBeLessThan(rate * 1.9);
    expect(seconds).toBeLessThan(6);
  });

  it('admit as many visitors as the client may have, and the next one when one has left', async () => {
    const small = await yard.member({ maxConnections: 2 });
    const port = await yard.open(small, [await yard.echo()]);
    const held = [await visit(port), await visit(port)];
    for (const socket of held) socket.write('x');
    await waitFor(() => yard.server.flows === 2);
    expect(await exchange(port, 'three')).toBeNull();
    held[0]?.destroy();
    await waitFor(async () => (await exchange(port, 'three')) === 'three');
    held[1]?.destroy();
  });
});

describe('the visitor’s address (PROXY protocol)', () => {
  it.each([1, 2] as const)('reaches TCP targets in version %d', async (proxyProtocol) => {
    const target = await yard.target((socket) => {
      socket.once('data', (head: Buffer) => socket.end(head));
    });
    const port = await yard.open(member, [target], { proxyProtocol });
    const visitor = await visit(port, { localAddress: '127.0.0.7' } as object);
    const from = visitor.localPort ?? 0;
    const read = readToEnd(visitor);
    visitor.write('hello');
    const { text } = await read;
    if (proxyProtocol === 1) {
      expect(text).toMatch(new RegExp(`^PROXY TCP4 127\\.0\\.0\\.7 127\\.0\\.0\\.1 ${from} ${port}\r\n`));
    } else {
      const head = Buffer.from(text, 'latin1');
      expect(head.subarray(0, 13).toString('hex')).toBe('0d0a0d0a000d0a515549540a21');
      expect([...head.subarray(16, 20)]).toEqual([127, 0, 0, 7]);
      expect(head.readUInt16BE(24)).toBe(from);
    }
  });

  it.each([1, 2] as const)(
    'reaches UDP targets in version %d, where that has a form for them',
    async (proxyProtocol) => {
      const port = await yard.open(member, [await yard.udpEcho()], { mode: 'udp', proxyProtocol });
      const visitor = await yard.udpSocket();
      const seen = await askUdp(visitor, port, 'hello');
      expect(seen.toString('latin1').endsWith('hello')).toBe(true);
      // Version 1 is text for streams.
      if (proxyProtocol === 1) expect(seen.toString()).toBe('hello');
      else expect(seen.readUInt16BE(24)).toBe(visitor.address().port);
    },
  );
});

describe('control connections', () => {
  it.each([false, true])('come back after a restart of the server, channels sealed: %s', async (encrypt) => {
    const here = await yard.member({ encrypt });
    const tunnels = [yard.tunnel(here, [await yard.echo()])];
    const [state] = await yard.apply({ tunnels });
    const held = await visit(state?.port ?? 0);
    const ended = readToEnd(held);
    held.write('x');
    await waitFor(() => yard.server.flows === 1);
    await yard.server.stop();
    expect((await ended).reset).toBe(true);
    await yard.restart();
    await yard.online(here);
    const [again] = await yard.apply({ tunnels });
    expect(await exchange(again?.port ?? 0, 'again')).toBe('again');
  });

  it('replace each other: the newest agent of a key serves, and open connections of the first one continue', async () => {
    const client = yard.client();
    const first = yard.agent(client, { software: 'first' });
    await yard.online(client);
    const port = await yard.open(client, [await yard.echo()]);
    const held = await visit(port);
    held.write('a');
    await once(held, 'data');
    const second = yard.agent(client, { software: 'second' });
    await waitFor(() => first.status.state === 'stopped' && second.status.state === 'online');
    held.write('b');
    expect(String((await once(held, 'data'))[0])).toBe('b');
    expect(await exchange(port, 'new')).toBe('new');
    expect(second.flows + first.flows).toBeGreaterThanOrEqual(1);
    held.destroy();
  });

  it('are dropped when the line is silent (half-open relay), and the agent reconnects', async () => {
    await yard.close();
    yard = await TunnelYard.start({ timeouts: { heartbeat: 200 } });
    // Each connection goes dead after a while: open on both sides, but nothing gets through.
    let dead = false;
    const relay = await yard.target((near) => {
      const far = connect({ port: yard.port, host: '127.0.0.1', allowHalfOpen: true });
      const mine = { dead };
      const check = setInterval(() => (mine.dead ||= dead), 5);
      near.on('data', (part: Buffer) => mine.dead || far.write(part)).on('end', () => mine.dead || far.end());
      far.on('data', (part: Buffer) => mine.dead || near.write(part)).on('end', () => mine.dead || near.end());
      far.on('error', () => near.destroy()).on('close', () => near.destroy());
      near.on('close', () => {
        clearInterval(check);
        far.destroy();
      });
    });
    const client = yard.client();
    const server = { host: '127.0.0.1', port: relay };
    const agent = yard.agent(client, { server, timeouts: { connect: 1000 } });
    await yard.online(client);
    const port = await yard.open(client, [await yard.echo()]);
    expect(await exchange(port, 'before')).toBe('before');
    dead = true;
    await waitFor(() => yard.server.agents().length === 0);
    dead = false;
    await waitFor(() => agent.status.state === 'online' && yard.server.agents().length === 1);
    await waitFor(async () => (await exchange(port, 'after')) === 'after');
  });

  it('are refused for unknown keys, and for servers with another key', async () => {
    const stranger = { ...yard.client(), key: member.key.replace(/\.[^.]+\./, `.${createAgentSecret()}.`) };
    const agent = yard.agent(stranger);
    await waitFor(() => agent.status.state === 'stopped');
    expect(agent.status).toMatchObject({ reason: { code: 'unauthorized' } });
    const impostor = yard.agent({ ...member, key: `${member.key.slice(0, -4)}AAAA` });
    await waitFor(() => impostor.status.state !== 'connecting');
    expect(impostor.status).toMatchObject({ reason: { code: 'server_key' } });
    await impostor.stop();
  });
});

describe('private tunnels (secret visitor)', () => {
  it('connect visitors with the key to the target, and nobody else', async () => {
    const secret = createAgentSecret();
    const target = await yard.echo();
    const tunnel = yard.tunnel(member, [target], { mode: 'secret', visitorKeyHash: agentKeyHash(secret) });
    await yard.apply({ tunnels: [tunnel] });
    const { fingerprint } = yard.identity;
    const enter = async (words: string): Promise<number> => {
      const key = formatVisitorKey({ tunnelId: tunnel.id, secret: words, fingerprint });
      const visitor = new TunnelVisitor({ server: { host: '127.0.0.1', port: yard.port }, key, logger: quietLogger });
      yard.onClose(() => visitor.stop());
      return visitor.listen({ host: '127.0.0.1', port: 0 });
    };
    expect(await exchange(await enter(secret), 'private')).toBe('private');
    expect(await exchange(await enter(createAgentSecret()), 'private')).toBeNull();
  });
});

describe('services of agents (plugins)', () => {
  it('http_proxy: curl through the agent', async (context) => {
    const curl = requirePeer(context, 'curl');
    await using origin = await startHttpOrigin();
    for (const mode of ['http_proxy', 'mix_proxy'] as const) {
      const port = await yard.open(member, [], { mode });
      for (const option of ['--proxy', '--proxytunnel']) {
        const args = ['-sS', '--max-time', '10', '--proxy', `http://127.0.0.1:${port}`];
        if (option === '--proxytunnel') args.push(option);
        expect((await run(curl, [...args, `${origin.url}/`])).stdout).toBe('ok');
      }
    }
  });

  it('socks5: curl through the agent, by address and by name', async (context) => {
    const curl = requirePeer(context, 'curl');
    await using origin = await startHttpOrigin();
    for (const mode of ['socks5', 'mix_proxy'] as const) {
      const port = await yard.open(member, [], { mode });
      for (const option of ['--socks5', '--socks5-hostname']) {
        const args = ['-sS', '--max-time', '10', option, `127.0.0.1:${port}`, `http://localhost:${origin.port}/`];
        expect((await run(curl, args)).stdout).toBe('ok');
      }
    }
  });

  it('static_file: a directory, and nothing outside it', async (context) => {
    const curl = requirePeer(context, 'curl');
    const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-files-'));
    yard.onClose(() => rmSync(folder, { recursive: true }));
    writeFileSync(path.join(folder, 'hello.txt'), 'hello from a file');
    const reader = await yard.member({}, { fileRoots: [folder] });
    const file = { path: folder, readOnly: true, stripPrefix: '/static' };
    const port = await yard.open(reader, [], { mode: 'file', file });
    const ask = async (...args: string[]): Promise<string> =>
      (await run(curl, ['-sS', '--max-time', '10', '-w', ' %{http_code}', ...args])).stdout;
    expect(await ask(`http://127.0.0.1:${port}/static/hello.txt`)).toBe('hello from a file 200');
    expect(await ask('-r', '6-9', `http://127.0.0.1:${port}/static/hello.txt`)).toBe('from 206');
    expect(await ask('--path-as-is', `http://127.0.0.1:${port}/static/../../etc/passwd`)).toMatch(/40\d$/);
  });
});

describe('names over UDP', () => {
  it('are resolved through the tunnel', async () => {
    const server = createSocket('udp4', (question, { port, address }) => {
      server.send(answerName(question, [192, 0, 2, 44]), port, address);
    });
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    yard.onClose(() => server.close());
    const port = await yard.open(member, [server.address().port], { mode: 'udp' });
    const resolver = new Resolver({ timeout: 2_000, tries: 3 });
    resolver.setServers([`127.0.0.1:${port}`]);
    const names = Array.from({ length: 20 }, (_, at) => `host-${at}.example.test`);
    const found = await Promise.all(names.map((name) => resolver.resolve4(name)));
    expect(found.flat()).toEqual(names.map(() => '192.0.2.44'));
  });
});
