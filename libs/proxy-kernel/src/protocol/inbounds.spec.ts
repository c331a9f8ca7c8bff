import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  ByteReader,
  encodeSocksAddress,
  encodeSocksDatagram,
  encodeSocksReply,
  type SocksAddress,
} from '@gatehouse/net';
import {
  cleanUp,
  cleanups,
  client,
  closedPort,
  exchange,
  portOf,
  readAll,
  startKernel as start,
  startOrigin,
  until,
} from '../../test/kernel-rig.js';
import { aeadMethod, masterKey } from './shadowsocks/cipher.js';
import { openDatagram, sealDatagram } from './shadowsocks/codec.js';
import { decodeAddress, decodeDatagram } from './socks/codec.js';

afterEach(cleanUp);

const basic = (credentials: string): string => `Proxy-Authorization: Basic ${btoa(credentials)}\r\n`;

describe('plain HTTP requests', () => {
  it('go to different origins on one client connection, each a flow of its own', async () => {
    const [a, b] = [await startOrigin('a'), await startOrigin('b')];
    const { records, port } = await start();
    const socket = client(port);
    const get = (host: string, path: string): string =>
      `GET http://${host}${path} HTTP/1.1\r\nHost: other.test\r\n\r\n`;
    expect((await exchange(socket, get(`a.test:${a.port}`, '/one?q=secret'))).body).toContain('a');
    expect((await exchange(socket, get(`b.test:${b.port}`, '/two'))).body).toContain('b');
    expect((await exchange(socket, get(`a.test:${a.port}`, ''))).body).toContain('a');
    expect(a.seen.map(({ url }) => url)).toEqual(['/one?q=secret', '/']);
    // The target decides, not the Host field next to it (RFC 9112 3.2.2).
    expect(a.seen[0]?.headers).toEqual(['Host', `a.test:${a.port}`, 'Connection', 'keep-alive']);
    // The second request to an origin reused the connection of the first.
    expect(a.seen[1]?.peer).toBe(a.seen[0]?.peer);
    await until(() => records.length === 3);
    expect(records).toMatchObject([
      {
        type: 'HTTP',
        host: 'a.test',
        httpMethod: 'GET',
        httpUrl: `http://a.test:${a.port}/one`,
        httpStatus: 200,
        status: 'ok',
      },
      { host: 'b.test', destinationPort: b.port, remoteDestination: '127.0.0.1' },
      { host: 'a.test', httpUrl: `http://a.test:${a.port}/` },
    ]);
    for (const { upload, download } of records) expect(Math.min(upload, download)).toBeGreaterThan(40);
  });

  it('do not pass on fields for one connection, in either direction', async () => {
    const origin = await startOrigin('a', () => [
      'Connection',
      'X-Hop',
      'X-Hop',
      '1',
      'Keep-Alive',
      'timeout=9',
      'Proxy-Authenticate',
      'x',
      'X-End',
      '2',
    ]);
    const { port } = await start();
    const headers =
      'Connection: close, X-Mine, Content-Length\r\nX-Mine: 1\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic eA==\r\nTE: trailers\r\nX-End: 3\r\n';
    const request = `POST http://a.test:${origin.port}/ HTTP/1.1\r\nHost: a\r\n${headers}Content-Length: 4\r\n\r\nbody`;
    const { head } = await exchange(client(port), request);
    const names = origin.seen[0]?.headers.filter((_value, index) => index % 2 === 0).map((name) => name.toLowerCase());
    expect(names).toEqual(['host', 'x-end', 'content-length', 'connection']);
    expect(origin.seen[0]?.body).toBe('body');
    expect(head).toMatch(/X-End: 2/);
    expect(head).not.toMatch(/X-Hop|timeout=9|Proxy-Authenticate/);
  });

  it('carry bodies in chunks and answers of any length', async () => {
    const origin = await startOrigin('a');
    const { port } = await start();
    const { status } = await exchange(
      client(port),
      `PUT http://a.test:${origin.port}/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n`,
    );
    expect([status, origin.seen[0]?.body]).toEqual([200, 'hello world']);
  });

  it.each([
    ['a length beside chunks', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', 400],
    ['two lengths', 'Content-Length: 4\r\nContent-Length: 5\r\n', 400],
    ['another transfer coding', 'Transfer-Encoding: gzip, chunked\r\n', 501],
    ['a coding that only looks like chunks', 'Transfer-Encoding: xchunked\r\n', 501],
    ['a coding hidden by a space', 'Transfer-Encoding : chunked\r\n', 400],
    ['two hosts', 'Host: b\r\n', 400],
    ['a folded header', 'X: a\r\n b\r\n', 400],
    ['a bare line feed', 'X: a\nTransfer-Encoding: chunked\r\n', 400],
  ])('with %s are refused and never reach the origin', async (_name, header, status) => {
    const origin = await startOrigin('a');
    const { port } = await start();
    const socket = client(port);
    socket.write(
      `POST http://a.test:${origin.port}/ HTTP/1.1\r\nHost: a\r\n${header}\r\n0\r\n\r\nGET http://a.test:${origin.port}/smuggled HTTP/1.1\r\nHost: a\r\n\r\n`,
    );
    expect(Number((await readAll(socket)).slice(9, 12))).toBe(status);
    expect(origin.seen).toEqual([]);
  });

  it.each<[string, number]>([
    ['GET / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['GET https://a.test/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['GET http://a.test:99999/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['CONNECT a.test HTTP/1.1\r\n\r\n', 400],
    ['CONNECT a.test:0 HTTP/1.1\r\n\r\n', 400],
    ['CONNECT a.test:1 HTTP/2.0\r\n\r\n', 400],
    ['NONSENSE\r\n\r\n', 400],
    [`GET http://a.test/ HTTP/1.1\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    [`CONNECT a.test:1 HTTP/1.1\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
  ])('%j is answered %i', async (request, status) => {
    const { port } = await start();
    const socket = client(port);
    socket.write(request);
    expect(Number((await readAll(socket)).slice(9, 12))).toBe(status);
  });

  it('answer failures with 502, 504 or 403, and nothing to a dropped client', async () => {
    const closed = await closedPort();
    const silent = await portOf(createServer());
    const rules = ['REJECT', 'REJECT-DROP', 'n1'].map((target, index) => ({
      id: index,
      source: 'manual' as const,
      type: 'DOMAIN' as const,
      payload: `${target.toLowerCase()}.test`,
      target,
    }));
    const node = { type: 'socks5', name: 'x', server: '127.0.0.1', port: silent } as const;
    const { port, records } = await start({
      timeouts: { dial: 100, drop: 30 },
      config: { rules, outbounds: [{ tag: 'n1', node }] },
    });
    const statusOf = async (request: string): Promise<number> => {
      const socket = client(port);
      socket.write(request);
      return Number((await readAll(socket)).slice(9, 12));
    };
    const both = async (host: string): Promise<number[]> => [
      await statusOf(`GET http://${host}/ HTTP/1.1\r\nHost: a\r\n\r\n`),
      await statusOf(`CONNECT ${host} HTTP/1.1\r\n\r\n`),
    ];
    expect(await both(`a.test:${closed}`)).toEqual([502, 502]);
    expect(await both('none.test:80')).toEqual([502, 502]);
    expect(await both('n1.test:80')).toEqual([504, 504]);
    expect(await both('reject.test:80')).toEqual([403, 403]);
    expect(await both('reject-drop.test:80')).toEqual([0, 0]);
    expect(records.map(({ status }) => status).slice(-4)).toEqual(['rejected', 'rejected', 'rejected', 'rejected']);
    expect(records.slice(0, 6).every(({ status, httpStatus }) => status === 'failed' && (httpStatus ?? 0) >= 502)).toBe(
      true,
    );
  });

  it('break when their origin does, without being completed', async () => {
    const origin = await portOf(
      createServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
          setImmediate(() => socket.destroy());
        });
      }),
    );
    const { port, records } = await start();
    const socket = client(port);
    socket.write(`GET http://a.test:${origin}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(await readAll(socket)).toMatch(/half$/);
    await until(() => records.length === 1);
    expect(records[0]).toMatchObject({ status: 'failed', errorStage: 'relay', httpStatus: 200 });
  });

  it('are repeated when a kept connection was closed meanwhile', async () => {
    let served = 0;
    const origin = await portOf(
      createServer((socket) => {
        let requests = 0;
        socket.on('error', () => undefined);
        socket.on('data', () => {
          requests += 1;
          // The second request on a connection breaks it.
          if (requests === 2) return socket.resetAndDestroy();
          served += 1;
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        });
      }),
    );
    const { port } = await start();
    const socket = client(port);
    const request = `GET http://a.test:${origin}/ HTTP/1.1\r\nHost: a\r\n\r\n`;
    expect((await exchange(socket, request)).body).toBe('ok');
    expect((await exchange(socket, request)).body).toBe('ok');
    expect(served).toBe(2);
  });

  it('may become another protocol', async () => {
    const origin = createHttpServer();
    origin.on('upgrade', (request, socket) => {
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: ${request.headers.upgrade}\r\nConnection: Upgrade\r\n\r\n`,
      );
      socket.pipe(socket);
    });
    const { port } = await start();
    const socket = client(port);
    const upgrade = `GET http://a.test:${await portOf(origin)}/ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
    expect((await exchange(socket, upgrade)).status).toBe(101);
    socket.end('frames');
    expect(await readAll(socket)).toBe('frames');
  });

  it('may be followed by CONNECT on the same connection', async () => {
    const origin = await startOrigin('a');
    const echo = await portOf(createServer((socket) => socket.pipe(socket)));
    const { port } = await start();
    const socket = client(port);
    await exchange(socket, `GET http://a.test:${origin.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect((await exchange(socket, `CONNECT a.test:${echo} HTTP/1.1\r\nHost: a\r\n\r\n`)).status).toBe(200);
    socket.end('tunnelled');
    expect(await readAll(socket)).toBe('tunnelled');
  });

  it.each(['GET http://a.test/ HTTP/1.1\r\nHost: ', 'CONNECT a.te', 'G', '\u0005'])(
    'that stop at %j lose their connection',
    async (text) => {
      const { port } = await start({ timeouts: { handshake: 60 } });
      const socket = client(port);
      socket.write(text);
      const answer = await readAll(socket);
      expect(answer === '' || answer.startsWith('HTTP/1.1 408')).toBe(true);
    },
  );
});

describe('users', () => {
  const users = [
    { username: 'ann', password: 'p:w' },
    { username: 'bob', password: 'x' },
  ];

  it('are required over HTTP, and named in the record', async () => {
    const origin = await startOrigin('a');
    const { port, records } = await start({ users });
    const get = (headers: string): string => `GET http://a.test:${origin.port}/ HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;
    for (const headers of [
      '',
      basic('ann:wrong'),
      basic('carl:x'),
      basic('bob:p:w'),
      'Proxy-Authorization: Bearer x\r\n',
    ]) {
      const refused = await exchange(client(port), get(headers));
      expect(refused.status).toBe(407);
      expect(refused.head).toMatch(/Proxy-Authenticate: Basic/i);
      const tunnel = await exchange(client(port), `CONNECT a.test:${origin.port} HTTP/1.1\r\n${headers}\r\n`);
      expect(tunnel.status).toBe(407);
    }
    expect(records).toEqual([]);
    expect((await exchange(client(port), get(basic('ann:p:w')))).status).toBe(200);
    expect(
      (await exchange(client(port), `CONNECT a.test:${origin.port} HTTP/1.1\r\n${basic('bob:x')}\r\n`)).status,
    ).toBe(200);
    await until(() => records.length === 1);
    expect(records[0]?.inboundUser).toBe('ann');
    expect(origin.seen[0]?.headers.join()).not.toMatch(/authorization/i);
  });

  it('are required over SOCKS', async () => {
    const echo = await portOf(createServer((socket) => socket.pipe(socket)));
    const { port, kernel } = await start({ users });
    const signIn = (user: string, password: string): Buffer =>
      Buffer.concat([
        Buffer.from([5, 1, 2, 1, user.length]),
        Buffer.from(user),
        Buffer.from([password.length]),
        Buffer.from(password),
      ]);
    const bare = client(port);
    bare.write(Buffer.from([5, 1, 0]));
    expect(await readAll(bare)).toBe('\u0005\ufffd');
    const wrong = client(port);
    wrong.write(signIn('ann', 'no'));
    expect(await readAll(wrong)).toBe('\u0005\u0002\u0001\u0001');
    const old = client(port);
    old.write(Buffer.from([4, 1, 0, 80, 127, 0, 0, 1, 0]));
    expect([...Buffer.from(await readAll(old))].slice(0, 2)).toEqual([0, 91]);
    const right = client(port);
    right.write(
      Buffer.concat([signIn('ann', 'p:w'), Buffer.from([5, 1, 0]), encodeSocksAddress({ host: 'a.test', port: echo })]),
    );
    const reader = new ByteReader(right);
    expect([...(await reader.read(14))].slice(0, 6)).toEqual([5, 2, 1, 0, 5, 0]);
    expect(kernel.connections()[0]).toMatchObject({ inboundUser: 'ann', inboundPort: port });
  });
});

describe('a host', () => {
  const rule = (payload: string, type: 'IP-CIDR' | 'DOMAIN-SUFFIX' | 'IN-USER' = 'IP-CIDR') => ({
    id: 1,
    source: 'manual' as const,
    type,
    payload,
    target: 'REJECT',
    noResolve: true,
  });

  it.each(['127.0.0.1.', '127.1', '2130706433', '0x7f.0.0.1', '0177.0.0.1', '0.0.0.0', '::ffff:127.0.0.1'])(
    'written as %s meets the rules of its address over every protocol',
    async (host) => {
      const { port, records, kernel } = await start({ config: { rules: [rule('127.0.0.0/8')] } });
      const authority = host.includes(':') ? `[${host}]` : host;
      const name = Buffer.from(host);
      const port9 = Buffer.from([0, 9]);
      const requests = [
        `CONNECT ${authority}:9 HTTP/1.1\r\n\r\n`,
        `GET http://${authority}:9/ HTTP/1.1\r\nHost: a\r\n\r\n`,
        Buffer.concat([Buffer.from([5, 1, 0, 5, 1, 0, 3, name.length]), name, port9]),
        Buffer.concat([Buffer.from([4, 1]), port9, Buffer.from([0, 0, 0, 1, 0]), name, Buffer.from([0])]),
      ];
      for (const [index, bytes] of requests.entries()) {
        client(port).write(bytes);
        await until(() => records.length === index + 1);
        expect(records[index]).toMatchObject({ status: 'rejected', destinationIp: '127.0.0.1', host: null });
      }
      const traced = await kernel.testRoute({ ...records[0]!, host, destinationIp: null });
      expect(traced.target).toBe('REJECT');
    },
  );

  it('in letters of its language matches the rules for its name', async () => {
    const { port, records } = await start({ config: { rules: [rule('bücher.test', 'DOMAIN-SUFFIX')] } });
    const name = Buffer.from('WWW.Bücher.test');
    client(port).write(Buffer.concat([Buffer.from([5, 1, 0, 5, 1, 0, 3, name.length]), name, Buffer.from([0, 9])]));
    await until(() => records.length === 1);
    expect(records[0]).toMatchObject({ status: 'rejected', host: 'www.xn--bcher-kva.test' });
  });

  it('of SOCKS4 has no user, whatever the client sends', async () => {
    const { port, records } = await start({ config: { rules: [rule('alice', 'IN-USER')] } });
    client(port).write(Buffer.concat([Buffer.from([4, 1, 0, 9, 127, 0, 0, 1]), Buffer.from('alice\0')]));
    await until(() => records.length === 1);
    expect(records[0]).toMatchObject({ inboundUser: null, status: 'failed' });
  });
});

describe('a listener of one protocol', () => {
  it.each([
    ['http', Buffer.from([5, 1, 0])],
    ['http', Buffer.from([4, 1, 0, 80, 127, 0, 0, 1, 0])],
    ['socks', Buffer.from('CONNECT a.test:1 HTTP/1.1\r\n\r\n')],
  ] as const)('%s takes no other', async (type, bytes) => {
    const { port } = await start({ type });
    const socket = client(port);
    socket.write(bytes);
    expect(await readAll(socket)).toBe('');
  });
});

describe('SOCKS', () => {
  it('serves versions 4 and 4a', async () => {
    const echo = await portOf(createServer((socket) => socket.pipe(socket)));
    const { port, kernel } = await start();
    const head = Buffer.from([4, 1, echo >> 8, echo & 255]);
    for (const rest of [
      Buffer.from('\u007f\u0000\u0000\u0001me\u0000', 'latin1'),
      Buffer.from('\u0000\u0000\u0000\u0001me\u0000a.test\u0000', 'latin1'),
    ]) {
      const socket = client(port);
      socket.write(Buffer.concat([head, rest]));
      const reader = new ByteReader(socket);
      expect([...(await reader.read(8))].slice(0, 2)).toEqual([0, 90]);
    }
    expect(kernel.connections().map(({ type, host }) => [type, host])).toEqual([
      ['Socks4', null],
      ['Socks4', 'a.test'],
    ]);
  });

  it.each([
    ['a command that does not exist', [5, 1, 0, 5, 9, 0, 1, 127, 0, 0, 1, 0, 80], 7],
    ['an address type that does not exist', [5, 1, 0, 5, 1, 0, 9, 127, 0, 0, 1, 0, 80], 8],
  ])('5 answers %s', async (_name, bytes, reply) => {
    const { port } = await start();
    const socket = client(port);
    socket.write(Buffer.from(bytes));
    expect(Buffer.from(await readAll(socket))[3]).toBe(reply);
  });
});

function datagramTo(target: SocksAddress, payload: Buffer): Buffer {
  return encodeSocksDatagram(target, payload) ?? Buffer.alloc(0);
}

describe('UDP through SOCKS5', () => {
  async function startUdpEcho(): Promise<number> {
    const echo = createSocket('udp4');
    echo.on('message', (bytes, { port, address }) =>
      echo.send(Buffer.concat([Buffer.from('re:'), bytes]), port, address),
    );
    echo.bind(0, '127.0.0.1');
    await once(echo, 'listening');
    cleanups.push(() => echo.close());
    return echo.address().port;
  }

  async function associate(port: number) {
    const control = client(port);
    control.write(Buffer.from([5, 1, 0, 5, 3, 0, 1, 0, 0, 0, 0, 0, 0]));
    const reader = new ByteReader(control);
    await reader.read(2);
    const reply = await reader.read(10);
    expect(reply[1]).toBe(0);
    const udp = createSocket('udp4');
    udp.bind(0, '127.0.0.1');
    await once(udp, 'listening');
    cleanups.push(() => udp.close());
    const relay = decodeAddress(reply, 3)?.target ?? { host: '', port: 0 };
    const ask = async (host: string, target: number, text: string): Promise<string> => {
      udp.send(datagramTo({ host, port: target }, Buffer.from(text)), relay.port, relay.host);
      const [bytes] = (await once(udp, 'message')) as [Buffer];
      return String(decodeDatagram(bytes)?.payload);
    };
    return { control, udp, relay, ask };
  }

  /** A Shadowsocks UDP server made of our own codec. */
  async function startShadowsocksUdp(cipher: string): Promise<number> {
    const method = aeadMethod(cipher);
    const master = masterKey('secret', method.keyLength);
    const server = createSocket('udp4');
    server.on('message', (bytes, source) => {
      const plain = openDatagram(method, master, bytes);
      const address = decodeAddress(plain);
      const out = createSocket('udp4');
      out.on('message', (payload, from) => {
        const answer = sealDatagram(method, master, Buffer.alloc(method.saltLength, 7), [
          encodeSocksAddress({ host: from.address, port: from.port }),
          payload,
        ]);
        server.send(answer, source.port, source.address);
        out.close();
      });
      out.send(plain.subarray(address?.end), address?.target.port ?? 0, '127.0.0.1');
    });
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(() => server.close());
    return server.address().port;
  }

  it('goes direct: one flow per target, all from one port', async () => {
    const [first, second] = [await startUdpEcho(), await startUdpEcho()];
    const { port, kernel, records } = await start();
    const { control, ask } = await associate(port);
    expect(await ask('127.0.0.1', first, 'one')).toBe('re:one');
    expect(await ask('name.test', second, 'four')).toBe('re:four');
    expect(await ask('127.0.0.1', first, 'again')).toBe('re:again');
    expect(kernel.connections()).toMatchObject([
      { network: 'udp', type: 'Socks5', destinationIp: '127.0.0.1', upload: 8, download: 14 },
      { network: 'udp', host: 'name.test', upload: 4, download: 7 },
    ]);
    control.end();
    await until(() => records.length === 2);
    expect(records.every(({ status, closeReason }) => status === 'ok' && closeReason === 'client_closed')).toBe(true);
  });

  it.each(['aes-128-gcm', 'chacha20-ietf-poly1305'])('goes through shadowsocks %s', async (cipher) => {
    const node = {
      type: 'ss',
      name: 'x',
      server: 'ss.test',
      port: await startShadowsocksUdp(cipher),
      cipher,
      password: 'secret',
    } as const;
    const { port, kernel } = await start({ config: { outbounds: [{ tag: 'n1', node }], defaultPolicy: 'n1' } });
    const { ask } = await associate(port);
    const echo = await startUdpEcho();
    expect(await ask('name.test', echo, 'query')).toBe('re:query');
    expect(await ask('name.test', echo, 'query2')).toBe('re:query2');
    expect(kernel.connections()).toMatchObject([{ nodeTag: 'n1', upload: 11, download: 17 }]);
  });

  it('goes through another SOCKS5 server', async () => {
    const inner = await start();
    const node = { type: 'socks5', name: 'x', server: '127.0.0.1', port: inner.port } as const;
    const outer = await start({ config: { outbounds: [{ tag: 'n1', node }], defaultPolicy: 'n1' } });
    const { ask, control } = await associate(outer.port);
    expect(await ask('name.test', await startUdpEcho(), 'query')).toBe('re:query');
    expect(inner.kernel.connections()).toMatchObject([{ network: 'udp', host: 'name.test' }]);
    control.destroy();
    await until(() => inner.records.length === 1 && outer.records.length === 1);
  });

  it('skips a target without UDP, and drops idle flows', async () => {
    const node = { type: 'http', name: 'x', server: '127.0.0.1', port: 1 } as const;
    const rules = [{ id: 1, source: 'manual' as const, type: 'DOMAIN' as const, payload: 'name.test', target: 'n1' }];
    const { port, records } = await start({
      // Longer than a busy machine takes for the answer.
      timeouts: { udpIdle: 1_000 },
      config: { outbounds: [{ tag: 'n1', node }], rules },
    });
    const { ask } = await associate(port);
    expect(await ask('name.test', await startUdpEcho(), 'x')).toBe('re:x');
    await until(() => records.length === 1);
    expect(records[0]).toMatchObject({ chain: ['DIRECT'], closeReason: 'idle', status: 'ok' });
  });

  it('accepts datagrams of its own client only, and no malformed ones', async () => {
    const echo = await startUdpEcho();
    const { port, kernel } = await start();
    const { ask, relay, udp } = await associate(port);
    udp.send(Buffer.from('nonsense'), relay.port, relay.host);
    expect(await ask('127.0.0.1', echo, 'mine')).toBe('re:mine');
    const stranger = createSocket('udp4');
    stranger.bind(0, '127.0.0.2');
    await once(stranger, 'listening');
    cleanups.push(() => stranger.close());
    let answered = false;
    stranger.on('message', () => (answered = true));
    stranger.send(datagramTo({ host: '127.0.0.1', port: echo }, Buffer.from('theirs')), relay.port, relay.host);
    expect(await ask('127.0.0.1', echo, 'mine')).toBe('re:mine');
    expect(kernel.connections()).toMatchObject([{ upload: 8 }]);
    expect(answered).toBe(false);
  });

  it('answers each port of its client, from the address that stands for the name', async () => {
    const echo = await startUdpEcho();
    const asked = ['one.test', 'two.test', 'three.test'];
    for (const node of [null, await startShadowsocksUdp('aes-128-gcm')]) {
      const outbound = {
        type: 'ss',
        name: 'x',
        server: '127.0.0.1',
        port: node ?? 1,
        cipher: 'aes-128-gcm',
        password: 'secret',
      } as const;
      const listen = { address: '127.0.0.1', port: 0 };
      const names = { nameservers: ['system'], fakeIp: { range: '198.18.0.0/16' }, listen };
      const way = { outbounds: [{ tag: 'n1', node: outbound }], defaultPolicy: node === null ? 'DIRECT' : 'n1' };
      const { port, kernel } = await start({ config: { dns: names, ...way } });
      const dns = kernel.status().listeners.find(({ name }) => name === 'dns')?.port ?? 0;
      const resolver = new Resolver();
      resolver.setServers([`127.0.0.1:${dns}`]);
      const standIns = await Promise.all(asked.map(async (name) => (await resolver.resolve4(name))[0] ?? ''));
      // Names of `hosts` have no such addresses; those assigned before stay.
      const hosts = Object.fromEntries(asked.map((name) => [name, ['127.0.0.1']]));
      const listeners = [{ name: 'in', type: 'mixed' as const, address: '127.0.0.1', port: 0, users: [] }];
      await kernel.apply({ mode: 'rule', listeners, groups: [], rules: [], dns: { ...names, hosts }, ...way });
      const { udp, relay } = await associate(port);
      const second = createSocket('udp4');
      second.bind(0, '127.0.0.1');
      await once(second, 'listening');
      cleanups.push(() => second.close());
      const seen: string[] = [];
      for (const [index, socket] of [udp, second].entries()) {
        socket.on('message', (bytes) => {
          const { target, payload } = decodeDatagram(bytes) ?? {};
          seen.push(`${index} ${asked[standIns.indexOf(target?.host ?? '')]} ${payload?.toString()}`);
        });
      }
      const expected: string[] = [];
      for (let round = 0; round < 3; round += 1) {
        for (const [at, host] of standIns.entries()) {
          for (const [index, socket] of [udp, second].entries()) {
            socket.send(datagramTo({ host, port: echo }, Buffer.from(`${asked[at]}`)), relay.port, relay.host);
            expected.push(`${index} ${asked[at]} re:${asked[at]}`);
          }
        }
      }
      await expect.poll(() => [...seen].sort(), { timeout: 5000 }).toEqual(expected.sort());
      const flows = kernel.connections();
      expect(flows).toHaveLength(6);
      for (const { host, upload, download } of flows) {
        const length = String(host).length * 3;
        expect([upload, download]).toEqual([length, length + 9]);
      }
    }
  });

  it('continues if a SOCKS5 server reports an invalid name as the sender', async () => {
    const relay = createSocket('udp4');
    relay.bind(0, '127.0.0.1');
    await once(relay, 'listening');
    cleanups.push(() => relay.close());
    relay.on('message', (bytes, from) => {
      const payload = decodeDatagram(bytes)?.payload ?? Buffer.alloc(0);
      for (const name of [Buffer.alloc(255, 0xff), Buffer.alloc(0), Buffer.from('a b')]) {
        const source = Buffer.concat([Buffer.from([0, 0, 0, 3, name.length]), name, Buffer.from([0, 53])]);
        relay.send(Buffer.concat([source, payload]), from.port, from.address);
      }
      relay.send(datagramTo({ host: '192.0.2.1', port: 53 }, payload), from.port, from.address);
    });
    const node = await portOf(
      createServer((socket) => {
        socket.once('data', () => {
          socket.write(Buffer.from([5, 0]));
          socket.once('data', () =>
            socket.write(encodeSocksReply(0, { host: '127.0.0.1', port: relay.address().port })),
          );
        });
      }),
    );
    const outbound = { type: 'socks5', name: 'x', server: '127.0.0.1', port: node } as const;
    const { port } = await start({ config: { outbounds: [{ tag: 'n1', node: outbound }], defaultPolicy: 'n1' } });
    const { ask } = await associate(port);
    expect(await ask('192.0.2.1', 53, 'query')).toBe('query');
  });

  it('that is rejected is recorded as such', async () => {
    const { port, records } = await start({ config: { defaultPolicy: 'REJECT' } });
    const { udp, relay } = await associate(port);
    udp.send(datagramTo({ host: 'a.test', port: 53 }, Buffer.from('x')), relay.port, relay.host);
    await until(() => records.length === 1);
    expect(records[0]).toMatchObject({ status: 'rejected', closeReason: 'rejected', upload: 0 });
  });
});
