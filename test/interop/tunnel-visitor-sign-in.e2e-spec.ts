import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo } from 'node:net';
import { formOf, reservePort, VisitorBrowser, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningResourceSharing, type Demonstration } from '../support/resource-sharing.js';
import type { SiteBrowser } from '../support/site-browser.js';
import { RunningTunnelGateway, type GatewayJson } from '../support/tunnel-gateway.js';

/** A user at two sites: the tunnel's, and resource-sharing where they have an account. */
interface Person {
  at: SiteBrowser;
  browser: VisitorBrowser;
}

describe('visitors who sign in at resource-sharing', () => {
  let sharing: RunningResourceSharing;
  let gateway: RunningTunnelGateway;
  let people: Demonstration;
  let client: number;
  let origin: number;
  let echo: number;
  const cleanups: (() => void)[] = [];

  beforeAll(async () => {
    sharing = await RunningResourceSharing.start();
    gateway = await RunningTunnelGateway.start();
    people = await sharing.seedDemo([
      ...['ids', 'names', 'all', 'edited'].map((name) => `https://${name}.example.org/__gw/oauth/callback`),
      `${gateway.url}/visit/oauth/callback`,
    ]);
    client = await gateway.clientWithAgent();
    const site = createServer(
      (request, response) => void response.end(`the site, ${request.headers.cookie ?? 'no cookies'}`),
    );
    const tcp = createTcpServer((socket) => void socket.on('error', () => undefined).pipe(socket));
    for (const server of [site, tcp]) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      cleanups.push(() => void server.close());
    }
    origin = (site.address() as AddressInfo).port;
    echo = (tcp.address() as AddressInfo).port;
  }, 120_000);

  afterAll(async () => {
    for (const cleanup of cleanups) cleanup();
    await gateway[Symbol.asyncDispose]();
    await sharing[Symbol.asyncDispose]();
  });

  const idOf = async (username: string): Promise<string> => {
    const [row] = await sharing.query(`SELECT id FROM resource_sharing.site_accounts WHERE username = '${username}'`);
    return String(row?.['id']);
  };
  const policy = (about: object, oauth: object = {}): Promise<GatewayJson> =>
    gateway.call('POST', '/auth-policies', {
      ...about,
      type: 'oauth',
      allow_private: true,
      oauth: {
        issuer: sharing.url,
        server: 'resource_sharing',
        client_id: people.client.id,
        client_secret: people.client.secret,
        ...oauth,
      },
    });

  async function host(name: string, oauth: object): Promise<{ policy: GatewayJson; visitor: () => VisitorBrowser }> {
    const { id } = await gateway.call('POST', '/hosts', {
      client_id: client,
      host: name,
      target_addr: `127.0.0.1:${origin}`,
      ...gateway.certificate(),
    });
    const made = await policy({ resource_type: 'host', resource_id: id }, oauth);
    const visitor = (): VisitorBrowser =>
      new VisitorBrowser({ scheme: 'https', port: gateway.ports.https, host: name });
    await waitFor(async () => (await visitor().ask()).status === 401, { timeoutMs: 10_000 });
    return { policy: made, visitor };
  }

  /** From the page to the authorization server and back. */
  async function signIn(
    { at, browser }: Person,
    path = '/',
    decision: 'allow' | 'deny' = 'allow',
  ): Promise<GatewayJson> {
    const back = await at.decide(await browser.follow(path), decision);
    return browser.ask({ path: back.pathname + back.search });
  }

  it('are admitted to a host if its policy lists their id', async () => {
    const { policy: made, visitor } = await host('ids.example.org', { subjects: [await idOf('demo-viewer')] });
    expect(made.oauth).toMatchObject({
      has_client_secret: true,
      token_endpoint: `${sharing.url}/oauth2/token`,
      introspection_endpoint: `${sharing.url}/oauth2/introspect`,
    });
    expect(JSON.stringify(made)).not.toContain(people.client.secret);
    const ann = { at: people.viewer, browser: visitor() };
    expect(await signIn(ann, '/a?b=1')).toMatchObject({ status: 303, headers: { location: '/a?b=1' } });
    expect(await ann.browser.ask({ path: '/a?b=1' })).toMatchObject({ status: 200, body: 'the site, no cookies' });
    const bob = { at: people.developer, browser: visitor() };
    const refused = await signIn(bob);
    expect(refused.status).toBe(401);
    expect(refused.body).toContain('Your account has no access.');
    expect((await bob.browser.ask()).status).toBe(401);
    // The cookies are those of one browser, and the way back is, too.
    expect([...ann.browser.jar.keys()]).toEqual([`__Host-gwv_${made.id}`]);
    const back = await people.viewer.decide(await visitor().follow('/'), 'allow');
    expect((await visitor().ask({ path: back.pathname + back.search })).status).toBe(401);
    const unwilling = { at: await sharing.administrator(), browser: visitor() };
    const denied = await signIn(unwilling, '/', 'deny');
    expect(denied.status).toBe(401);
    expect(denied.body).toContain('You were not signed in.');
  });

  it('are identified by the names in their profile', async () => {
    const { policy: made, visitor } = await host('names.example.org', { names: ['demo-viewer'] });
    expect(made.oauth).toMatchObject({ scope: 'vip', userinfo_endpoint: `${sharing.url}/api/open/me` });
    const ann = { at: people.viewer, browser: visitor() };
    expect((await signIn(ann)).status).toBe(303);
    expect((await ann.browser.ask()).status).toBe(200);
    const bob = { at: people.developer, browser: visitor() };
    expect((await signIn(bob)).status).toBe(401);
    expect((await bob.browser.ask()).status).toBe(401);
  });

  it('have to sign in again when the policy changes', async () => {
    const { policy: made, visitor } = await host('edited.example.org', {});
    const ann = { at: people.viewer, browser: visitor() };
    expect((await signIn(ann)).status).toBe(303);
    expect((await ann.browser.ask()).status).toBe(200);
    await gateway.call('PATCH', `/auth-policies/${made.id}`, { ttl_seconds: 60 });
    await waitFor(async () => (await ann.browser.ask()).status === 401, { timeoutMs: 1_000 });
    expect((await signIn(ann)).status).toBe(303);
    await gateway.call('PATCH', `/auth-policies/${made.id}`, {
      oauth: { issuer: sharing.url, server: 'resource_sharing', client_id: people.client.id, subjects: ['999999'] },
    });
    await waitFor(async () => (await ann.browser.ask()).status === 401, { timeoutMs: 1_000 });
    expect((await signIn(ann)).status).toBe(401);
  });

  it('can open a raw tunnel for their address', async () => {
    const tunnel = await gateway.call('POST', '/tunnels', {
      client_id: client,
      mode: 'tcp',
      listen_ip: '127.0.0.1',
      listen_port: await reservePort(),
      target_addr: `127.0.0.1:${echo}`,
    });
    const isIn = async (): Promise<boolean> => (await ask(tunnel.listen_port)) === 'ping';
    await waitFor(isIn, { timeoutMs: 10_000 });
    const made = await policy(
      { resource_type: 'tunnel', resource_id: tunnel.id },
      { subjects: [await idOf('demo-viewer')] },
    );
    await waitFor(async () => !(await isIn()));
    const page = `/visit/tunnel/${tunnel.id}`;
    const visitor = (): VisitorBrowser =>
      new VisitorBrowser({ port: gateway.ports.api, host: `127.0.0.1:${gateway.ports.api}` });
    const bob = { at: people.developer, browser: visitor() };
    expect((await signIn(bob, page)).status).toBe(401);
    expect(await isIn()).toBe(false);
    const ann = { at: people.viewer, browser: visitor() };
    expect(await signIn(ann, page)).toMatchObject({ status: 303, headers: { location: page } });
    await waitFor(isIn, { timeoutMs: 1_000 });
    expect((await ann.browser.ask({ path: page })).body).toContain('127.0.0.1 has access until');
    expect(formOf(await ann.browser.ask({ path: page })).action).toBe('');
    await gateway.call('PATCH', `/auth-policies/${made.id}`, { enabled: 0 });
    await gateway.call('PATCH', `/auth-policies/${made.id}`, { enabled: 1 });
    await waitFor(async () => !(await isIn()));
    expect((await ann.browser.ask({ path: page })).body).toContain('has no access yet');
  });

  it('cause an error at once if the server has no discovery document', async () => {
    const about = { resource_type: 'client', resource_id: client };
    await expect(policy(about, { issuer: gateway.url })).rejects.toThrow(/422.*oauth\.issuer/s);
    await expect(policy(about, { emails: ['ann@example.org'] })).rejects.toThrow(/422.*oauth\.emails/s);
  });
});

async function ask(port: number): Promise<string | null> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    socket.end('ping');
    let text = '';
    for await (const part of socket) text += String(part);
    return text;
  } catch {
    return null;
  }
}
