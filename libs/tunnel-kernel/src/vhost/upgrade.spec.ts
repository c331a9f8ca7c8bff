import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer as createHttp2Server,
  connect as connectHttp2,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { HostRig } from '../../test/host-rig.js';
import { createServerIdentity } from '../wire/server-identity.js';

let rig: HostRig;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  await rig.close();
});

/** A WebSocket server that sends frames back as they came, unmasked. */
function echo(seen: string[] = []): Promise<number> {
  return rig.origin(
    (_, response) => response.writeHead(426, { 'X-Why': 'upgrade' }).end('no'),
    (server) => {
      server.on('upgrade', (asked, socket: Socket, head: Buffer) => {
        if (asked.url === '/no') return void socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
        seen.push(asked.rawHeaders.join('|'));
        const key = asked.headers['sec-websocket-key'] ?? '';
        const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
            `Sec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: chat\r\n\r\n`,
        );
        socket.unshift(head);
        socket.on('error', () => undefined);
        socket.on('data', (frame: Buffer) => {
          socket.write(unmasked(frame));
          if (frame[0] === 0x88) socket.end();
        });
        socket.on('end', () => socket.end());
      });
    },
  );
}

/** One masked frame of at most 125 bytes as the server sends it. */
function unmasked(frame: Buffer): Buffer {
  const size = (frame[1] ?? 0) & 127;
  const mask = frame.subarray(2, 6);
  const payload = Buffer.from(frame.subarray(6, 6 + size).map((byte, at) => byte ^ (mask[at % 4] ?? 0)));
  return Buffer.concat([Buffer.from([frame[0] ?? 0, size]), payload]);
}

const ASK =
  'GET /chat?x HTTP/1.1\r\nHost: a.test\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

function visit(): Socket {
  const socket = connect({ port: rig.http, host: '127.0.0.1', allowHalfOpen: true });
  cleanups.push(() => socket.destroy());
  return socket;
}

