import { once } from 'node:events';
import { request } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import type { Socket } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { HostRig, textOf } from '../../test/host-rig.js';
import { createServerIdentity } from '../wire/server-identity.js';

let rig: HostRig;
afterEach(() => rig.close());

/** A target that answers with its name and what it got. */
function named(name: string): Promise<number> {
  return rig.origin((asked, response) => {
    let bytes = 0;
    asked.on('data', (part: Buffer) => (bytes += part.length));
    asked.on('end', () => response.end(JSON.stringify({ name, url: asked.url, headers: asked.headers, bytes })));
  });
}

interface Mirrored {
  name: string;
  url: string;
  headers: Record<string, string>;
  bytes: number;
}

const read = ({ body }: { body: string }): Mirrored => JSON.parse(body) as Mirrored;

describe('a host that replaces its path', () => {
  it('leaves it out for the target, says so in X-Forwarded-Prefix, and keeps everything else', async () => {
    rig = await HostRig.start();
    await rig.serve(rig.hostConfig([await named('a')], { location: '/app/v1', rewritePath: '/' }));
    const { url, headers } = read(
      await rig.ask({ path: '/app/v1/users%20x/?q=/app/v1', headers: { 'x-forwarded-prefix': '/visitor' } }),
    );
    expect(url).toBe('/users%20x/?q=/app/v1');
    expect(headers['x-forwarded-prefix']).toBe('/app/v1');
    expect(read(await rig.ask({ path: '/app/v1' })).url).toBe('/');
    expect((await rig.ask({ path: '/app/v10' })).status).toBe(404);
  });

  it('puts another one in its place, also for visitors of HTTP/2 and for upgrades', async () => {
    rig = await HostRig.start();
    const port = await rig.origin(
      (asked, response) => response.end(asked.url),
      (server) =>
        server.on('upgrade', ({ url }, socket) => {
          socket.on('error', () => undefined);
          socket.end(`HTTP/1.1 101 x\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n${url}`);
        }),
    );
    const { certificate: chain, key } = createServerIdentity('a.test');
    const certificate = { chain, key };
    await rig.serve(rig.hostConfig([port], { location: '/app', rewritePath: '/inner/x', certificate }));
    expect((await rig.ask({ path: '/app/y?z' })).body).toBe('/inner/x/y?z');
    const session = connectHttp2(`https://127.0.0.1:${rig.https}`, { servername: 'a.test', rejectUnauthorized: false });
    session.on('error', () => undefined);
    const stream = session.request({ ':path': '/app/y', ':authority': 'a.test' }).setEncoding('utf8');
    expect((await stream.toArray()).join('')).toBe('/inner/x/y');
    session.destroy();
    const asked = request({
      port: rig.http,
      host: '127.0.0.1',
      path: '/app/ws',
      headers: { host: 'a.test', connection: 'upgrade', upgrade: 'x' },
    }).end();
    const [, socket, head] = (await once(asked, 'upgrade')) as [unknown, Socket, Buffer];
    socket.on('error', () => undefined);
    const rest = (await socket.toArray()) as Buffer[];
    expect(Buffer.concat([head, ...rest]).toString()).toBe('/inner/x/ws');
  });
});

