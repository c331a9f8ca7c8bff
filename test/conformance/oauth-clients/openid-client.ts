import * as openid from 'openid-client';
import { TokenRefused, type ClientSetup, type OAuthClient, type TokenSet } from './client.js';

/** openid-client, for a server that is no OpenID provider. */
export async function createOpenidClient(setup: ClientSetup): Promise<OAuthClient> {
  const { issuer, client, endpoints } = setup;
  const authentication = {
    basic: () => openid.ClientSecretBasic(client.secret),
    post: () => openid.ClientSecretPost(client.secret),
    none: () => openid.None(),
  }[setup.authentication]();
  const found = await openid.discovery(new URL(issuer), client.id, undefined, authentication, {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
  });
  const metadata: openid.ServerMetadata = Object.assign({}, found.serverMetadata(), {
    authorization_endpoint: issuer + endpoints.authorize,
    token_endpoint: issuer + endpoints.token,
    revocation_endpoint: issuer + endpoints.revoke,
    introspection_endpoint: issuer + endpoints.introspect,
  });
  const config = new openid.Configuration(metadata, client.id, undefined, authentication);
  openid.allowInsecureRequests(config);
  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();

  return {
    async authorizationUrl() {
      return openid.buildAuthorizationUrl(config, {
        redirect_uri: setup.redirectUri,
        scope: setup.scope,
        state,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }).href;
    },
    exchange: (callback) =>
      toTokenSet(openid.authorizationCodeGrant(config, callback, { pkceCodeVerifier: verifier, expectedState: state })),
    refresh: (refreshToken) => toTokenSet(openid.refreshTokenGrant(config, refreshToken)),
    revoke: ({ refreshToken }) => openid.tokenRevocation(config, refreshToken),
    introspect: async (token) => (await openid.tokenIntrospection(config, token)).active,
  };
}

async function toTokenSet(answer: Promise<openid.TokenEndpointResponse>): Promise<TokenSet> {
  try {
    const { access_token, refresh_token = '', scope = '' } = await answer;
    return { accessToken: access_token, refreshToken: refresh_token, scope };
  } catch (error) {
    if (error instanceof openid.ResponseBodyError) throw new TokenRefused(error.error, error);
    throw error;
  }
}
