import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { optionalPeer } from '../../support/peers.js';
import { registerClient, RunningResourceSharing, type RegisteredClient } from '../../support/resource-sharing.js';
import type { SiteBrowser } from '../../support/site-browser.js';
import { OPEN_API, STANDARD, TokenRefused, type ClientSetup, type OAuthClient, type TokenSet } from './client.js';
import { createOauth4webapiClient } from './oauth4webapi-client.js';
import { createOpenidClient } from './openid-client.js';
import { PythonClient, type PythonLibrary } from './python-client.js';
import { createSimpleOauth2Client } from './simple-oauth2-client.js';

/** Nobody listens there: the browser is asked where it would go. */
const REDIRECT_URI = 'http://127.0.0.1:65123/callback';
/** openid-client takes the whole query of the address it is called at for the answer's. */
const WITH_QUERY = `${REDIRECT_URI}?from=sharing`;
const PATHS = [
  ['the paths of RFC 6749', STANDARD],
  ['the open API’s own paths', OPEN_API],
] as const;

type Create = (setup: ClientSetup, context: TestContext) => OAuthClient | Promise<OAuthClient>;

const python =
  (library: PythonLibrary): Create =>
  (setup, context) => {
    const program = optionalPeer(context, 'python3-with-oauth-clients', '--python');
    const client = new PythonClient(program, library, setup);
    context.onTestFinished(() => client[Symbol.dispose]());
    return client;
  };

const LIBRARIES: readonly { name: string; authentication: ClientSetup['authentication']; create: Create }[] = [
  { name: 'oauth4webapi with client_secret_basic', authentication: 'basic', create: createOauth4webapiClient },
  { name: 'oauth4webapi with client_secret_post', authentication: 'post', create: createOauth4webapiClient },
  { name: 'oauth4webapi as a public application', authentication: 'none', create: createOauth4webapiClient },
  { name: 'openid-client with client_secret_basic', authentication: 'basic', create: createOpenidClient },
  { name: 'openid-client with client_secret_post', authentication: 'post', create: createOpenidClient },
  { name: 'openid-client as a public application', authentication: 'none', create: createOpenidClient },
  {
    name: 'simple-oauth2 with header and form',
    authentication: 'basic',
    create: (setup) => createSimpleOauth2Client(setup, 'form'),
  },
  {
    name: 'simple-oauth2 with JSON bodies',
    authentication: 'post',
    create: (setup) => createSimpleOauth2Client(setup, 'json'),
  },
  { name: 'Authlib with client_secret_basic', authentication: 'basic', create: python('authlib') },
  { name: 'Authlib with client_secret_post', authentication: 'post', create: python('authlib') },
  { name: 'requests-oauthlib with header', authentication: 'basic', create: python('requests-oauthlib') },
  { name: 'requests-oauthlib with body', authentication: 'post', create: python('requests-oauthlib') },
];

describe('independent OAuth clients', () => {
  let service: RunningResourceSharing;
  let browser: SiteBrowser;
  let confidential: RegisteredClient;
  let open: RegisteredClient;

  beforeAll(async () => {
    service = await RunningResourceSharing.start();
    browser = await service.administrator();
    const redirect_uris = [REDIRECT_URI, WITH_QUERY];
    confidential = await registerClient(browser, { redirect_uris });
    open = await registerClient(browser, { redirect_uris, kind: 'public' });
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  const ping = async (client: RegisteredClient, { accessToken }: TokenSet): Promise<number> => {
    // A public application calls with its token alone.
    const key = client === open ? {} : { 'x-api-key': client.secret };
    const headers = { ...key, authorization: `Bearer ${accessToken}` };
    return (await fetch(`${service.url}/api/open/ping`, { headers })).status;
  };

  describe.each(LIBRARIES)('$name', ({ authentication, create }) => {
    const setup = (endpoints: ClientSetup['endpoints']): ClientSetup => ({
      issuer: service.url,
      endpoints,
      authentication,
      client: authentication === 'none' ? open : confidential,
      redirectUri: create === createOpenidClient ? REDIRECT_URI : WITH_QUERY,
      scope: 'meta query',
    });
    const authorized = async (library: OAuthClient): Promise<TokenSet> =>
      library.exchange(await browser.decide(await library.authorizationUrl(), 'allow'));

    it.for(PATHS)('use code, PKCE, refresh and revocation on %s', async ([, endpoints], context) => {
      const given = setup(endpoints);
      const library = await create(given, context);
      const tokens = await authorized(library);
      expect(tokens.scope).toBe('meta query');
      expect(await ping(given.client, tokens)).toBe(200);
      expect(await library.introspect(tokens.accessToken)).toBe(true);

      const next = await library.refresh(tokens.refreshToken);
      expect(next.refreshToken).not.toBe(tokens.refreshToken);
      expect(await library.refresh(tokens.refreshToken)).toEqual(next);
      expect(await ping(given.client, next)).toBe(200);

      await library.revoke(next);
      expect(await library.introspect(next.accessToken)).toBe(false);
      expect(await ping(given.client, next)).toBe(401);
      await expect(library.refresh(next.refreshToken)).rejects.toThrow(refusal('invalid_grant'));
    });

    it.for(PATHS)(
      'a refresh token that was used long ago ends the authorization on %s',
      async ([, endpoints], context) => {
        const library = await create(setup(endpoints), context);
        const first = await authorized(library);
        const second = await library.refresh(first.refreshToken);
        const third = await library.refresh(second.refreshToken);
        await expect(library.refresh(first.refreshToken)).rejects.toThrow(refusal('invalid_grant'));
        await expect(library.refresh(third.refreshToken)).rejects.toThrow(refusal('invalid_grant'));
        expect(await library.introspect(third.accessToken)).toBe(false);
      },
    );

    it.for(PATHS)('receive a denial on %s', async ([, endpoints], context) => {
      const library = await create(setup(endpoints), context);
      const callback = await browser.decide(await library.authorizationUrl(), 'deny');
      expect(callback.searchParams.get('error')).toBe('access_denied');
      await expect(library.exchange(callback)).rejects.toThrow();
    });
  });
});

const refusal = (code: string): Error => new TokenRefused(code, undefined);
