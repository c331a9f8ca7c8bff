import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GuardedHost, policy } from '../../test/verification-rig.js';
import type { VisitorPolicyConfig } from '../index.js';

let host: GuardedHost;
let asked: IncomingMessage[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let callbackUrl: string;

beforeEach(async () => {
  host = await GuardedHost.start({ timeouts: { callback: 300 } });
  asked = [];
  callbackUrl = await host.service((request, response) => {
    asked.push(request);
    answer(request, response);
  });
});
afterEach(() => host.close());

function callback(more: Partial<VisitorPolicyConfig> = {}): VisitorPolicyConfig {
  const url = `${callbackUrl}/check?app=1`;
  return policy({
    id: 4,
    type: 'callback',
    password: null,
    callbackUrl: url,
    allowPrivate: true,
    ttlSeconds: 0,
    ...more,
  });
}

describe('a host with a callback server', () => {
  it('describes the visitor to the server with its own values only', async () => {
    answer = (_, response) => response.end();
    await host.guard(callback());
    const spoofed = {
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-For': '192.0.2.66',
      'X-Forwarded-Uri': '/public',
      'X-Forwarded-Method': 'OPTIONS',
      'X-Forwarded-Prefix': '/admin',
      'X-Forwarded-User': 'root',
      X_Forwarded_Proto: 'gopher',
      X_Forwarded_Uri: '/public',
      'X-Forwarded_For': '192.0.2.67',
      'X-Original-URL': 'https://a.test/public',
      'X-Real-IP': '192.0.2.68',
      Forwarded: 'for=192.0.2.69',
      'X-Gw-Resource': 'host/1',
      'X-Gw_Resource': 'host/1',
      Cookie: 'session=1; gwv_4=own; gwc=own',
      Authorization: 'Bearer of the site',
      'User-Agent': 'curious',
      'X-Own': 'of the site',
    };
    expect((await host.rig.ask({ method: 'PUT', path: '/secret?x=1', headers: spoofed, body: 'payload' })).status).toBe(
      200,
    );
    const [request] = asked;
    expect(request?.method).toBe('GET');
    expect(request?.url).toBe('/check?app=1');
    expect(request?.headers).toEqual({
      'x-forwarded-method': 'PUT',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'a.test',
      'x-forwarded-uri': '/secret?x=1',
      'x-forwarded-for': '192.0.2.66',
      'x-real-ip': '192.0.2.66',
      'x-original-method': 'PUT',
      'x-original-url': 'https://a.test/secret?x=1',
      'x-gw-resource': 'host/12',
      cookie: 'session=1',
      authorization: 'Bearer of the site',
      'user-agent': 'curious',
      host: new URL(callbackUrl).host,
      connection: 'keep-alive',
    });
    const [seen] = host.seen;
    expect(seen?.headers.authorization).toBe('Bearer of the site');
    for (const name of ['x-forwarded-prefix', 'x-forwarded-user', 'x_forwarded_proto', 'x-forwarded-uri']) {
      expect(seen?.headers).not.toHaveProperty(name);
    }
  });

  it('passes on the configured fields, and never the visitor’s version of them', async () => {
    answer = (request, response) => {
      if (request.headers['x-original-method'] === 'GET') response.setHeader('X-User', 'ann');
      response.setHeader('X-Other', 'not configured');
      response.setHeader('X-Forwarded-For', '192.0.2.1');
      response.setHeader('Set-Cookie', 'own=1');
      response.writeHead(204).end();
    };
    await host.guard(callback({ copyHeaders: ['X-User', 'X-Forwarded-For', 'Host', 'Set-Cookie', 'Content-Length'] }));
    const headers = { 'x-user': 'root', 'X-USER': 'root', x_user: 'root' };
    const got = await host.rig.ask({ headers });
    expect(got.headers).not.toHaveProperty('set-cookie');
    await host.rig.ask({ method: 'POST', headers });
    expect(host.seen.map((seen) => [seen.headers['x-user'], seen.headers['x_user'], seen.headers['x-other']])).toEqual([
      ['ann', undefined, undefined],
      [undefined, undefined, undefined],
    ]);
    expect(host.seen[0]?.headers).toMatchObject({ host: 'a.test', 'x-forwarded-for': '127.0.0.1' });
  });

  it('drops the fields of a callback if another policy admitted the visitor', async () => {
    answer = (_, response) => response.writeHead(403).end();
    await host.guard(callback({ copyHeaders: ['X-User'] }), policy());
    const browser = host.browser({ 'x-user': 'root' });
    await browser.logIn('open sesame');
    expect((await browser.ask()).status).toBe(200);
    expect(host.seen[0]?.headers).not.toHaveProperty('x-user');
  });

  it('relays the server’s answer to refused visitors', async () => {
    answer = (_, response) => {
      response.setHeader('Location', 'https://login.test/?back=1');
      response.setHeader('Set-Cookie', ['a=1; Path=/', 'b=2']);
      response.setHeader('X-Internal', 'secret');
      response.setHeader('Content-Type', 'text/html');
      response.writeHead(302).end('<p>this way</p>');
    };
    await host.guard(callback());
    const got = await host.rig.ask();
    expect(got).toMatchObject({ status: 302, body: '<p>this way</p>' });
    expect(got.headers).toMatchObject({
      location: 'https://login.test/?back=1',
      'set-cookie': ['a=1; Path=/', 'b=2'],
      'content-type': 'text/html',
      'cache-control': 'no-store',
    });
    expect(got.headers).not.toHaveProperty('x-internal');
    expect(asked).toHaveLength(1);
    answer = (_, response) => response.writeHead(403, { 'content-type': 'text/plain' }).end('x'.repeat(65_537));
    expect(await host.rig.ask()).toMatchObject({ status: 403, body: '' });
    answer = (_, response) => response.writeHead(403).end('x'.repeat(65_536));
    expect((await host.rig.ask()).body).toHaveLength(65_536);
    expect(host.seen).toEqual([]);
    expect(host.gate.failures).toMatchObject([{ policyId: 4, resource: { kind: 'host', id: 12 } }]);
  });

  it('admits nobody while the server cannot be asked', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await host.guard(callback({ callbackUrl: `http://127.0.0.1:${port}/` }));
    expect(await host.rig.ask()).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    await host.guard(callback());
    for (const failure of [
      (response: ServerResponse) => void response.socket?.destroy(),
      (response: ServerResponse) => void response.socket?.end('HTTP/1.1 999 What\r\n\r\n'),
      (response: ServerResponse) => void response.socket?.end('nonsense\r\n\r\n'),
      (response: ServerResponse) => void response.writeHead(200, { 'content-length': '10' }).write('cut'),
      () => undefined,
    ]) {
      answer = (_, response) => failure(response);
      expect((await host.rig.ask()).status).toBe(503);
    }
    for (const url of [null, '', 'nothing', 'file:///etc/passwd', 'ftp://127.0.0.1/']) {
      await host.guard(callback({ callbackUrl: url }));
      expect((await host.rig.ask()).status).toBe(503);
    }
    expect(host.seen).toEqual([]);
  });

  it('asks once for the same credentials for as long as the policy says', async () => {
    answer = (_, response) => response.writeHead(200, { 'x-user': 'ann' }).end();
    const cached = callback({ ttlSeconds: 60, copyHeaders: ['X-User'] });
    await host.guard(cached);
    const browser = host.browser({ authorization: 'Bearer ann' });
    for (let times = 0; times < 3; times += 1) expect((await browser.ask()).status).toBe(200);
    expect(asked).toHaveLength(1);
    expect(host.seen.map(({ headers }) => headers['x-user'])).toEqual(['ann', 'ann', 'ann']);
    await browser.ask({ headers: { authorization: 'Bearer bob' } });
    expect(asked).toHaveLength(2);
    await host.guard({ ...cached, version: 2 });
    await browser.ask();
    expect(asked).toHaveLength(3);
    host.gate.clock.now += 60_000;
    await browser.ask();
    expect(asked).toHaveLength(4);
    await host.guard(callback());
    await browser.ask();
    await browser.ask();
    expect(asked).toHaveLength(6);
  });

  it('asks separately for each host of the same name', async () => {
    answer = (request, response) =>
      response.writeHead(request.headers['x-gw-resource'] === 'host/12' ? 200 : 403).end();
    const client = { kind: 'client' as const, id: host.rig.owner.record.id };
    await host.guardLocations({ 12: '/', 13: '/admin' }, callback({ resource: client, ttlSeconds: 60 }));
    const browser = host.browser();
    expect((await browser.ask()).status).toBe(200);
    expect((await browser.ask({ path: '/admin' })).status).toBe(403);
  });

  it('still offers people the other policies', async () => {
    answer = (_, response) => response.writeHead(403).end('no');
    await host.guard(callback(), policy());
    expect(await host.rig.ask({ headers: { accept: 'text/html' } })).toMatchObject({ status: 401 });
    expect(await host.rig.ask()).toMatchObject({ status: 403, body: 'no' });
  });

  it('calls public servers only, unless an administrator allows others', async () => {
    answer = (_, response) => response.end();
    const port = new URL(callbackUrl).port;
    for (const url of [
      callbackUrl,
      `https://127.0.0.1:${port}/`,
      `https://[::ffff:127.0.0.1]:${port}/`,
      `https://0x7f.1:${port}/`,
      `https://0177.0.0.1:${port}/`,
      `https://2130706433:${port}/`,
      `https://localhost:${port}/`,
      `https://localhost.:${port}/`,
      `https://x.localhost:${port}/`,
      'https://168.63.129.16/',
      'https://[64:ff9b::7f00:1]/',
    ]) {
      await host.guard(callback({ callbackUrl: url, allowPrivate: false }));
      expect((await host.rig.ask()).status).toBe(503);
    }
    expect(asked).toHaveLength(0);
  });
});

