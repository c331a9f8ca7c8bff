import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import {
  constants,
  createServer as createHttp2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import type { NodeTransport } from '@gatehouse/contracts';
import { ByteReader, onFlowFailure, WEBSOCKET_OPCODE, type ByteStream, type FlowFailure } from '@gatehouse/net';
import { DialError } from '../interfaces/index.js';
import { createCarrier } from './carrier.js';
import { messageHead } from './http2/grpc-frame.js';
import { createDirectDialer } from './server-dialer.js';
import type { Carrier } from './node-server.js';

const dialer = createDirectDialer({ resolve: () => Promise.resolve(['127.0.0.1']) });
const signal = new AbortController().signal;
let open: { close(): void }[] = [];

afterEach(() => {
  for (const one of open) one.close();
  open = [];
});

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ close: () => void server.close() });
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => undefined);
    open.push({ close: () => void socket.destroy() });
  });
  return (server.address() as AddressInfo).port;
}

function carrierTo(port: number, transport: NodeTransport): Carrier {
  const carrier = createCarrier({ server: '127.0.0.1', port, transport }, dialer);
  open.push(carrier);
  return carrier;
}

/** All bytes until the end. */
async function readAll(stream: ByteStream): Promise<Buffer> {
  const pieces: Buffer[] = [];
  stream.on('data', (bytes) => pieces.push(Buffer.from(bytes)));
  const ended = new Promise<void>((resolve) => stream.on('end', resolve));
  stream.resume();
  await ended;
  return Buffer.concat(pieces);
}

const failure = (stream: ByteStream): Promise<Error> => new Promise((resolve) => stream.on('error', resolve));
const closing = (stream: ByteStream): Promise<void> => new Promise((resolve) => stream.on('close', resolve));

interface Http2Server {
  port: number;
  sessions: ServerHttp2Session[];
}

async function http2Server(
  onStream: (stream: ServerHttp2Stream, headers: Record<string, unknown>) => void,
  maxConcurrentStreams = 4096,
): Promise<Http2Server> {
  const server = createHttp2Server({ settings: { maxConcurrentStreams } });
  const sessions: ServerHttp2Session[] = [];
  server.on('session', (session) => sessions.push(session));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    onStream(stream as ServerHttp2Stream, headers);
  });
  return { port: await listen(server as unknown as Server), sessions };
}

/** Answers with what it was sent, after the client has ended, and then with more. */
function answerAtEnd(stream: ServerHttp2Stream, wrap: (bytes: Buffer) => Buffer): void {
  const pieces: Buffer[] = [];
  stream.on('data', (bytes: Buffer) => pieces.push(bytes));
  stream.on('end', () => {
    stream.write(Buffer.concat(pieces));
    stream.end(wrap(Buffer.from(' and more')));
  });
}

const H2: NodeTransport = { type: 'h2', path: '/a path', hosts: ['one.test'] };
const GRPC: NodeTransport = { type: 'grpc', serviceName: 'a/b' };
const grpcMessage = (bytes: Buffer): Buffer => Buffer.concat([messageHead(bytes.length), bytes]);

