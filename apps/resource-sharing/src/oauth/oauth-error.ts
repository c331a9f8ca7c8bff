import type { ErrorCode } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';

/**
 * RFC 6749 sections 4.1.2.1 and 5.2, RFC 6750 section 3.1, RFC 7009 section 2.2.1, RFC 8628 section 3.5, RFC 8707 section
 * 2, OpenID Connect Core section 3.1.2.6.
 */
export type OAuthErrorName =
  | 'access_denied'
  | 'authorization_pending'
  | 'consent_required'
  | 'expired_token'
  | 'insufficient_scope'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'invalid_token'
  | 'login_required'
  | 'registration_not_supported'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'slow_down'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'unsupported_token_type';

const CODES: Readonly<Record<OAuthErrorName, ErrorCode>> = {
  access_denied: 'ACCESS_DENIED',
  // The envelope of the contract has no code of its own for devices.
  authorization_pending: 'INVALID_GRANT',
  expired_token: 'INVALID_GRANT',
  slow_down: 'INVALID_GRANT',
  invalid_client: 'INVALID_CLIENT',
  invalid_grant: 'INVALID_GRANT',
  invalid_request: 'INVALID_REQUEST',
  invalid_scope: 'INVALID_SCOPE',
  invalid_target: 'INVALID_TARGET',
  invalid_token: 'INVALID_OPENAPI_USER_TOKEN',
  insufficient_scope: 'USER_SCOPE_NOT_ALLOWED',
  // Answers to requests about the user: they go to the application, which reads `error`.
  consent_required: 'ACCESS_DENIED',
  login_required: 'ACCESS_DENIED',
  registration_not_supported: 'INVALID_REQUEST',
  request_not_supported: 'INVALID_REQUEST',
  request_uri_not_supported: 'INVALID_REQUEST',
  unauthorized_client: 'UNAUTHORIZED_CLIENT',
  unsupported_grant_type: 'UNSUPPORTED_GRANT_TYPE',
  unsupported_response_type: 'UNSUPPORTED_RESPONSE_TYPE',
  unsupported_token_type: 'UNSUPPORTED_TOKEN_TYPE',
};

export interface OAuthErrorOptions {
  /** Code in the envelope, where the contract of the spec's paths has a finer one. */
  readonly code?: ErrorCode;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A failure in the terms of OAuth: the envelope together with the members of RFC 6749, or those members alone. */
export class OAuthError extends AppError {
  readonly error: OAuthErrorName;

  constructor(error: OAuthErrorName, description: string, options: OAuthErrorOptions = {}) {
    super(options.code ?? CODES[error], description, {
      members: { error, error_description: description },
      headers: { Pragma: 'no-cache', ...options.headers },
    });
    this.error = error;
  }

  /** RFC 6749 section 5.2: 401 for an application that could not be authenticated; RFC 6750 section 3.1 for tokens. */
  get standardStatus(): number {
    if (this.error === 'invalid_client' || this.error === 'invalid_token') return 401;
    return this.error === 'insufficient_scope' ? 403 : 400;
  }
}

/** A refused authorization that the browser can report to the application, whose address was found valid before. */
export class AuthorizationRefused extends OAuthError {
  /** The application's address with `error`, `state` and `iss`. */
  readonly location: string;

  constructor(error: OAuthErrorName, description: string, location: string) {
    super(error, description);
    this.location = location;
  }
}
