import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { exportSPKI, importJWK, jwtVerify, SignJWT, UnsecuredJWT, type JWK, type JWTPayload } from 'jose';
import * as openid from 'openid-client';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IdentityKeys } from '../src/identity/identity-keys.js';
import { startOpenSite } from './support/open-site.js';
import type { PageReader } from './support/page-reader.js';
import { answerOf, ISSUER, newMember, RelyingParty } from './support/relying-party.js';
import { PASSWORD, ThirdParty } from './support/third-party.js';
import type { SiteApp } from './site-app.js';

let site: SiteApp;
let people: ThirdParty;
let party: RelyingParty;
let other: RelyingParty;
let published: JWK;

beforeAll(async () => {
  site = await startOpenSite({ TRUSTED_PROXIES: '127.0.0.1,::1', API_RATE_LIMIT: '0' });
  people = new ThirdParty(site);
  party = await RelyingParty.of(site.url, await people.register((await people.user()).id));
  other = await RelyingParty.of(site.url, await people.register((await people.user()).id));
  const { body } = await request(site.url).get('/oauth2/jwks');
  published = (body as { keys: [JWK] }).keys[0];
});
afterAll(() => site.close());

const member = (): ReturnType<typeof newMember> => newMember(site.url, people);

/** What the service says to a hint that comes with a silent request of a user who has agreed before. */
async function silent(reader: PageReader, hint: string): Promise<string> {
  await reader.get(await party.path({ prompt: 'none', id_token_hint: hint }));
  const { error, code } = answerOf(reader);
  return error ?? (code === undefined ? 'nothing' : 'code');
}

describe('id_token_hint', () => {
  it('is taken from its own application, also when it has expired', async () => {
    const { reader } = await member();
    const { tokens } = await party.signIn(reader);
    expect(await silent(reader, tokens.id_token ?? '')).toBe('code');
    const { kid, key } = await site.app.get(IdentityKeys).signing();
    const yesterday = { ...(tokens.claims() as JWTPayload), iat: 1_700_000_000, exp: 1_700_003_600 };
    const expired = await new SignJWT(yesterday).setProtectedHeader({ alg: 'RS256', kid }).sign(key);
    expect(await silent(reader, expired)).toBe('code');
    const elsewhere = new SignJWT({ ...yesterday, iss: 'https://evil.example' });
    const foreign = await elsewhere.setProtectedHeader({ alg: 'RS256', kid }).sign(key);
    expect(await silent(reader, foreign)).toBe('invalid_request');
  });

  it('is refused from another application, without a signature, and with one of another key', async () => {
    const { id, reader } = await member();
    const { claims } = await party.signIn(reader);
    const { tokens: foreign } = await other.signIn(reader);
    const given = claims as JWTPayload;
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const signed = (payload: JWTPayload, header: { alg: string; kid?: string }): Promise<string> =>
      new SignJWT(payload).setProtectedHeader(header).sign(privateKey);
    // RFC 8725 section 2.1: the public key as the secret of a hash.
    const spki = await exportSPKI(createPublicKey({ key: published as never, format: 'jwk' }) as never);
    const confused = await new SignJWT(given)
      .setProtectedHeader({ alg: 'HS256', kid: published.kid ?? '' })
      .sign(Buffer.from(spki));
    const unsigned = new UnsecuredJWT({ ...given }).encode();
    const [header = '', payload = ''] = (foreign.id_token ?? '').split('.');
    const hints: Record<string, string> = {
      'of another application': foreign.id_token ?? '',
      'alg none': unsigned,
      'alg none without its last dot': unsigned.slice(0, -1),
      'HS256 with the public key': confused,
      'own key under the published name': await signed(given, { alg: 'RS256', kid: published.kid ?? '' }),
      'own key without a name': await signed(given, { alg: 'RS256' }),
      'another algorithm': await signed(given, { alg: 'PS256', kid: published.kid ?? '' }),
      'no signature': `${header}.${payload}.`,
      'not a token': 'hint',
      'a number': String(id),
    };
    for (const [what, hint] of Object.entries(hints)) {
      expect([what, await silent(reader, hint)]).toEqual([what, 'invalid_request']);
    }
  });

  it('of another user leads to the login, and never to the code of the one who is here', async () => {
    const { name, reader: first } = await member();
    const { tokens } = await party.signIn(first);
    const hint = tokens.id_token ?? '';
    const { name: secondName, reader: second } = await member();
    await party.signIn(second);
    expect(await silent(second, hint)).toBe('login_required');
    await second.get(await party.path({ id_token_hint: hint }));
    expect(second.location).toMatch(/^\/login\?/);
    await second.follow();
    // The same wrong user again: the application hears of it.
    await second.submit('/login', { username: secondName, password: PASSWORD });
    await second.follow();
    expect(answerOf(second)).toMatchObject({ error: 'login_required' });
    await second.get(await party.path({ id_token_hint: hint }));
    await second.follow();
    await second.submit('/login', { username: name, password: PASSWORD });
    await second.follow();
    expect(answerOf(second)).toHaveProperty('code');
  });
});

describe('an id_token', () => {
  it('is not accepted for another request: the nonce is that of its own', async () => {
    const { reader } = await member();
    await party.signIn(reader);
    await reader.get(await party.path({ nonce: 'of an attacker' }));
    await expect(party.exchange(reader.location, { expectedNonce: 'of the victim' })).rejects.toThrow();
    await reader.get(await party.path());
    await expect(party.exchange(reader.location, { expectedNonce: 'of the victim' })).rejects.toThrow();
  });

  it('is not issued for the code of another application, nor twice for one code', async () => {
    const { reader } = await member();
    await party.signIn(reader);
    await reader.get(await party.path());
    const stolen = reader.location;
    await expect(other.exchange(stolen)).rejects.toThrow();
    const { id_token: first } = await party.exchange(stolen);
    expect(first).toBeDefined();
    await expect(party.exchange(stolen)).rejects.toThrow();
  });

  it('names one application and one issuer, and binds its access token', async () => {
    const { reader } = await member();
    const { tokens } = await party.signIn(reader);
    const key = await importJWK(published, 'RS256');
    const verify = (options: object): Promise<unknown> => jwtVerify(tokens.id_token ?? '', key, options);
    await verify({ issuer: ISSUER, audience: party.app.clientId, algorithms: ['RS256'] });
    await expect(verify({ audience: other.app.clientId })).rejects.toThrow(/aud/);
    await expect(verify({ issuer: 'https://evil.example' })).rejects.toThrow(/iss/);
    const next = await openid.refreshTokenGrant(party.config, tokens.refresh_token ?? '');
    expect(next.claims()?.['at_hash']).not.toBe(tokens.claims()?.['at_hash']);
  });

  it('is no credential: no operation and no endpoint takes it', async () => {
    const { reader } = await member();
    const { tokens } = await party.signIn(reader, { scope: 'openid meta' });
    const idToken = tokens.id_token ?? '';
    expect((await people.probe('meta', party.app.secret, idToken)).status).toBe(401);
    const introspected = await openid.tokenIntrospection(party.config, idToken);
    expect(introspected.active).toBe(false);
  });
});