describe.each([
  { name: 'HTTP/2', transport: H2, wrap: (bytes: Buffer) => bytes, method: 'PUT', path: '/a%20path' },
  { name: 'gRPC', transport: GRPC, wrap: grpcMessage, method: 'POST', path: '/a%2Fb/Tun' },
])('$name, with a server of node:http2 in the clear', ({ name, transport, wrap, method, path }) => {
  it('carries both directions, ends each one separately, and sends the expected request', async () => {
    const asked: Record<string, unknown>[] = [];
    const { port } = await http2Server((stream, headers) => {
      asked.push(headers);
      stream.respond({ ':status': 200 });
      answerAtEnd(stream, wrap);
    });
    const stream = await carrierTo(port, transport).connect({ signal });
    const sent = randomBytes(300_000);
    stream.write(sent);
    stream.end();
    expect((await readAll(stream)).equals(Buffer.concat([sent, Buffer.from(' and more')]))).toBe(true);
    await closing(stream);
    expect(asked[0]).toMatchObject({ ':method': method, ':path': path });
    expect(stream.remoteAddress).toBe('127.0.0.1');
  });

  it('shares one session among streams, and opens another when it is closed', async () => {
    const { port, sessions } = await http2Server((stream) => {
      stream.respond({ ':status': 200 });
      stream.pipe(stream);
    });
    const carrier = carrierTo(port, transport);
    const streams = await Promise.all(Array.from({ length: 20 }, () => carrier.connect({ signal })));
    for (const [index, stream] of streams.entries()) stream.write(Buffer.from([index]));
    for (const [index, stream] of streams.entries()) {
      expect([...(await new ByteReader(stream).read(1))]).toEqual([index]);
    }
    expect(sessions).toHaveLength(1);
    const lost = Promise.all(streams.map(closing));
    sessions[0]?.destroy();
    await lost;
    const again = await carrier.connect({ signal });
    again.write(Buffer.from('x'));
    expect((await new ByteReader(again).read(1)).toString()).toBe('x');
    expect(sessions).toHaveLength(2);
  });

  it('opens as many sessions as a server needs for its streams', async () => {
    const answer = (stream: ServerHttp2Stream): void => {
      stream.respond({ ':status': 200 });
      stream.pipe(stream);
    };
    const { port, sessions } = await http2Server(answer, 2);
    const carrier = carrierTo(port, transport);
    const streams = await Promise.all(Array.from({ length: 60 }, () => carrier.connect({ signal })));
    for (const stream of streams) stream.write(Buffer.from('x'));
    await Promise.all(streams.map((stream) => new ByteReader(stream).read(1)));
    expect(sessions).toHaveLength(30);
    const none = await http2Server(answer, 0);
    await expect(carrierTo(none.port, transport).connect({ signal })).rejects.toThrow('allows no streams');
  });

  it('stops opening a session when it is closed, without a failure', async () => {
    const failures: FlowFailure[] = [];
    open.push({ close: onFlowFailure((failure) => failures.push(failure)) });
    const { port } = await http2Server((stream) => stream.respond({ ':status': 200 }));
    for (const turns of [0, 1, 2, 3, 5, 8, 13]) {
      const carrier = carrierTo(port, transport);
      const connecting = carrier.connect({ signal }).catch((error: unknown) => error);
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      carrier.close();
      const outcome = await connecting;
      if (!(outcome instanceof Error)) await expect.poll(() => (outcome as ByteStream).destroyed).toBe(true);
    }
    // The dialled connection arrives in a later turn.
    const last = carrierTo(port, transport);
    await last.connect({ signal });
    expect(failures).toEqual([]);
  });

  it('distinguishes a reset from an end', async () => {
    const { port } = await http2Server((stream) => {
      stream.respond({ ':status': 200 });
      stream.write(wrap(Buffer.from('abc')));
      stream.once('data', () => stream.destroy(new Error('aborted')));
    });
    const stream = await carrierTo(port, transport).connect({ signal });
    const failed = failure(stream);
    const closed = closing(stream);
    stream.write(Buffer.from('x'));
    stream.resume();
    expect(await failed).toMatchObject({ kind: 'connection_reset' });
    await closed;
  });

  it('reports the status of a refusal', async () => {
    const { port } = await http2Server((stream) => {
      stream.respond({ ':status': 404 }, { endStream: true });
    });
    const connecting = carrierTo(port, transport).connect({ signal });
    if (name === 'HTTP/2')
      return expect(connecting).rejects.toMatchObject({ kind: 'protocol_error', stage: 'handshake' });
    const stream = await connecting;
    const failed = failure(stream);
    stream.resume();
    expect((await failed).message).toContain('404');
  });

  it('ends only the stream whose other side aborts', async () => {
    const closed = Promise.withResolvers<number>();
    const { port } = await http2Server((stream) => {
      stream.respond({ ':status': 200 });
      stream.on('close', () => closed.resolve(stream.rstCode));
      stream.pipe(stream);
    });
    const carrier = carrierTo(port, transport);
    const [one, other] = [await carrier.connect({ signal }), await carrier.connect({ signal })];
    one.write(Buffer.from('a'));
    await new ByteReader(one).read(1);
    one.resetAndDestroy?.();
    expect(await closed.promise).toBe(constants.NGHTTP2_CANCEL);
    other.write(Buffer.from('b'));
    expect((await new ByteReader(other).read(1)).toString()).toBe('b');
  });

  it('gives up on servers that do not speak HTTP/2 or do not answer', async () => {
    const talker = await listen(createServer((socket) => void socket.write('220 mail.test ESMTP\r\n')));
    await expect(carrierTo(talker, transport).connect({ signal })).rejects.toBeInstanceOf(DialError);
    const silent = await listen(createServer());
    const controller = new AbortController();
    const late = new DialError('dial', 'timeout', 'too late');
    const connecting = carrierTo(silent, transport).connect({ signal: controller.signal });
    controller.abort(late);
    await expect(connecting).rejects.toBe(late);
  });

  it('buffers a bounded amount for an owner that does not read', async () => {
    let sent = 0;
    const chunk = wrap(randomBytes(64 * 1024));
    const { port } = await http2Server((stream) => {
      stream.respond({ ':status': 200 });
      const pump = (): void => {
        while (sent < 64 * 1024 * 1024) {
          sent += chunk.length;
          if (!stream.write(chunk)) return;
        }
        stream.end();
      };
      stream.on('drain', pump);
      pump();
    });
    const stream = await carrierTo(port, transport).connect({ signal });
    let received = 0;
    stream.on('data', (bytes) => {
      received += bytes.length;
      if (received < 100_000) return;
      stream.pause();
    });
    stream.resume();
    let last = -1;
    let same = 0;
    await expect
      .poll(() => ((same = sent === last ? same + 1 : 0), (last = sent), same), { interval: 20 })
      .toBeGreaterThan(10);
    expect(sent).toBeLessThan(8 * 1024 * 1024);
  });
});

