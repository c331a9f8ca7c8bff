import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import ssh2, { type Connection, type ServerConfig } from 'ssh2';
import { afterEach, describe, expect, it } from 'vitest';
import type { OtherNode } from '@gatehouse/contracts';
import { makeSshKeys } from '@gatehouse/testing';
import type { DialStage } from '../../interfaces/index.js';
import { createChainDialer, fixedHop } from '../../transport/chain-dialer.js';
import { createDirectDialer } from '../../transport/server-dialer.js';
import { DirectOutbound } from '../direct/outbound.js';
import { isFileName, sshOptions } from './options.js';
import { SshOutbound } from './outbound.js';

const hostKey = makeSshKeys();
const userKey = makeSshKeys();
const blob = (text: string): Buffer => Buffer.from(text.split(' ')[1] ?? '', 'base64');
const hostBlob = blob(hostKey.public);
const sha256 = createHash('sha256').update(hostBlob);
const digest = sha256.digest();
const PRINTED = `SHA256:${digest.toString('base64').replace(/=+$/, '')}`;

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

async function portOf(server: { listen(port: number, host: string): unknown; address(): unknown }): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server as Server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function echo(): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.pipe(socket);
    cleanups.push(() => socket.destroy());
  });
  cleanups.push(() => server.close());
  return portOf(server);
}

/** The library's own server, which forwards for authenticated users. */
async function startServer(
  ways: 'password' | 'keyboard-interactive' | 'publickey',
  config: Partial<ServerConfig> = {},
) {
  const connections: Connection[] = [];
  const server = new ssh2.Server({ hostKeys: [hostKey.private], ...config }, (client) => {
    connections.push(client);
    client.on('error', () => undefined);
    client.on('authentication', (attempt) => {
      if (attempt.method !== ways || attempt.username !== 'ann') return attempt.reject([ways]);
      if (attempt.method === 'password') return attempt.password === 'pw' ? attempt.accept() : attempt.reject();
      if (attempt.method === 'publickey') {
        return attempt.key.data.equals(blob(userKey.public)) ? attempt.accept() : attempt.reject();
      }
      attempt.prompt([{ prompt: 'Password:', echo: false }], (answers) =>
        answers[0] === 'pw' ? attempt.accept() : attempt.reject(),
      );
    });
    client.on('tcpip', (accept, reject, { destIP, destPort }) => {
      const target = connect(destPort, destIP);
      target.on('error', () => reject());
      target.on('connect', () => {
        const channel = accept();
        target.on('close', () => channel.destroy()).pipe(channel);
        channel.on('error', () => undefined).pipe(target);
      });
    });
  });
  cleanups.push(() => {
    for (const client of connections) client.end();
    server.close();
  });
  return { connections, port: await portOf(server) };
}

function nodeAt(port: number, options: Record<string, unknown> = {}): OtherNode {
  return { type: 'ssh', name: 'x', server: '127.0.0.1', port, options: { username: 'ann', ...options } };
}

function outboundTo(port: number, options: Record<string, unknown> = {}): SshOutbound {
  const dialer = createDirectDialer({ resolve: () => Promise.resolve(['127.0.0.1']) });
  const outbound = new SshOutbound('n1', nodeAt(port, options), dialer);
  cleanups.push(() => outbound.close());
  return outbound;
}

const dial = (signal = new AbortController().signal, onStage?: (stage: DialStage) => void) => ({ signal, onStage });

/** Sends a word through the outbound and waits for its echo. */
async function roundTrip(outbound: SshOutbound, port: number): Promise<string> {
  const stream = await outbound.connect({ host: '127.0.0.1', port }, dial());
  const answer = new Promise<string>((resolve) => stream.on('data', (bytes) => resolve(bytes.toString())));
  stream.resume();
  stream.write(Buffer.from('ping'));
  const text = await answer;
  stream.destroy();
  return text;
}

describe('options of a node', () => {
  const accepts = (options: Record<string, unknown>, key = hostBlob): boolean =>
    sshOptions(nodeAt(22, options)).accepts(key);

  it('accept host keys in each usual form', () => {
    const other = blob(userKey.public);
    for (const known of [hostKey.public, `[h.test]:22 ${hostKey.public}`, PRINTED]) {
      expect(accepts({ 'host-key': [known] })).toBe(true);
      expect(accepts({ 'host-key': known })).toBe(true);
      expect(accepts({ 'host-key': [known] }, other)).toBe(false);
    }
    expect(accepts({ fingerprint: digest.toString('hex') })).toBe(true);
    expect(accepts({ fingerprint: digest.toString('hex') }, other)).toBe(false);
    expect(accepts({ 'host-key': ['nonsense'] })).toBe(false);
    expect(accepts({}, other)).toBe(true);
  });

  it('distinguish a private key from the name of a file', () => {
    expect(isFileName('~/.ssh/id_ed25519')).toBe(true);
    for (const key of [undefined, '', userKey.private]) expect(isFileName(key)).toBe(false);
  });
});

