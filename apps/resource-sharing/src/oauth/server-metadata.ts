import { LANGUAGES } from '@gatehouse/i18n';
import { GRANT_SCOPES } from '../credentials/grant-scopes.js';
import { ID_TOKEN_ALGORITHM } from '../identity/new-identity-key.js';
import { DEVICE_GRANT } from './device-exchange.js';
import { PROMPTS } from './identity-request.js';
import type { ServerMetadataView } from './server-metadata.view.js';

const METHODS = ['client_secret_basic', 'client_secret_post', 'none'];
const CLAIMS = [
  'iss sub aud exp iat auth_time nonce at_hash',
  'name preferred_username picture locale updated_at email email_verified',
].flatMap((names) => names.split(' '));

/**
 * What clients read about this server, at the addresses of RFC 8414 section 3 as at that of OpenID Connect Discovery section
 * 4: members of RFC 8628 section 4 and RFC 9207 section 3 among them.
 */
export function serverMetadata(issuer: string): ServerMetadataView {
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth2/authorize`,
    token_endpoint: `${issuer}/oauth2/token`,
    device_authorization_endpoint: `${issuer}/oauth2/device_authorization`,
    revocation_endpoint: `${issuer}/oauth2/revoke`,
    introspection_endpoint: `${issuer}/oauth2/introspect`,
    userinfo_endpoint: `${issuer}/oauth2/userinfo`,
    jwks_uri: `${issuer}/oauth2/jwks`,
    scopes_supported: GRANT_SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', DEVICE_GRANT],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [ID_TOKEN_ALGORITHM],
    claims_supported: CLAIMS,
    claim_types_supported: ['normal'],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    prompt_values_supported: PROMPTS,
    ui_locales_supported: LANGUAGES,
    token_endpoint_auth_methods_supported: METHODS,
    revocation_endpoint_auth_methods_supported: METHODS,
    introspection_endpoint_auth_methods_supported: METHODS,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${issuer}/docs`,
  };
}
