import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { reservePort, waitFor, WebhookReceiver } from '@gatehouse/testing';
import { createServerIdentity } from '@gatehouse/tunnel-kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TunnelWorld, type AnyJson } from './support/tunnel-world.js';

let world: TunnelWorld;
let origin: number;
beforeAll(async () => {
  world = await TunnelWorld.start();
  const server = createServer((request, response) => {
    response.setHeader('Set-Cookie', ['a=1', 'b=2']);
    request.pipe(response);
    request.resume();
    if (request.method === 'GET') response.end(JSON.stringify({ url: request.url, ...request.headers }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = (server.address() as AddressInfo).port;
  world.onClose(() => server.close());
});
afterAll(() => world.close());

interface Reply {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
}

function visit(
  scheme: 'http' | 'https',
  host: string,
  path = '/',
  method = 'GET',
  body = '',
  headers: Record<string, string> = {},
): Promise<Reply> {
  const start = scheme === 'http' ? httpRequest : httpsRequest;
  return new Promise((resolve, reject) => {
    const request = start(
      {
        host: '127.0.0.1',
        port: world.edges.ports[scheme],
        path,
        method,
        headers: { host, ...headers },
        servername: host,
        rejectUnauthorized: false,
        agent: false,
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(parts).toString(),
          });
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

describe('hosts of a client', () => {
  it('are served over http and https, and counted', async () => {
    const folder = join(world.gateway.home, 'tunnel-gateway', 'certificates');
    mkdirSync(folder, { recursive: true });
    const { certificate, key } = createServerIdentity('app.example.org');
    writeFileSync(join(folder, 'app.pem'), certificate);
    writeFileSync(join(folder, 'app.key'), key);
    const client = await world.client();
    const made: AnyJson = await world.admin('POST', '/hosts', {
      client_id: client.id,
      host: 'app.example.org',
      target_addr: `http://127.0.0.1:${origin}`,
      cert_path: 'app.pem',
      key_path: 'app.key',
      rewrite_host: 'inner.example',
    });
    expect(made.status).toBe(201);
    await waitFor(async () => (await visit('http', 'app.example.org')).status === 503);
    await world.online(client.key);
    await waitFor(async () => (await visit('http', 'app.example.org')).status === 200);
    const plain = await visit('http', 'app.example.org', '/a?b=c');
    expect(JSON.parse(plain.text)).toMatchObject({ url: '/a?b=c', host: 'inner.example', 'x-forwarded-proto': 'http' });
    expect(plain.headers['set-cookie']).toEqual(['a=1', 'b=2']);
    const secure = await visit('https', 'app.example.org');
    expect(JSON.parse(secure.text)).toMatchObject({ 'x-forwarded-proto': 'https' });
    const upload = 'x'.repeat(1_000_000);
    expect((await visit('http', 'app.example.org', '/', 'POST', upload)).text).toBe(upload);
    expect((await visit('http', 'other.example.org')).status).toBe(404);
    await waitFor(async () => {
      const { body } = await world.admin('GET', `/hosts/${made.body.id}`);
      return body.inlet_flow > 1_000_000 && body.export_flow > 1_000_000;
    });
    const [sums] = await world.rows(
      `SELECT c.inlet_flow = h.inlet_flow AND c.export_flow = h.export_flow AS same
       FROM tunnel_gateway.clients c JOIN tunnel_gateway.hosts h ON h.client_id = c.id WHERE c.id = $1`,
      [client.id],
    );
    expect(sums.same).toBe(true);
    const admin: AnyJson = await world.admin('POST', '/hosts', {
      client_id: client.id,
      host: 'app.example.org',
      location: '/admin',
      target_addr: `http://127.0.0.1:${origin}`,
      strict_path: true,
    });
    const policy = { resource_type: 'host', resource_id: admin.body.id, type: 'password', password: 'open sesame' };
    expect((await world.admin('POST', '/auth-policies', policy)).status).toBe(201);
    await waitFor(async () => (await visit('http', 'app.example.org', '/admin')).status === 401);
    for (const path of ['/Admin', '/admin;x', '/x/..;/admin', '/%2541dmin', '//admin;/', '/admin.']) {
      expect((await visit('http', 'app.example.org', path)).status, path).toBe(400);
    }
    expect((await visit('http', 'app.example.org', '/open')).status).toBe(200);
    await world.admin('PATCH', `/hosts/${admin.body.id}`, { strict_path: false });
    await waitFor(async () => (await visit('http', 'app.example.org', '/Admin')).status === 200);
    await world.admin('PATCH', `/hosts/${made.body.id}`, { auto_https: 1 });
    await waitFor(async () => (await visit('http', 'app.example.org', '/x')).status === 308);
    await world.admin('DELETE', `/hosts/${made.body.id}`);
    await waitFor(async () => (await visit('http', 'app.example.org')).status === 404);
  });
});

describe('hosts with options', () => {
  it('replace the path, limit bodies and keep visitors with their target, from one change to the next', async () => {
    const client = await world.client();
    await world.online(client.key);
    const targets = `http://127.0.0.1:${origin},http://localhost:${origin}`;
    const made: AnyJson = await world.admin('POST', '/hosts', {
      client_id: client.id,
      host: 'options.example.org',
      location: '/app',
      target_addr: targets,
      rewrite_path: '/ä/',
      sticky: true,
      max_body_bytes: 1_000,
      error_page: '<h1>our page, {status}</h1>',
    });
    const options = { rewrite_path: '/%C3%A4', sticky: true, max_body_bytes: 1_000 };
    expect(made.body).toMatchObject(options);
    expect((await world.admin('GET', `/hosts/${made.body.id}`)).body).toMatchObject(options);
    const path = async (): Promise<string> =>
      JSON.parse((await visit('http', 'options.example.org', '/app/x?y')).text).url;
    await waitFor(async () => (await visit('http', 'options.example.org', '/app')).status === 200);
    expect(await path()).toBe('/%C3%A4/x?y');
    const { headers } = await visit('http', 'options.example.org', '/app');
    expect(headers['set-cookie']).toContainEqual(expect.stringMatching(`^gw_target_${made.body.id}=`));
    const long = (): Promise<{ status: number }> =>
      visit('http', 'options.example.org', '/app', 'POST', 'x'.repeat(1_001));
    expect((await long()).status).toBe(413);
    const page = await visit('http', 'options.example.org', '/app', 'POST', 'x'.repeat(1_001), { accept: 'text/html' });
    expect(page.text).toBe('<h1>our page, 413</h1>');
    const none = { rewrite_path: null, sticky: false, max_body_bytes: 0, error_page: null };
    expect((await world.admin('PATCH', `/hosts/${made.body.id}`, none)).body).toMatchObject(none);
    await waitFor(async () => (await path()) === '/app/x?y');
    expect((await long()).status).toBe(200);
  });

  it('pass TLS on to a target with its own certificate, which the gateway never has', async () => {
    const { certificate, key } = createServerIdentity('passed.example.org');
    const site = createHttpsServer({ cert: certificate, key }, (_, response) => response.end('passed on'));
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    const { port } = site.address() as AddressInfo;
    const client = await world.client();
    await world.online(client.key);
    const body = { client_id: client.id, host: 'passed.example.org', target_addr: `tls://127.0.0.1:${port}` };
    for (const [more, field] of [
      [{}, 'scheme'],
      [{ scheme: 'https', location: '/x' }, 'location'],
      [{ scheme: 'https', auto_https: 1 }, 'auto_https'],
      [{ scheme: 'https', target_addr: `tls://a:1,http://a:2` }, 'target_addr'],
    ] as const) {
      const answer: AnyJson = await world.admin('POST', '/hosts', { ...body, ...more });
      expect([answer.status, answer.body.errors ?? answer.body]).toEqual([422, expect.anything()]);
      expect(JSON.stringify(answer.body)).toContain(field);
    }
    const made: AnyJson = await world.admin('POST', '/hosts', { ...body, scheme: 'https' });
    expect(made.body).toMatchObject({ has_cert: false, scheme: 'https' });
    expect((await world.admin('PATCH', `/hosts/${made.body.id}`, { scheme: 'all' })).status).toBe(422);
    const text = (): Promise<string> =>
      visit('https', 'passed.example.org').then(
        (answer) => answer.text,
        () => '',
      );
    await waitFor(async () => (await text()) === 'passed on');
    const { body: check } = await world.admin('POST', `/hosts/${made.body.id}/check`);
    expect(check.steps.map(({ code }: AnyJson) => code)).not.toContain('certificate_none');
    await waitFor(async () => (await world.admin('GET', `/hosts/${made.body.id}`)).body.export_flow > 0);
    site.closeAllConnections();
    site.close();
  });

  it.each<[object, string]>([
    [{ rewrite_path: 'v2' }, 'rewrite_path'],
    [{ rewrite_path: '/a/../b' }, 'rewrite_path'],
    [{ rewrite_path: '/a?b' }, 'rewrite_path'],
    [{ rewrite_path: '/a%2fb' }, 'rewrite_path'],
    [{ sticky: 'yes' }, 'sticky'],
    [{ max_body_bytes: -1 }, 'max_body_bytes'],
    [{ max_body_bytes: 1.5 }, 'max_body_bytes'],
    [{ max_body_bytes: 2 ** 51 }, 'max_body_bytes'],
    [{ error_page: 'x'.repeat(65_537) }, 'error_page'],
    [{ error_page: 'a\0b' }, 'error_page'],
    [{ compress: 1 }, 'compress'],
    [{ redirect: 'https://example.org' }, 'redirect'],
    [{ redirect: { to: 'ftp://example.org' } }, 'redirect.to'],
    [{ redirect: { to: '*.example.org' } }, 'redirect.to'],
    [{ redirect: { to: 'https://user@example.org' } }, 'redirect.to'],
    [{ redirect: { to: 'https://example.org/?q' } }, 'redirect.to'],
    [{ redirect: { to: 'refused.example.org' } }, 'redirect.to'],
    [{ redirect: { to: 'https://REFUSED.example.org/x', status: 301 } }, 'redirect.to'],
    [{ redirect: { to: 'https://example.org', status: 303 } }, 'redirect.status'],
    [{ redirect: { to: 'https://example.org' }, target_addr: 'tls://127.0.0.1:1', scheme: 'https' }, 'redirect'],
    [{ health_check: true }, 'health_check'],
    [{ health_check: {} }, 'health_check.type'],
    [{ health_check: { type: 'http', path: 'x' } }, 'health_check.path'],
    [{ health_check: { type: 'http', expected_status: '399-200' } }, 'health_check.expected_status'],
    [{ health_check: { type: 'http', expected_status: '2xx' } }, 'health_check.expected_status'],
    [{ health_check: { type: 'tcp', interval_seconds: 0 } }, 'health_check.interval_seconds'],
    [{ health_check: { type: 'tcp', interval_seconds: 5, timeout_seconds: 6 } }, 'health_check.timeout_seconds'],
    [{ health_check: { type: 'tcp', healthy_threshold: 11 } }, 'health_check.healthy_threshold'],
    [{ health_check: { type: 'tcp', other: 1 } }, 'health_check'],
  ])('refuse %j', async (options, field) => {
    const client = await world.client();
    const body = { client_id: client.id, host: 'refused.example.org', target_addr: 'http://127.0.0.1:1', ...options };
    const answer: AnyJson = await world.admin('POST', '/hosts', body);
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.body)).toContain(field);
  });
});

describe('hosts that compress', () => {
  it('do so from one change to the next', async () => {
    const client = await world.client();
    await world.online(client.key);
    const page = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end('<p>text</p>'.repeat(1_000));
    }).listen(0, '127.0.0.1');
    await once(page, 'listening');
    world.onClose(() => page.close());
    const name = 'compressed.example.org';
    const { body: host }: AnyJson = await world.admin('POST', '/hosts', {
      client_id: client.id,
      host: name,
      target_addr: `http://127.0.0.1:${(page.address() as AddressInfo).port}`,
      compress: true,
    });
    expect(host.compress).toBe(true);
    const coding = async (): Promise<unknown> => {
      const { status, headers } = await visit('http', name, '/', 'GET', '', { 'accept-encoding': 'gzip, br' });
      return status === 200 ? (headers['content-encoding'] ?? 'none') : null;
    };
    await waitFor(async () => (await coding()) === 'br');
    await world.admin('PATCH', `/hosts/${host.id}`, { compress: false });
    await waitFor(async () => (await coding()) === 'none');
  });
});

describe('hosts that redirect', () => {
  it('lead to a URL or a name until the redirect is removed', async () => {
    const client = await world.client();
    await world.online(client.key);
    const name = 'moved.example.org';
    const { body: host }: AnyJson = await world.admin('POST', '/hosts', {
      client_id: client.id,
      host: name,
      target_addr: `http://127.0.0.1:${origin}`,
      redirect: { to: 'https://Neu.example.org/ä' },
    });
    expect(host.redirect).toEqual({ to: 'https://neu.example.org/%C3%A4', status: 302, keep_path: true });
    await waitFor(async () => (await visit('http', name)).status === 302);
    expect((await visit('http', name, '/x?y=z')).headers.location).toBe('https://neu.example.org/%C3%A4/x?y=z');
    await world.admin('PATCH', `/hosts/${host.id}`, { redirect: { to: 'www.example.org', status: 308 } });
    await waitFor(async () => (await visit('http', name)).status === 308);
    expect((await visit('http', name, '/x')).headers.location).toBe('http://www.example.org/x');
    expect((await world.admin('PATCH', `/hosts/${host.id}`, { host: 'www.example.org' })).status).toBe(422);
    const { body } = await world.admin('PATCH', `/hosts/${host.id}`, { redirect: null });
    expect(body.redirect).toBeNull();
    await waitFor(async () => (await visit('http', name)).status === 200);
  });
});

describe('hosts with health checks', () => {
  it('send visitors to healthy targets only, show the others, and report both changes to webhooks', async () => {
    const receiver = await WebhookReceiver.start();
    world.onClose(() => receiver[Symbol.asyncDispose]());
    await world.admin('POST', '/webhooks', {
      name: 'health',
      url: receiver.url,
      event_types: ['host.target_down', 'host.target_up'],
    });
    const client = await world.client();
    await world.online(client.key);
    let status = 503;
    const second = createServer((_, response) => response.writeHead(status).end('second')).listen(0, '127.0.0.1');
    await once(second, 'listening');
    world.onClose(() => second.close());
    const ill = `http://127.0.0.1:${(second.address() as AddressInfo).port}`;
    const name = 'checked.example.org';
    const { body: host }: AnyJson = await world.admin('POST', '/hosts', {
      client_id: client.id,
      host: name,
      target_addr: `http://127.0.0.1:${origin},${ill}#weight=1000`,
      health_check: { type: 'http', interval_seconds: 1, healthy_threshold: 1 },
    });
    const defaults = { path: '/', expected_status: '200-399', timeout_seconds: 1, unhealthy_threshold: 3 };
    expect(host).toMatchObject({
      targets: [],
      health_check: { ...defaults, interval_seconds: 1, healthy_threshold: 1 },
    });
    const targets = async (): Promise<AnyJson[]> => (await world.admin('GET', `/hosts/${host.id}`)).body.targets;
    await waitFor(async () => (await targets()).map(({ state }) => state).join() === 'up,down');
    expect((await targets())[1]).toMatchObject({ target: ill, reason: 'status', status: 503, edge: null });
    const { body: page } = await world.admin('GET', `/hosts?host=${name}`);
    expect(page.items[0].targets).toHaveLength(2);
    for (let round = 0; round < 5; round += 1) expect((await visit('http', name)).status).toBe(200);
    status = 200;
    await waitFor(async () => (await targets())[1].state === 'up');
    await waitFor(async () => (await visit('http', name)).text === 'second');
    const told = await waitFor(() => (receiver.received.length >= 2 ? receiver.received : null));
    expect(told.map(({ body }: AnyJson) => [body.type, body.data.resource_id, body.data.message])).toEqual([
      ['host.target_down', host.id, `${ill} is down: it answered with 503`],
      ['host.target_up', host.id, `${ill} is up`],
    ]);
    const off = await world.admin('PATCH', `/hosts/${host.id}`, { health_check: null });
    expect(off.body).toMatchObject({ health_check: null, targets: [] });
  });

  it('are checked by connections where TLS is passed on', async () => {
    const client = await world.client();
    const { body: host }: AnyJson = await world.admin('POST', '/hosts', {
      client_id: client.id,
      host: 'checked-tls.example.org',
      scheme: 'https',
      target_addr: 'http://127.0.0.1:1',
      health_check: { type: 'http' },
    });
    const refused: AnyJson = await world.admin('PATCH', `/hosts/${host.id}`, { target_addr: 'tls://127.0.0.1:1' });
    expect(refused.status).toBe(422);
    expect(JSON.stringify(refused.body)).toContain('health_check.type: must be tcp for a tls:// target');
    const changes = { target_addr: 'tls://127.0.0.1:1', health_check: { type: 'tcp' } };
    expect((await world.admin('PATCH', `/hosts/${host.id}`, changes)).status).toBe(200);
  });
});

describe('hosts with policies', () => {
  const basic = (text: string): Record<string, string> => ({
    authorization: `Basic ${Buffer.from(text).toString('base64')}`,
  });
  const ask = async (headers: Record<string, string> = {}): Promise<number> =>
    (await visit('http', 'guarded.example.org', '/', 'GET', '', headers)).status;

  it('can be checked: problems are shown only to users who may see the host', async () => {
    const client = await world.client();
    const check = async (path: string): Promise<[boolean, string[]]> => {
      const { status, body }: AnyJson = await world.admin('POST', path);
      expect(status).toBe(200);
      return [
        body.answers,
        body.steps.map(({ code, detail }: AnyJson) => (detail === null ? code : `${code} ${detail}`)),
      ];
    };
    const made: AnyJson = await world.admin('POST', '/hosts', {
      client_id: client.id,
      host: 'checked.localhost',
      target_addr: `http://127.0.0.1:${origin}`,
    });
    const path = `/hosts/${made.body.id}`;
    await waitFor(async () => (await check(`${path}/check`))[1].includes('agent_offline'));
    await world.online(client.key);
    const fine = ['enabled', 'agent_online', 'target_answers 200', 'dns_local', 'certificate_none', 'access_open'];
    await waitFor(async () => (await check(`${path}/check`))[0]);
    expect(await check(`${path}/check`)).toEqual([true, fine]);

    const policy = { resource_type: 'host', resource_id: made.body.id, type: 'password', password: 'open sesame' };
    await world.admin('POST', '/auth-policies', policy);
    expect(await check(`${path}/check`)).toEqual([true, [...fine.slice(0, -1), 'access_protected password']]);
    const unused = await reservePort();
    await world.admin('PATCH', path, { target_addr: `http://127.0.0.1:${unused}` });
    await waitFor(async () => (await check(`${path}/check`))[1].includes('target_refused'));
    expect((await check(`${path}/check`))[0]).toBe(false);
    await world.admin('PATCH', path, { status: 0 });
    expect((await check(`${path}/check`))[1][0]).toBe('disabled');

    const tunnel: AnyJson = await world.admin('POST', '/tunnels', {
      client_id: client.id,
      mode: 'tcp',
      listen_ip: '127.0.0.1',
      listen_port: await reservePort(),
      target_addr: `127.0.0.1:${origin}`,
    });
    const { id, listen_port: port } = tunnel.body;
    await waitFor(async () => (await check(`/tunnels/${id}/check`))[0]);
    const steps = ['enabled', 'agent_online', 'target_answers', `port_open ${port}`, 'access_open'];
    expect(await check(`/tunnels/${id}/check`)).toEqual([true, steps]);
    // It is about requests to hosts, and keeps nobody out of a tunnel.
    const rule = { scope: 'client', resource_id: client.id, type: 'deny', pattern_kind: 'any', pattern: '*' };
    const { body: denies } = await world.admin('POST', '/ip-rules', { ...rule, paths: ['/admin'] });
    expect(await check(`/tunnels/${id}/check`)).toEqual([true, steps]);
    await world.admin('DELETE', `/ip-rules/${denies.id}`);
    const counted = {
      user: `/users/${client.owner_user_id}`,
      client: `/clients/${client.id}`,
      tunnel: `/tunnels/${id}`,
    };
    // The nearest of those that are used up is named.
    for (const [kind, its] of Object.entries(counted)) {
      await world.admin('PATCH', its, { traffic_quota: 1_000 });
      await world.rows('UPDATE tunnel_gateway_ops.traffic_quotas SET used = 1000, counted_at = now()');
      expect(await check(`/tunnels/${id}/check`)).toEqual([
        false,
        [`quota_of_${kind}`, `port_open ${port}`, 'access_open'],
      ]);
    }
    for (const its of Object.values(counted)) await world.admin('PATCH', its, { traffic_quota: 0 });
    const { body: before }: AnyJson = await world.admin('GET', `/tunnels/${id}`);
    expect([before.inlet_flow, before.export_flow]).toEqual([0, 0]);
  });

  it('admit visitors who prove their identity, by password or by a callback', async () => {
    const client = await world.client();
    await world.online(client.key);
    const { body: host }: AnyJson = await world.admin('POST', '/hosts', {
      client_id: client.id,
      host: 'guarded.example.org',
      target_addr: `127.0.0.1:${origin}`,
    });
    await waitFor(async () => (await ask()) === 200);
    const about = { resource_type: 'host', resource_id: host.id };
    const { body: policy }: AnyJson = await world.admin('POST', '/auth-policies', {
      ...about,
      type: 'basic',
      users: [{ username: 'ann', password: 'one' }],
    });
    await waitFor(async () => (await ask()) === 401);
    expect(await ask(basic('ann:two'))).toBe(401);
    expect(await ask(basic('ann:one'))).toBe(200);
    await world.admin('PATCH', `/auth-policies/${policy.id}`, { users: [{ username: 'ann', password: 'two' }] });
    await waitFor(async () => (await ask(basic('ann:one'))) === 401);
    expect(await ask(basic('ann:two'))).toBe(200);
    await world.admin('DELETE', `/auth-policies/${policy.id}`);

    const guard = createServer((request, response) => {
      response.setHeader('X-User', 'ann');
      response.writeHead(request.headers['cookie'] === 'in=1' ? 200 : 403).end();
    }).listen(0, '127.0.0.1');
    await once(guard, 'listening');
    world.onClose(() => guard.close());
    const { port } = guard.address() as AddressInfo;
    const made = await world.admin('POST', '/auth-policies', {
      ...about,
      type: 'callback',
      callback_url: `http://127.0.0.1:${port}/check`,
      allow_private: true,
      copy_headers: ['X-User'],
      ttl_seconds: 0,
    });
    expect(made).toMatchObject({ status: 201, body: { copy_headers: ['X-User'] } });
    await waitFor(async () => (await ask()) === 403);
    const { text } = await visit('http', 'guarded.example.org', '/', 'GET', '', { cookie: 'in=1', 'x-user': 'eve' });
    expect(JSON.parse(text)).toMatchObject({ 'x-user': 'ann' });
  });
});
