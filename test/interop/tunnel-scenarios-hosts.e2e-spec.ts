/**
 * What frp's end-to-end suite asks of hosts, as tests of this gateway; docs/tunnel-scenarios.md has the list of its titles,
 * with those that have no counterpart here.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer, request as secureRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { promisify } from 'node:util';
import { findPeer, startHttpOrigin, waitFor, type HttpOrigin } from '@gatehouse/testing';
import {
  createServerIdentity,
  type HostConfig,
  type HostTarget,
  type VisitorPolicyConfig,
} from '@gatehouse/tunnel-kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { requirePeer } from '../support/peers.js';
import { Programs } from '../support/processes.js';
import { askHttp, type HttpQuestion, type HttpReply } from '../support/raw-http.js';
import { TunnelYard, type YardClient } from '../support/tunnel-yard.js';
import { NginxOrigin } from '../support/web-origin.js';
import { echoWebSocket } from '../support/websocket-origin.js';

const run = promisify(execFile);
const programs = new Programs();
const { certificate: chain, key } = createServerIdentity('a.test');
const TRUSTED = '127.0.0.8';
let yard: TunnelYard;
let member: YardClient;
let origin: HttpOrigin;

beforeEach(async () => {
  yard = await TunnelYard.start({
    trustedProxies: [`${TRUSTED}/32`],
    http: { timeouts: { answer: 600, connect: 500 } },
    verification: { secret: randomBytes(32), verifyPassword: async (encoded, password) => encoded === password },
  });
  member = await yard.member();
  origin = await startHttpOrigin();
});
afterEach(async () => {
  await yard.close();
  await origin.close();
  await programs.stopAll();
});

function ask(question: Partial<HttpQuestion> = {}): Promise<HttpReply> {
  return askHttp({ port: question.tls ? yard.https : yard.http, ...question });
}

function serve(...hosts: HostConfig[]): Promise<unknown> {
  return yard.apply({ hosts });
}

/** An origin that says its name. */
async function named(name: string, tls = false): Promise<number> {
  const answer: Parameters<typeof createHttpServer>[1] = (_, response) => void response.end(name);
  const server: Server = tls ? createHttpsServer({ cert: chain, key }, answer) : createHttpServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  yard.onClose(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function deadPort(): Promise<number> {
  const place = await startHttpOrigin();
  await place.close();
  return place.port;
}

describe('routes', () => {
  it('by location', async () => {
    const [foo, bar, rest] = [await named('foo'), await named('bar'), await named('rest')];
    await serve(
      yard.host(member, [foo], { id: 1, location: '/foo' }),
      yard.host(member, [bar], { id: 2, location: '/foo/bar' }),
      yard.host(member, [rest], { id: 3 }),
    );
    const answers = await Promise.all(
      ['/foo', '/foo/x', '/foo/bar', '/foo/bar/', '/foobar', '/FOO', '//foo', '/x/../foo', '/'].map((path) =>
        ask({ path }),
      ),
    );
    expect(answers.map(({ body }) => body)).toEqual(['foo', 'foo', 'bar', 'bar', 'rest', 'rest', 'foo', 'foo', 'rest']);
    expect((await ask({ host: 'other.test' })).status).toBe(404);
  });

  it('by wildcard and subdomain, the longest first', async () => {
    const names = ['*.a.test', '*.b.a.test', 'x.b.a.test'];
    const ports = await Promise.all(names.map((name) => named(name)));
    await serve(...names.map((host, at) => yard.host(member, [ports[at] ?? 0], { id: at + 1, host })));
    const hosts = ['one.a.test', 'one.two.a.test', 'y.b.a.test', 'x.b.a.test', 'X.B.A.TEST', 'x.b.a.test:8080'];
    const bodies = await Promise.all(hosts.map(async (host) => (await ask({ host })).body));
    expect(bodies).toEqual(['*.a.test', '*.a.test', '*.b.a.test', 'x.b.a.test', 'x.b.a.test', 'x.b.a.test']);
    for (const host of ['a.test', 'a.test.evil.test', 'xa.test']) expect((await ask({ host })).status).toBe(404);
  });

  it('http to one client and https to another', async () => {
    const other = await yard.member();
    await serve(
      yard.host(member, [await named('plain')], { id: 1, scheme: 'http' }),
      yard.host(other, [await named('secure')], { id: 2, scheme: 'https', certificate: { chain, key } }),
    );
    expect((await ask()).body).toBe('plain');
    expect((await ask({ tls: true })).body).toBe('secure');
  });
});

describe('what the gateway changes', () => {
  it('headers of requests and answers, and the host (modify headers, host header rewrite)', async () => {
    await serve(
      yard.host(member, [origin.port], {
        rewriteHost: 'inner.test',
        requestHeaders: { 'X-From-Where': 'gateway', 'User-Agent': '' },
        responseHeaders: { 'X-Answered-By': 'gateway', 'Content-Type': '' },
      }),
    );
    const answer = await ask({ path: '/bytes/5', headers: { 'x-from-where': 'visitor', 'user-agent': 'me' } });
    expect(origin.requests[0]?.headers).toMatchObject({ host: 'inner.test', 'x-from-where': 'gateway' });
    expect(origin.requests[0]?.headers['user-agent']).toBeUndefined();
    expect(answer.headers['x-answered-by']).toBe('gateway');
    expect(answer.headers['content-type']).toBeUndefined();
  });

  it.each([
    ['without a header', undefined, '127.0.0.1', '127.0.0.1'],
    ['with a header that anybody can send', '203.0.113.9', '127.0.0.1', '127.0.0.1'],
    ['with the header of a trusted proxy', '203.0.113.9', TRUSTED, `203.0.113.9, ${TRUSTED}`],
  ])('X-Forwarded-For: %s', async (_, said, localAddress, forwarded) => {
    await serve(yard.host(member, [origin.port], { certificate: { chain, key } }));
    for (const tls of [false, true]) {
      await ask({ tls, localAddress, ...(said !== undefined && { headers: { 'x-forwarded-for': said } }) });
      const { headers } = origin.requests.at(-1) ?? {};
      expect(headers?.['x-forwarded-for']).toBe(forwarded);
      expect(headers?.['x-forwarded-proto']).toBe(tls ? 'https' : 'http');
    }
  });
});

describe('who is admitted', () => {
  it('with a user name and a password (basic auth)', async () => {
    const policy: VisitorPolicyConfig = {
      id: 1,
      resource: { kind: 'host', id: 11 },
      type: 'basic',
      password: 'ann:secret',
      callbackUrl: null,
      ttlSeconds: 60,
      version: 1,
    };
    await yard.apply({ hosts: [yard.host(member, [origin.port])], policies: [policy] });
    const as = (text: string): Partial<HttpQuestion> => ({
      headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` },
    });
    const none = await ask();
    expect([none.status, none.headers['www-authenticate']]).toEqual([401, expect.stringMatching(/^Basic /)]);
    expect((await ask(as('ann:wrong'))).status).toBe(401);
    expect(origin.requests).toEqual([]);
    expect((await ask(as('ann:secret'))).body).toBe('ok');
    // The target does not get to see what was meant for the gateway.
    expect(origin.requests[0]?.headers.authorization).toBeUndefined();
  });
});

describe('targets', () => {
  it('in TLS, from visitors in TLS and without (http2https, https2http, https2https, HTTPS proxy)', async () => {
    const secure = await named('secure', true);
    const target: HostTarget = { host: '127.0.0.1', port: secure, weight: 1, scheme: 'https', insecure: true };
    const certificate = { chain, key };
    await serve(
      yard.host(member, [target], { certificate }),
      yard.host(member, [origin.port], { id: 12, host: 'b.test', certificate }),
    );
    expect((await ask()).body).toBe('secure');
    expect((await ask({ tls: true })).body).toBe('secure');
    expect((await ask({ host: 'b.test', tls: true })).body).toBe('ok');
    await serve(yard.host(member, [{ ...target, insecure: false }], { certificate }));
    expect(await ask()).toMatchObject({ status: 502, headers: { 'x-gw-error': 'target_tls' } });
  });

  it('are used in turn, and a dead one is skipped (group, health check)', async () => {
    const ports = [await named('a'), await named('b'), await deadPort()];
    await serve(yard.host(member, ports));
    const bodies: string[] = [];
    for (let at = 0; at < 20; at++) bodies.push((await ask()).body);
    expect(bodies.filter((body) => body === 'a').length).toBeGreaterThan(5);
    expect(bodies.filter((body) => body === 'b').length).toBeGreaterThan(5);
    expect(bodies.every((body) => body === 'a' || body === 'b')).toBe(true);
  });

  it('that do not answer in time cause a 504 (vhostHTTPTimeout)', async () => {
    await serve(yard.host(member, [origin.port]));
    const from = performance.now();
    expect(await ask({ path: '/hang' })).toMatchObject({ status: 504, headers: { 'x-gw-error': 'target_timeout' } });
    expect(performance.now() - from).toBeLessThan(4_000);
    expect((await ask()).status).toBe(200);
  });

  it('that are away cause errors that visitors and browsers understand', async () => {
    await serve(yard.host(member, [await deadPort()]));
    expect(await ask()).toMatchObject({ status: 502, body: '', headers: { 'x-gw-error': 'target_refused' } });
    const page = await ask({ headers: { accept: 'text/html' } });
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.body).toContain('could not be reached');
    expect(page.body).not.toMatch(/127\.0\.0\.1|at .*\(/);
    const away = yard.client();
    await serve(yard.host(away, [origin.port]));
    expect(await ask()).toMatchObject({ status: 503, headers: { 'x-gw-error': 'agent_offline', 'retry-after': '5' } });
  });

  it('get the visitor’s address in the PROXY protocol, over a tunnel to them (HTTP)', async (context) => {
    const curl = requirePeer(context, 'curl');
    const target = await yard.target((socket) => {
      socket.once('data', (head: Buffer) => {
        const line = head.toString('latin1').split('\r\n')[0] ?? '';
        socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${line.length}\r\nConnection: close\r\n\r\n${line}`);
      });
    });
    const port = await yard.open(member, [target], { proxyProtocol: 1 });
    const { stdout } = await run(curl, ['-sS', '--max-time', '10', `http://127.0.0.1:${port}/`]);
    expect(stdout).toMatch(new RegExp(`^PROXY TCP4 127\\.0\\.0\\.1 127\\.0\\.0\\.1 \\d+ ${port}$`));
  });

  it('of a client with a connection limit answer 429 above it', async () => {
    const small = await yard.member({ maxConnections: 1 });
    await serve(yard.host(small, [origin.port]));
    const held = ask({ path: '/hang' });
    await waitFor(() => yard.server.flows === 1);
    expect(await ask()).toMatchObject({ status: 429, headers: { 'x-gw-error': 'max_conn' } });
    await held;
    expect((await ask()).status).toBe(200);
  });
});

