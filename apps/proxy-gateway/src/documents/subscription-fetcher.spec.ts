import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { startUpstreamProxy } from '../../test/support/upstream-proxy.js';
import { FetchFailure } from './fetch-failure.js';
import { SubscriptionFetcher } from './subscription-fetcher.js';
import type { FetchRequest } from './subscription-fetcher.js';

const open: { close(): unknown; closeAllConnections?(): void }[] = [];
afterEach(() => {
  for (const server of open.splice(0)) {
    server.closeAllConnections?.();
    server.close();
  }
});

async function serve(listener: RequestListener, address = '127.0.0.1'): Promise<string> {
  const server: Server = createServer(listener).listen(0, address);
  open.push(server);
  await once(server, 'listening');
  return `http://${address}:${(server.address() as AddressInfo).port}`;
}

const wanted = (url: string, more: Partial<FetchRequest> = {}): FetchRequest => ({
  url,
  userAgent: 'clash.meta/test',
  timeoutMs: 5_000,
  maxBytes: 1_000,
  allowPrivate: true,
  etag: null,
  lastModified: null,
  ...more,
});

async function failure(promise: Promise<unknown>): Promise<FetchFailure> {
  const error = await promise.then(
    () => new Error('it did not fail'),
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(FetchFailure);
  return error as FetchFailure;
}

const fetcher = new SubscriptionFetcher();

describe('SubscriptionFetcher', () => {
  it('sends its user agent and validators, and gives the body and headers', async () => {
    let seen: IncomingMessage['headers'] = {};
    const url = await serve((req, res) => {
      seen = req.headers;
      res.setHeader('Subscription-Userinfo', 'upload=1').end('hello');
    });
    const reply = await fetcher.fetch(wanted(url, { etag: '"v1"', lastModified: 'Mon, 01 Jan 2024 00:00:00 GMT' }));
    expect(reply).toMatchObject({ kind: 'content', httpStatus: 200, receivedBytes: 5, content: Buffer.from('hello') });
    expect(reply.headers['subscription-userinfo']).toBe('upload=1');
    expect(seen).toMatchObject({
      'user-agent': 'clash.meta/test',
      'if-none-match': '"v1"',
      'if-modified-since': 'Mon, 01 Jan 2024 00:00:00 GMT',
    });
  });

  it('knows 304', async () => {
    const url = await serve((_req, res) => res.writeHead(304, { etag: '"v1"' }).end());
    expect(await fetcher.fetch(wanted(url, { etag: '"v1"' }))).toMatchObject({ kind: 'not_modified', httpStatus: 304 });
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['zstd', zstdCompressSync],
  ] as const)('reads %s', async (coding, compress) => {
    const url = await serve((_req, res) =>
      res.setHeader('content-encoding', coding).end(compress(Buffer.from('x'.repeat(900)))),
    );
    const reply = await fetcher.fetch(wanted(url));
    expect(reply.kind === 'content' && reply.content.toString()).toBe('x'.repeat(900));
  });

  it('reads stacked encodings and refuses unknown, broken and endless ones', async () => {
    const body = brotliCompressSync(gzipSync('stacked'));
    const stacked = await serve((_req, res) => res.setHeader('content-encoding', 'gzip, br').end(body));
    const reply = await fetcher.fetch(wanted(stacked));
    expect(reply.kind === 'content' && reply.content.toString()).toBe('stacked');
    const bad = await serve((req, res) => res.setHeader('content-encoding', req.url!.slice(1)).end('not compressed'));
    for (const coding of ['gzip', 'snappy', 'gzip,gzip,gzip,gzip']) {
      expect((await failure(fetcher.fetch(wanted(`${bad}/${coding}`)))).reason).toBe('bad_encoding');
    }
  });

  it('accepts a body of exactly the limit and refuses one byte more, without cutting it', async () => {
    const url = await serve((req, res) => res.end('x'.repeat(Number(req.url!.slice(1)))));
    expect(await fetcher.fetch(wanted(`${url}/1000`))).toMatchObject({ receivedBytes: 1000 });
    expect((await failure(fetcher.fetch(wanted(`${url}/1001`)))).reason).toBe('too_large');
  });

  it('refuses a small body that decompresses past the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(500_000));
    expect(bomb.length).toBeLessThan(1_000);
    const url = await serve((_req, res) => res.setHeader('content-encoding', 'gzip').end(bomb));
    expect((await failure(fetcher.fetch(wanted(url)))).reason).toBe('too_large');
  });

  it('refuses a body that ends before its stated length', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort'));
    }).listen(0, '127.0.0.1');
    open.push(server);
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect((await failure(fetcher.fetch(wanted(url)))).reason).toBe('network_error');
  });

  it('reports errors of the provider with their status', async () => {
    const url = await serve((_req, res) => res.writeHead(503).end('busy'));
    expect(await failure(fetcher.fetch(wanted(url)))).toMatchObject({ reason: 'http_status', httpStatus: 503 });
  });

  it('gives up on a silent provider, before the headers and within the body', async () => {
    const url = await serve((req, res) => {
      if (req.url === '/body') res.write('a few bytes, then nothing');
    });
    for (const path of ['/headers', '/body']) {
      expect((await failure(fetcher.fetch(wanted(url + path, { timeoutMs: 200 })))).reason).toBe('timeout');
    }
  });

  it('reports a refused connection without naming the URL', async () => {
    const server = createTcpServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const error = await failure(fetcher.fetch(wanted(`http://127.0.0.1:${port}/?token=secret`)));
    expect(error.reason).toBe('network_error');
    expect(error.message).not.toContain('secret');
  });

  it('follows five redirects and not six', async () => {
    const url = await serve((req, res) => {
      const left = Number(req.url!.slice(1));
      if (left === 0) res.end('there');
      else res.writeHead(302, { location: `/${left - 1}` }).end();
    });
    expect(await fetcher.fetch(wanted(`${url}/5`))).toMatchObject({ kind: 'content' });
    expect((await failure(fetcher.fetch(wanted(`${url}/6`)))).reason).toBe('too_many_redirects');
  });

  it('refuses to be redirected to another scheme', async () => {
    const url = await serve((_req, res) => res.writeHead(302, { location: 'file:///etc/passwd' }).end());
    expect((await failure(fetcher.fetch(wanted(url)))).reason).toBe('network_error');
  });

  it('keeps a percent sign in credentials that encodes nothing', async () => {
    const seen: (string | undefined)[] = [];
    const url = await serve((req, res) => {
      seen.push(req.headers.authorization);
      res.end('x');
    });
    await fetcher.fetch(wanted(url.replace('//', '//100%zz:%e2%82%acp%@')));
    expect(Buffer.from(seen[0]!.slice(6), 'base64').toString()).toBe('100%zz:€p%');
  });

  it('reports how long the provider asks to wait', async () => {
    const url = await serve((req, res) =>
      res.writeHead(429, req.url === '/' ? {} : { 'retry-after': decodeURIComponent(req.url!.slice(1)) }).end(),
    );
    const retryAfter = async (value: string): Promise<number | null> =>
      (await failure(fetcher.fetch(wanted(`${url}/${encodeURIComponent(value)}`)))).retryAfterMs;
    expect(await retryAfter('')).toBeNull();
    expect(await retryAfter('120')).toBe(120_000);
    expect(await retryAfter('soon')).toBeNull();
    expect(await retryAfter(new Date(Date.now() + 60_000).toUTCString())).toBeGreaterThan(50_000);
    expect(await retryAfter(new Date(Date.now() - 60_000).toUTCString())).toBeNull();
  });

  it('sends the credentials of the URL to its own origin only', async () => {
    const seen: (string | undefined)[] = [];
    const other = await serve((req, res) => {
      seen.push(req.headers.authorization);
      res.end('x');
    });
    const url = await serve((req, res) => {
      seen.push(req.headers.authorization);
      res.writeHead(302, { location: other }).end();
    });
    await fetcher.fetch(wanted(url.replace('//', '//user:p%40ss@')));
    expect(seen).toEqual([`Basic ${Buffer.from('user:p@ss').toString('base64')}`, undefined]);
  });
});