describe('SSH, by the library’s own server', () => {
  it.each([
    ['password', { password: 'pw' }],
    ['keyboard-interactive', { password: 'pw' }],
    ['publickey', { 'private-key': userKey.private }],
  ] as const)('signs in by %s', async (way, options) => {
    const { port } = await startServer(way);
    expect(await roundTrip(outboundTo(port, { ...options, 'host-key': [PRINTED] }), await echo())).toBe('ping');
  });

  it('has one connection for all flows, and a new one when it is lost', async () => {
    const { port, connections } = await startServer('password');
    const target = await echo();
    const outbound = outboundTo(port, { password: 'pw' });
    const answers = await Promise.all(Array.from({ length: 30 }, () => roundTrip(outbound, target)));
    expect(new Set(answers)).toEqual(new Set(['ping']));
    expect(connections).toHaveLength(1);
    const stream = await outbound.connect({ host: '127.0.0.1', port: target }, dial());
    const closed = new Promise<void>((resolve) => stream.once('close', resolve));
    const failed = new Promise<Error>((resolve) => stream.once('error', resolve));
    stream.on('end', () => expect.unreachable('a lost connection is no end'));
    stream.resume();
    connections[0]?.end();
    expect(await failed).toMatchObject({ stage: 'relay', kind: 'connection_reset' });
    await closed;
    await expect.poll(() => roundTrip(outbound, target).catch(() => '')).toBe('ping');
    expect(connections).toHaveLength(2);
  });

  it('has a connection for each flow if another outbound leads to it', async () => {
    const { port, connections } = await startServer('password');
    const target = await echo();
    const hop = new DirectOutbound('HOP', { resolve: () => Promise.resolve(['127.0.0.1']) });
    const outbound = new SshOutbound('n1', nodeAt(port, { password: 'pw' }), createChainDialer(fixedHop(hop)));
    for (const count of [1, 2]) {
      expect(await roundTrip(outbound, target)).toBe('ping');
      expect(connections).toHaveLength(count);
    }
    outbound.close();
  });

  it('bounds the flows of a connection', async () => {
    const { port } = await startServer('password');
    const target = await echo();
    const outbound = outboundTo(port, { password: 'pw' });
    const to = { host: '127.0.0.1', port: target };
    const open = await Promise.all(Array.from({ length: 256 }, () => outbound.connect(to, dial())));
    await expect(outbound.connect(to, dial())).rejects.toThrow(/more than 256/);
    open[0]?.destroy();
    await expect.poll(() => roundTrip(outbound, target).catch(() => '')).toBe('ping');
    for (const stream of open) stream.destroy();
  });

  it('reports that the server has answered before the target has', async () => {
    const { port } = await startServer('password');
    const stages: DialStage[] = [];
    const outbound = outboundTo(port, { password: 'pw' });
    const closedPort = await echo();
    cleanups.splice(-1).forEach((close) => close());
    const dialling = outbound.connect(
      { host: '127.0.0.1', port: closedPort },
      dial(undefined, (stage) => stages.push(stage)),
    );
    await expect(dialling).rejects.toMatchObject({ stage: 'handshake', kind: 'unreachable' });
    expect(stages).toEqual(['connect', 'greeting']);
  });

  it.each([
    ['a wrong password', { password: 'no' }, 'auth_failed'],
    ['no way to sign in', {}, 'auth_failed'],
    ['another host key', { password: 'pw', 'host-key': [userKey.public] }, 'auth_failed'],
    ['a private key that is none', { 'private-key': '-----BEGIN PRIVATE KEY-----\nx' }, 'auth_failed'],
    ['an unknown host key algorithm', { password: 'pw', 'host-key-algorithms': ['rot13'] }, 'auth_failed'],
  ])('fails with %s', async (_name, options, kind) => {
    const { port } = await startServer('password');
    const dialling = outboundTo(port, options).connect({ host: '127.0.0.1', port: 1 }, dial());
    await expect(dialling).rejects.toMatchObject({ name: 'DialError', stage: 'handshake', kind });
  });
});

describe('a server without SSH', () => {
  async function serverThat(answers: (socket: Socket) => void): Promise<number> {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      cleanups.push(() => socket.destroy());
      answers(socket);
    });
    cleanups.push(() => server.close());
    return portOf(server);
  }
  const target = { host: '127.0.0.1', port: 1 };

  it.each([
    ['closes', (socket: Socket) => void socket.end()],
    ['speaks HTTP', (socket: Socket) => void socket.end(`HTTP/1.1 400 Bad Request\r\n\r\n${'x'.repeat(99_000)}`)],
  ])('fails when it %s', async (_name, answer) => {
    const outbound = outboundTo(await serverThat(answer), { password: 'pw' });
    const error: unknown = await outbound.connect(target, dial()).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ name: 'DialError', stage: 'handshake', kind: 'protocol_error' });
  });

  it('is not waited for when the flow is given up, and not reported as answering', async () => {
    const outbound = outboundTo(await serverThat(() => undefined), { password: 'pw' });
    const flow = new AbortController();
    const stages: DialStage[] = [];
    const dialling = outbound.connect(
      target,
      dial(flow.signal, (stage) => stages.push(stage)),
    );
    await expect.poll(() => stages).toEqual(['connect']);
    flow.abort(new Error('given up'));
    await expect(dialling).rejects.toThrow('given up');
    expect(stages).toEqual(['connect']);
  });

  it('does not affect a flow that was given up before', async () => {
    const outbound = outboundTo(1, { password: 'pw' });
    await expect(outbound.connect(target, dial(AbortSignal.abort(new Error('gone'))))).rejects.toThrow('gone');
  });
});