describe('a name with a private address', () => {
  it('is not called, whatever address it had before', async () => {
    const answers = [['192.0.2.1'], ['127.0.0.1'], ['192.0.2.2', '10.0.0.1'], ['::ffff:127.0.0.1']];
    const judged: string[] = [];
    const rebinding = await GuardedHost.start({
      plainCallbackHosts: ['auth.test'],
      timeouts: { callback: 300 },
      resolve: async () =>
        (answers.shift() ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      permits: (address) => {
        judged.push(address);
        return address === '192.0.2.1' ? false : !/^(?:127|10)\.|^::/.test(address);
      },
    });
    try {
      let reached = 0;
      const inside = await rebinding.service((_, response) => {
        reached += 1;
        response.end();
      });
      const url = `http://auth.test:${new URL(inside).port}/`;
      const guarded = policy({ type: 'callback', callbackUrl: url, ttlSeconds: 0 });
      await rebinding.guard(guarded);
      for (let times = 0; times < 5; times += 1) expect((await rebinding.rig.ask()).status).toBe(503);
      expect(reached).toBe(0);
      expect(judged).toEqual(['192.0.2.1', '127.0.0.1', '192.0.2.2', '10.0.0.1', '::ffff:127.0.0.1']);
      // A connection that an administrator's policy opened is not lent to others.
      answers.push(['127.0.0.1'], ['127.0.0.1']);
      await rebinding.guard({ ...guarded, allowPrivate: true });
      expect((await rebinding.rig.ask()).status).toBe(200);
      await rebinding.guard({ ...guarded, version: 2 });
      expect((await rebinding.rig.ask()).status).toBe(503);
      expect(reached).toBe(1);
    } finally {
      await rebinding.close();
    }
  });
});
