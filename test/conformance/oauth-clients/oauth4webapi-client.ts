import * as oauth from 'oauth4webapi';
import { TokenRefused, type ClientSetup, type OAuthClient, type TokenSet } from './client.js';

const INSECURE = { [oauth.allowInsecureRequests]: true };

/** oauth4webapi, with every check it makes. */
export async function createOauth4webapiClient(setup: ClientSetup): Promise<OAuthClient> {
  const issuer = new URL(setup.issuer);
  const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...INSECURE });
  const server: oauth.AuthorizationServer = {
    ...(await oauth.processDiscoveryResponse(issuer, response)),
    authorization_endpoint: setup.issuer + setup.endpoints.authorize,
    token_endpoint: setup.issuer + setup.endpoints.token,
    revocation_endpoint: setup.issuer + setup.endpoints.revoke,
    introspection_endpoint: setup.issuer + setup.endpoints.introspect,
  };
  const client: oauth.Client = { client_id: setup.client.id };
  const authentication = {
    basic: () => oauth.ClientSecretBasic(setup.client.secret),
    post: () => oauth.ClientSecretPost(setup.client.secret),
    none: () => oauth.None(),
  }[setup.authentication]();
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();

  return {
    async authorizationUrl() {
      const url = new URL(server.authorization_endpoint ?? '');
      url.search = new URLSearchParams({
        response_type: 'code',
        client_id: setup.client.id,
        redirect_uri: setup.redirectUri,
        scope: setup.scope,
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }).toString();
      return url.href;
    },
    async exchange(callback) {
      const parameters = oauth.validateAuthResponse(server, client, callback, state);
      const { redirectUri } = setup;
      return await toTokenSet(
        oauth
          .authorizationCodeGrantRequest(server, client, authentication, parameters, redirectUri, verifier, INSECURE)
          .then((answer) => oauth.processAuthorizationCodeResponse(server, client, answer)),
      );
    },
    refresh: (refreshToken) =>
      toTokenSet(
        oauth
          .refreshTokenGrantRequest(server, client, authentication, refreshToken, INSECURE)
          .then((answer) => oauth.processRefreshTokenResponse(server, client, answer)),
      ),
    async revoke({ refreshToken }) {
      const answer = await oauth.revocationRequest(server, client, authentication, refreshToken, INSECURE);
      await oauth.processRevocationResponse(answer);
    },
    async introspect(token) {
      const answer = await oauth.introspectionRequest(server, client, authentication, token, INSECURE);
      return (await oauth.processIntrospectionResponse(server, client, answer)).active;
    },
  };
}

async function toTokenSet(answer: Promise<oauth.TokenEndpointResponse>): Promise<TokenSet> {
  try {
    const { access_token, refresh_token = '', scope = '' } = await answer;
    return { accessToken: access_token, refreshToken: refresh_token, scope };
  } catch (error) {
    if (error instanceof oauth.ResponseBodyError) throw new TokenRefused(error.error, error);
    throw error;
  }
}
