import type { Application } from '../applications/application-rows.js';
import { matchRedirectUri } from '../applications/redirect-uri.js';
import { intersect } from '../credentials/credential-records.js';
import { askable, type GrantScope } from '../credentials/grant-scopes.js';
import { readIdentityRequest, refuseRequestObjects, type IdentityRequest } from './identity-request.js';
import { resourceOf } from './issuer.js';
import { AuthorizationRefused, OAuthError } from './oauth-error.js';
import type { OAuthParameters } from './oauth-parameters.js';
import { readChallenge } from './pkce.js';
import { readScope } from './scopes.js';

/**
 * Where the answer to an authorization request can be sent. It was found valid, so errors can be sent there as well.
 */
export interface AnswerAddress {
  readonly redirectUri: string;
  /** True if the request named the address: then the token request has to name it as well. */
  readonly redirectUriSent: boolean;
  readonly state: string | undefined;
  readonly issuer: string;
}

/** An authorization request that can be shown to its user. */
export interface AuthorizationRequest extends AnswerAddress {
  readonly application: Application;
  readonly requestedScopes: readonly GrantScope[];
  /** Requested and allowed scopes: what the user can grant. */
  readonly grantableScopes: readonly GrantScope[];
  readonly codeChallenge: string | undefined;
  /** Undefined for a request without `openid`. */
  readonly identity: IdentityRequest | undefined;
}

/** @throws INVALID_REDIRECT_URI: such an error is shown here and never sent to the address (RFC 9700 section 2.1). */
export function answerAddress(parameters: OAuthParameters, application: Application, issuer: string): AnswerAddress {
  const given = parameters.optional('redirect_uri');
  const { redirectUris, kind } = application;
  const [only, ...others] = redirectUris;
  const redirectUri =
    given === undefined ? (others.length === 0 ? only : undefined) : matchRedirectUri(given, redirectUris, kind);
  if (redirectUri === undefined) {
    throw new OAuthError('invalid_request', 'redirect_uri is not registered for this application', {
      code: 'INVALID_REDIRECT_URI',
    });
  }
  return { redirectUri, redirectUriSent: given !== undefined, state: parameters.optional('state'), issuer };
}

/**
 * The address with the parameters of an answer; the registered text is not changed (RFC 6749 section 4.1.2, RFC 9207).
 */
export function answerLocation(
  { redirectUri, state, issuer }: AnswerAddress,
  answer: Readonly<Record<string, string>>,
): string {
  const query = new URLSearchParams({ ...answer, ...(state === undefined ? {} : { state }), iss: issuer });
  const separator = redirectUri.includes('?') ? (/[?&]$/.test(redirectUri) ? '' : '&') : '?';
  return `${redirectUri}${separator}${query.toString()}`;
}

/** Converts an OAuthError into one that can be sent to the application. */
export function refusedAt(address: AnswerAddress, error: OAuthError): AuthorizationRefused {
  const answer = { error: error.error, error_description: error.message };
  return new AuthorizationRefused(error.error, error.message, answerLocation(address, answer));
}

/** Reads the rest of a request. `responseTypeRequired`: on the paths of RFC 6749. @throws OAuthError */
export function readAuthorizationRequest(
  parameters: OAuthParameters,
  application: Application,
  address: AnswerAddress,
  options: { readonly responseTypeRequired: boolean },
): AuthorizationRequest {
  refuseRequestObjects(parameters);
  assertResponse(parameters, options.responseTypeRequired);
  const resource = parameters.optional('resource');
  if (resource !== undefined && resource !== resourceOf(address.issuer)) {
    throw new OAuthError('invalid_target', `The only resource is ${resourceOf(address.issuer)}`);
  }
  const codeChallenge = readChallenge(parameters);
  if (codeChallenge === undefined && application.pkceRequired) {
    throw new OAuthError('invalid_request', 'This application has to send a code_challenge');
  }
  const requestedScopes: readonly GrantScope[] = readScope(parameters.optional('scope')) ?? application.allowedScopes;
  const grantableScopes = intersect(requestedScopes, askable(application.allowedScopes));
  if (grantableScopes.length === 0) {
    throw new OAuthError('invalid_scope', 'The application is allowed none of the requested scopes');
  }
  const identity = requestedScopes.includes('openid') ? readIdentityRequest(parameters) : undefined;
  return { ...address, application, requestedScopes, grantableScopes, codeChallenge, identity };
}

function assertResponse(parameters: OAuthParameters, responseTypeRequired: boolean): void {
  const type = responseTypeRequired ? parameters.required('response_type') : parameters.optional('response_type');
  if (type !== undefined && type !== 'code') {
    throw new OAuthError('unsupported_response_type', 'The only response_type is code');
  }
  const mode = parameters.optional('response_mode');
  // Clients of the open API send `redirect` for the default.
  if (mode !== undefined && mode !== 'query' && mode !== 'redirect') {
    throw new OAuthError('invalid_request', 'The only response_mode is query');
  }
}
