import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { HostRig } from '../../test/host-rig.js';
import type { VisitorVerifier } from '../access/visitor-verifier.js';
import type { HostConfig, IpRuleConfig } from '../config.js';
import { createServerIdentity } from '../wire/server-identity.js';

let rig: HostRig;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  await rig.close();
});

const identity = createServerIdentity('a.test');
let hosts: HostConfig[];
let nextId = 0;

function rule(type: 'allow' | 'deny', more: Partial<IpRuleConfig>): IpRuleConfig {
  return { id: ++nextId, scope: 'host', resourceId: 12, type, kind: 'any', pattern: '*', priority: nextId, ...more };
}

/** The targets that a site got, in the order in which they came. */
async function site(rules: IpRuleConfig[], options: Parameters<typeof HostRig.start>[1] = {}): Promise<string[]> {
  const seen: string[] = [];
  rig = await HostRig.start({}, options);
  const port = await rig.origin(
    ({ method, url }, response) => {
      seen.push(`${method} ${url}`);
      response.end('in');
    },
    (server) =>
      server.on('upgrade', ({ url }, socket: Socket) => {
        seen.push(`upgrade ${url}`);
        socket.on('error', () => undefined);
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
      }),
  );
  const { certificate, key } = identity;
  hosts = [rig.hostConfig([port], { certificate: { chain: certificate, key } })];
  await apply(rules);
  return seen;
}

async function apply(ipRules: IpRuleConfig[]): Promise<void> {
  await rig.server.apply(rig.config({ hosts, ipRules }));
}

/** The status of the answer to a request as it is written here. */
async function ask(target: string, method = 'GET'): Promise<number> {
  const text = await rig.raw(`${method} ${target} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`);
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
}

function upgrade(path: string): Promise<{ status: number; socket: Socket }> {
  const socket = connect({ port: rig.http, host: '127.0.0.1' });
  cleanups.push(() => socket.destroy());
  socket.on('error', () => undefined);
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  return new Promise((resolve) =>
    socket.once('data', (head: Buffer) => resolve({ status: Number(head.toString('latin1').slice(9, 12)), socket })),
  );
}

describe('rules about paths', () => {
  it('refuse a path in every spelling before the target is asked', async () => {
    const seen = await site([rule('deny', { paths: ['/admin'] })]);
    for (const path of [
      '/admin',
      '/admin/users?x=1',
      '/ADMIN',
      '//admin',
      '/./admin',
      '/x/../admin',
      '/x/%2e%2e/admin',
      '/%61dmin',
      '/%2561dmin',
      '/admin;a=b',
      '/x/..;/admin',
      '/admin%2fx',
      '/x%2f..%2fadmin',
      '/admin%20',
      'http://a.test/admin',
    ]) {
      expect(await ask(path), path).toBe(403);
    }
    for (const path of ['/admin%00', '/admin#', '/x\\admin', '/../admin', '/%zz/admin']) {
      expect(await ask(path), path).toBe(400);
    }
    expect(seen).toEqual([]);
    expect([await ask('/'), await ask('/administrator'), await ask('/x?/admin')]).toEqual([200, 200, 200]);
    expect(seen).toEqual(['GET /', 'GET /administrator', 'GET /x?/admin']);
  });

  it('allow a path alone, and what is sent to the target is what was allowed', async () => {
    const seen = await site([rule('allow', { paths: ['/public'] })]);
    for (const path of ['/', '/Public', '/public/../x', '/public/..;/x', '/public%2f..%2fx', '/publicity']) {
      expect(await ask(path), path).toBe(403);
    }
    expect([await ask('/x/../public/./a'), await ask('/public?a'), await ask('//public/')]).toEqual([200, 200, 200]);
    expect(seen).toEqual(['GET /public/a', 'GET /public?a', 'GET /public/']);
  });

  it('hold for WebSockets, and end one when they begin to hold', async () => {
    const denies = rule('deny', { paths: ['/admin'] });
    await site([denies]);
    expect((await upgrade('/ADMIN/live')).status).toBe(403);
    const { status, socket } = await upgrade('/live');
    expect(status).toBe(101);
    const other = await upgrade('/other');
    await apply([denies, rule('deny', { paths: ['/live'] })]);
    await waitFor(() => socket.destroyed);
    await waitFor(() => rig.server.flows === 1);
    expect(other.socket.destroyed).toBe(false);
  });

  it('hold for HTTP/2', async () => {
    await site([rule('deny', { paths: ['/admin'] }), rule('deny', { methods: ['POST'] })]);
    const session = connectHttp2(`https://127.0.0.1:${rig.https}`, { ca: identity.certificate, servername: 'a.test' });
    cleanups.push(() => session.destroy());
    const status = async (path: string, more: Record<string, string> = {}): Promise<number> => {
      const stream = session.request({ ':path': path, ':authority': 'a.test', ...more });
      const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
      stream.close();
      return Number(headers[':status']);
    };
    expect(await status('/')).toBe(200);
    for (const path of ['/admin', '/%61DMIN/x', '/x/..;/admin', '//admin']) expect(await status(path), path).toBe(403);
    expect(await status('/', { ':method': 'POST' })).toBe(403);
    // An extended CONNECT is a GET of a WebSocket.
    await waitFor(() => session.remoteSettings.enableConnectProtocol);
    const socket = { ':method': 'CONNECT', ':protocol': 'websocket', 'sec-websocket-version': '13' };
    expect(await status('/admin/live', socket)).toBe(403);
    expect(await status('/live', socket)).toBe(200);
  });
});

