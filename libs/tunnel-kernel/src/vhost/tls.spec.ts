import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectHttp2, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';
import { request, type RequestOptions } from 'node:https';
import { connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { HostRig } from '../../test/host-rig.js';
import type { HttpOptions } from './http-gateway.js';
import type { ServerCertificate } from './certificate-table.js';
import { createServerIdentity } from '../wire/server-identity.js';

let rig: HostRig;
const sessions: ClientHttp2Session[] = [];
afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy();
  await rig.close();
});

function certificateFor(name: string): ServerCertificate {
  const { certificate, key } = createServerIdentity(name);
  return { chain: certificate, key };
}

async function start(http: HttpOptions = {}): Promise<number> {
  rig = await HostRig.start(http);
  return rig.origin((asked, response) => {
    response.setHeader('X-Proto', String(asked.headers['x-forwarded-proto']));
    let size = 0;
    asked.on('data', (part: Buffer) => (size += part.length));
    asked.on('end', () => response.end(`${asked.headers.host} ${asked.url} ${asked.headers.cookie ?? ''} ${size}`));
  });
}

interface Seen {
  status: number;
  body: string;
  headers: IncomingHttpHeaders;
}

function ask(options: RequestOptions): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { port: rig.https, host: '127.0.0.1', rejectUnauthorized: false, agent: false, ...options },
      (answer) => {
        let body = '';
        answer.on('data', (part: Buffer) => (body += part.toString()));
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body, headers: answer.headers }));
      },
    );
    asked.on('error', reject);
    asked.end();
  });
}

async function handshake(options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ port: rig.https, host: '127.0.0.1', rejectUnauthorized: false, ...options });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}

/** Why a browser cannot connect; it offers HTTP/2. */
function failure(options: ConnectionOptions): Promise<string> {
  return new Promise((resolve) => {
    const browser = { rejectUnauthorized: false, ALPNProtocols: ['h2', 'http/1.1'] };
    const socket = connect({ port: rig.https, host: '127.0.0.1', ...browser, ...options });
    socket.on('secureConnect', () => resolve('connected'));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

async function h2(servername: string): Promise<ClientHttp2Session> {
  const session = connectHttp2(`https://127.0.0.1:${rig.https}`, { servername, rejectUnauthorized: false });
  session.on('error', () => undefined);
  sessions.push(session);
  await once(session, 'connect');
  return session;
}

function askH2(
  session: ClientHttp2Session,
  headers: Record<string, string>,
  body?: string,
): Promise<Seen & { rst: number }> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': '/', ...headers }, { endStream: body === undefined });
    let head: IncomingHttpHeaders & { ':status'?: number | undefined } = {};
    let read = '';
    stream.on('response', (answer) => (head = answer));
    stream.on('data', (part: Buffer) => (read += part.toString()));
    stream.on('close', () => resolve({ status: head[':status'] ?? 0, headers: head, body: read, rst: stream.rstCode }));
    stream.on('error', reject);
    if (body !== undefined) stream.end(body);
  });
}

