import { AppError } from '@gatehouse/platform';
import type { OpenScope } from '../credentials/caller.js';

const REALM = 'resource-sharing';

type ApiKeyCode = 'MISSING_API_KEY' | 'INVALID_API_KEY' | 'DISABLED_API_KEY' | 'EXPIRED_API_KEY';
type UserTokenCode = 'INVALID_OPENAPI_USER_TOKEN' | 'OPENAPI_REFRESH_REQUIRED' | 'OPENAPI_REAUTH_REQUIRED';

/** RFC 9110 section 11.6.1: a 401 names a scheme. No scheme is registered for a key in its own header. */
export function apiKeyError(code: ApiKeyCode, message?: string): AppError {
  return new AppError(code, message, {
    headers: { 'WWW-Authenticate': `ApiKey realm="${REALM}", header="X-API-Key"` },
  });
}

/** RFC 6750 section 3.1. */
export function userTokenError(code: UserTokenCode, message?: string): AppError {
  const described = {
    INVALID_OPENAPI_USER_TOKEN: 'not known',
    OPENAPI_REFRESH_REQUIRED: 'expired',
    OPENAPI_REAUTH_REQUIRED: 'revoked',
  }[code];
  const challenge = `Bearer realm="${REALM}", error="invalid_token", error_description="${described}"`;
  return new AppError(code, message, { headers: { 'WWW-Authenticate': challenge } });
}

/** The code that a key of the application gets, with the challenge for a token. */
export function disabledApplication(): AppError {
  const challenge = `Bearer realm="${REALM}", error="invalid_token", error_description="application disabled"`;
  return new AppError('DISABLED_API_KEY', 'The application is disabled', {
    headers: { 'WWW-Authenticate': challenge },
  });
}

/** RFC 6750 section 3.1: insufficient_scope names the required scope. */
export function scopeError(code: 'SCOPE_NOT_ALLOWED' | 'USER_SCOPE_NOT_ALLOWED', scope: OpenScope): AppError {
  const whose = code === 'SCOPE_NOT_ALLOWED' ? 'The application or key lacks' : 'The user has not granted';
  return new AppError(code, `${whose} the scope ${scope}`, {
    headers: { 'WWW-Authenticate': `Bearer realm="${REALM}", error="insufficient_scope", scope="${scope}"` },
  });
}
