import { createServer as createHttpServer } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  cleanUp,
  client,
  exchange,
  portOf,
  readAll,
  startKernel,
  startOrigin,
  until,
} from '../../../test/kernel-rig.js';

afterEach(cleanUp);

/** An origin whose answer to each piece of text the test decides. */
function startRaw(answer: (socket: Socket, text: string) => void): Promise<number> {
  return portOf(
    createServer({ allowHalfOpen: true }, (socket) => socket.on('data', (chunk) => answer(socket, String(chunk)))),
  );
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const request = (port: number, path = '/', method = 'GET', fields = ''): string =>
  `${method} http://a.test:${port}${path} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`;

describe('an origin with an answer that must not be passed on', () => {
  it.each([
    ['status 000', 'HTTP/1.1 000 x\r\nContent-Length: 2\r\n\r\nok', 502],
    ['status 099', 'HTTP/1.1 099 x\r\nContent-Length: 2\r\n\r\nok', 502],
    ['a control byte in its reason', 'HTTP/1.1 200 O\u0001K\r\nContent-Length: 2\r\n\r\nok', 200],
    ['a NUL in its reason', 'HTTP/1.1 404 no\u0000ne\r\nContent-Length: 2\r\n\r\nok', 404],
    ['DEL in its reason', 'HTTP/1.1 200 \u007f\r\nContent-Length: 2\r\n\r\nok', 200],
    [
      'a switch of protocols that was not asked for',
      'HTTP/1.1 101 x\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n',
      502,
    ],
    ['no HTTP at all', '220 mail.test ESMTP\r\n', 502],
  ])('with %s gets its client an answer', async (_name, answer, status) => {
    const origin = await startRaw((socket) => void socket.write(answer));
    const { port, records } = await startKernel();
    expect((await exchange(client(port), request(origin))).status).toBe(status);
    await until(() => records.length === 1);
  });

  it('loses no bytes from before that', async () => {
    const rest: Record<string, string> = {
      '/chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n',
      '/nothing': 'HTTP/1.1 204 No Content\r\n\r\na body that may not be',
    };
    const origin = await startRaw((socket, text) => void socket.write(rest[text.split(' ')[1] ?? ''] ?? ''));
    const { port } = await startKernel();
    const [chunk, nothing] = [client(port), client(port)];
    chunk.write(request(origin, '/chunk'));
    expect(await readAll(chunk)).toMatch(/^HTTP\/1\.1 200 [^]*half\r\n$/);
    expect((await exchange(nothing, request(origin, '/nothing'))).status).toBe(204);
  });
});

describe('a connection to an origin that is kept', () => {
  it.each(['GET', 'POST'])('is not used for %s after the origin has ended it', async (method) => {
    const ended = Promise.withResolvers<void>();
    const seen: string[] = [];
    const origin = await startRaw((socket, text) => {
      seen.push(text.slice(0, text.indexOf(' ')));
      socket.write(OK);
      // Like a server that closes idle connections.
      if (seen.length === 1) setImmediate(() => socket.end(() => ended.resolve()));
    });
    const { port } = await startKernel();
    const socket = client(port);
    expect((await exchange(socket, request(origin, '/', method))).body).toBe('ok');
    await ended.promise;
    expect((await exchange(socket, request(origin, '/', method))).body).toBe('ok');
    expect(seen).toEqual([method, method]);
  });

  it('is closed when it sends data, and when sixteen others have been used since', async () => {
    const open = new Map<string, Socket>();
    const origin = await startRaw((socket, text) => {
      const path = text.split(' ')[1] ?? '';
      open.set(path, socket);
      socket.on('close', () => open.delete(path)).on('end', () => socket.end());
      socket.write(OK);
      if (path === '/talker') setImmediate(() => socket.write('and more'));
    });
    const { port } = await startKernel();
    const socket = client(port);
    const from = (name: string): string => request(origin, `/${name}`).replace('a.test', `${name}.test`);
    for (let host = 1; host <= 20; host += 1) await exchange(socket, from(`h${host}`));
    await until(() => open.size === 16);
    expect(open.has('/h20') && !open.has('/h4')).toBe(true);
    await exchange(socket, from('talker'));
    await until(() => !open.has('/talker'));
  });
});

describe('the requests of one client connection', () => {
  it('go to origins one at a time, in their order, CONNECT among them', async () => {
    const waiting: (() => void)[] = [];
    const seen: string[] = [];
    const server = createHttpServer((incoming, response) => {
      seen.push(`${incoming.method} ${incoming.url}`);
      waiting.push(() => response.end('fine'));
    });
    const origin = await portOf(server);
    const echo = await portOf(createServer((socket) => socket.pipe(socket)));
    const { port, kernel } = await startKernel();
    const socket = client(port);
    let all = '';
    socket.on('data', (bytes) => (all += String(bytes)));
    socket.write(
      `${request(origin, '/1', 'POST', 'Content-Length: 0\r\n')}${request(origin, '/2', 'DELETE')}` +
        `CONNECT a.test:${echo} HTTP/1.1\r\nHost: a\r\n\r\nhello`,
    );
    for (const expected of ['POST /1', 'DELETE /2']) {
      await until(() => seen.at(-1) === expected);
      expect([waiting.length, kernel.connections().length]).toEqual([1, 1]);
      waiting.shift()?.();
    }
    await until(() => all.endsWith('hello'));
    expect(all.match(/fine|Connection established|hello/g)).toEqual([
      'fine',
      'fine',
      'Connection established',
      'hello',
    ]);
    expect(seen).toEqual(['POST /1', 'DELETE /2']);
  });

  it('open one connection only, however many come at once', async () => {
    let connections = 0;
    const origin = await portOf(createServer(() => (connections += 1)));
    const { port, kernel } = await startKernel();
    const socket = client(port);
    socket.write(request(origin).repeat(3000));
    await until(() => socket.destroyed && kernel.connections().length === 0);
    expect(connections).toBeLessThanOrEqual(1);
  });
});

describe('a request', () => {
  it('that asks for an upgrade and has a body is forwarded unchanged', async () => {
    const origin = await startOrigin('a');
    const { port } = await startKernel();
    const upgrade = request(
      origin.port,
      '/',
      'POST',
      'Connection: Upgrade\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked\r\n',
    );
    expect((await exchange(client(port), `${upgrade}4\r\nbody\r\n0\r\n\r\n`)).status).toBe(200);
    expect(origin.seen).toMatchObject([{ method: 'POST', body: 'body' }]);
    expect(origin.seen[0]?.headers.join(' ').toLowerCase()).not.toContain('upgrade');
  });

  it('of a client that has ended its side is answered', async () => {
    const origin = await startOrigin('a');
    const { port, records } = await startKernel();
    const socket = client(port);
    socket.end(request(origin.port));
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 200 /);
    await until(() => records.length === 1);
    expect(records[0]).toMatchObject({ status: 'ok' });
  });

  it('of a client that has left ends if its origin stays silent', async () => {
    const origin = await startRaw(() => undefined);
    const { port, records } = await startKernel({ timeouts: { halfClosed: 30 } });
    client(port).end(request(origin));
    await until(() => records.length === 1);
    expect(records[0]).toMatchObject({ closeReason: 'client_closed' });
  });

  it('gets early hints before the answer', async () => {
    const origin = await startRaw(
      (socket) => void socket.write(`HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n${OK}`),
    );
    const { port } = await startKernel();
    const socket = client(port);
    const hint = await exchange(socket, request(origin));
    expect([hint.status, hint.head]).toEqual([103, expect.stringContaining('</a.css>; rel=preload')]);
    const old = client(port);
    old.write(request(origin).replace('HTTP/1.1', 'HTTP/1.0'));
    expect(await readAll(old)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

it('a tunnel whose client has left ends if its peer stays silent', async () => {
  const silent = await portOf(createServer({ allowHalfOpen: true }));
  const { port, records } = await startKernel({ timeouts: { halfClosed: 30 } });
  const socket = client(port);
  expect((await exchange(socket, `CONNECT a.test:${silent} HTTP/1.1\r\nHost: a\r\n\r\n`)).status).toBe(200);
  socket.end();
  await until(() => records.length === 1);
  expect(records[0]).toMatchObject({ closeReason: 'client_closed', status: 'ok' });
});