describe('certificates', () => {
  it('are chosen by the server name, and change without a restart', async () => {
    const port = await start();
    const serve = (a: ServerCertificate): Promise<void> =>
      rig.serve(
        rig.hostConfig([port], { certificate: a }),
        rig.hostConfig([port], { id: 13, host: '*.b.test', certificate: certificateFor('wild') }),
      );
    await serve(certificateFor('first'));
    const commonName = async (servername: string): Promise<unknown> => {
      const socket = await handshake({ servername });
      const name = socket.getPeerCertificate().subject.CN;
      socket.destroy();
      return name;
    };
    expect(await commonName('A.test')).toBe('first');
    expect(await commonName('x.y.b.test')).toBe('wild');
    await serve(certificateFor('second'));
    expect(await commonName('a.test')).toBe('second');
    expect((await ask({ servername: 'a.test', headers: { host: 'a.test' } })).body).toContain('a.test /');
  });

  it('are missing for names without a host, and the alert says so', async () => {
    const port = await start();
    await rig.serve(
      rig.hostConfig([port], { certificate: certificateFor('a.test') }),
      rig.hostConfig([port], { id: 13, host: 'plain.test', scheme: 'http', certificate: certificateFor('plain') }),
    );
    for (const servername of ['b.test', 'plain.test', '']) {
      expect(await failure({ servername })).toBe('ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
    }
    const noise = connectTcp(rig.https, '127.0.0.1');
    noise.write('GET / HTTP/1.1\r\n\r\n');
    expect(await once(noise, 'close')).toBeDefined();
  });

  it('are the gateway’s own for who does not offer HTTP/2, and no host is served under it', async () => {
    const port = await start();
    await rig.serve(rig.hostConfig([port]));
    for (const servername of ['a.test', 'b.test', '']) {
      const socket = await handshake({ servername });
      const shown = socket.getPeerX509Certificate()?.toString();
      expect(shown).toBe(new X509Certificate(rig.identity.certificate).toString());
      socket.destroy();
      for (const path of ['/', '/__gw/', '/__gw/auth/1?r=12', '/.well-known/acme-challenge/x']) {
        expect(await ask({ servername, path, headers: { host: 'a.test' } })).toMatchObject({ status: 404, body: '' });
      }
      expect((await ask({ servername, path: '/__gw/agent', headers: { host: 'a.test' } })).status).toBe(426);
    }
    // It has no certificate to be served with, only without TLS.
    expect((await rig.ask()).status).toBe(200);
    expect(await failure({ servername: 'a.test' })).toBe('ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
  });

  it('are presented to a client with a name, however many clients are silent', async () => {
    const port = await start({ maxUnidentified: 3 });
    await rig.serve(rig.hostConfig([port], { certificate: certificateFor('a.test') }));
    const silent = [0, 1, 2].map(() => connectTcp(rig.https, '127.0.0.1'));
    await Promise.all(silent.map((socket) => once(socket, 'connect')));
    for (const socket of silent) socket.on('error', () => undefined).resume();
    const first = once(silent[0] as (typeof silent)[0], 'close').catch(() => undefined);
    expect((await ask({ servername: 'a.test', headers: { host: 'a.test' } })).status).toBe(200);
    await first;
    for (const socket of silent) socket.destroy();
  });

  it('are not presented to a ClientHello in hundreds of pieces', async () => {
    await start();
    const slow = connectTcp(rig.https, '127.0.0.1')
      .on('error', () => undefined)
      .resume();
    slow.setNoDelay(true);
    let sent = 0;
    const hello = Buffer.concat([Buffer.from([22, 3, 1, 0x3f, 0xff, 1, 0, 0x3f, 0xf0]), Buffer.alloc(16_000)]);
    while (!slow.destroyed && sent < hello.length) {
      slow.write(hello.subarray(sent, (sent += 1)));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sent).toBeLessThan(hello.length);
  });

  it('can come from another source for the names of hosts', async () => {
    const asked: string[] = [];
    const fallback = certificateFor('fallback');
    const port = await start({
      defaultCertificate: fallback,
      certificate: async (name) => {
        asked.push(name);
        return name === 'a.test' ? certificateFor('issued') : null;
      },
    });
    await rig.serve(rig.hostConfig([port]), rig.hostConfig([port], { id: 13, host: 'b.test' }));
    const names: unknown[] = [];
    for (const servername of ['a.test', 'b.test', 'made-up.test', '']) {
      const socket = await handshake({ servername });
      names.push(socket.getPeerCertificate().subject.CN);
      socket.destroy();
    }
    expect(names).toEqual(['issued', 'fallback', 'fallback', 'fallback']);
    expect(new Set(asked)).toEqual(new Set(['a.test', 'b.test']));
  });

  it('are not used for hosts that they do not cover', async () => {
    const port = await start();
    const certificate = certificateFor('a.test');
    await rig.serve(
      rig.hostConfig([port], { certificate }),
      rig.hostConfig([port], { id: 13, host: 'b.test', certificate: certificateFor('b.test') }),
    );
    const wrong = await ask({ servername: 'a.test', headers: { host: 'b.test' } });
    expect([wrong.status, wrong.headers['x-gw-error']]).toEqual([421, 'misdirected']);
    expect((await ask({ servername: 'a.test', headers: { host: 'a.test:8443' } })).status).toBe(200);
    const session = await h2('b.test');
    expect((await askH2(session, { ':authority': 'a.test' })).status).toBe(421);
    expect((await askH2(session, { ':authority': 'b.test' })).status).toBe(200);
  });

  it('need strong ciphers, and sessions can be resumed', async () => {
    const port = await start();
    await rig.serve(rig.hostConfig([port], { certificate: certificateFor('a.test') }));
    const servername = 'a.test';
    expect(await failure({ servername, maxVersion: 'TLSv1.1', minVersion: 'TLSv1' })).not.toBe('connected');
    expect(await failure({ servername, maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA' })).not.toBe(
      'connected',
    );
    expect(await failure({ servername, ALPNProtocols: ['ftp'] })).not.toBe('connected');
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const first = await handshake({ servername, maxVersion });
      const ticket = maxVersion === 'TLSv1.3' ? ((await once(first, 'session')) as [Buffer])[0] : first.getSession();
      first.destroy();
      const again = await handshake({ servername, maxVersion, ...(ticket ? { session: ticket } : {}) });
      expect(again.isSessionReused()).toBe(true);
      again.destroy();
    }
  });

  it('for TLS-ALPN validation are presented only to the authority', async () => {
    const port = await start({ acmeTlsAlpn: (name) => (name === 'new.test' ? certificateFor('challenge') : null) });
    await rig.serve(rig.hostConfig([port], { certificate: certificateFor('a.test') }));
    const socket = await handshake({ servername: 'new.test', ALPNProtocols: ['acme-tls/1'] });
    expect([socket.alpnProtocol, socket.getPeerCertificate().subject.CN]).toEqual(['acme-tls/1', 'challenge']);
    socket.destroy();
    expect(await failure({ servername: 'new.test' })).toBe('ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
    expect(await failure({ servername: 'a.test', ALPNProtocols: ['acme-tls/1'] })).not.toBe('connected');
  });
});

describe('unfinished handshakes', () => {
  /** What a visitor says first. */
  async function helloFor(servername: string): Promise<Buffer> {
    const seen = createTcpServer().listen(0, '127.0.0.1');
    await once(seen, 'listening');
    const visitor = connect({ port: (seen.address() as AddressInfo).port, host: '127.0.0.1', servername });
    visitor.on('error', () => undefined);
    const [socket] = (await once(seen, 'connection')) as [Socket];
    const [hello] = (await once(socket, 'data')) as [Buffer];
    visitor.destroy();
    socket.destroy();
    seen.close();
    return hello;
  }

  /** However it ends. */
  const ends = (socket: Socket): Promise<void> => new Promise((resolve) => socket.on('close', () => resolve()));

  async function halfOpen(hello: Buffer, localAddress = '127.0.0.1'): Promise<Socket> {
    const socket = connectTcp({ port: rig.https, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined).resume();
    await once(socket, 'connect');
    socket.write(hello);
    return socket;
  }

  it('end in time, whether the client is silent, sends garbage or is slow', async () => {
    const port = await start({ timeouts: { hello: 400 }, defaultCertificate: certificateFor('a.test') });
    await rig.serve(rig.hostConfig([port]));
    const hello = await helloFor('a.test');
    const silent = await halfOpen(hello);
    const garbage = await halfOpen(Buffer.concat([hello, Buffer.alloc(64, 7)]));
    const slow = await halfOpen(hello.subarray(0, 40));
    const ended = await halfOpen(hello);
    ended.end();
    let sent = 40;
    const drip = setInterval(() => slow.write(hello.subarray(sent, (sent += 1))), 50);
    slow.on('close', () => clearInterval(drip));
    await Promise.all([silent, garbage, slow, ended].map((socket) => ends(socket)));
    expect((await ask({ servername: 'a.test', headers: { host: 'a.test' } })).status).toBe(200);
  });

  it('make room for others, the oldest first of a source that has used its share', async () => {
    const port = await start({ maxUnidentified: 8, defaultCertificate: certificateFor('a.test') });
    await rig.serve(rig.hostConfig([port]));
    const hello = await helloFor('a.test');
    const elsewhere = await halfOpen(hello, '127.0.0.2');
    const [first, second] = [await halfOpen(hello), await halfOpen(hello)];
    const closed = ends(first);
    const third = await halfOpen(hello);
    await closed;
    expect([elsewhere.destroyed, second.destroyed, third.destroyed]).toEqual([false, false, false]);
    expect((await ask({ servername: 'a.test', headers: { host: 'a.test' } })).status).toBe(200);
    expect([elsewhere.destroyed, third.destroyed]).toEqual([false, false]);
    elsewhere.destroy();
    second.destroy();
    third.destroy();
  });
});

describe('HTTP/2', () => {
  async function served(): Promise<ClientHttp2Session> {
    const port = await start();
    await rig.serve(rig.hostConfig([port], { certificate: certificateFor('a.test') }));
    return h2('a.test');
  }

  it('carries requests like HTTP/1.1', async () => {
    const session = await served();
    const answer = await askH2(
      session,
      { ':authority': 'a.test', ':method': 'POST', ':path': '/x?y', cookie: 'a=1', 'x-mine': 'z' },
      'hello',
    );
    expect(answer).toMatchObject({ status: 200, body: 'a.test /x?y a=1 5', headers: { 'x-proto': 'https' } });
    expect(answer.headers).not.toHaveProperty('connection');
    const many = await Promise.all(
      Array.from({ length: 50 }, (_, at) => askH2(session, { ':authority': 'a.test', ':path': `/${at}` })),
    );
    expect(many.every(({ body }, at) => body.startsWith(`a.test /${at} `))).toBe(true);
    await waitFor(() => rig.server.flows === 0);
  });

  it.each([
    ['another host', { ':authority': 'a.test', host: 'b.test' }, 400],
    ['CONNECT', { ':authority': 'a.test:443', ':method': 'CONNECT' }, 405],
    ['TRACE', { ':authority': 'a.test', ':method': 'TRACE' }, 405],
    ['a backslash', { ':authority': 'a.test', ':path': '/x\\y' }, 400],
    ['a host that is none', { ':authority': 'a..test' }, 400],
  ])('refuses %s', async (_, headers, status) => {
    const session = await served();
    const given: Record<string, string> = { ...headers };
    if (given[':method'] === 'CONNECT') {
      const stream = session.request(given);
      const [answer] = (await once(stream, 'response')) as [{ ':status': number }];
      expect(answer[':status']).toBe(status);
    } else expect((await askH2(session, given)).status).toBe(status);
    expect((await askH2(session, { ':authority': 'a.test' })).status).toBe(200);
  });

  it('ends a request at the target when its stream is reset', async () => {
    rig = await HostRig.start();
    let ended = false;
    const port = await rig.origin((_, response) => {
      response.write('x');
      response.on('close', () => (ended = !response.writableFinished));
    });
    await rig.serve(rig.hostConfig([port], { certificate: certificateFor('a.test') }));
    const session = await h2('a.test');
    const stream = session.request({ ':authority': 'a.test', ':path': '/' });
    await once(stream, 'data');
    stream.close(8);
    await waitFor(() => ended && rig.server.flows === 0);
  });

  it('passes on trailers, and resets incomplete responses', async () => {
    rig = await HostRig.start();
    const port = await rig.origin((asked, response) => {
      response.writeHead(200, { Trailer: 'X-Sum' });
      if (asked.url === '/cut') return void response.write('body', () => response.socket?.resetAndDestroy());
      response.write('body');
      response.addTrailers({ 'X-Sum': '7' });
      response.end();
    });
    await rig.serve(rig.hostConfig([port], { certificate: certificateFor('a.test') }));
    const session = await h2('a.test');
    const stream = session.request({ ':authority': 'a.test', ':path': '/' });
    stream.resume();
    const [trailers] = (await once(stream, 'trailers')) as [IncomingHttpHeaders];
    expect(trailers['x-sum']).toBe('7');
    await expect(askH2(session, { ':authority': 'a.test', ':path': '/cut' })).rejects.toThrow();
  });

  it('passes on fields that are repeated but should not be', async () => {
    rig = await HostRig.start();
    const port = await rig.target((socket) => {
      socket.on('data', () =>
        socket.write(
          'HTTP/1.1 200 OK\r\nETag: "a"\r\nETag: "b"\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n',
        ),
      );
    });
    await rig.serve(rig.hostConfig([port], { certificate: certificateFor('a.test') }));
    const { status, headers } = await askH2(await h2('a.test'), { ':authority': 'a.test' });
    expect([status, headers['set-cookie']]).toEqual([200, ['a=1', 'b=2']]);
  });

  it('sends GOAWAY when the server drains', async () => {
    const session = await served();
    const goaway = once(session, 'goaway');
    const drained = rig.server.drain({ spreadMs: 1000, deadlineMs: 5000 });
    await goaway;
    await once(session, 'close');
    await drained;
  });
});

describe('targets in TLS', () => {
  it('are verified unless the configuration says otherwise', async () => {
    const own = createServerIdentity('inner.test');
    rig = await HostRig.start({ targetAuthorities: [own.certificate] });
    const server = createHttpsServer({ key: own.key, cert: own.certificate }, (asked, response) => {
      response.end(`inner ${asked.headers.host}`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const target = { host: '127.0.0.1', port, weight: 1, scheme: 'https', insecure: false } as const;
    await rig.serve(
      rig.hostConfig([target], { rewriteHost: 'inner.test' }),
      rig.hostConfig([target], { id: 13, host: 'wrong.test', rewriteHost: 'other.test' }),
      rig.hostConfig([{ ...target, insecure: true }], { id: 14, host: 'any.test' }),
    );
    try {
      expect(await rig.ask()).toMatchObject({ status: 200, body: 'inner inner.test' });
      expect(await rig.ask({ host: 'wrong.test' })).toMatchObject({
        status: 502,
        headers: { 'x-gw-error': 'target_tls' },
      });
      expect(await rig.ask({ host: 'any.test' })).toMatchObject({ status: 200, body: 'inner any.test' });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