describe('a WebSocket', () => {
  it('from Node is carried in both directions and counted', async () => {
    rig = await HostRig.start();
    await rig.serve(rig.hostConfig([await echo()], { host: '127.0.0.1' }));
    const socket = new WebSocket(`ws://127.0.0.1:${rig.http}/chat`, 'chat');
    await once(socket, 'open');
    socket.send('hello');
    const [{ data }] = (await once(socket, 'message')) as [MessageEvent];
    expect(data).toBe('hello');
    expect(rig.server.flows).toBe(1);
    socket.close();
    await once(socket, 'close');
    await waitFor(() => rig.server.flows === 0);
    expect(rig.records[0]?.upload).toBeGreaterThan(100);
  });

  it('is one end-to-end connection, including the first bytes', async () => {
    rig = await HostRig.start();
    const seen: string[] = [];
    await rig.serve(rig.hostConfig([await echo(seen)]));
    const socket = visit();
    const frame = Buffer.from([0x81, 0x82, 1, 2, 3, 4, 0x69, 0x6b]);
    socket.write(Buffer.concat([Buffer.from(ASK), frame]));
    let read = '';
    socket.on('data', (part: Buffer) => (read += part.toString('latin1')));
    await waitFor(() => read.endsWith('hi'));
    expect(read).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
    expect(read).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    expect(seen[0]).toMatch(/^host\|a\.test\|connection\|upgrade\|upgrade\|websocket\|/);
    expect(seen[0]).toContain('X-Forwarded-For|127.0.0.1');
    socket.end();
    await once(socket, 'end');
    await waitFor(() => rig.server.flows === 0);
  });

  it('that another process accepted also ends one direction at a time', async () => {
    rig = await HostRig.start();
    const port = await rig.origin(
      () => undefined,
      (server) => {
        server.on('upgrade', (_, socket: Socket) => {
          socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: tcp\r\nConnection: Upgrade\r\n\r\n');
          socket.on('error', () => undefined).resume();
          socket.on('end', () => setTimeout(() => socket.end('last words'), 50));
        });
      },
    );
    await rig.serve(rig.hostConfig([port]));
    // As a socket is that came over a channel of Node.
    const door = createServer((socket) => rig.server.take('http', socket));
    cleanups.push(() => door.close());
    await once(door.listen(0, '127.0.0.1'), 'listening');
    const socket = connect({ port: (door.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
    cleanups.push(() => socket.destroy());
    let read = '';
    socket.on('data', (part: Buffer) => (read += part.toString('latin1')));
    socket.write('GET / HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
    await waitFor(() => read.includes('101'));
    socket.end();
    await once(socket, 'end');
    expect(read).toMatch(/last words$/);
  });

  it('that the target refuses gets the target’s answer', async () => {
    rig = await HostRig.start();
    await rig.serve(rig.hostConfig([await echo()]));
    const answer = await rig.raw(ASK.replace('/chat?x', '/no'));
    expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
    expect(answer).toMatch(/no$/);
  });

  it('uses a connection of the client until it is closed, and ends when it is no longer allowed', async () => {
    rig = await HostRig.start();
    const hosts = [rig.hostConfig([await echo()])];
    const config = rig.config({ hosts });
    for (const client of config.clients) client.maxConnections = 1;
    await rig.server.apply(config);
    const socket = visit();
    socket.on('error', () => undefined);
    socket.write(ASK);
    await once(socket, 'data');
    expect((await rig.ask()).status).toBe(429);
    const closed = new Promise((resolve) => socket.on('close', resolve));
    await rig.server.apply(rig.config({ hosts: [] }));
    await closed;
    expect(rig.server.flows).toBe(0);
  });

  it('stays open while the server drains', async () => {
    rig = await HostRig.start();
    await rig.serve(rig.hostConfig([await echo()]));
    const socket = visit();
    socket.write(ASK);
    await once(socket, 'data');
    const drained = rig.server.drain({ spreadMs: 60_000, deadlineMs: 10_000 });
    socket.write(Buffer.from([0x81, 0x82, 1, 2, 3, 4, 0x69, 0x6b]));
    const [frame] = (await once(socket, 'data')) as [Buffer];
    expect(frame.toString('latin1')).toBe('\u0081\u0002hi');
    socket.end();
    await drained;
    expect(rig.server.flows).toBe(0);
  });

  it('cannot be requested with plain-text HTTP/2 or a request with a body', async () => {
    rig = await HostRig.start();
    const seen: string[] = [];
    await rig.serve(rig.hostConfig([await echo(seen)]));
    for (const text of [
      ASK.replace('websocket', 'h2c'),
      ASK.replace('websocket', 'TLS/1.3'),
      ASK.replace('websocket', 'websocket, h2c'),
      ASK.replace('GET', 'POST').replace('\r\n\r\n', '\r\nContent-Length: 0\r\n\r\n'),
    ]) {
      expect(await rig.raw(text.replace('keep-alive', 'close'))).toMatch(/^HTTP\/1\.1 426 /);
    }
    expect(seen).toEqual([]);
  });

  it('also works over HTTP/2', async () => {
    rig = await HostRig.start();
    const { certificate, key } = createServerIdentity('a.test');
    await rig.serve(rig.hostConfig([await echo()], { certificate: { chain: certificate, key } }));
    const session = connectHttp2(`https://127.0.0.1:${rig.https}`, { servername: 'a.test', rejectUnauthorized: false });
    cleanups.push(() => session.destroy());
    await once(session, 'remoteSettings');
    const stream = session.request({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':authority': 'a.test',
      ':scheme': 'https',
      ':path': '/chat',
      'sec-websocket-version': '13',
      'sec-websocket-protocol': 'chat',
    });
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(head).toMatchObject({ ':status': 200, 'sec-websocket-protocol': 'chat' });
    expect(head).not.toHaveProperty('sec-websocket-accept');
    const mask = randomBytes(4);
    const masked = Buffer.from('hi').map((byte, at) => byte ^ (mask[at] ?? 0));
    stream.write(Buffer.concat([Buffer.from([0x81, 0x82]), mask, masked]));
    const [frame] = (await once(stream, 'data')) as [Buffer];
    expect(frame.toString('latin1')).toBe('\u0081\u0002hi');
    stream.end();
    await once(stream, 'close');
    await waitFor(() => rig.server.flows === 0);
  });
});

describe('a target that uses HTTP/2 in plain text', () => {
  it('gets many requests over one connection, with trailers', async () => {
    rig = await HostRig.start();
    const server = createHttp2Server();
    let connections = 0;
    server.on('session', () => (connections += 1));
    server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      let size = 0;
      stream.on('data', (part: Buffer) => (size += part.length));
      stream.on('end', () => {
        stream.respond(
          { ':status': 200, 'x-host': String(headers[':authority'] ?? headers.host) },
          { waitForTrailers: true },
        );
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(`${headers[':method']} ${headers[':path']} ${size}`);
      });
      stream.on('error', () => undefined);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const { certificate, key } = createServerIdentity('a.test');
    await rig.serve(
      rig.hostConfig([{ host: '127.0.0.1', port, weight: 1, scheme: 'h2c', insecure: false }], {
        certificate: { chain: certificate, key },
      }),
    );
    const first = await rig.ask({ method: 'POST', path: '/x', body: 'hello' });
    expect([first.status, first.body, first.headers['x-host']]).toEqual([200, 'POST /x 5', 'a.test']);
    const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => rig.ask({ path: `/${at}` })));
    expect(answers.map(({ body }) => body)).toEqual(Array.from({ length: 30 }, (_, at) => `GET /${at} 0`));
    expect(connections).toBe(1);

    const session = connectHttp2(`https://127.0.0.1:${rig.https}`, { servername: 'a.test', rejectUnauthorized: false });
    cleanups.push(() => session.destroy());
    const stream = session.request({ ':authority': 'a.test', ':path': '/grpc' });
    stream.resume();
    const [trailers] = (await once(stream, 'trailers')) as [Record<string, unknown>];
    expect(trailers['grpc-status']).toBe('0');
  });
});
