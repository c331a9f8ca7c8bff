import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GuardedHost, policy, type Browser } from '../../test/verification-rig.js';
import type { OAuthEndpoints, VisitorOAuthClient } from '../index.js';
import type { OAuthIssuer } from './verification-options.js';

const ISSUER = 'https://login.test';
const SECRET = 'a secret/+';

/** An authorization server that checks what it must check of a client (RFC 6749, 7636, 7662). */
class AuthorizationServer {
  readonly codes = new Map<string, { challenge: string; redirectUri: string; subject: string }>();
  readonly asked: string[] = [];
  /** In place of the right answers. */
  broken: ((response: ServerResponse) => void) | null = null;

  readonly listener = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = '';
    for await (const part of request) text += String(part);
    const fields = new URLSearchParams(text);
    this.asked.push(request.url ?? '');
    if (this.broken) return this.broken(response);
    const answer = (status: number, body: object): void => void response.writeHead(status).end(JSON.stringify(body));
    if (request.url === '/userinfo') {
      const subject = /^Bearer token of (.+)$/.exec(request.headers.authorization ?? '')?.[1];
      return subject ? answer(200, { sub: subject }) : answer(401, {});
    }
    const [id, secret] = Buffer.from((request.headers.authorization ?? '').slice(6), 'base64')
      .toString()
      .split(':');
    const isClient = id === 'gateway' && decodeURIComponent((secret ?? '').replaceAll('+', ' ')) === SECRET;
    if (!isClient) return answer(401, { error: 'invalid_client' });
    if (request.url === '/introspect') {
      const subject = /^token of (.+)$/.exec(fields.get('token') ?? '')?.[1];
      return answer(200, subject ? { active: true, sub: subject } : { active: false });
    }
    const code = this.codes.get(fields.get('code') ?? '');
    this.codes.delete(fields.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(fields.get('code_verifier') ?? '')
      .digest('base64url');
    const fits = code?.challenge === challenge && code.redirectUri === fields.get('redirect_uri');
    return fits ? answer(200, { access_token: `token of ${code.subject}` }) : answer(400, { error: 'invalid_grant' });
  };

  /** The visitor says yes: where the browser goes back to. */
  agree(location: string, subject = 'ann'): URL {
    const asked = new URL(location).searchParams;
    const code = `code ${this.codes.size}`;
    const redirectUri = asked.get('redirect_uri') ?? '';
    this.codes.set(code, { challenge: asked.get('code_challenge') ?? '', redirectUri, subject });
    const back = new URL(redirectUri);
    back.search = new URLSearchParams({ code, state: asked.get('state') ?? '', iss: ISSUER }).toString();
    return back;
  }
}

let issuers: OAuthIssuer[];
let host: GuardedHost;
let server: AuthorizationServer;
const client: VisitorOAuthClient = { issuer: ISSUER, clientId: 'gateway', clientSecret: SECRET, scope: 'vip' };
const signIn = (more: Partial<VisitorOAuthClient> = {}) =>
  policy({ id: 6, type: 'oauth', password: null, oauth: { ...client, ...more } });

beforeEach(async () => {
  server = new AuthorizationServer();
  const login = createServer((request, response) => void server.listener(request, response)).listen(0, '127.0.0.1');
  await once(login, 'listening');
  const url = `http://127.0.0.1:${(login.address() as AddressInfo).port}`;
  const common = { authorizationEndpoint: 'https://login.test/authorize?tenant=1', tokenEndpoint: `${url}/token` };
  issuers = [
    { issuer: ISSUER, ...common, introspectionEndpoint: `${url}/introspect` },
    { issuer: 'https://other.test', ...common, userinfoEndpoint: `${url}/userinfo` },
  ];
  host = await GuardedHost.start({ timeouts: { callback: 300 }, oauthIssuers: issuers });
  return () => {
    login.closeAllConnections();
    login.close();
  };
});
afterEach(() => host.close());

async function begin(browser: Browser, path = '/a?b=1'): Promise<string> {
  const page = await browser.ask({ path });
  const href = /<a href="([^"]+)"/.exec(page.body)?.[1]?.replaceAll('&#38;', '&') ?? '';
  const answer = await browser.ask({ path: href });
  expect(answer.status).toBe(303);
  return answer.headers.location ?? '';
}

