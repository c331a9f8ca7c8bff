import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { howItEnds, readAll, TunnelRig } from '../../test/tunnel-rig.js';
import { udpSocket } from '../../test/udp-rig.js';
import { formOf, gatekeeper, policy, type Gatekeeper } from '../../test/verification-rig.js';
import { MemoryGrantStore, type TunnelConfig, type VisitorPolicyConfig } from '../index.js';

let rig: TunnelRig;
let gate: Gatekeeper;
let got: string;
let target: number;

beforeEach(async () => {
  gate = gatekeeper({ timeouts: { greeting: 500, callback: 300 } });
  rig = new TunnelRig(gate.environment);
  await rig.listen();
  rig.agent(rig.client().key);
  await rig.online(1);
  got = '';
  target = await rig.target((socket) => {
    socket.on('data', (part) => {
      got += String(part);
      socket.write(`echo ${String(part)}`);
    });
    socket.on('end', () => socket.end());
  });
});
afterEach(() => rig.close());

const guarded = (more: Partial<VisitorPolicyConfig> = {}): VisitorPolicyConfig =>
  policy({ resource: { kind: 'tunnel', id: 7 }, ...more });

/** Keeps the port from one configuration to the next. */
let listen = { host: '127.0.0.1', port: 0 };
afterEach(() => (listen = { host: '127.0.0.1', port: 0 }));

async function serve(policies: VisitorPolicyConfig[], more: Partial<TunnelConfig> = {}): Promise<number> {
  const tunnels = [rig.tunnelConfig(1, [target], { listen, ...more })];
  const [state] = await rig.server.apply(rig.config({ tunnels, policies }));
  listen = { ...listen, port: state?.port ?? 0 };
  return listen.port;
}

const grant = (password = 'open sesame', more = {}) =>
  rig.server.grant({ tunnelId: 7, policyId: null, address: '127.0.0.1', password, ...more });

/** What the port says to these bytes, or how it ends without a word. */
async function say(text: string): Promise<string> {
  const socket = rig.visitor(listen.port);
  socket.write(text);
  const all = readAll(socket).then(String, (error: NodeJS.ErrnoException) => error.code ?? error.message);
  return all;
}

async function echoes(): Promise<boolean> {
  const socket = rig.visitor(listen.port);
  const ended = new Promise<boolean>((resolve) => socket.on('error', () => resolve(false)));
  const answered = new Promise<boolean>((resolve) =>
    socket.once('data', (part) => resolve(String(part) === 'echo hello')),
  );
  socket.write('hello');
  const result = await Promise.race([ended, answered]);
  socket.destroy();
  return result;
}