describe('a gRPC call that its server ends with a status', () => {
  it('is a failure', async () => {
    const { port } = await http2Server((stream) => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '7' }));
      stream.end();
    });
    const stream = await carrierTo(port, GRPC).connect({ signal });
    const failed = failure(stream);
    stream.resume();
    expect((await failed).message).toContain('status 7');
  });
});

const WS: NodeTransport = {
  type: 'ws',
  path: '/ws',
  headers: { Host: 'front.test', 'X-A': 'b', 'X-Bad': 'a\r\nX-B: c' },
};
const UPGRADE: NodeTransport = { type: 'httpupgrade', path: '/up' };

interface Upgraded {
  port: number;
  asked: Record<string, string | string[] | undefined>[];
  socket: Promise<Duplex>;
}

/** An HTTP server that switches protocols and passes on the bytes that follow. */
async function upgradeServer(change: (headers: string) => string = (headers) => headers): Promise<Upgraded> {
  const server = createHttpServer();
  const upgraded = Promise.withResolvers<Duplex>();
  const asked: Upgraded['asked'] = [];
  server.on('upgrade', (request, socket: Duplex) => {
    asked.push({ ...request.headers, url: request.url });
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    socket.on('error', () => undefined);
    socket.write(
      change(
        `HTTP/1.1 101 Switching\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      ),
    );
    upgraded.resolve(socket);
  });
  return { port: await listen(server as unknown as Server), asked, socket: upgraded.promise };
}

/** A client's frame, unmasked. */
async function nextFrame(reader: ByteReader): Promise<[opcode: number, payload: Buffer]> {
  const [first = 0, second = 0] = await reader.read(2);
  expect(second & 0x80).toBe(0x80);
  const mask = await reader.read(4);
  const payload = await reader.read(second & 0x7f);
  return [first & 15, Buffer.from(payload.map((byte, index) => byte ^ (mask[index & 3] ?? 0)))];
}

const serverFrame = (opcode: number, text: string): Buffer =>
  Buffer.concat([Buffer.from([0x80 | opcode, text.length]), Buffer.from(text)]);

describe('a WebSocket, with a server of this test', () => {
  it('sends its own fields, answers pings and closes after both sides have', async () => {
    const server = await upgradeServer();
    const stream = await carrierTo(server.port, WS).connect({ signal });
    const socket = await server.socket;
    expect(server.asked[0]).toMatchObject({
      host: 'front.test',
      'x-a': 'b',
      url: '/ws',
      'sec-websocket-version': '13',
    });
    expect(server.asked[0]).not.toHaveProperty('x-b');
    const reader = new ByteReader(socket as unknown as ByteStream);
    stream.write(Buffer.from('hello'));
    expect(await nextFrame(reader)).toEqual([WEBSOCKET_OPCODE.binary, Buffer.from('hello')]);
    socket.write(
      Buffer.concat([serverFrame(WEBSOCKET_OPCODE.ping, 'you?'), serverFrame(WEBSOCKET_OPCODE.binary, 'yes')]),
    );
    const all = readAll(stream);
    expect(await nextFrame(reader)).toEqual([WEBSOCKET_OPCODE.pong, Buffer.from('you?')]);
    stream.end();
    // We have ended, the server has not.
    socket.write(serverFrame(WEBSOCKET_OPCODE.binary, ' and more'));
    socket.write(serverFrame(WEBSOCKET_OPCODE.close, '\u0003('));
    expect((await all).toString()).toBe('yes and more');
    expect((await nextFrame(reader))[0]).toBe(WEBSOCKET_OPCODE.close);
    const closed = closing(stream);
    socket.end();
    await closed;
  });

  it('delays its close until the owner has read the end', async () => {
    const server = await upgradeServer();
    const stream = await carrierTo(server.port, WS).connect({ signal });
    const socket = await server.socket;
    const events: string[] = [];
    stream.on('error', () => events.push('error'));
    stream.on('close', () => events.push('close'));
    socket.end(
      Buffer.concat([serverFrame(WEBSOCKET_OPCODE.binary, 'last words'), serverFrame(WEBSOCKET_OPCODE.close, '')]),
    );
    expect((await readAll(stream)).toString()).toBe('last words');
    (socket as Socket).resetAndDestroy();
    await once(socket, 'close');
    stream.end();
    await expect.poll(() => events).toEqual(['close']);
  });

  it('fails for a frame that a server must not send', async () => {
    const server = await upgradeServer();
    const stream = await carrierTo(server.port, WS).connect({ signal });
    const failed = failure(stream);
    const closed = closing(stream);
    stream.resume();
    (await server.socket).write(Buffer.from('818537fa213d7f9f4d5158', 'hex'));
    expect(await failed).toMatchObject({ kind: 'protocol_error' });
    await closed;
  });

  it('sends its first bytes in a field or in the path of the handshake, and the rest after it', async () => {
    for (const header of ['Sec-WebSocket-Protocol', undefined]) {
      const server = await upgradeServer();
      const early = { ...WS, maxEarlyData: 6, ...(header ? { earlyDataHeaderName: header } : {}) } as NodeTransport;
      const stream = await carrierTo(server.port, early).connect({ signal });
      expect(server.asked).toHaveLength(0);
      stream.write(Buffer.from('first>and the rest'));
      const socket = await server.socket;
      const first = Buffer.from('first>').toString('base64url');
      expect(server.asked[0]).toMatchObject(
        header ? { 'sec-websocket-protocol': first, url: '/ws' } : { url: `/ws${first}` },
      );
      stream.resume();
      expect(await nextFrame(new ByteReader(socket as unknown as ByteStream))).toEqual([
        2,
        Buffer.from('and the rest'),
      ]);
    }
  });
});

describe('an answer that does not switch', () => {
  it.each<[string, NodeTransport, (head: string) => string, string]>([
    ['another handshake', WS, (head) => head.replace(/Accept: ./, 'Accept: '), 'protocol_error'],
    [
      'an extension',
      WS,
      (head) => head.replace('\r\n\r\n', '\r\nSec-WebSocket-Extensions: x\r\n\r\n'),
      'protocol_error',
    ],
    ['a refusal', WS, () => 'HTTP/1.1 403 Forbidden\r\n\r\n', 'auth_failed'],
    ['another protocol', UPGRADE, (head) => head.replace('WebSocket\r', 'h2c\r'), 'protocol_error'],
    ['no HTTP', UPGRADE, () => 'SSH-2.0-x\r\n\r\n', 'protocol_error'],
    ['no end', UPGRADE, () => `HTTP/1.1 101 ${'x'.repeat(20_000)}`, 'protocol_error'],
  ])('%s is said to be that', async (_name, transport, change, kind) => {
    const { port } = await upgradeServer(change);
    await expect(carrierTo(port, transport).connect({ signal })).rejects.toMatchObject({ stage: 'handshake', kind });
  });
});

describe('an HTTP upgrade, with a server of this test', () => {
  it('is raw after the answer, including bytes that came with it', async () => {
    const server = await upgradeServer((head) => `${head}early`);
    const stream = await carrierTo(server.port, UPGRADE).connect({ signal });
    const socket = await server.socket;
    expect(server.asked[0]).not.toHaveProperty('sec-websocket-key');
    stream.end();
    socket.resume();
    socket.on('end', () => socket.end(' bye'));
    expect((await readAll(stream)).toString()).toBe('early bye');
  });
});