const come = (browser: Browser, url: URL) => browser.ask({ path: url.pathname + url.search });

describe('a host whose visitors sign in at another server', () => {
  it('redirects them there, and admits them when they return', async () => {
    await host.guard(signIn());
    const browser = host.browser();
    const location = await begin(browser);
    expect(location).toMatch(/^https:\/\/login.test\/authorize\?tenant=1&response_type=code&/);
    const asked = new URL(location).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      client_id: 'gateway',
      redirect_uri: 'http://a.test/__gw/oauth/callback',
      code_challenge_method: 'S256',
      scope: 'vip',
    });
    expect(browser.received.at(-1)).toMatch(/^gws_6=.+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/);
    expect(await come(browser, server.agree(location))).toMatchObject({ status: 303, headers: { location: '/a?b=1' } });
    expect([...browser.jar.keys()]).toEqual(['gwv_6']);
    expect((await browser.ask({ path: '/a?b=1' })).status).toBe(200);
    expect(server.asked).toEqual(['/token', '/introspect']);
    expect(host.seen.map(({ url, headers }) => [url, headers.cookie])).toEqual([['/a?b=1', undefined]]);
    await host.guard({ ...signIn(), version: 2 });
    expect((await browser.ask()).status).toBe(401);
  });

  it('can ask the userinfo endpoint who they are', async () => {
    await host.guard(signIn({ issuer: 'https://other.test', subjects: ['ann'] }));
    const browser = host.browser();
    const back = server.agree(await begin(browser));
    back.searchParams.set('iss', 'https://other.test');
    expect((await come(browser, back)).status).toBe(303);
    expect(server.asked).toEqual(['/token', '/userinfo']);
    const stranger = host.browser();
    const other = server.agree(await begin(stranger), 'bob');
    other.searchParams.delete('iss');
    expect(await come(stranger, other)).toMatchObject({ status: 401 });
    expect(stranger.jar.has('gwv_6')).toBe(false);
    expect(host.gate.failures).toMatchObject([{ policyId: 6 }]);
  });

  it('uses a callback path of its own, whatever path was requested', async () => {
    await host.guard(signIn());
    const browser = host.browser();
    for (const next of ['https://evil.test', '//evil.test', '/\\evil.test']) {
      const path = `/__gw/oauth/start/6?r=12&next=${encodeURIComponent(next)}`;
      const { headers } = await browser.ask({ path });
      expect(await come(browser, server.agree(headers.location ?? ''))).toMatchObject({ headers: { location: '/' } });
    }
  });

  it('accepts an answer once, in time, only in the browser that asked and from the server that was asked', async () => {
    await host.guard(signIn());
    const refused = async (change: (back: URL, browser: Browser) => void): Promise<void> => {
      const browser = host.browser();
      const back = server.agree(await begin(browser));
      change(back, browser);
      expect((await come(browser, back)).status).toBe(401);
      expect(browser.jar.has('gwv_6')).toBe(false);
    };
    const set = (name: string, value: string) => (back: URL) => back.searchParams.set(name, value);
    const other = host.browser();
    const otherState = new URL(await begin(other)).searchParams.get('state') ?? '';
    await refused((_, browser) => browser.jar.clear());
    await refused((_, browser) => browser.jar.set('gws_6', other.jar.get('gws_6') ?? ''));
    await refused((_, browser) => browser.jar.set('gws_6', `${browser.jar.get('gws_6')}A`));
    await refused(set('state', otherState));
    await refused(set('state', ''));
    await refused(set('state', '12.6.'));
    await refused(set('iss', 'https://evil.test'));
    await refused((back) => back.searchParams.delete('code'));
    expect(server.asked).toEqual([]);
    await refused(set('code', 'made up'));
    await refused(() => (host.gate.clock.now += 600_000));
    const browser = host.browser();
    const back = server.agree(await begin(browser));
    const jar = new Map(browser.jar);
    expect((await come(browser, back)).status).toBe(303);
    browser.jar.clear();
    for (const [name, value] of jar) browser.jar.set(name, value);
    expect((await come(browser, back)).status).toBe(401);
  });

  it('admits nobody when the other server fails', async () => {
    await host.guard(signIn());
    for (const broken of [
      (response: ServerResponse) => void response.writeHead(500).end(),
      (response: ServerResponse) => void response.end('not json'),
      (response: ServerResponse) => void response.end('[]'),
      (response: ServerResponse) => void response.end('{"access_token":"token of ann","active":false,"sub":"ann"}'),
      (response: ServerResponse) => void response.end('{"access_token":"token of ann","active":true,"sub":""}'),
      (response: ServerResponse) => void response.writeHead(302, { location: '/token' }).end(),
      (response: ServerResponse) => void response.socket?.destroy(),
      () => undefined,
    ]) {
      server.broken = null;
      host.gate.clock.now += 60_000;
      const browser = host.browser();
      const back = server.agree(await begin(browser));
      server.broken = broken;
      expect((await come(browser, back)).status).toBe(401);
      expect(browser.jar.has('gwv_6')).toBe(false);
    }
    expect(host.seen).toEqual([]);
  });

  it('uses the server of its policy, and refuses users who are not listed', async () => {
    const [known] = issuers;
    const own = { ...known, namesItself: true } as OAuthEndpoints;
    await host.guard({ ...signIn({ issuer: 'https://own.test', server: own, subjects: ['ann'] }), allowPrivate: true });
    const browser = host.browser();
    const back = server.agree(await begin(browser));
    back.searchParams.set('iss', 'https://own.test');
    expect((await come(browser, back)).status).toBe(303);
    // It identifies itself; a server that does not is another one.
    const second = host.browser();
    const unnamed = server.agree(await begin(second));
    unnamed.searchParams.delete('iss');
    expect((await come(second, unnamed)).status).toBe(401);
    server.asked.length = 0;
    await host.guard(signIn({ issuer: 'https://own.test', server: own }));
    const third = host.browser();
    const inside = server.agree(await begin(third));
    inside.searchParams.set('iss', 'https://own.test');
    expect((await come(third, inside)).status).toBe(401);
    expect(server.asked).toEqual([]);
  });

  it('asks about at most five invalid codes a minute from one address', async () => {
    await host.guard(signIn());
    const browser = host.browser();
    const back = server.agree(await begin(browser));
    const jar = new Map(browser.jar);
    for (let count = 0; count < 6; count += 1) {
      for (const [name, value] of jar) browser.jar.set(name, value);
      const guess = new URL(back);
      guess.searchParams.set('code', `made up ${count}`);
      expect((await come(browser, guess)).status).toBe(count < 5 ? 401 : 429);
    }
    expect(server.asked).toHaveLength(5);
    host.gate.clock.now += 60_000;
    expect((await come(browser, back)).status).toBe(303);
  });

  it('sends no code of another server to a server that does not identify itself', async () => {
    await host.guard(signIn(), policy({ id: 7, type: 'oauth', oauth: { ...client, issuer: 'https://other.test' } }));
    const browser = host.browser();
    const back = server.agree(await begin(browser));
    back.searchParams.delete('iss');
    expect((await come(browser, back)).status).toBe(401);
    expect(server.asked).toEqual([]);
  });

  it('is closed while its server is not known, and finds the host of its location', async () => {
    await host.guard(signIn({ issuer: 'https://unknown.test' }), policy({ id: 7, type: 'oauth' }));
    for (const id of [6, 7, 8]) {
      expect((await host.browser().ask({ path: `/__gw/oauth/start/${id}?r=12` })).status).toBe(401);
    }
    await host.guardLocations({ 12: '/', 13: '/inner' }, { ...signIn(), resource: { kind: 'host', id: 13 } });
    const browser = host.browser();
    const back = server.agree(await begin(browser, '/inner/x'));
    expect(await come(browser, back)).toMatchObject({ status: 303, headers: { location: '/inner/x' } });
    expect((await browser.ask({ path: '/inner/x' })).status).toBe(200);
  });
});