const browse = (path: string, more = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${listen.port}\r\nAccept: text/html\r\n${more}\r\n`;

function post(page: string, password: string, more: { cookie?: string; next?: string } = {}): string {
  const { action, fields } = formOf({ body: page });
  const cookie = more.cookie ?? /set-cookie: (gwc=[^;]+)/i.exec(page)?.[1] ?? '';
  fields.set('password', password);
  if (more.next !== undefined) fields.set('next', more.next);
  const body = fields.toString();
  return `POST ${action} HTTP/1.1\r\nHost: 127.0.0.1:${listen.port}\r\nAccept: text/html\r\nCookie: ${cookie}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

describe('a raw tunnel with a password', () => {
  it('resets visitors from other addresses, and none of their bytes reaches the target', async () => {
    await serve([guarded()]);
    for (const text of [
      'SSH-2.0-x\r\n',
      '\x16\x03\x01',
      'GET',
      'GETX / HTTP/1.1\r\n',
      'OPTIONS / HTTP/1.1\r\n\r\n',
      'P',
    ]) {
      expect(await say(text)).toBe('ECONNRESET');
    }
    expect(got).toBe('');
    expect(gate.failures).toMatchObject([{ resource: { kind: 'tunnel', id: 7 }, address: '127.0.0.1', policyId: 1 }]);
    await waitFor(() => rig.server.flows === 0);
  });

  it('lets a silent visitor wait only briefly', async () => {
    await serve([guarded()]);
    expect(await howItEnds(await rig.visit(listen.port))).toBe('ECONNRESET');
    const slow = await rig.visit(listen.port);
    slow.write('GET / HTTP/1.1\r\nHost: a\r\nX-');
    expect(await howItEnds(slow)).toBe('ECONNRESET');
  });

  it('admits an address through the administration’s method until the grant expires', async () => {
    await serve([guarded()]);
    expect(await grant('wrong')).toEqual({ granted: false, reason: 'wrong' });
    expect(await grant('open sesame', { tunnelId: 8 })).toEqual({ granted: false, reason: 'unknown' });
    expect(await grant('open sesame', { policyId: 2 })).toEqual({ granted: false, reason: 'unknown' });
    expect(await grant('open sesame', { address: '0.0.0.0/0' })).toEqual({ granted: false, reason: 'unknown' });
    expect(await grant('open sesame', { address: '127.0.0.2' })).toMatchObject({ granted: true });
    expect(await echoes()).toBe(false);
    const until = gate.clock.now + 7_200_000;
    expect(await grant('open sesame', { address: '::ffff:127.0.0.1' })).toEqual({ granted: true, until, once: false });
    expect([await echoes(), await echoes()]).toEqual([true, true]);
    gate.clock.now = until;
    expect(await echoes()).toBe(false);
    for (let tries = 0; tries < 5; tries += 1) await grant('wrong');
    expect(await grant()).toMatchObject({ granted: false, reason: 'limited', retryAfter: 60 });
  });

  it('admits one connection if the duration is zero', async () => {
    await serve([guarded({ ttlSeconds: 0 })]);
    expect(await grant()).toMatchObject({ granted: true, once: true });
    expect([await echoes(), await echoes()]).toEqual([true, false]);
    await grant();
    gate.clock.now += 60_000;
    expect(await echoes()).toBe(false);
  });

  it('shows its form on its own port, and accepts it there', async () => {
    await serve([guarded()]);
    const page = await say(browse('/a?b=1'));
    expect(page).toMatch(/^HTTP\/1.1 401 /);
    expect(page).toMatch(/connection: close/i);
    expect(await say(post(page, 'wrong'))).toMatch(/^HTTP\/1.1 401 [^]*Wrong password/);
    expect(await say(post(page, 'open sesame', { cookie: '' }))).toMatch(/^HTTP\/1.1 403 /);
    expect(await echoes()).toBe(false);
    expect(await say(post(page, 'open sesame', { next: '//evil.test' }))).toMatch(
      /^HTTP\/1.1 303 [^]*location: \/\r\n/,
    );
    // The next request is the target's, whatever it looks like.
    const socket = await rig.visit(listen.port);
    socket.write(browse('/a?b=1'));
    expect(String(await once(socket, 'data'))).toBe(`echo ${browse('/a?b=1')}`);
    socket.destroy();
  });

  it('answers programs and invalid requests, and serves one request per connection', async () => {
    await serve([guarded()]);
    expect(await say('GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(
      /^HTTP\/1.1 401 [^]*"error":"visitor_auth"/,
    );
    expect(await say('HEAD / HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n')).toMatch(
      /^HTTP\/1.1 401 [^]*\r\n\r\n$/,
    );
    expect(await say('GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /);
    expect(
      await say(
        'POST /__gw/auth/1 HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 90000\r\n\r\n' +
          'x'.repeat(9000),
      ),
    ).toMatch(/^HTTP\/1.1 413 /);
    expect(got).toBe('');
  });

  it('ends grants and their connections when the policy changes', async () => {
    await serve([guarded()]);
    await grant();
    const socket = await rig.visit(listen.port);
    socket.write('hello');
    await once(socket, 'data');
    const ended = howItEnds(socket);
    await serve([guarded()]);
    expect(rig.server.flows).toBe(1);
    await serve([guarded({ version: 2 })]);
    expect(await ended).toBe('ECONNRESET');
    expect(await echoes()).toBe(false);
    await serve([]);
    expect(await echoes()).toBe(true);
  });

  it('resets connections from before the policy was added', async () => {
    await serve([]);
    const socket = await rig.visit(listen.port);
    socket.write('hello');
    await once(socket, 'data');
    const ended = howItEnds(socket);
    await serve([guarded()]);
    expect(await ended).toBe('ECONNRESET');
  });

  it('cannot be opened by policies that do not work for raw bytes', async () => {
    await serve([guarded({ type: 'basic', password: 'ann:is:x' }), guarded({ id: 2, type: 'oauth' })]);
    expect(await say(browse('/'))).toBe('ECONNRESET');
    expect(await grant('x')).toEqual({ granted: false, reason: 'unknown' });
  });

  it('shares grants between processes', async () => {
    const stores = [0, 1].map(() => new MemoryGrantStore(() => gate.clock.now));
    const [here, there] = stores as [MemoryGrantStore, MemoryGrantStore];
    here.put({
      tunnelId: 7,
      address: '127.0.0.1',
      policyId: 1,
      policyVersion: 1,
      until: gate.clock.now + 1000,
      once: false,
    });
    const changes = here.takeChanges();
    expect(here.takeChanges()).toEqual([]);
    there.receive(changes);
    expect(there.takeChanges()).toEqual([]);
    expect(there.list()).toEqual(here.list());
    there.remove({ tunnelId: 7, address: '127.0.0.1', policyId: 1 });
    here.receive(there.takeChanges());
    expect(here.size).toBe(0);
    await rig.close();
    gate = gatekeeper({ grants: there });
    rig = new TunnelRig(gate.environment);
    await rig.listen();
    rig.agent(rig.client().key);
    await rig.online(1);
    target = await rig.echo();
    await serve([guarded()]);
    const visit = async (): Promise<string> => {
      const socket = await rig.visit(listen.port);
      socket.end('hello');
      return readAll(socket).then(String, () => 'reset');
    };
    expect(await visit()).toBe('reset');
    there.receive(changes);
    expect(await visit()).toBe('hello');
  });
});

describe('a UDP tunnel with a password', () => {
  it('drops datagrams silently until the address is admitted', async () => {
    const echo = await udpSocket();
    const visitors = [await udpSocket(), await udpSocket()] as const;
    let reached = 0;
    echo.on('message', (payload, from) => {
      reached += 1;
      echo.send(payload, from.port, from.address);
    });
    try {
      target = echo.address().port;
      const port = await serve([guarded()], { mode: 'udp' });
      visitors[0].send('early', port, '127.0.0.1');
      await waitFor(() => gate.failures.length === 1);
      await grant();
      visitors[1].send('hello', port, '127.0.0.1');
      expect(String((await once(visitors[1], 'message'))[0])).toBe('hello');
      expect(reached).toBe(1);
    } finally {
      for (const socket of [echo, ...visitors]) socket.close();
    }
  });
});

describe('a raw tunnel with a callback server', () => {
  let service: Server;
  let asked: { request: IncomingMessage; body: string }[];
  let answer: (response: ServerResponse) => void;
  let callback: (more?: Partial<VisitorPolicyConfig>) => VisitorPolicyConfig;

  beforeEach(async () => {
    asked = [];
    service = createServer((request, response) => {
      let body = '';
      request.on('data', (part) => (body += String(part)));
      request.on('end', () => {
        asked.push({ request, body });
        answer(response);
      });
    }).listen(0, '127.0.0.1');
    await once(service, 'listening');
    const callbackUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}/who`;
    callback = (more = {}) =>
      guarded({ id: 4, type: 'callback', callbackUrl, allowPrivate: true, ttlSeconds: 60, ...more });
  });
  afterEach(() => {
    service.closeAllConnections();
    service.close();
  });
  const json = (value: unknown) => (response: ServerResponse) => void response.end(JSON.stringify(value));

  it('sends the server what is known about the visitor', async () => {
    answer = json({ allow: true });
    await serve([callback()]);
    expect([await echoes(), await echoes()]).toEqual([true, true]);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.request).toMatchObject({ method: 'POST', url: '/who' });
    const body = JSON.parse(asked[0]?.body ?? '') as { port: number };
    expect(body).toEqual({ ip: '127.0.0.1', port: body.port, resource_type: 'tunnel', resource_id: 7, client_id: 1 });
    expect(body.port).toBeGreaterThan(0);
    gate.clock.now += 60_000;
    await echoes();
    expect(asked).toHaveLength(2);
  });

  it('uses the duration in the answer', async () => {
    answer = json({ allow: true, ttl: 0 });
    await serve([callback()]);
    expect([await echoes(), await echoes()]).toEqual([true, true]);
    expect(asked).toHaveLength(2);
    answer = json({ allow: true, ttl: 5 });
    expect([await echoes(), await echoes()]).toEqual([true, true]);
    expect(asked).toHaveLength(3);
    gate.clock.now += 5000;
    await echoes();
    expect(asked).toHaveLength(4);
  });

  it('refuses everyone who is not explicitly allowed, and everyone while the server cannot be asked', async () => {
    await serve([callback()]);
    for (const value of [
      {},
      { allow: false },
      { allow: 'true' },
      { allow: 1 },
      [true],
      null,
      { allow: true, ttl: -1 },
      { allow: true, ttl: '5' },
    ]) {
      answer = json(value);
      expect(await echoes()).toBe(false);
    }
    for (const failure of [
      (response: ServerResponse) => void response.writeHead(500).end('{"allow":true}'),
      (response: ServerResponse) => void response.writeHead(302, { location: '/yes' }).end('{"allow":true}'),
      (response: ServerResponse) => void response.end('{"allow":true'),
      (response: ServerResponse) => void response.end(`{"allow":true,"x":"${'x'.repeat(70_000)}"}`),
      (response: ServerResponse) => void response.socket?.destroy(),
      () => undefined,
    ]) {
      answer = failure;
      expect(await echoes()).toBe(false);
    }
    answer = json({ allow: true });
    await serve([callback({ allowPrivate: false, version: 2 })]);
    expect(await echoes()).toBe(false);
    expect(got).toBe('');
  });

  it('ignores an answer that arrives after the policy has changed', async () => {
    const begun = Promise.withResolvers<ServerResponse>();
    answer = begun.resolve;
    await serve([callback()]);
    const socket: Socket = await rig.visit(listen.port);
    const ended = howItEnds(socket);
    const response = await begun.promise;
    await serve([callback({ version: 2 })]);
    json({ allow: true, ttl: 60 })(response);
    expect(await ended).toBe('ECONNRESET');
    answer = json({ allow: false });
    expect(await echoes()).toBe(false);
  });
});
