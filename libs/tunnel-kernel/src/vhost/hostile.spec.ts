import { once } from 'node:events';
import { connect as connectHttp2, createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { createServer, connect, type AddressInfo } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { HostRig } from '../../test/host-rig.js';
import { createServerIdentity } from '../wire/server-identity.js';

// What is raised outside of a request's own code would end the process; here it fails the run.
let rig: HostRig;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  await rig.close();
});

const UPGRADE =
  'GET /ws HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

/** A target that speaks HTTP/2 without TLS. */
async function h2cOrigin(serve: (stream: ServerHttp2Stream) => void): Promise<number> {
  const server = createHttp2Server({ strictSingleValueFields: false });
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => undefined);
    serve(stream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function serveH2c(port: number, more: Parameters<HostRig['hostConfig']>[1] = {}): Promise<void> {
  await rig.serve(rig.hostConfig([{ host: '127.0.0.1', port, weight: 1, scheme: 'h2c', insecure: false }], more));
}

/** What a target says that is no HTTP library. */
async function rawOrigin(answer: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(answer, 'latin1'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** One request of HTTP/2 and how it ended. */
async function askHttp2(): Promise<{ status: number | null; code: number }> {
  const session = connectHttp2(`https://127.0.0.1:${rig.https}`, { rejectUnauthorized: false, servername: 'a.test' });
  session.on('error', () => undefined);
  cleanups.push(() => session.destroy());
  const stream = session.request({ ':path': '/', ':authority': 'a.test' });
  let status: number | null = null;
  stream.on('response', (headers) => (status = Number(headers[':status'])));
  stream.on('error', () => undefined);
  stream.resume();
  await once(stream, 'close');
  return { status, code: stream.rstCode ?? 0 };
}

describe('a connection', () => {
  for (const [what, next] of [
    ['an upgrade', UPGRADE],
    ['a CONNECT', 'CONNECT a.test:80 HTTP/1.1\r\nHost: a.test\r\n\r\n'],
    ['an upgrade of an agent', UPGRADE.replace('/ws', '/__gw/agent')],
  ] as const) {
    it(`ends with ${what} that comes before a request has been answered`, async () => {
      rig = await HostRig.start();
      await rig.serve(rig.hostConfig([await rig.origin(() => undefined)]));
      const answer = await rig.raw(`GET / HTTP/1.1\r\nHost: a.test\r\n\r\n${next}`);
      expect(answer).toBe('');
      await waitFor(() => rig.server.flows === 0);
      expect((await rig.raw('GET / HTTP/1.1\r\n\r\n')).slice(0, 12)).toBe('HTTP/1.1 400');
    });
  }
});

describe('a target that speaks HTTP/2', () => {
  it('gets the request of a visitor who repeats a field', async () => {
    rig = await HostRig.start();
    await serveH2c(await h2cOrigin((stream) => stream.respond({ ':status': 200 }, { endStream: true })));
    for (let count = 0; count < 3; count += 1) {
      const answer = await rig.raw(
        'GET / HTTP/1.1\r\nHost: a.test\r\nUser-Agent: a\r\nUser-Agent: b\r\nReferer: c\r\nReferer: d\r\nConnection: close\r\n\r\n',
      );
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    }
    expect((await rig.ask()).status).toBe(200);
  });

  it('gets no field that HTTP/2 does not allow', async () => {
    rig = await HostRig.start();
    const port = await h2cOrigin((stream) => stream.respond({ ':status': 200 }, { endStream: true }));
    await serveH2c(port);
    expect((await rig.ask()).status).toBe(200);
    await serveH2c(port, { requestHeaders: { 'proxy-connection': 'x' } });
    for (let count = 0; count < 3; count += 1) expect((await rig.ask()).status).toBe(502);
    await serveH2c(port);
    expect((await rig.ask()).status).toBe(200);
  });

  it('cannot end the process with a response that is not valid in HTTP/2', async () => {
    const { certificate, key } = createServerIdentity('a.test');
    rig = await HostRig.start({ defaultCertificate: { chain: certificate, key } });
    const port = await rawH2cOrigin(799);
    await serveH2c(port);
    expect(await askHttp2()).toEqual({ status: 502, code: 0 });
    await waitFor(() => rig.server.flows === 0);
  });
});

describe('a target that speaks HTTP/1', () => {
  it.each([
    ['未找到', 'Not Found'],
    ['Не найдено', 'Not Found'],
    ['P\xe1gina', 'Not Found'],
    ['a\x01b', 'Not Found'],
    ['a\x7fb', 'Not Found'],
    ['Not Here', 'Not Here'],
  ])('can use %j as its reason phrase', async (reason, written) => {
    rig = await HostRig.start();
    const bytes = Buffer.from(
      `HTTP/1.1 404 ${reason}\r\nContent-Length: 2\r\n\r\nok`,
      reason.startsWith('P') ? 'latin1' : 'utf8',
    );
    await rig.serve(rig.hostConfig([await rawOrigin(bytes.toString('latin1'))]));
    const answer = await rig.raw('GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n');
    // A control byte is refused by the parser of some versions already.
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 (404 ${written}|502 Bad Gateway)\r\n`));
    await waitFor(() => rig.server.flows === 0);
  });

  it.each([
    '000 Odd',
    '099 Odd',
    '101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: odd',
    '101 Switching Protocols',
  ])('that answers %s causes a 502', async (status) => {
    rig = await HostRig.start();
    await rig.serve(rig.hostConfig([await rawOrigin(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`)]));
    expect((await rig.ask()).status).toBe(502);
    await waitFor(() => rig.server.flows === 0);
  });

  it('can give a length in a response without a body', async () => {
    const { certificate, key } = createServerIdentity('a.test');
    rig = await HostRig.start({ defaultCertificate: { chain: certificate, key } });
    const early = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 5\r\n\r\n';
    const port = await rawOrigin(`${early}HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n`);
    await rig.serve(rig.hostConfig([port]));
    expect(await askHttp2()).toEqual({ status: 204, code: 0 });
    const answer = await rig.raw('GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 103 Early Hints[^]*HTTP\/1\.1 204 No Content/);
    expect(answer.toLowerCase()).not.toContain('content-length');
  });

  it.each(['SSH-2.0-odd\r\n', '220 mail.test\r\n'])('that sends %j first is not asked repeatedly', async (banner) => {
    rig = await HostRig.start();
    let connections = 0;
    const port = await rig.target((socket) => {
      connections += 1;
      socket.on('data', () => undefined);
      socket.write(banner);
    });
    await rig.serve(rig.hostConfig([port]));
    expect((await rig.ask()).status).toBe(502);
    expect(connections).toBeLessThanOrEqual(4);
    const leaving = await rig.visit(rig.http);
    leaving.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n');
    leaving.resetAndDestroy();
    await waitFor(() => rig.server.flows === 0);
    expect((await rig.ask()).status).toBe(502);
    expect(connections).toBeLessThanOrEqual(12);
  });
});

