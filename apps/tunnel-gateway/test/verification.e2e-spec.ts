import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { formOf, VisitorBrowser, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { closed, TunnelWorld, type AnyJson, type Caller } from './support/tunnel-world.js';

let world: TunnelWorld;
let clientId: number;
let origin: number;
beforeAll(async () => {
  world = await TunnelWorld.start();
  const client = await world.client();
  clientId = client.id;
  await world.online(client.key);
  origin = await service((request, response) => {
    if (request.url === '/slow') return void response.write('begun');
    response.end(JSON.stringify({ url: request.url, ...request.headers }));
  });
});
afterAll(() => world.close());

async function service(listener: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<number> {
  const server = createServer((request, response) => void listener(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  world.onClose(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

let hosts = 0;
/** A host of its own, guarded, and its policy. */
async function guarded(body: object): Promise<{ name: string; policy: AnyJson; id: number }> {
  hosts += 1;
  const name = `h${hosts}.example.org`;
  const { body: host } = await world.admin('POST', '/hosts', {
    client_id: clientId,
    host: name,
    target_addr: `127.0.0.1:${origin}`,
  });
  await waitFor(async () => (await browser(name).ask()).status === 200);
  const { status, body: policy } = await world.admin('POST', '/auth-policies', {
    resource_type: 'host',
    resource_id: host.id,
    ...body,
  });
  if (status !== 201) throw new Error(JSON.stringify(policy));
  await waitFor(async () => (await browser(name).ask()).status !== 200);
  return { name, policy, id: host.id };
}

const browser = (host: string): VisitorBrowser => new VisitorBrowser({ port: world.edges.ports.http, host });
const seen = ({ body }: { body: string }): AnyJson => JSON.parse(body);

describe('a host with a password', () => {
  it('shows a login page, accepts the password there, and drops visitors when the policy changes', async () => {
    const { name, policy } = await guarded({ type: 'password', password: 'open sesame' });
    const visitor = browser(name);
    expect(await visitor.ask({ path: '/a?b=1' })).toMatchObject({ status: 401 });
    expect(await visitor.ask({ headers: { accept: 'application/json' } })).toMatchObject({ status: 401 });
    expect((await visitor.prove('wrong')).status).toBe(401);
    expect(await visitor.prove('open sesame', '/a?b=1')).toMatchObject({
      status: 303,
      headers: { location: '/a?b=1' },
    });
    const answer = await visitor.ask({
      path: '/a?b=1',
      headers: { cookie: `x=1; gwv_${policy.id}=${visitor.jar.get(`gwv_${policy.id}`)}` },
    });
    expect(answer.status).toBe(200);
    expect(seen(answer)).toMatchObject({ url: '/a?b=1', cookie: 'x=1' });
    const jar = new Map(visitor.jar);
    for (const changes of [{ ttl_seconds: 60 }, { password: 'another' }]) {
      await world.admin('PATCH', `/auth-policies/${policy.id}`, changes);
      await waitFor(async () => (await visitor.ask()).status === 401, { timeoutMs: 1_000 });
      await visitor.prove('password' in changes ? 'another' : 'open sesame');
      expect((await visitor.ask()).status).toBe(200);
    }
    const old = browser(name);
    for (const [key, value] of jar) old.jar.set(key, value);
    expect((await old.ask()).status).toBe(401);
    await world.admin('PATCH', `/auth-policies/${policy.id}`, { enabled: 0 });
    await waitFor(async () => (await browser(name).ask()).status === 200);
    await world.admin('PATCH', `/auth-policies/${policy.id}`, { enabled: 1 });
    await waitFor(async () => (await visitor.ask()).status === 401);
  });

  it('accepts five guesses a minute, and only forms of its own pages', async () => {
    const { name, id } = await guarded({ type: 'password', password: 'open sesame' });
    const visitor = browser(name);
    const form = formOf(await visitor.ask());
    form.fields.set('password', 'open sesame');
    expect((await visitor.submit(form, { origin: 'http://evil.test' })).status).toBe(403);
    expect((await browser(name).submit(form)).status).toBe(403);
    for (let count = 0; count < 5; count += 1) expect((await visitor.prove(`no ${count}`)).status).toBe(401);
    expect(await visitor.prove('open sesame')).toMatchObject({ status: 429, headers: { 'retry-after': /\d+/ } });
    await waitFor(async () => {
      const events = await world.rows(`SELECT 1 FROM tunnel_gateway_ops.events
        WHERE type = 'auth.visitor_failed' AND resource_type = 'host' AND resource_id = ${id}`);
      return events.length > 0;
    });
  });

  it('ends open requests of earlier visitors within a second after a policy was added', async () => {
    const { name, policy } = await guarded({ type: 'password', password: 'x', enabled: 1 });
    await world.admin('PATCH', `/auth-policies/${policy.id}`, { enabled: 0 });
    await waitFor(async () => (await browser(name).ask()).status === 200);
    const socket = connect(world.edges.ports.http, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`GET /slow HTTP/1.1\r\nHost: ${name}\r\n\r\n`);
    await once(socket, 'data');
    const [ended, began] = [closed(socket), Date.now()];
    await world.admin('PATCH', `/auth-policies/${policy.id}`, { enabled: 1 });
    await ended;
    expect(Date.now() - began).toBeLessThan(1_000);
  });
});

describe('a host with user names', () => {
  it('sends a challenge, and drops visitors when a user name changes', async () => {
    const users = (password: string): object => ({ users: [{ username: 'ann', password }] });
    const { name, policy } = await guarded({ type: 'basic', ...users('one') });
    const ask = (credentials: string): ReturnType<VisitorBrowser['ask']> =>
      browser(name).ask({ headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` } });
    expect(await browser(name).ask()).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': `Basic realm="${name}", charset="UTF-8"` },
    });
    const answer = await ask('ann:one');
    expect(answer.status).toBe(200);
    expect(seen(answer)).not.toHaveProperty('authorization');
    expect((await ask('ann:two')).status).toBe(401);
    await world.admin('PATCH', `/auth-policies/${policy.id}`, users('two'));
    await waitFor(async () => (await ask('ann:one')).status === 401, { timeoutMs: 1_000 });
    expect((await ask('ann:two')).status).toBe(200);
  });
});

describe('a host that asks a callback server, like Traefik and nginx', () => {
  let asked: AnyJson[];
  let answer: (response: ServerResponse, request: AnyJson) => void;
  let port: number;
  beforeAll(async () => {
    port = await service((request, response) => {
      const said = { method: request.method, url: request.url, ...request.headers };
      asked.push(said);
      answer(response, said);
    });
  });
  beforeEach(() => {
    asked = [];
    answer = (response) => void response.writeHead(403).end();
  });
  const callback = (more: object = {}): object => ({
    type: 'callback',
    callback_url: `http://127.0.0.1:${port}/verify?rule=1`,
    allow_private: true,
    ttl_seconds: 0,
    ...more,
  });

  it('forwards a redirect to a login page with its cookies, and admits returning visitors', async () => {
    const { name } = await guarded(callback({ copy_headers: ['Remote-User', 'Remote-Groups'] }));
    answer = (response, request) => {
      if (request.cookie?.includes('sso=1')) {
        return void response.writeHead(204, { 'Remote-User': 'ann', 'X-Secret': '1' }).end();
      }
      response.setHeader('Set-Cookie', ['sso_state=7; Path=/; HttpOnly', 'theme=dark']);
      response.writeHead(302, {
        Location: `https://login.example.org/?rd=${request['x-original-url']}`,
        'X-Secret': '1',
      });
      response.end('go there');
    };
    const visitor = browser(name);
    const sent = await visitor.ask({ path: '/a?b=1' });
    expect(sent).toMatchObject({
      status: 302,
      headers: { location: `https://login.example.org/?rd=http://${name}/a?b=1` },
      body: 'go there',
    });
    expect(sent.headers['set-cookie']).toEqual(['sso_state=7; Path=/; HttpOnly', 'theme=dark']);
    expect(sent.headers).not.toHaveProperty('x-secret');
    visitor.jar.set('sso', '1');
    const back = await visitor.ask({ path: '/a?b=1', headers: { 'remote-user': 'eve', 'remote-groups': 'admins' } });
    expect(back.status).toBe(200);
    expect(seen(back)).toMatchObject({ 'remote-user': 'ann' });
    expect(seen(back)).not.toHaveProperty('remote-groups');
  });

  it('sends the callback server what the gateway knows about the request, and nothing the visitor made up', async () => {
    const { name, id } = await guarded(callback());
    asked = [];
    await browser(name).ask({
      method: 'PUT',
      path: '/a?b=1',
      headers: {
        'x-forwarded-for': '203.0.113.1',
        'x-forwarded-proto': 'https',
        'x-forwarded-prefix': '/evil',
        x_forwarded_uri: '/public',
        x_gw_resource: 'host/1',
        'x-original-url': 'http://public/',
        'x-gw-resource': 'host/999',
        'user-agent': 'probe',
        'content-length': '0',
      },
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      method: 'GET',
      url: '/verify?rule=1',
      'x-forwarded-method': 'PUT',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': name,
      'x-forwarded-uri': '/a?b=1',
      'x-forwarded-for': '127.0.0.1',
      'x-original-url': `http://${name}/a?b=1`,
      'x-gw-resource': `host/${id}`,
      'user-agent': 'probe',
    });
    expect(Object.keys(asked[0]).filter((field) => field.includes('_') || field.includes('prefix'))).toEqual([]);
  });

  it('admits nobody while the callback server is down, slow or sends nonsense', async () => {
    const { name } = await guarded(callback());
    for (const broken of [
      (response: ServerResponse) => void response.socket?.destroy(),
      (response: ServerResponse) => void response.socket?.end('nonsense\r\n\r\n'),
      () => undefined,
    ]) {
      answer = broken;
      expect((await browser(name).ask()).status).toBe(503);
    }
  });

  it('remembers an approval as long as the policy says, and until the policy changes', async () => {
    const { name, policy } = await guarded(callback({ ttl_seconds: 600 }));
    answer = (response) => void response.writeHead(200).end();
    const visitor = browser(name);
    expect((await visitor.ask()).status).toBe(200);
    asked = [];
    expect((await visitor.ask()).status).toBe(200);
    expect(asked).toEqual([]);
    answer = (response) => void response.writeHead(403).end('no');
    await world.admin('PATCH', `/auth-policies/${policy.id}`, { copy_headers: ['Remote-User'] });
    await waitFor(async () => (await visitor.ask()).status === 403, { timeoutMs: 1_000 });
  });

  it('decides about addresses of raw tunnels, at their port and on their page', async () => {
    const tunnel = await world.tunnel(clientId, await world.echo());
    let verdict: object = { allow: false };
    answer = (response) => void response.end(JSON.stringify(verdict));
    const isIn = async (): Promise<boolean> => (await world.ask(tunnel.listen_port, 'ping')) === 'ping';
    const { body: policy } = await world.admin('POST', '/auth-policies', {
      resource_type: 'tunnel',
      resource_id: tunnel.id,
      ...callback({ ttl_seconds: 600 }),
    });
    // The first may have been cut by the change itself.
    await waitFor(async () => !(await isIn()) && asked.length > 0);
    expect(asked.at(-1)).toMatchObject({ method: 'POST', 'content-type': 'application/json' });
    const gateway = new URL(world.gateway.url);
    const visitor = new VisitorBrowser({ port: Number(gateway.port), host: gateway.host, from: '127.0.0.2' });
    const page = `/visit/tunnel/${tunnel.id}`;
    const question = async (): Promise<number> =>
      (await visitor.submit(formOf(await visitor.ask({ path: page })))).status;
    expect(await question()).toBe(403);
    verdict = { allow: true, ttl: 60 };
    expect(await question()).toBe(303);
    expect((await visitor.ask({ path: page })).body).toContain('127.0.0.2 has access until');
    expect(await isIn()).toBe(true);
    // What the edge learned is in the table, for its successors and the other edges.
    const rows = (): Promise<AnyJson[]> =>
      world.rows(
        `SELECT address FROM tunnel_gateway_ops.visitor_grants WHERE tunnel_id = ${tunnel.id} ORDER BY address`,
      );
    await waitFor(async () => (await rows()).length === 2);
    verdict = { allow: false };
    asked = [];
    expect(await isIn()).toBe(true);
    expect(asked).toEqual([]);
    const running = await world.visit(tunnel.listen_port);
    running.write('x');
    await once(running, 'data');
    const [ended, began] = [closed(running), Date.now()];
    await world.admin('PATCH', `/auth-policies/${policy.id}`, { ttl_seconds: 60 });
    await ended;
    expect(Date.now() - began).toBeLessThan(1_000);
    expect(await rows()).toEqual([]);
    expect(await isIn()).toBe(false);
  });
});

describe('a host whose visitors sign in with OpenID Connect', () => {
  const codes = new Map<string, { challenge: string; redirect: string }>();
  let issuer: string;
  let claims: AnyJson;
  let beforeMetadata: () => unknown = () => undefined;
  beforeAll(async () => {
    const port = await service(async (request, response) => {
      let text = '';
      for await (const part of request) text += String(part);
      const sent = new URLSearchParams(text);
      const answer = (body: object): void => void response.end(JSON.stringify(body));
      if (request.url === '/.well-known/openid-configuration') {
        await beforeMetadata();
        const endpoints = ['authorization', 'token', 'userinfo'].map((name) => [
          `${name}_endpoint`,
          `${issuer}/${name}`,
        ]);
        return answer({ issuer, ...Object.fromEntries(endpoints) });
      }
      if (request.url === '/userinfo' && request.headers.authorization === 'Bearer good') return answer(claims);
      const code = codes.get(sent.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(sent.get('code_verifier') ?? '')
        .digest('base64url');
      const credentials = `Basic ${Buffer.from('gw:s%2Fe').toString('base64')}`;
      const fits = code?.challenge === challenge && code.redirect === sent.get('redirect_uri');
      if (request.url === '/token' && fits && request.headers.authorization === credentials) {
        return answer({ access_token: 'good', token_type: 'Bearer' });
      }
      response.writeHead(400).end();
    });
    issuer = `http://127.0.0.1:${port}`;
  });

  it('discovers the server by its name, and admits visitors whose verified address is on the list', async () => {
    const { name, policy } = await guarded({
      type: 'oauth',
      allow_private: true,
      oauth: { issuer, client_id: 'gw', client_secret: 's/e', emails: ['ann@example.org'] },
    });
    expect(policy.oauth).toMatchObject({
      server: 'standard',
      scope: 'openid email',
      has_client_secret: true,
      userinfo_endpoint: `${issuer}/userinfo`,
      introspection_endpoint: null,
    });
    expect(JSON.stringify(policy)).not.toContain('s/e');
    const [stored] = await world.rows(`SELECT sealed_secret, oauth::text AS oauth
      FROM tunnel_gateway_ops.policy_options WHERE policy_id = ${policy.id}`);
    expect(JSON.stringify(stored)).not.toContain('s/e');
    const signIn = async (visitor: VisitorBrowser): Promise<number> => {
      const asked = new URL(await visitor.follow('/x')).searchParams;
      codes.set('c', { challenge: asked.get('code_challenge') ?? '', redirect: asked.get('redirect_uri') ?? '' });
      expect(asked.get('redirect_uri')).toBe(`http://${name}/__gw/oauth/callback`);
      const back = new URLSearchParams({ code: 'c', state: asked.get('state') ?? '' });
      await visitor.ask({ path: `/__gw/oauth/callback?${back.toString()}` });
      return (await visitor.ask({ path: '/x' })).status;
    };
    for (const stranger of [
      { sub: '1', email: 'bob@example.org', email_verified: true },
      { sub: '1', email: 'ann@example.org' },
      { sub: 'ann@example.org', preferred_username: 'ann@example.org' },
      { email: 'ann@example.org', email_verified: true },
    ]) {
      claims = stranger;
      expect(await signIn(browser(name))).toBe(401);
    }
    claims = { sub: '1', email: 'Ann@example.org', email_verified: true };
    const visitor = browser(name);
    expect(await signIn(visitor)).toBe(200);
    await world.admin('PATCH', `/auth-policies/${policy.id}`, { ttl_seconds: 60 });
    await waitFor(async () => (await visitor.ask()).status === 401, { timeoutMs: 1_000 });
  });

  it('uses its secret only with the server for which it was set', async () => {
    const oauth = { issuer, client_id: 'gw' };
    const { policy } = await guarded({
      type: 'oauth',
      allow_private: true,
      oauth: { ...oauth, client_secret: 's/e' },
    });
    const change = (more: object): Promise<AnyJson> =>
      world.admin('PATCH', `/auth-policies/${policy.id}`, { oauth: { ...oauth, ...more } });
    expect(await change({ names: ['ann'] })).toMatchObject({
      status: 200,
      body: { oauth: { has_client_secret: true } },
    });
    // What was shown may be sent back.
    const { has_client_secret: _, ...shown } = (await world.admin('GET', `/auth-policies/${policy.id}`)).body.oauth;
    expect(await change(shown)).toMatchObject({ status: 200, body: { oauth: { ...shown, has_client_secret: true } } });
    const elsewhere = {
      authorization_endpoint: `${issuer}/authorization`,
      token_endpoint: 'http://127.0.0.1:1/token',
      userinfo_endpoint: `${issuer}/userinfo`,
    };
    expect((await change(elsewhere)).status).toBe(422);
    expect((await change({ client_id: 'other' })).status).toBe(422);
    expect(await change({ ...elsewhere, client_secret: 'new' })).toMatchObject({ status: 200 });
    expect(await change({ client_secret: null })).toMatchObject({ body: { oauth: { has_client_secret: false } } });
  });

  it('drops a secret that was sent while its server was being queried', async () => {
    const oauth = { issuer, client_id: 'gw' };
    const { policy } = await guarded({ type: 'oauth', allow_private: true, oauth: { ...oauth, client_secret: 'own' } });
    const change = (body: object): Promise<AnyJson> => world.admin('PATCH', `/auth-policies/${policy.id}`, body);
    beforeMetadata = async () => {
      beforeMetadata = () => undefined;
      const other = { ...oauth, client_id: 'other', client_secret: 'not for gw' };
      expect((await change({ allow_private: true, oauth: other })).status).toBe(200);
    };
    expect(await change({ allow_private: true, oauth })).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect((await world.admin('GET', `/auth-policies/${policy.id}`)).body.oauth.client_id).toBe('other');
  });

  it('must be configured completely, and not inside the gateway’s network', async () => {
    const { call, id } = await world.user('olga');
    const own = await world.client({ name: 'own', owner_user_id: id });
    const post = async (oauth: object): Promise<AnyJson> =>
      (await call('POST', '/auth-policies', { resource_type: 'client', resource_id: own.id, type: 'oauth', oauth }))
        .body;
    const endpoints = {
      issuer: 'https://login.example.org',
      client_id: 'gw',
      authorization_endpoint: 'https://login.example.org/a',
      token_endpoint: 'https://login.example.org/t',
      userinfo_endpoint: 'https://login.example.org/u',
    };
    const fieldOf = async (more: object): Promise<string> => (await post({ ...endpoints, ...more })).errors?.[0]?.field;
    expect(await fieldOf({ issuer: 'http://login.example.org' })).toBe('oauth.issuer');
    expect(await fieldOf({ issuer: 'https://login.example.org/?a' })).toBe('oauth.issuer');
    for (const name of ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'introspection_endpoint']) {
      for (const url of ['https://169.254.169.254/', 'https://[::1]/', 'http://a.example/', 'https://localhost/']) {
        expect(await fieldOf({ [name]: url })).toBe(`oauth.${name}`);
      }
    }
    expect(await fieldOf({ token_endpoint: undefined })).toBe('oauth.token_endpoint');
    expect(await fieldOf({ userinfo_endpoint: undefined })).toBe('oauth.userinfo_endpoint');
    expect((await post({ issuer, client_id: 'gw' })).errors[0].field).toBe('oauth.issuer');
    expect((await post({ ...endpoints, client_secret: '' })).status).toBe(422);
    expect((await post({ ...endpoints, emails: ['nobody'] })).status).toBe(422);
    expect((await post({ ...endpoints, strange: 1 })).status).toBe(422);
    expect(await post(endpoints)).toMatchObject({ oauth: { client_id: 'gw', has_client_secret: false, subjects: [] } });
  });
});

describe('the callback server of a policy', () => {
  const policy = (more: object): object => ({ resource_type: 'client', resource_id: clientId, ...more });
  const status = async (call: Caller, body: object, method = 'POST', path = '/auth-policies'): Promise<number> =>
    (await call(method, path, body)).status;

  it('may be inside the gateway’s network only if an administrator explicitly allows it', async () => {
    const { call, id } = await world.user('uma');
    const own = await world.client({ name: 'own', owner_user_id: id });
    const ofOwn = (more: object): object => ({
      resource_type: 'client',
      resource_id: own.id,
      type: 'callback',
      ...more,
    });
    const inside = { callback_url: 'http://127.0.0.1:1/' };
    expect(await status(world.admin, policy({ type: 'callback', ...inside }))).toBe(422);
    expect(await status(call, ofOwn(inside))).toBe(422);
    expect(await status(call, ofOwn({ ...inside, allow_private: true }))).toBe(403);
    for (const address of [
      '127.0.0.1',
      '10.0.0.1',
      '169.254.169.254',
      '[::1]',
      '[::ffff:10.0.0.1]',
      '[64:ff9b::a00:1]',
      '0x7f.1',
      'localhost',
      'a.internal',
    ]) {
      expect([address, await status(call, ofOwn({ callback_url: `https://${address}/` }))]).toEqual([address, 422]);
    }
    const made = await world.admin('POST', '/auth-policies', ofOwn({ ...inside, allow_private: true }));
    expect(made).toMatchObject({ status: 201, body: { allow_private: true } });
    const path = `/auth-policies/${made.body.id}`;
    // Another user may change unrelated fields; from then on that user is responsible for where it leads.
    expect((await call('PATCH', path, { ttl_seconds: 5 })).body).toMatchObject({ allow_private: true });
    expect(await status(call, { callback_url: 'http://127.0.0.1:2/' }, 'PATCH', path)).toBe(422);
    const moved = await call('PATCH', path, { callback_url: 'https://auth.example.org/' });
    expect(moved).toMatchObject({ status: 200, body: { allow_private: false } });
    expect(await status(call, { allow_private: true }, 'PATCH', path)).toBe(403);
    await world.admin('DELETE', path);
  });

  it('is checked by the address that its name has when it is called', async () => {
    let arrivals = 0;
    const inner = createTcpServer((socket) => {
      arrivals += 1;
      socket.destroy();
    }).listen(0);
    await once(inner, 'listening');
    world.onClose(() => inner.close());
    // A name that does not show where it leads: this machine.
    const url = `https://${hostname()}:${(inner.address() as AddressInfo).port}/`;
    const { name, policy: made } = await guarded({ type: 'callback', callback_url: url, ttl_seconds: 0 });
    expect((await browser(name).ask()).status).toBe(503);
    expect(arrivals).toBe(0);
    await world.admin('PATCH', `/auth-policies/${made.id}`, { allow_private: true });
    await waitFor(async () => (await browser(name).ask()).status === 503 && arrivals > 0);
  });

  it('cannot get fields of the connection, nor options of another type', async () => {
    const refused = [
      { type: 'callback', callback_url: 'https://a.example/', copy_headers: ['Connection'] },
      { type: 'callback', callback_url: 'https://a.example/', copy_headers: ['X_Under'] },
      { type: 'callback', callback_url: 'https://user:pw@a.example/' },
      { type: 'callback', callback_url: 'file:///etc/passwd' },
      { type: 'password', password: 'x', allow_private: true },
      { type: 'password', password: 'x', oauth: { issuer: 'https://a.example', client_id: 'x' } },
      { type: 'callback', callback_url: 'https://a.example/', ttl_seconds: 2_592_001 },
      { type: 'oauth' },
    ];
    for (const body of refused) expect([body, await status(world.admin, policy(body))]).toEqual([body, 422]);
  });
});
