import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { createServer, Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import type { NodeTransport, OtherNode, VlessNode } from '@gatehouse/contracts';
import { makeCertificate } from '@gatehouse/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WEBSOCKET_OPCODE } from '@gatehouse/net';
import { cleanUp, cleanups, client, exchange, portOf, readAll, startKernel } from '../test/kernel-rig.js';
import type { KernelConfig } from './index.js';
import { COMMAND, frame } from './protocol/anytls/frame.js';

afterEach(async () => {
  vi.useRealTimers();
  await cleanUp();
});

/** Fakes the kernel's timers; call before it starts. Sockets stay real. */
function takeTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
}

/** Advances the clock second by second, and lets sockets work in between. */
async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await vi.advanceTimersByTimeAsync(1000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function through(port: number, transport: NodeTransport): Partial<KernelConfig> {
  const uuid = '11111111-2222-4333-8444-555555555555';
  const node: VlessNode = { type: 'vless', name: 'node', server: '127.0.0.1', port, uuid, transport };
  return { outbounds: [{ tag: 'n1', node }], defaultPolicy: 'n1' };
}

async function tunnelFrom(port: number): Promise<Socket> {
  const socket = client(port);
  const { status } = await exchange(socket, 'CONNECT target.test:80 HTTP/1.1\r\nHost: target.test:80\r\n\r\n');
  expect(status).toBe(200);
  return socket;
}

const CLOSE_FRAME = Buffer.from([0x80 | WEBSOCKET_OPCODE.close, 0]);
/** The beginning of a VLESS server's answer: the version, and no options. */
const VLESS_ANSWER = '\0\0';

describe('a listener', () => {
  it('that failed to accept a connection recovers with the next one', async () => {
    const listen = vi.spyOn(Server.prototype, 'listen');
    const { kernel, port } = await startKernel();
    const server = listen.mock.contexts.find((one) => (one as Server).listening) as Server;
    const state = () => kernel.status().listeners[0];
    server.emit('error', new Error('accept EMFILE'));
    expect(state()).toMatchObject({ state: 'failed', error: 'accept EMFILE' });
    await once(client(port), 'connect');
    await expect.poll(state).toMatchObject({ state: 'listening', error: null });
  });
});

describe('a client that has sent its end before the answer comes', () => {
  it('gets it over a WebSocket, which stays open while data may come', async () => {
    takeTimers();
    const upgraded = Promise.withResolvers<Duplex>();
    const server = createHttpServer().on('upgrade', ({ headers }, socket: Duplex) => {
      const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accept = createHash('sha1').update(key).digest('base64');
      socket.on('error', () => undefined);
      // It closes when it is asked to.
      socket.on('data', (bytes: Buffer) => bytes[0] === CLOSE_FRAME[0] && socket.end(CLOSE_FRAME));
      const fields = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}`;
      socket.write(`HTTP/1.1 101 Switching\r\n${fields}\r\n\r\n`);
      upgraded.resolve(socket);
    });
    const { port } = await startKernel({ config: through(await portOf(server), { type: 'ws', path: '/' }) });
    const socket = await tunnelFrom(port);
    const answer = readAll(socket);
    socket.end('question');
    const node = await upgraded.promise;
    const send = (text: string): unknown =>
      node.write(Buffer.concat([Buffer.from([0x80 | WEBSOCKET_OPCODE.binary, text.length]), Buffer.from(text)]));
    await pass(25);
    send(`${VLESS_ANSWER}slow `);
    await pass(25);
    send('answer');
    // After a long silence it is closed.
    await pass(40);
    expect(await answer).toBe('slow answer');
  });

  it('gets it over AnyTLS, whose stream stays open while data may come', async () => {
    takeTimers();
    const arrived = Promise.withResolvers<TLSSocket>();
    const { key, certificate } = makeCertificate({ subject: 'node.test' });
    const server = createTlsServer({ key, cert: certificate }, (socket) => {
      cleanups.push(() => socket.destroy());
      socket.on('error', () => undefined);
      socket.once('data', () => arrived.resolve(socket));
    });
    const options = { password: 'p', 'skip-cert-verify': true };
    const node: OtherNode = { type: 'anytls', name: 'node', server: '127.0.0.1', port: await portOf(server), options };
    const { port } = await startKernel({ config: { outbounds: [{ tag: 'n1', node }], defaultPolicy: 'n1' } });
    const socket = await tunnelFrom(port);
    let answer = '';
    socket.on('data', (bytes) => (answer += bytes.toString()));
    socket.resume();
    socket.end('question');
    const there = await arrived.promise;
    for (const part of ['slow ', 'answer']) {
      await pass(25);
      there.write(frame(COMMAND.push, 1, Buffer.from(part)));
      await expect.poll(() => answer.endsWith(part)).toBe(true);
    }
    await pass(25);
    there.write(frame(COMMAND.finish, 1));
    await once(socket, 'end');
    expect(answer).toBe('slow answer');
  });
});

describe('an HTTP/2 session with a node', () => {
  const H2: NodeTransport = { type: 'h2', path: '/' };

  /** A node that echoes; it accepts connections once `gate` has resolved. */
  async function startNode(gate: Promise<unknown> = Promise.resolve()) {
    const sessions: ServerHttp2Session[] = [];
    const server = createHttp2Server();
    server.on('session', (session) => sessions.push(session));
    server.on('stream', (stream: ServerHttp2Stream) => {
      stream.on('error', () => undefined);
      stream.respond({ ':status': 200 });
      stream.write(VLESS_ANSWER);
      stream.on('data', (bytes) => stream.write(bytes));
    });
    cleanups.push(() => sessions.forEach((session) => session.destroy()));
    const arrived: Socket[] = [];
    const door = createServer((socket) => {
      arrived.push(socket);
      void gate.then(() => server.emit('connection', socket));
    });
    return { port: await portOf(door), sessions, arrived };
  }

  it('carries flows of a replaced configuration, and is closed when they have ended', async () => {
    takeTimers();
    const node = await startNode();
    const { kernel, port } = await startKernel({ config: through(node.port, H2) });
    const flow = await tunnelFrom(port);
    await kernel.apply({ mode: 'rule', listeners: [], outbounds: [], groups: [], rules: [], defaultPolicy: 'DIRECT' });
    flow.write('still here');
    await expect.poll(() => String(flow.read() ?? '')).toContain('still here');
    expect(node.sessions.map(({ destroyed }) => destroyed)).toEqual([false]);
    await pass(40);
    expect(node.sessions.map(({ destroyed }) => destroyed)).toEqual([false]);
    flow.resetAndDestroy();
    await expect.poll(() => kernel.connections()).toEqual([]);
    await pass(40);
    await expect.poll(() => node.sessions.map(({ destroyed }) => destroyed)).toEqual([true]);
  });

  it('is closed if everyone who waited for it had left when it opened', async () => {
    takeTimers();
    const gate = Promise.withResolvers<void>();
    const node = await startNode(gate.promise);
    const { kernel, port } = await startKernel({ config: through(node.port, H2) });
    const flow = client(port);
    flow.write('CONNECT target.test:80 HTTP/1.1\r\nHost: target.test:80\r\n\r\n');
    await expect.poll(() => node.arrived.length).toBe(1);
    flow.resetAndDestroy();
    await expect.poll(() => kernel.connections()).toEqual([]);
    gate.resolve();
    await expect.poll(() => node.sessions.length).toBe(1);
    await pass(40);
    await expect.poll(() => node.sessions.map(({ destroyed }) => destroyed)).toEqual([true]);
  });
});