describe('a host with a limit for bodies', () => {
  const LIMIT = 100_000;

  async function limited(): Promise<void> {
    rig = await HostRig.start();
    await rig.serve(rig.hostConfig([await named('a')], { maxBodyBytes: LIMIT }));
  }

  it('accepts a body of exactly that length, announced or not', async () => {
    await limited();
    const body = Buffer.alloc(LIMIT);
    expect(read(await rig.ask({ method: 'POST', body })).bytes).toBe(LIMIT);
    const chunked = { method: 'POST', body, headers: { 'transfer-encoding': 'chunked' } };
    expect(read(await rig.ask(chunked)).bytes).toBe(LIMIT);
  });

  it('refuses a longer one with 413, and serves the next request', async () => {
    await limited();
    const body = Buffer.alloc(LIMIT + 1);
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      const answer = await rig.ask({ method: 'POST', body, headers: { ...headers, accept: 'text/html' } });
      expect(answer).toMatchObject({ status: 413, headers: { 'x-gw-error': 'body_too_large' } });
      expect(textOf(answer)).toContain('The request is larger than this site accepts.');
    }
    expect((await rig.ask()).status).toBe(200);
  });

  it('does not ask for a body that is announced as longer (RFC 9110 10.1.1)', async () => {
    await limited();
    const answer = await rig.raw(
      `POST / HTTP/1.1\r\nHost: a.test\r\nExpect: 100-continue\r\nContent-Length: ${LIMIT + 1}\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });
});

describe('a host with an error page', () => {
  const errorPage = '<title>{status}</title><p>{reason} {other} {status}</p>';

  it('shows it to browsers in their language where the gateway would show its own', async () => {
    rig = await HostRig.start();
    await rig.serve(rig.hostConfig([1], { errorPage }), rig.hostConfig([1], { id: 13, host: 'b.test' }));
    const browser = { accept: 'text/html,*/*' };
    const answer = await rig.ask({ headers: browser });
    expect(answer).toMatchObject({
      status: 502,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'x-gw-error': 'target_refused',
      },
    });
    expect(answer.headers).not.toHaveProperty('content-security-policy');
    expect(textOf(answer)).toMatch(/^<title>502<\/title><p>[^{}]+ \{other\} 502<\/p>$/);
    const chinese = await rig.ask({ headers: { ...browser, 'accept-language': 'zh-CN' } });
    expect(textOf(chinese)).toMatch(/\p{Script=Han}/u);
    expect(await rig.ask()).toMatchObject({ status: 502, body: '' });
    const other = await rig.ask({ host: 'b.test', headers: browser });
    expect(other.headers).toHaveProperty('content-security-policy');
    expect((await rig.ask({ method: 'HEAD', headers: browser })).body).toBe('');
  });

  it('is shown when the client is offline, and not for names that have no host', async () => {
    rig = await HostRig.start();
    await rig.serve(rig.hostConfig([1], { errorPage }));
    await rig.served?.stop();
    const browser = { accept: 'text/html' };
    await waitFor(async () => (await rig.ask({ headers: browser })).status === 503);
    expect((await rig.ask({ headers: browser })).body).toContain('<title>503</title>');
    expect((await rig.ask({ host: 'other.test', headers: browser })).body).not.toContain('{other}');
  });
});

describe('a sticky host', () => {
  async function three(): Promise<number[]> {
    rig = await HostRig.start();
    return [await named('a'), await named('b'), await named('c')];
  }

  const cookieOf = (answer: { headers: { 'set-cookie'?: string[] | undefined } }): string | undefined =>
    answer.headers['set-cookie']?.[0]?.split(';')[0];

  it('leads a visitor back to the target that it had, which does not see the cookie', async () => {
    await serveSticky(await three());
    const first = await rig.ask();
    const cookie = cookieOf(first) ?? '';
    expect(first.headers['set-cookie']).toEqual([
      expect.stringMatching(/^gw_target_12=[\w-]{16}; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    const { name } = read(first);
    for (let round = 0; round < 6; round += 1) {
      const answer = await rig.ask({ headers: { cookie: `mine=1; ${cookie}; b=2` } });
      expect(read(answer)).toMatchObject({ name, headers: { cookie: 'mine=1; b=2' } });
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
    const others = new Set<string>();
    for (let round = 0; round < 3; round += 1) others.add(read(await rig.ask()).name);
    expect(others).toEqual(new Set(['a', 'b', 'c']));
  });

  it('gives it another target, and another cookie, when the former one is gone or unknown', async () => {
    const [one = 0, two = 0] = await three();
    await serveSticky([one, two]);
    const first = await rig.ask();
    const { name } = read(first);
    const stays = name === 'a' ? two : one;
    await serveSticky([stays]);
    await serveSticky([stays, 1]);
    const moved = await rig.ask({ headers: { cookie: cookieOf(first) ?? '' } });
    expect(read(moved).name).toBe(name === 'a' ? 'b' : 'a');
    expect(cookieOf(moved)).not.toBe(cookieOf(first));
    for (const cookie of ['gw_target_12=', 'gw_target_12=../../x', `gw_target_12=${'x'.repeat(4000)}`]) {
      expect((await rig.ask({ headers: { cookie } })).status).toBe(200);
    }
  });

  it('sets no cookie with one target, and none where it is not sticky', async () => {
    const ports = await three();
    await serveSticky(ports.slice(0, 1));
    expect(cookieOf(await rig.ask())).toBeUndefined();
    await rig.serve(rig.hostConfig(ports));
    const answer = await rig.ask({ headers: { cookie: 'gw_target_12=x' } });
    expect(cookieOf(answer)).toBeUndefined();
  });

  function serveSticky(ports: number[]): Promise<void> {
    return rig.serve(rig.hostConfig(ports, { sticky: true }));
  }
});

describe('a host that redirects', () => {
  const redirect = { to: 'https://new.test/base', status: 301, keepPath: true } as const;

  it('leads to another URL with path and query, with a status of its own, whether an agent is there or not', async () => {
    rig = await HostRig.start();
    await rig.serve(
      rig.hostConfig([1], { redirect, responseHeaders: { 'Strict-Transport-Security': 'max-age=1' } }),
      rig.hostConfig([1], { id: 13, host: 'b.test', redirect: { ...redirect, keepPath: false, status: 307 } }),
    );
    await rig.served?.stop();
    const answer = await rig.ask({ path: '/a%20b/?q=1&r=//x', method: 'POST', body: 'x' });
    expect(answer).toMatchObject({
      status: 301,
      headers: {
        location: 'https://new.test/base/a%20b/?q=1&r=//x',
        'content-length': '0',
        'strict-transport-security': 'max-age=1',
      },
      body: '',
    });
    expect((await rig.ask({ path: '//evil.test' })).headers.location).toBe('https://new.test/base/evil.test');
    expect(await rig.ask({ host: 'b.test', path: '/x?y' })).toMatchObject({
      status: 307,
      headers: { location: 'https://new.test/base' },
    });
  });

  it('leads to another name in the scheme and at the port of the visitor, without its location', async () => {
    rig = await HostRig.start();
    const { certificate: chain, key } = createServerIdentity('a.test');
    const to = { ...redirect, to: 'new.test', status: 308 } as const;
    await rig.serve(
      rig.hostConfig([1], { location: '/app', rewritePath: '/', redirect: to, certificate: { chain, key } }),
    );
    expect((await rig.ask({ path: '/app/x', host: 'a.test:8080' })).headers.location).toBe('http://new.test:8080/x');
    expect((await rig.ask({ path: '/app', host: 'a.test' })).headers.location).toBe('http://new.test/');
    const session = connectHttp2(`https://127.0.0.1:${rig.https}`, { servername: 'a.test', rejectUnauthorized: false });
    session.on('error', () => undefined);
    const stream = session.request({ ':path': '/app/y', ':authority': 'a.test' });
    const [{ location }] = (await once(stream, 'response')) as [{ location: string }];
    expect(location).toBe('https://new.test/y');
    session.destroy();
  });

  it('does so after its rules: a denied address and a disabled client get no redirect', async () => {
    rig = await HostRig.start();
    const hosts = [rig.hostConfig([1], { redirect })];
    const rule = {
      id: 1,
      scope: 'host',
      resourceId: 12,
      type: 'deny',
      kind: 'exact',
      pattern: '127.0.0.1',
      priority: 1,
    };
    await rig.server.apply({ ...rig.config({ hosts }), ipRules: [rule as never] });
    expect(await rig.ask()).toMatchObject({ status: 403, body: '' });
    const disabled = rig.config({ hosts });
    await rig.server.apply({ ...disabled, clients: disabled.clients.map((client) => ({ ...client, enabled: false })) });
    expect((await rig.ask()).status).toBe(503);
  });
});