describe('rules about methods', () => {
  it('see a method and a path in header fields', async () => {
    const seen = await site([rule('deny', { paths: ['/admin'] }), rule('deny', { methods: ['DELETE'] })]);
    const status = async (field: string): Promise<number> =>
      (await rig.ask({ headers: { [field.split(': ')[0] ?? '']: field.split(': ')[1] ?? '' } })).status;
    expect(await status('X-Original-URL: /admin')).toBe(403);
    expect(await status('X-HTTP-Method-Override: DELETE')).toBe(403);
    expect(await status('X-Original-URL: /x')).toBe(200);
    expect(seen).toEqual(['GET /']);
  });

  it('are about the path before the host replaces a part of it', async () => {
    await site([rule('deny', { paths: ['/app/admin'] })]);
    hosts = hosts.map((host) => ({ ...host, location: '/app', rewritePath: '/' }));
    await apply([rule('deny', { paths: ['/app/admin'] })]);
    expect([await ask('/app/admin'), await ask('/app/x'), await ask('/app/x/../admin')]).toEqual([403, 200, 403]);
  });

  it('let only reads through', async () => {
    const seen = await site([rule('allow', { methods: ['GET'] })]);
    expect([await ask('/'), await ask('/', 'HEAD')]).toEqual([200, 200]);
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'PROPFIND']) {
      expect(await ask('/', method), method).toBe(403);
    }
    expect(seen).toEqual(['GET /', 'HEAD /']);
  });

  it('leave the pages of the gateway itself to visitors that must sign in', async () => {
    const verifier: VisitorVerifier = {
      allows: () => false,
      checkPassword: () => false,
      guards: () => true,
      verify: ({ target }) => ({ allowed: false, answer: { status: 401, headers: [], body: target } }),
    };
    const seen = await site([rule('allow', { paths: ['/public'] })], { verifier });
    expect(await ask('/__gw/login?r=12')).toBe(401);
    expect([await ask('/__GW/login'), await ask('/__gw;/x'), await ask('/__gw')]).toEqual([403, 403, 403]);
    expect(seen).toEqual([]);
  });
});

describe('a host that passes TLS on', () => {
  /** Whether the connection is carried to the target. */
  async function comesIn(rules: IpRuleConfig[]): Promise<boolean> {
    rig = await HostRig.start();
    const port = await rig.origin(() => undefined);
    const target = { host: '127.0.0.1', port, weight: 1, scheme: 'tls', insecure: false } as const;
    hosts = [rig.hostConfig([target], { scheme: 'https' })];
    await apply(rules);
    const socket = connectTls({ port: rig.https, host: '127.0.0.1', servername: 'a.test', rejectUnauthorized: false });
    cleanups.push(() => socket.destroy());
    const error = await new Promise<NodeJS.ErrnoException>((resolve) => {
      socket.on('error', resolve);
      socket.on('close', () => resolve(new Error('closed')));
    });
    // The target answers TLS with HTTP.
    return error.code !== 'ECONNRESET';
  }

  it('refuses whom a rule about requests could deny, because nobody sees what they ask', async () => {
    expect(await comesIn([])).toBe(true);
    await rig.close();
    expect(await comesIn([rule('deny', { paths: ['/admin'] })])).toBe(false);
    await rig.close();
    expect(await comesIn([rule('allow', { methods: ['GET'] })])).toBe(false);
    await rig.close();
    expect(await comesIn([rule('deny', { kind: 'exact', pattern: '192.0.2.1', paths: ['/admin'] })])).toBe(true);
  });
});
