import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { TLSSocket, createServer as createTlsServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ProxyNode } from '@gatehouse/contracts';
import { ByteReader, relay, readSocksAddress, type ByteStream } from '@gatehouse/net';
import { DialError, createProxyKernel, type ConnectionRecord, type ProxyKernel } from '../index.js';
import { createOutbound } from '../registry.js';
import { createDirectDialer } from '../transport/server-dialer.js';
import { normalHost } from '../transport/normal-host.js';
import { aeadMethod, masterKey } from '../protocol/shadowsocks/cipher.js';
import { ShadowsocksStream, aeadSession } from '../protocol/shadowsocks/stream.js';

/** A certificate made for this test, for `proxy.test`. */
const CERT = `-----BEGIN CERTIFICATE-----
MIIBlzCCAT6gAwIBAgIUEEAqnS27FfAW5P9ap/bZIE4oyK8wCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKcHJveHkudGVzdDAgFw0yNjExMjAyMTE5MzZaGA8yMTI2MTAy
NzIxMTkzNlowFTETMBEGA1UEAwwKcHJveHkudGVzdDBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABIvbmMiWDj3HSsV+sKjmExvb+mr/imy/G7b6A6z68FeEh00K0k4l
5GvHZEjUZow5FGEN0U6iTESpx+xC0Cgmr06jajBoMB0GA1UdDgQWBBRfvdya6Qfp
KomnHScI9vrxVHC63jAfBgNVHSMEGDAWgBRfvdya6QfpKomnHScI9vrxVHC63jAP
BgNVHRMBAf8EBTADAQH/MBUGA1UdEQQOMAyCCnByb3h5LnRlc3QwCgYIKoZIzj0E
AwIDRwAwRAIgfUyigL74gvVlH/8OtSl/NzgC2xD35fMpOLDsESkBXuwCIFWwbCEo
fjcCXsPcpG980JkPsTG2DLVw14dZrDehcVxS
-----END CERTIFICATE-----`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgmEmHVL5nhmXj7s9U
9ZYUEqrBxHV4N7Ql0HGb1xq3MgahRANCAASL25jIlg49x0rFfrCo5hMb2/pq/4ps
vxu2+gOs+vBXhIdNCtJOJeRrx2RI1GaMORRhDdFOokxEqcfsQtAoJq9O
-----END PRIVATE KEY-----`;

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const resolver = { resolve: () => Promise.resolve(['127.0.0.1']) };
const servers: Server[] = [];
const sockets = new Set<Socket>();

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Connects a proxy client with its target by Node's pipe, without code of ours. */
function splice(
  client: Socket,
  port: number,
  host: string,
  onConnect: (remote: Socket) => void,
  onError: () => void,
): void {
  const remote = connect({ host, port, allowHalfOpen: true }, () => {
    remote.off('error', onError);
    onConnect(remote);
    client.pipe(remote);
    remote.pipe(client);
  });
  remote.on('error', onError);
  remote.on('error', () => (client instanceof TLSSocket ? client.destroy() : client.resetAndDestroy()));
  client.on('error', () => remote.resetAndDestroy());
  client.on('close', () => remote.destroy());
  remote.on('close', () => client.destroySoon());
}

async function startHttpProxy(): Promise<number> {
  const server = createHttpServer();
  server.on('connect', (request, client) => {
    if (request.headers['proxy-authorization'] !== `Basic ${btoa('ann:pw')}`)
      return client.end('HTTP/1.1 407 No\r\n\r\n');
    const [host = '', port] = (request.url ?? '').split(':');
    splice(
      client as Socket,
      Number(port),
      host,
      () => client.write('HTTP/1.1 200 OK\r\n\r\n'),
      () => client.end('HTTP/1.1 502 No\r\n\r\n'),
    );
  });
  return listen(server);
}

async function startTlsHttpProxy(plainPort: number): Promise<number> {
  const server = createTlsServer({ cert: CERT, key: KEY, allowHalfOpen: true }, (client) => {
    client.on('error', () => undefined);
    splice(
      client,
      plainPort,
      '127.0.0.1',
      () => undefined,
      () => client.destroy(),
    );
  });
  return listen(server);
}

async function startSocksServer(): Promise<number> {
  return listen(
    createServer({ allowHalfOpen: true }, (client) => {
      const reader = new ByteReader(client);
      const serve = async (): Promise<void> => {
        const [, count = 0] = await reader.read(2);
        await reader.read(count);
        client.write(Buffer.from([5, 2]));
        const [, userLength = 0] = await reader.read(2);
        const user = (await reader.read(userLength)).toString();
        const [passwordLength = 0] = await reader.read(1);
        const password = (await reader.read(passwordLength)).toString();
        if (user !== 'ann' || password !== 'pw') return void client.end(Buffer.from([1, 1]));
        client.write(Buffer.from([1, 0]));
        await reader.read(3);
        const target = await readSocksAddress(reader, normalHost);
        reader.restore();
        const answer = (code: number): Buffer => Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]);
        splice(
          client,
          target.port,
          target.host,
          () => client.write(answer(0)),
          () => client.end(answer(5)),
        );
      };
      serve().catch(() => client.destroy());
    }),
  );
}

/** A Shadowsocks server made of our own codec. */
async function startShadowsocksServer(cipher: string, password: string): Promise<number> {
  const method = aeadMethod(cipher);
  const master = masterKey(password, method.keyLength);
  return listen(
    createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      const stream = new ShadowsocksStream(socket, aeadSession({ method, master }, Buffer.alloc(0)));
      const reader = new ByteReader(stream);
      const serve = async (): Promise<void> => {
        const target = await readSocksAddress(reader, normalHost);
        const remote = connect({ ...target, allowHalfOpen: true });
        remote.pause();
        remote.on('error', () => stream.resetAndDestroy());
        remote.once('connect', () => relay(stream, remote, { upload: 0, download: 0 }, { head: reader.detach() }));
      };
      serve().catch(() => stream.destroy());
    }),
  );
}

interface Subject {
  name: string;
  /** Null: DIRECT. */
  node: () => ProxyNode | null;
}

const ports = { http: 0, https: 0, socks: 0, ss: new Map<string, number>() };
const CIPHERS = ['aes-128-gcm', 'aes-192-gcm', 'aes-256-gcm', 'chacha20-ietf-poly1305'];
const endpoint = { name: 'x', server: '127.0.0.1' };
const login = { username: 'ann', password: 'pw' };
const subjects: Subject[] = [
  { name: 'direct', node: () => null },
  { name: 'http', node: () => ({ ...endpoint, type: 'http', port: ports.http, ...login }) },
  {
    name: 'http over TLS',
    node: () => ({
      ...endpoint,
      type: 'http',
      port: ports.https,
      ...login,
      tls: { sni: 'proxy.test', fingerprint: FINGERPRINT },
    }),
  },
  { name: 'socks5', node: () => ({ ...endpoint, type: 'socks5', port: ports.socks, ...login }) },
  ...CIPHERS.map((cipher): Subject => ({
    name: `shadowsocks ${cipher}`,
    node: () => ({ ...endpoint, type: 'ss', port: ports.ss.get(cipher) ?? 0, cipher, password: 'secret' }),
  })),
];
const FINGERPRINT = createHash('sha256')
  .update(Buffer.from(CERT.replaceAll(/-----.*-----|\n/g, ''), 'base64'))
  .digest('hex');

beforeAll(async () => {
  ports.http = await startHttpProxy();
  ports.https = await startTlsHttpProxy(ports.http);
  ports.socks = await startSocksServer();
  for (const cipher of CIPHERS) ports.ss.set(cipher, await startShadowsocksServer(cipher, 'secret'));
});

afterAll(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

describe.each(subjects)('$name, through a kernel', ({ name, node }) => {
  let kernel: ProxyKernel;
  let records: ConnectionRecord[];
  let port: number;
  const tls = name.includes('TLS');

  beforeAll(async () => {
    kernel = createProxyKernel({ now: Date.now, logger: quiet, resolver, country: () => null });
    kernel.on('closed', (record) => records.push(record));
    const made = node();
    const { listeners } = await kernel.apply({
      mode: 'rule',
      listeners: [{ name: 'mixed', type: 'mixed', address: '127.0.0.1', port: 0 }],
      outbounds: made ? [{ tag: 'n1', node: made }] : [],
      groups: [],
      rules: [],
      defaultPolicy: made ? 'n1' : 'DIRECT',
    });
    port = listeners[0]?.port ?? 0;
  });
  afterAll(() => kernel.close());
  afterEach(() => (records = []));
  records = [];

  /** A client socket whose other end is the target's. */
  async function open(target: number): Promise<Socket> {
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    client.on('error', () => undefined);
    const request = Buffer.from([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, target >> 8, target & 255]);
    client.write(request);
    const reader = new ByteReader(client);
    expect([...(await reader.read(2))]).toEqual([5, 0]);
    expect((await reader.read(10))[1]).toBe(0);
    reader.restore();
    return client;
  }

  async function record(): Promise<ConnectionRecord> {
    await expect.poll(() => records.length, { timeout: 5000 }).toBe(1);
    return records[0] as ConnectionRecord;
  }

  it('echoes', async () => {
    const target = await listen(createServer((socket) => socket.pipe(socket)));
    const client = await open(target);
    for (const size of [1, 16_383, 16_384, 100_000]) {
      const sent = randomBytes(size);
      client.write(sent);
      expect((await readExactly(client, size)).equals(sent)).toBe(true);
    }
    client.end();
    client.resume();
    expect(await record()).toMatchObject({
      status: 'ok',
      closeReason: 'client_closed',
      upload: 132_768,
      download: 132_768,
    });
  });

  it('carries data of a server that speaks first', async () => {
    const target = await listen(createServer((socket) => socket.end('hello')));
    const client = await open(target);
    expect((await readAll(client)).toString()).toBe('hello');
    client.end();
    expect(await record()).toMatchObject({ closeReason: 'remote_closed', download: 5, upload: 0 });
  });

  it("passes on the client's end and continues downloading", async () => {
    const answer = randomBytes(200_000);
    const target = await listen(
      createServer({ allowHalfOpen: true }, (socket) => {
        const seen: Buffer[] = [];
        socket.on('data', (chunk: Buffer) => seen.push(chunk));
        socket.on('end', () => socket.end(Buffer.concat([Buffer.concat(seen), answer])));
      }),
    );
    const client = await open(target);
    client.end('question');
    const all = await readAll(client);
    expect(all.equals(Buffer.concat([Buffer.from('question'), answer]))).toBe(true);
  });

  it("passes on the server's end and continues uploading", async () => {
    const sent = randomBytes(300_000);
    const received = Promise.withResolvers<Buffer>();
    const target = await listen(
      createServer({ allowHalfOpen: true }, (socket) => {
        socket.end('bye');
        void readAll(socket).then(received.resolve);
      }),
    );
    const client = await open(target);
    expect((await readAll(client)).toString()).toBe('bye');
    client.end(sent);
    expect((await received.promise).equals(sent)).toBe(true);
    expect(await record()).toMatchObject({ status: 'ok', closeReason: 'remote_closed', upload: 300_000, download: 3 });
  });

  it("passes the client's abort on", async () => {
    const closed = Promise.withResolvers<void>();
    const target = await listen(
      createServer((socket) => {
        socket.on('close', () => closed.resolve());
        socket.write('ready');
      }),
    );
    const client = await open(target);
    await readExactly(client, 5);
    client.resetAndDestroy();
    await closed.promise;
    expect(await record()).toMatchObject({ closeReason: 'client_closed' });
  });

  it("passes the server's abort on", async () => {
    const target = await listen(createServer((socket) => socket.once('data', () => socket.resetAndDestroy())));
    const client = await open(target);
    const outcome = new Promise((resolve) => {
      client.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
      client.on('end', () => resolve('end'));
    });
    client.write('now');
    client.resume();
    // TLS has no reset of its own, so the client only sees an end.
    expect(await outcome).toBe(tls ? 'end' : 'ECONNRESET');
    client.destroy();
    const { status, closeReason, upload, download } = await record();
    expect({ upload, download }).toEqual({ upload: 3, download: 0 });
    if (!tls) expect({ status, closeReason }).toEqual({ status: 'failed', closeReason: 'error' });
  });

  it('carries 16 MB each way at once, exactly', async () => {
    const size = 16 * 1024 * 1024;
    const up = randomBytes(size);
    const down = randomBytes(size);
    const uploaded = Promise.withResolvers<string>();
    // Awaited below; a failure before that is not an unhandled one.
    uploaded.promise.catch(() => undefined);
    const target = await listen(
      createServer({ allowHalfOpen: true }, (socket) => {
        socket.end(down);
        uploaded.resolve(digest(socket));
      }),
    );
    const client = await open(target);
    client.end(up);
    expect(await Promise.all([digest(client), uploaded.promise])).toEqual([md5(down), md5(up)]);
    expect(await record()).toMatchObject({ status: 'ok', upload: size, download: size });
  });

  it('buffers a bounded amount for a client that does not read, then delivers all of it', async () => {
    const total = 96 * 1024 * 1024;
    const chunk = randomBytes(64 * 1024);
    let sent = 0;
    const target = await listen(
      createServer((socket) => {
        const pump = (): void => {
          while (sent < total) {
            sent += chunk.length;
            if (!socket.write(chunk)) return;
          }
          socket.end();
        };
        socket.on('drain', pump);
        pump();
      }),
    );
    const client = await open(target);
    client.pause();
    await stable(() => sent);
    expect(sent).toBeLessThan(total / 2);
    let received = 0;
    client.on('data', (bytes) => (received += bytes.length));
    client.resume();
    await once(client, 'end');
    client.end();
    expect(received).toBe(total);
  });
});

describe.each(subjects)('$name, dialled', ({ name, node }) => {
  const make = (override: Partial<ProxyNode>) => {
    const made = node();
    return made
      ? createOutbound('n1', { ...made, ...override } as ProxyNode, createDirectDialer(resolver), 'n1')
      : null;
  };

  it('reports that its server refuses', async () => {
    const closed = await closedPort();
    const outbound = make({ port: closed }) ?? (await direct());
    const dial = outbound.connect({ host: '127.0.0.1', port: closed }, { signal: new AbortController().signal });
    await expect(dial).rejects.toMatchObject({ stage: 'dial', kind: 'connection_refused' });
  });

  it('stops when it is aborted, and closes what it opened', async () => {
    const silent = createServer({ allowHalfOpen: true });
    const target = await listen(silent);
    const outbound = make({ port: target }) ?? (await direct());
    const controller = new AbortController();
    const late = new DialError('dial', 'timeout', 'too late');
    const dial = outbound.connect({ host: '127.0.0.1', port: target }, { signal: controller.signal });
    if (name === 'direct' || name.startsWith('shadowsocks')) {
      // After the connect there is nothing to wait for, so only an earlier abort can make the dial fail.
      controller.abort(late);
      return expect(dial).rejects.toBe(late);
    }
    const [accepted] = (await once(silent, 'connection')) as [Socket];
    accepted.resume();
    controller.abort(late);
    await expect(dial).rejects.toBe(late);
    if (!accepted.destroyed) await Promise.race([once(accepted, 'end'), once(accepted, 'close')]);
  });

  if (['http', 'http over TLS', 'socks5'].includes(name))
    it('distinguishes wrong credentials from other failures', async () => {
      const outbound = make({ password: 'wrong' } as Partial<ProxyNode>);
      const dial = outbound?.connect({ host: '127.0.0.1', port: 1 }, { signal: new AbortController().signal });
      await expect(dial).rejects.toMatchObject({ stage: 'handshake', kind: 'auth_failed' });
    });

  if (['http', 'socks5'].includes(name))
    it('reports what its server could not reach', async () => {
      const dial = make({})?.connect(
        { host: '127.0.0.1', port: await closedPort() },
        { signal: new AbortController().signal },
      );
      const kind = name === 'http' ? 'unreachable' : 'connection_refused';
      await expect(dial).rejects.toMatchObject({ stage: 'handshake', kind });
    });

  if (name === 'http over TLS')
    it('accepts a certificate that is one of several pinned ones', async () => {
      const outbound = make({ tls: { sni: 'proxy.test', fingerprint: `${'00'.repeat(32)},${FINGERPRINT}` } });
      const target = { host: '127.0.0.1', port: await closedPort() };
      const dial = outbound?.connect(target, { signal: new AbortController().signal });
      await expect(dial).rejects.toMatchObject({ stage: 'handshake', kind: 'unreachable' });
    });

  if (name === 'http over TLS')
    it('refuses a certificate that is not the pinned one', async () => {
      const outbound = make({ tls: { sni: 'proxy.test', fingerprint: '00'.repeat(32) } });
      const dial = outbound?.connect({ host: '127.0.0.1', port: 1 }, { signal: new AbortController().signal });
      await expect(dial).rejects.toMatchObject({ stage: 'handshake', kind: 'tls_error' });
    });

  if (name === 'http over TLS')
    it('refuses a certificate that no authority signed', async () => {
      const dial = make({ tls: { sni: 'proxy.test' } })?.connect(
        { host: '127.0.0.1', port: 1 },
        { signal: new AbortController().signal },
      );
      await expect(dial).rejects.toMatchObject({ stage: 'handshake', kind: 'tls_error' });
    });

  if (name.startsWith('shadowsocks'))
    it('ends a stream that was sealed with another password', async () => {
      const target = await listen(createServer((socket) => void socket.write(randomBytes(500))));
      const stream = (await make({ port: target })?.connect(
        { host: 'a', port: 1 },
        { signal: new AbortController().signal },
      )) as ByteStream;
      const failed = new Promise<Error>((resolve) => stream.on('error', resolve));
      stream.resume();
      expect(await failed).toMatchObject({ kind: 'auth_failed' });
    });
});

async function direct() {
  const { DirectOutbound } = await import('../protocol/direct/outbound.js');
  return new DirectOutbound('DIRECT', resolver);
}

async function closedPort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function readExactly(socket: Socket, size: number): Promise<Buffer> {
  const reader = new ByteReader(socket, 1024 * 1024);
  const bytes = Buffer.from(await reader.read(size));
  reader.restore();
  return bytes;
}

async function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.resume();
  await once(socket, 'end');
  return Buffer.concat(chunks);
}

async function digest(socket: Socket): Promise<string> {
  const hash = createHash('md5');
  socket.on('data', (chunk: Buffer) => hash.update(chunk));
  socket.resume();
  await once(socket, 'end');
  return hash.digest('hex');
}

function md5(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('hex');
}

/** Waits until a number has been the same in ten checks. */
async function stable(read: () => number): Promise<void> {
  let last = -1;
  let same = 0;
  await expect
    .poll(
      () => {
        const now = read();
        same = now === last && now > 0 ? same + 1 : 0;
        last = now;
        return same;
      },
      { interval: 20, timeout: 15_000 },
    )
    .toBeGreaterThanOrEqual(10);
}