describe('WebSocket', () => {
  async function serveEcho(): Promise<void> {
    const server = createHttpServer().on('upgrade', echoWebSocket).listen(0, '127.0.0.1');
    await once(server, 'listening');
    yard.onClose(() => server.close());
    const { port } = server.address() as AddressInfo;
    await serve(yard.host(member, [port], { host: 'localhost', certificate: { chain, key } }));
  }

  it('carries messages of the platform in both directions', async () => {
    await serveEcho();
    const socket = new WebSocket(`ws://localhost:${yard.http}/chat`);
    await new Promise((resolve) => socket.addEventListener('open', resolve));
    const said = ['one', 'x'.repeat(5_000), 'three'];
    const received: unknown[] = [];
    const all = new Promise<void>((resolve) => {
      socket.addEventListener('message', ({ data }) => {
        received.push(data);
        if (received.length === said.length) resolve();
      });
    });
    for (const text of said) socket.send(text);
    await all;
    expect(received).toEqual(said);
    const closed = new Promise((resolve) => socket.addEventListener('close', resolve));
    socket.close();
    await closed;
    await waitFor(() => yard.server.flows === 0);
  });

  it('also works in TLS', async () => {
    await serveEcho();
    const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' };
    const options = { host: '127.0.0.1', port: yard.https, servername: 'localhost', rejectUnauthorized: false };
    const asked = secureRequest({ ...options, headers: { host: 'localhost', ...headers } }).end();
    const [, socket] = (await once(asked, 'upgrade')) as [unknown, Socket];
    // A message of two bytes behind a mask of zeros.
    socket.write(Buffer.from('818200000000', 'hex'));
    socket.write('hi');
    const [received] = (await once(socket, 'data')) as [Buffer];
    expect(received.toString('latin1')).toBe('\u0081\u0002hi');
    socket.destroy();
    await waitFor(() => yard.server.flows === 0);
  });
});

describe('a real nginx', () => {
  it('is reached by h2load over HTTP/2 and HTTP/1.1', async (context) => {
    const h2load = requirePeer(context, 'h2load');
    requirePeer(context, 'nginx');
    using server = await NginxOrigin.start(programs, findPeer('nginx')!);
    server.write('index.html', 'fine');
    await serve(yard.host(member, [server.port], { host: '*', certificate: { chain, key } }));
    for (const [url, option] of [
      [`https://localhost:${yard.https}/`, '-m16'],
      [`http://127.0.0.1:${yard.http}/`, '--h1'],
    ] as const) {
      const { stdout } = await run(h2load, ['-n', '400', '-c', '4', option, url]);
      expect(stdout).toContain('400 succeeded, 0 failed, 0 errored, 0 timeout');
      expect(stdout).toContain('status codes: 400 2xx');
    }
    // nginx writes the line of a request after its answer.
    await waitFor(() => server.log().length >= 800);
    expect(server.log()).toHaveLength(800);
  });
});
