import { createHash, randomBytes } from 'node:crypto';
import { AuthorizationCode, type AccessToken } from 'simple-oauth2';
import { TokenRefused, type ClientSetup, type OAuthClient, type TokenSet } from './client.js';

/** simple-oauth2, which takes no answer that is not JSON. `bodyFormat` json is what it sends to the open API's own paths. */
export function createSimpleOauth2Client(setup: ClientSetup, bodyFormat: 'form' | 'json'): OAuthClient {
  const { client, endpoints, issuer, redirectUri, scope } = setup;
  const library = new AuthorizationCode({
    client,
    auth: {
      tokenHost: issuer,
      tokenPath: endpoints.token,
      revokePath: endpoints.revoke,
      authorizePath: endpoints.authorize,
    },
    options: { authorizationMethod: setup.authentication === 'basic' ? 'header' : 'body', bodyFormat },
  });
  const state = randomBytes(16).toString('hex');
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');

  return {
    authorizationUrl() {
      const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
      return Promise.resolve(library.authorizeURL({ redirect_uri: redirectUri, scope, state, ...pkce }));
    },
    async exchange(callback) {
      if (callback.searchParams.get('state') !== state) throw new Error('the state is not ours');
      const code = callback.searchParams.get('code') ?? '';
      // Its types lack PKCE; it passes on what it gets.
      const values = { code, redirect_uri: redirectUri, code_verifier: verifier };
      return await toTokenSet(library.getToken(values));
    },
    refresh: (refreshToken) => toTokenSet(library.createToken({ refresh_token: refreshToken }).refresh()),
    async revoke({ accessToken, refreshToken }) {
      await library.createToken({ access_token: accessToken, refresh_token: refreshToken }).revoke('refresh_token');
    },
    async introspect(token) {
      // The library has no introspection.
      const body = new URLSearchParams({ token, client_id: client.id, client_secret: client.secret });
      const answer = await fetch(issuer + endpoints.introspect, { method: 'POST', body });
      return ((await answer.json()) as { active: boolean }).active;
    },
  };
}

async function toTokenSet(answer: Promise<AccessToken>): Promise<TokenSet> {
  try {
    const { token } = await answer;
    const read = (name: string): string => (typeof token[name] === 'string' ? token[name] : '');
    return { accessToken: read('access_token'), refreshToken: read('refresh_token'), scope: read('scope') };
  } catch (error) {
    const payload = (error as { data?: { payload?: { error?: unknown } } }).data?.payload;
    if (typeof payload?.error === 'string') throw new TokenRefused(payload.error, error);
    throw error;
  }
}
