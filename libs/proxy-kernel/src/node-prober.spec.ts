import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProxyNode } from '@gatehouse/contracts';
import {
  DialError,
  createNodeProber,
  createProxyKernel,
  measureAll,
  type NodeProber,
  type ProbeOptions,
  type ProbeResult,
} from './index.js';

/** A certificate made for this test, for `origin.test`. */
const CERT = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUe7TaCvE6eus3/rMGbAE1TXcB3M4wCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLb3JpZ2luLnRlc3QwIBcNMjYxMTIwMjM1NDQyWhgPMjEyNjEw
MjcyMzU0NDJaMBYxFDASBgNVBAMMC29yaWdpbi50ZXN0MFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEfnUtznNxr3AYhQ5mb+TuCtFsKPR42NNTRZk193JqIgNdoDxu
urYB53p7RPlZmk+5XQIqFmAV0uRsU7oPblEaJqNrMGkwHQYDVR0OBBYEFBBrBj5P
ew1jSgIpYkb87PsE97OFMB8GA1UdIwQYMBaAFBBrBj5Pew1jSgIpYkb87PsE97OF
MA8GA1UdEwEB/wQFMAMBAf8wFgYDVR0RBA8wDYILb3JpZ2luLnRlc3QwCgYIKoZI
zj0EAwIDSAAwRQIgEGr7+5QQmExBijymDtX//btZUttjFN3nwYA4UKQKoesCIQDG
wtJcu6LJ0NQF2/irobeNtmH98EQT3R5LRoHUZHzHKw==
-----END CERTIFICATE-----`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgDCLEHFdiEPPtkbk0
aUEsC+slrfRRWQPcerZ/KCD0xgKhRANCAAR+dS3Oc3GvcBiFDmZv5O4K0Wwo9HjY
01NFmTX3cmoiA12gPG66tgHnentE+VmaT7ldAioWYBXS5GxTug9uURom
-----END PRIVATE KEY-----`;

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const resolver = { resolve: () => Promise.resolve(['127.0.0.1']) };
const cleanups: (() => unknown)[] = [];
let prober: NodeProber;
beforeEach(() => {
  prober = createNodeProber({ resolver, now: () => 4711 });
  cleanups.push(() => prober.close());
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Listening {
  port: number;
  /** Open connections. */
  open: Set<Socket>;
  accepted: () => number;
}

async function listen(server: Server): Promise<Listening> {
  const open = new Set<Socket>();
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, open, accepted: () => accepted };
}

const origin = (handler: RequestListener): Promise<Listening> => listen(createHttpServer(handler));

/** A real node: a kernel that forwards everything. */
async function startNode(): Promise<{ socks: ProxyNode; http: ProxyNode }> {
  const kernel = createProxyKernel({ now: Date.now, logger: quiet, resolver, country: () => null });
  cleanups.push(() => kernel.close());
  const { listeners } = await kernel.apply({
    mode: 'rule',
    listeners: [{ name: 'in', type: 'mixed', address: '127.0.0.1', port: 0 }],
    outbounds: [],
    groups: [],
    rules: [],
    defaultPolicy: 'DIRECT',
  });
  const place = { name: 'node', server: '127.0.0.1', port: listeners[0]?.port ?? 0 };
  return { socks: { type: 'socks5', ...place }, http: { type: 'http', ...place } };
}

const options = (port: number, more: Partial<ProbeOptions> = {}): ProbeOptions => ({
  url: `http://origin.test:${port}/generate_204?a=1`,
  expectedStatus: '204',
  timeoutMs: 5000,
  ...more,
});

const answers204: RequestListener = (_request, response) => response.writeHead(204).end();
const until = (condition: () => boolean) => expect.poll(condition, { timeout: 5000, interval: 5 }).toBe(true);

describe('a measurement', () => {
  it('sends one HEAD through the node and reports its stages', async () => {
    const seen: string[] = [];
    const { port, open } = await origin((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.host}`);
      answers204(request, response);
    });
    const { socks } = await startNode();
    const result = await prober.probe({ node: socks }, options(port));
    expect(result).toMatchObject({ ok: true, httpStatus: 204, error: null, testedAt: 4711 });
    const { timings, delayMs } = result;
    expect(timings).toMatchObject({ dnsMs: null, tlsMs: null });
    expect(timings.connectMs).toBeGreaterThanOrEqual(0);
    expect(timings.ttfbMs).toBeGreaterThanOrEqual(0);
    const sum = (timings.connectMs ?? 0) + (timings.handshakeMs ?? 0) + (timings.ttfbMs ?? 0);
    expect(Math.abs((delayMs ?? 0) - sum)).toBeLessThanOrEqual(3);
    expect(seen).toEqual([`HEAD /generate_204?a=1 origin.test:${port}`]);
    await until(() => open.size === 0);
  });

  it('works through an HTTP proxy too', async () => {
    const { port } = await origin(answers204);
    const { http } = await startNode();
    expect(await prober.probe({ node: http }, options(port))).toMatchObject({ ok: true, httpStatus: 204 });
  });

  it('reports the DNS time of a node with a host name', async () => {
    const { port } = await origin(answers204);
    const { socks } = await startNode();
    const slow = createNodeProber({
      resolver: { resolve: () => new Promise((resolve) => setTimeout(resolve, 60, ['127.0.0.1'])) },
      now: Date.now,
    });
    const { timings, delayMs } = await slow.probe({ node: { ...socks, server: 'node.test' } }, options(port));
    expect(timings.dnsMs).toBeGreaterThanOrEqual(50);
    expect(delayMs).toBeGreaterThanOrEqual(timings.dnsMs ?? 0);
  });

  it('goes through other nodes if the target has a dialer', async () => {
    const { port } = await origin(answers204);
    const [first, second] = [await startNode(), await startNode()];
    const relayed: string[] = [];
    const gate = await listen(
      createServer((socket) => {
        const onward = connect(second.socks.port, '127.0.0.1');
        relayed.push('second');
        onward.on('error', () => socket.destroy());
        socket.pipe(onward).pipe(socket);
      }),
    );
    const node: ProxyNode = { ...second.socks, port: gate.port };
    const result = await prober.probe({ node, via: [first.socks, first.http] }, options(port));
    expect(result).toMatchObject({ ok: true, httpStatus: 204 });
    expect(relayed).toEqual(['second']);
  });

  it.each([405, 501])('asks again with GET when HEAD is answered with %i', async (refusal) => {
    const methods: string[] = [];
    const { port } = await origin((request, response) => {
      methods.push(request.method ?? '');
      response.writeHead(request.method === 'HEAD' ? refusal : 200).end(request.method === 'HEAD' ? '' : 'page');
    });
    const { socks } = await startNode();
    expect(await prober.probe({ node: socks }, options(port, { expectedStatus: '200' }))).toMatchObject({ ok: true });
    expect(methods).toEqual(['HEAD', 'GET']);
  });

  it.each([
    ['204', 200, false],
    ['200/204', 200, true],
    ['200-399', 302, true],
    ['200-399', 404, false],
    ['301/400-499', 404, true],
  ])('expecting %s judges %i', async (expectedStatus, status, ok) => {
    const { port } = await origin((_request, response) => response.writeHead(status, { location: '/x' }).end());
    const { socks } = await startNode();
    const result = await prober.probe({ node: socks }, options(port, { expectedStatus }));
    expect(result).toMatchObject({ ok, httpStatus: status });
    expect(result.delayMs === null).toBe(!ok);
    expect(result.error?.code).toBe(ok ? undefined : 'unexpected_status');
  });

  it('reports the second request for a unified measurement', async () => {
    const remotePorts = new Set<number>();
    let requests = 0;
    const { port } = await origin((request, response) => {
      remotePorts.add(request.socket.remotePort ?? 0);
      requests += 1;
      // The first answer is slow, the second is not.
      if (requests === 1) setTimeout(() => answers204(request, response), 1_000);
      else answers204(request, response);
    });
    const { socks } = await startNode();
    const result = await prober.probe({ node: socks }, options(port, { unified: true }));
    expect(result).toMatchObject({ ok: true });
    expect(result.delayMs).toBeLessThan(1_000);
    // A delay is at least one millisecond; a time may round to none.
    expect(Math.max(1, result.timings.ttfbMs ?? 0)).toBe(result.delayMs);
    expect([requests, remotePorts.size]).toEqual([2, 1]);
  });

  it('keeps the first delay when the connection carries no second request', async () => {
    let requests = 0;
    const { port } = await origin((_request, response) => {
      requests += 1;
      response.writeHead(204, { connection: 'close' }).end();
    });
    const { socks } = await startNode();
    expect(await prober.probe({ node: socks }, options(port, { unified: true }))).toMatchObject({ ok: true });
    expect(requests).toBe(1);
  });
});

describe('a measurement with TLS', () => {
  const authorities = getCACertificates();
  afterEach(() => setDefaultCACertificates(authorities));
  const secureOrigin = (): Promise<Listening> => listen(createHttpsServer({ cert: CERT, key: KEY }, answers204));

  it('verifies the test server', async () => {
    const { port } = await secureOrigin();
    const { socks } = await startNode();
    const url = `https://origin.test:${port}/`;
    expect(await prober.probe({ node: socks }, options(port, { url }))).toMatchObject({
      ok: false,
      httpStatus: null,
      error: { code: 'tls_error' },
    });
    setDefaultCACertificates([...authorities, CERT]);
    const trusting = createNodeProber({ resolver, now: Date.now });
    expect(await trusting.probe({ node: socks }, options(port, { url, unified: true }))).toMatchObject({ ok: true });
    const other = `https://other.test:${port}/`;
    expect(await trusting.probe({ node: socks }, options(port, { url: other }))).toMatchObject({
      ok: false,
      error: { code: 'tls_error' },
    });
  });
});

describe('a measurement that fails', () => {
  const failing = async (node: ProxyNode, more: Partial<ProbeOptions> = {}): Promise<ProbeResult> => {
    const { port } = await origin(answers204);
    const result = await prober.probe({ node }, options(port, more));
    expect(result).toMatchObject({ ok: false, delayMs: null, testedAt: 4711 });
    return result;
  };

  it('reports that nothing listens at the node', async () => {
    const { port, open } = await listen(createServer());
    for (const cleanup of cleanups.splice(-1)) await cleanup();
    expect(open.size).toBe(0);
    const { error } = await failing({ type: 'socks5', name: 'x', server: '127.0.0.1', port });
    expect(error?.code).toBe('connection_refused');
  });

  it('reports that the node speaks another protocol', async () => {
    const { port } = await listen(createServer((socket) => socket.end('SSH-2.0-x\r\n')));
    const { error } = await failing({ type: 'socks5', name: 'x', server: '127.0.0.1', port });
    expect(error?.code).toBe('protocol_error');
  });

  it('reports that a name has no address', async () => {
    const lost = createNodeProber({
      resolver: { resolve: () => Promise.reject(new DialError('dns', 'dns_error', 'no such name')) },
      now: Date.now,
    });
    const result = await lost.probe({ node: { type: 'http', name: 'x', server: 'gone.test', port: 1 } }, options(1));
    expect(result).toMatchObject({ ok: false, error: { code: 'dns_error' } });
  });

  it.each<[string, (socket: Socket) => void]>([
    ['the node accepts and is silent', (socket) => socket.resume()],
    ['the node sends a byte and is silent', (socket) => socket.resume().write(Buffer.from([5]))],
  ])('ends in time when %s, and leaves nothing open', async (_name, onSocket) => {
    const { port, open, accepted } = await listen(createServer(onSocket));
    const { error, timings } = await failing(
      { type: 'socks5', name: 'x', server: '127.0.0.1', port },
      { timeoutMs: 100 },
    );
    expect(error).toEqual({ code: 'timeout', message: 'no answer within 100 ms' });
    expect(timings).toMatchObject({ ttfbMs: null, handshakeMs: null });
    expect(accepted()).toBe(1);
    await until(() => open.size === 0);
  });

  it('ends in time when the test server is silent', async () => {
    const silent = await origin(() => undefined);
    const { socks } = await startNode();
    const result = await prober.probe({ node: socks }, options(silent.port, { timeoutMs: 150 }));
    expect(result).toMatchObject({ ok: false, error: { code: 'timeout' } });
    expect(result.timings.handshakeMs).not.toBeNull();
    await until(() => silent.open.size === 0);
  });

  it('is reported for an answer that is not HTTP', async () => {
    const { port } = await listen(createServer((socket) => socket.end('hello\r\n\r\n')));
    const { socks } = await startNode();
    const { error } = await prober.probe({ node: socks }, options(port));
    expect(error?.code).toBe('protocol_error');
  });

  it('is reported for invalid nodes, addresses and statuses', async () => {
    const tuic: ProxyNode = { type: 'tuic', name: 'x', server: 'h', port: 1, options: {} };
    expect((await failing(tuic)).error?.code).toBe('unsupported');
    const node: ProxyNode = { type: 'socks5', name: 'x', server: '127.0.0.1', port: 1 };
    expect((await failing(node, { url: 'ftp://x/' })).error?.code).toBe('unsupported');
    expect((await failing(node, { expectedStatus: '2xx' })).error?.code).toBe('invalid_argument');
  });

  it('rejects only when the caller gives up, and leaves nothing open', async () => {
    const silent = await listen(createServer((socket) => socket.resume()));
    const node: ProxyNode = { type: 'socks5', name: 'x', server: '127.0.0.1', port: silent.port };
    const controller = new AbortController();
    const measuring = prober.probe({ node }, options(1, { signal: controller.signal }));
    await until(() => silent.open.size === 1);
    controller.abort(new Error('enough'));
    await expect(measuring).rejects.toThrow('enough');
    await until(() => silent.open.size === 0);
    await expect(prober.probe({ node }, options(1, { signal: controller.signal }))).rejects.toThrow('enough');
  });

  it('fails when the prober closes', async () => {
    const silent = await listen(createServer((socket) => socket.resume()));
    const measuring = prober.probe(
      { node: { type: 'socks5', name: 'x', server: '127.0.0.1', port: silent.port } },
      options(1),
    );
    await until(() => silent.open.size === 1);
    prober.close();
    expect(await measuring).toMatchObject({ ok: false, error: { message: 'the prober was closed' } });
  });
});

describe('the exit address', () => {
  const telling = async (body: string, status = 200) => {
    const { port } = await origin((_request, response) => response.writeHead(status).end(body));
    const { socks } = await startNode();
    return prober.exitAddress({ node: socks }, { url: `http://who.test:${port}/`, timeoutMs: 5000 });
  };

  it.each<[string, string, { ip: string; country: string | null }]>([
    ['trace lines', 'fl=1\nh=x\nip=2001:db8::7\nts=1\nloc=DE\ntls=off\n', { ip: '2001:db8::7', country: 'DE' }],
    ['trace lines without a country', 'ip=192.0.2.1\nloc=XX\n', { ip: '192.0.2.1', country: null }],
    ['JSON', '{"ip":"192.0.2.9","country":"fr","city":"x"}', { ip: '192.0.2.9', country: 'FR' }],
    [
      'JSON with a name',
      '{"query":"192.0.2.9","country":"France","countryCode":"FR"}',
      { ip: '192.0.2.9', country: 'FR' },
    ],
    ['a bare address', ' 192.0.2.3\r\n', { ip: '192.0.2.3', country: null }],
  ])('is read from %s', async (_name, body, expected) => {
    expect(await telling(body)).toEqual(expected);
  });

  it.each([
    ['a page', '<html>no</html>', 200],
    ['broken JSON', '{"ip":', 200],
    ['JSON of another kind', '{"ip":{"v4":"192.0.2.1"}}', 200],
    ['an address that is none', 'ip=999.1.1.1', 200],
    ['an error', '192.0.2.3', 503],
    ['too much', `ip=192.0.2.1\n${'x'.repeat(17 * 1024)}`, 200],
  ])('is not taken from %s', async (_name, body, status) => {
    await expect(telling(body, status)).rejects.toBeInstanceOf(DialError);
  });
});

describe('all at once', () => {
  it('measures each node once, eight at a time on one server', async () => {
    let at = 0;
    let most = 0;
    const { port } = await origin((request, response) => {
      at += 1;
      most = Math.max(most, at);
      setImmediate(() => {
        at -= 1;
        answers204(request, response);
      });
    });
    const { socks } = await startNode();
    const targets = Array.from({ length: 100 }, (_, id) => ({ id, node: socks }));
    const results = new Map<number, ProbeResult>();
    await measureAll(prober, targets, {
      ...options(port),
      onResult: ({ id }, result) => void results.set(id, result),
    });
    expect(results.size).toBe(100);
    expect([...results.values()].every(({ ok }) => ok)).toBe(true);
    expect(most).toBeLessThanOrEqual(8);
  });
});