describe('SubscriptionFetcher and private addresses', () => {
  // Here 127.0.0.2 stands for the public internet and 127.0.0.1 for a private network.
  const permits = (address: string): boolean => address !== '127.0.0.1';
  const answer = (...addresses: string[]) => Promise.resolve(addresses.map((address) => ({ address, family: 4 })));
  const guarded = (url: string): FetchRequest => wanted(url, { allowPrivate: false });

  it.each([
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://169.254.169.254/',
    'http://[::ffff:10.0.0.1]/',
    'http://localhost/',
    'http://localhost./',
    'http://foo.localhost/',
    'http://0177.0.0.1/',
    'http://168.63.129.16/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
  ])('does not dial %s', async (url) => {
    expect((await failure(fetcher.fetch(guarded(url)))).reason).toBe('blocked_address');
  });

  it('does not follow a redirect to a private address', async () => {
    let reached = false;
    const inside = await serve((_req, res) => {
      reached = true;
      res.end('secret');
    });
    const outside = await serve((_req, res) => res.writeHead(302, { location: inside }).end(), '127.0.0.2');
    const error = await failure(new SubscriptionFetcher({ permits }).fetch(guarded(outside)));
    expect([error.reason, reached]).toEqual(['blocked_address', false]);
  });

  it('judges the address it dials, when the name answers differently the second time', async () => {
    const answers = ['127.0.0.2', '127.0.0.1'];
    const rebinding = new SubscriptionFetcher({ resolve: () => answer(answers.shift()!), permits });
    const url = await serve(
      (_req, res) => res.setHeader('connection', 'close').writeHead(302, { location: '/again' }).end(),
      '127.0.0.2',
    );
    const error = await failure(rebinding.fetch(guarded(url.replace('127.0.0.2', 'rebind.test'))));
    expect([error.reason, answers]).toEqual(['blocked_address', []]);
  });

  it('refuses a name with one private address among public ones', async () => {
    const mixed = new SubscriptionFetcher({ resolve: () => answer('8.8.8.8', '10.0.0.1') });
    expect((await failure(mixed.fetch(guarded('http://mixed.test/')))).reason).toBe('blocked_address');
  });

  it('is as strict through a proxy, as far as this side can know', async () => {
    await using proxy = await startUpstreamProxy();
    const inside = await serve((_req, res) => res.end('secret'));
    const outside = await serve((_req, res) => res.writeHead(302, { location: inside }).end(), '127.0.0.2');
    const names: Record<string, string> = { 'inside.test': '127.0.0.1', 'outside.test': '127.0.0.2' };
    const resolve = (host: string) => (names[host] ? answer(names[host]) : Promise.reject(new Error('unknown')));
    const through = new SubscriptionFetcher({ resolve, permits });
    const via = (url: string, guardsTargets = true): FetchRequest => ({
      ...guarded(url),
      proxy: { url: `http://127.0.0.1:${proxy.port}`, guardsTargets },
    });
    for (const url of [inside, inside.replace('127.0.0.1', 'inside.test')]) {
      expect((await failure(through.fetch(via(url)))).reason).toBe('blocked_address');
    }
    expect(proxy.targets.length).toBe(0);
    expect((await failure(through.fetch(via(outside)))).reason).toBe('blocked_address');
    expect(proxy.targets.length).toBe(1);
    for (const name of ['localhost.', 'foo.localhost', 'printer.local', 'metadata.google.internal']) {
      expect((await failure(through.fetch(via(`http://${name}/`)))).reason).toBe('blocked_address');
    }
    // A proxy that judges its targets may resolve a name that only it knows.
    expect((await failure(through.fetch(via('http://known-elsewhere.test/', false)))).reason).toBe('network_error');
    expect(proxy.targets.length).toBe(1);
    expect((await failure(through.fetch(via('http://known-elsewhere.test/')))).reason).toBe('network_error');
    expect(proxy.targets.length).toBe(2);
  });

  it('asks the proxy for the address that was checked, and sends the name', async () => {
    await using proxy = await startUpstreamProxy();
    const proxied = { proxy: { url: `http://127.0.0.1:${proxy.port}`, guardsTargets: true } };
    const through = new SubscriptionFetcher({ resolve: () => answer('127.0.0.2'), permits });
    const url = await serve((req, res) => res.end(req.headers.host), '127.0.0.2');
    const { port } = new URL(url);
    const reply = await through.fetch({ ...guarded(`http://outside.test:${port}/`), ...proxied });
    expect(reply.kind === 'content' && reply.content.toString()).toBe(`outside.test:${port}`);
    expect(proxy.targets).toEqual([`127.0.0.2:${port}`]);

    let hello = '';
    const tls = createTcpServer((socket) => {
      socket
        .on('error', () => undefined)
        .once('data', (chunk) => {
          hello = chunk.toString('latin1');
          socket.destroy();
        });
    }).listen(0, '127.0.0.2');
    open.push(tls);
    await once(tls, 'listening');
    const secure = `outside.test:${(tls.address() as AddressInfo).port}`;
    await failure(through.fetch({ ...guarded(`https://${secure}/`), ...proxied }));
    expect(hello).toContain('outside.test');
    expect(proxy.targets.at(-1)).toBe(secure.replace('outside.test', '127.0.0.2'));
  });
});
