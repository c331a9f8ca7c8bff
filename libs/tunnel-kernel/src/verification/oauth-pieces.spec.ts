import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { VisitorOAuthClient } from '../config.js';
import { discoverOAuthServer } from './oauth-discovery.js';
import { identityIn, isWelcome, profileIn } from './oauth-identity.js';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

async function serverWith(answers: Record<string, unknown>): Promise<string> {
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? ''];
    if (answer === undefined) response.writeHead(404).end();
    else response.end(typeof answer === 'function' ? JSON.stringify(answer(origin)) : JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return origin;
}

const client: VisitorOAuthClient = { issuer: 'https://a.test', clientId: 'x', clientSecret: null };

describe('a user who returns from the sign-in', () => {
  it('is identified by an id, a name and an address that the server has verified', () => {
    expect(identityIn({ sub: '1', preferred_username: 'ann', email: 'a@b.c', email_verified: true })).toEqual({
      subject: '1',
      name: 'ann',
      email: 'a@b.c',
      active: false,
    });
    expect(identityIn({ id: 7, login: 'ann', active: true })).toEqual({
      subject: '7',
      name: 'ann',
      email: null,
      active: true,
    });
    for (const verified of [undefined, false, 'true', 1]) {
      expect(identityIn({ sub: '1', email: 'a@b.c', email_verified: verified }).email).toBeNull();
    }
    for (const nobody of [{}, { sub: '' }, { sub: null }, { sub: ['1'] }, { id: 1.5 }, { sub: { toString: 1 } }]) {
      expect(() => identityIn(nobody)).toThrow('nobody');
    }
    expect(profileIn({ data: { id: 3, username: 'ann', email: 'a@b.c' } })).toMatchObject({
      subject: '3',
      name: 'ann',
      email: null,
    });
    expect(() => profileIn({ id: 3, username: 'ann' })).toThrow('nobody');
  });

  it('is admitted by the lists, each of which checks its own kind', () => {
    const ann = { subject: '1', name: 'ann', email: 'ann@b.c', active: true };
    const among = (lists: Partial<VisitorOAuthClient>): boolean => isWelcome({ ...client, ...lists }, ann);
    expect(among({})).toBe(true);
    expect(among({ subjects: [], names: [], emails: [] })).toBe(true);
    expect(among({ subjects: ['1'] })).toBe(true);
    expect(among({ names: ['ann'] })).toBe(true);
    expect(among({ emails: ['ANN@b.c'] })).toBe(true);
    expect(among({ subjects: ['2'], names: ['ann'] })).toBe(true);
    // A user who can choose a name could choose another user's id or address.
    expect(among({ subjects: ['ann', 'ann@b.c'] })).toBe(false);
    expect(among({ names: ['1', 'ann@b.c', 'ANN'] })).toBe(false);
    expect(among({ emails: ['1', 'ann', 'ann@b.c.evil'] })).toBe(false);
    expect(isWelcome({ ...client, names: ['null'], emails: ['null'] }, { ...ann, name: null, email: null })).toBe(
      false,
    );
  });
});

describe('the metadata of an authorization server', () => {
  const endpoints = (issuer: string, more: object = {}): object => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    ...more,
  });

  it('is found by RFC 8414 and by OpenID Connect Discovery', async () => {
    const origin = await serverWith({
      '/.well-known/oauth-authorization-server/tenant': (at: string) =>
        endpoints(`${at}/tenant`, {
          introspection_endpoint: `${at}/introspect`,
          authorization_response_iss_parameter_supported: true,
        }),
      '/.well-known/openid-configuration': (at: string) =>
        endpoints(at, { userinfo_endpoint: `${at}/userinfo`, introspection_endpoint: `${at}/introspect` }),
    });
    expect(await discoverOAuthServer(`${origin}/tenant`, true)).toEqual({
      authorizationEndpoint: `${origin}/tenant/authorize`,
      tokenEndpoint: `${origin}/tenant/token`,
      introspectionEndpoint: `${origin}/introspect`,
      namesItself: true,
    });
    expect(await discoverOAuthServer(origin, true)).toMatchObject({
      userinfoEndpoint: `${origin}/userinfo`,
      introspectionEndpoint: `${origin}/introspect`,
      namesItself: false,
    });
  });

  it('is refused if it belongs to another server, is at a private address or is incomplete', async () => {
    const origin = await serverWith({
      '/.well-known/oauth-authorization-server': (at: string) => endpoints(`${at}/`),
      '/.well-known/oauth-authorization-server/part': (at: string) => ({ issuer: `${at}/part`, token_endpoint: at }),
      '/.well-known/oauth-authorization-server/list': [],
    });
    for (const path of ['', '/part', '/list', '/none']) {
      await expect(discoverOAuthServer(`${origin}${path}`, true)).rejects.toThrow(/metadata|status|JSON/);
    }
    await expect(discoverOAuthServer(origin, false)).rejects.toThrow('without TLS');
    await expect(discoverOAuthServer('https://127.0.0.1', false)).rejects.toThrow('not to be reached');
    const resolve = async (): Promise<{ address: string; family: number }[]> => [{ address: '10.0.0.1', family: 4 }];
    await expect(discoverOAuthServer('https://a.test', false, { resolve })).rejects.toThrow('could not be asked');
  });
});
