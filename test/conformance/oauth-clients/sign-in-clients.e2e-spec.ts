import { fileURLToPath } from 'node:url';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { optionalPeer } from '../../support/peers.js';
import { registerClient, RunningResourceSharing, type RegisteredClient } from '../../support/resource-sharing.js';
import type { SiteBrowser } from '../../support/site-browser.js';
import { LineProgram } from './line-program.js';
import { PYTHON_ENVIRONMENT } from './python-client.js';

const REDIRECT_URI = 'http://127.0.0.1:65123/callback';
const SCOPES = ['openid', 'profile', 'email'];
const PYTHON_SCRIPT = fileURLToPath(new URL('python_sign_in.py', import.meta.url));

interface Setup {
  readonly issuer: string;
  readonly client: RegisteredClient;
}

interface SignedIn {
  readonly claims: Readonly<Record<string, unknown>>;
  readonly userInfo: Readonly<Record<string, unknown>>;
}

/** What a library does by itself: discovery, keys, the checks of an id_token, and userinfo. */
interface SignInClient {
  authorizationUrl(): Promise<string>;
  signIn(callback: URL): Promise<SignedIn>;
}

async function createOpenidClient({ issuer, client }: Setup): Promise<SignInClient> {
  const config = await openid.discovery(new URL(issuer), client.id, client.secret, undefined, {
    execute: [openid.allowInsecureRequests, openid.enableNonRepudiationChecks],
  });
  const checks = { pkceCodeVerifier: openid.randomPKCECodeVerifier(), expectedNonce: openid.randomNonce() };
  return {
    authorizationUrl: async () =>
      openid.buildAuthorizationUrl(config, {
        redirect_uri: REDIRECT_URI,
        scope: SCOPES.join(' '),
        nonce: checks.expectedNonce,
        code_challenge: await openid.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
        code_challenge_method: 'S256',
      }).href,
    async signIn(callback) {
      const tokens = await openid.authorizationCodeGrant(config, callback, { ...checks, idTokenExpected: true });
      const claims = { ...tokens.claims() };
      const userInfo = await openid.fetchUserInfo(config, tokens.access_token, String(claims['sub']));
      return { claims, userInfo };
    },
  };
}

async function createOauth4webapiClient({ issuer, client: { id, secret } }: Setup): Promise<SignInClient> {
  const options = { [oauth.allowInsecureRequests]: true };
  const url = new URL(issuer);
  const server = await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, options));
  const client: oauth.Client = { client_id: id };
  const [verifier, nonce] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomNonce()];
  return {
    async authorizationUrl() {
      const address = new URL(server.authorization_endpoint ?? '');
      const challenge = await oauth.calculatePKCECodeChallenge(verifier);
      for (const [name, value] of Object.entries({
        response_type: 'code',
        client_id: id,
        redirect_uri: REDIRECT_URI,
        scope: SCOPES.join(' '),
        nonce,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      })) {
        address.searchParams.set(name, value);
      }
      return address.href;
    },
    async signIn(callback) {
      const parameters = oauth.validateAuthResponse(server, client, callback);
      const authentication = oauth.ClientSecretBasic(secret);
      const answer = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        authentication,
        parameters,
        REDIRECT_URI,
        verifier,
        options,
      );
      const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, {
        expectedNonce: nonce,
        requireIdToken: true,
      });
      await oauth.validateApplicationLevelSignature(server, answer, options);
      const claims = { ...oauth.getValidatedIdTokenClaims(tokens) };
      const told = await oauth.userInfoRequest(server, client, tokens.access_token, options);
      const userInfo = await oauth.processUserInfoResponse(server, client, String(claims['sub']), told);
      return { claims, userInfo };
    },
  };
}

function createProgramClient(program: LineProgram, context: TestContext): SignInClient {
  context.onTestFinished(() => program[Symbol.dispose]());
  const ask = async (name: string, ...values: string[]): Promise<unknown> => {
    const { result, failed } = await program.ask(name, ...values);
    if (failed !== undefined) throw new Error(`${name} failed: ${failed}`);
    return result;
  };
  return {
    authorizationUrl: () => ask('authorization_url') as Promise<string>,
    signIn: (callback) => ask('sign_in', callback.href) as Promise<SignedIn>,
  };
}

const forProgram = (setup: Setup): string => JSON.stringify({ ...setup, redirectUri: REDIRECT_URI, scopes: SCOPES });

const LIBRARIES: Readonly<Record<string, (setup: Setup, context: TestContext) => Promise<SignInClient>>> = {
  'openid-client': createOpenidClient,
  oauth4webapi: createOauth4webapiClient,
  Authlib: async (setup, context) => {
    const python = optionalPeer(context, 'python3-with-oauth-clients', '--python');
    return createProgramClient(
      new LineProgram(python, [PYTHON_SCRIPT, forProgram(setup)], PYTHON_ENVIRONMENT),
      context,
    );
  },
  'go-oidc': async (setup, context) =>
    createProgramClient(new LineProgram(optionalPeer(context, 'go-oidc'), [forProgram(setup)]), context),
};

describe('independent OpenID Connect clients', () => {
  let service: RunningResourceSharing;
  let browser: SiteBrowser;
  let client: RegisteredClient;

  beforeAll(async () => {
    service = await RunningResourceSharing.start();
    browser = await service.administrator();
    client = await registerClient(browser, { redirect_uris: [REDIRECT_URI] });
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  it.for(Object.keys(LIBRARIES))('%s signs a user in', async (name, context) => {
    const { data: account } = await browser.call<{ data: { id: number } }>('GET', '/api/site/me');
    const library = await LIBRARIES[name]?.({ issuer: service.url, client }, context);
    if (library === undefined) throw new Error(`${name} is not there`);
    const callback = await browser.decide(await library.authorizationUrl(), 'allow');
    const { claims, userInfo } = await library.signIn(callback);
    expect(claims).toMatchObject({ iss: service.url, aud: client.id, sub: String(account.id) });
    expect(userInfo).toMatchObject({ sub: String(account.id), preferred_username: service.username });
  });

  it.for(Object.keys(LIBRARIES))('%s refuses the answer to another request', async (name, context) => {
    const [first, second] = [
      await LIBRARIES[name]?.({ issuer: service.url, client }, context),
      await LIBRARIES[name]?.({ issuer: service.url, client }, context),
    ];
    await first?.authorizationUrl();
    const foreign = await browser.decide((await second?.authorizationUrl()) ?? '', 'allow');
    await expect(first?.signIn(foreign)).rejects.toThrow();
  });
});