describe('trailers of a target', () => {
  it('that HTTP/2 does not allow do not end the process', async () => {
    const { certificate, key } = createServerIdentity('a.test');
    rig = await HostRig.start({ defaultCertificate: { chain: certificate, key } });
    const port = await rawOrigin(
      'HTTP/1.1 200 OK\r\nTrailer: http2-settings\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nHTTP2-Settings: x\r\n\r\n',
    );
    await rig.serve(rig.hostConfig([port]));
    expect(await askHttp2()).toEqual({ status: 200, code: 0 });
  });
});

/** Answers every request with a status that `node:http2` does not let a server say. */
async function rawH2cOrigin(status: number): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    let greeted = false;
    socket.on('data', () => {
      if (!greeted) socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
      greeted = true;
    });
    // HEADERS of stream 1, END_STREAM and END_HEADERS: `:status` as a literal without indexing.
    const block = Buffer.concat([Buffer.from([0x08, 3]), Buffer.from(String(status))]);
    const head = Buffer.from([0, 0, block.length, 1, 5, 0, 0, 0, 1]);
    setTimeout(() => socket.write(Buffer.concat([head, block])), 150).unref();
  }).listen(0, '127.0.0.1');
  const sockets = new Set<ReturnType<typeof connect>>();
  server.on('connection', (socket) => sockets.add(socket));
  await once(server, 'listening');
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
