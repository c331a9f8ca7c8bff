/**
 * Every error code a service may answer with, its HTTP status and a short title.
 * docs/errors.md lists the same codes; a test in libs/platform compares the two in both directions.
 */
export interface ErrorCodeEntry {
  /** HTTP status sent with the code. */
  readonly status: number;
  /** Short, stable text: what the code means whatever the request was. */
  readonly title: string;
}

export const ERROR_CATALOGUE = {
  INVALID_ARGUMENT: { status: 400, title: 'A parameter or the body is not acceptable' },
  CREDENTIALS_CONFLICT: { status: 400, title: 'Two different credentials were sent in one request' },
  INVALID_REQUEST: { status: 400, title: 'A parameter of the authorization is missing, repeated or malformed' },
  INVALID_GRANT: { status: 400, title: 'The code or the refresh token is not valid for this application' },
  INVALID_SCOPE: { status: 400, title: 'None or not all of the scopes may be granted' },
  INVALID_REDIRECT_URI: { status: 400, title: 'The redirect address is not registered for the application' },
  INVALID_TARGET: { status: 400, title: 'Tokens are not issued for that resource' },
  UNAUTHORIZED_CLIENT: { status: 400, title: 'The application may not ask for this' },
  UNSUPPORTED_GRANT_TYPE: { status: 400, title: 'The grant type is not supported' },
  UNSUPPORTED_RESPONSE_TYPE: { status: 400, title: 'The response type is not supported' },
  UNSUPPORTED_TOKEN_TYPE: { status: 400, title: 'The token type is not supported' },
  UNAUTHORIZED: { status: 401, title: 'Valid credentials are needed' },
  LOGIN_FAILED: { status: 401, title: 'The user name or the password is wrong' },
  TOTP_REQUIRED: { status: 401, title: 'A code of the second factor is needed' },
  MISSING_API_KEY: { status: 401, title: 'No API key was sent' },
  INVALID_API_KEY: { status: 401, title: 'The API key is not known' },
  DISABLED_API_KEY: { status: 401, title: 'The API key is disabled' },
  EXPIRED_API_KEY: { status: 401, title: 'The API key has expired' },
  INVALID_OPENAPI_USER_TOKEN: { status: 401, title: 'The user token is not known, or belongs to another application' },
  OPENAPI_REFRESH_REQUIRED: { status: 401, title: 'The user token has expired: refresh it' },
  OPENAPI_REAUTH_REQUIRED: { status: 401, title: 'The authorization has ended: ask the user for a new one' },
  INVALID_CLIENT: { status: 401, title: 'The application could not be authenticated' },
  INSUFFICIENT_POINTS: { status: 402, title: 'The user has too few points' },
  FORBIDDEN: { status: 403, title: 'The credentials do not allow this' },
  ACCESS_DENIED: { status: 403, title: 'The user or the service denied the authorization' },
  OPENAPI_USER_REQUIRED: { status: 403, title: 'The call has to act for a user, and there is none' },
  SCOPE_NOT_ALLOWED: { status: 403, title: 'The application or key lacks the scope' },
  USER_SCOPE_NOT_ALLOWED: { status: 403, title: 'The user has not granted the scope' },
  VIP_REQUIRED: { status: 403, title: 'The operation needs Premium' },
  ENDPOINT_DISABLED: { status: 403, title: 'The operation is switched off' },
  IP_NOT_ALLOWED: { status: 403, title: 'The credential is not accepted from this address' },
  RISK_BLOCKED: { status: 403, title: 'The user may not unlock for now: too much happened' },
  USER_TIER_NOT_ALLOWED: { status: 403, title: 'The operation is closed to the user for now' },
  NOT_FOUND: { status: 404, title: 'There is nothing at this address' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The address exists, the method does not' },
  NOT_ACCEPTABLE: { status: 406, title: 'No representation matches the Accept header' },
  REQUEST_TIMEOUT: { status: 408, title: 'The request took too long to arrive' },
  CONFLICT: { status: 409, title: 'The change contradicts what is stored' },
  IDEMPOTENCY_KEY_IN_USE: { status: 409, title: 'The first request with this Idempotency-Key is still running' },
  SHARE_LINK_EXISTS: { status: 409, title: 'The link is shared already' },
  IN_USE: { status: 409, title: 'Something else still refers to it' },
  USERNAME_TAKEN: { status: 409, title: 'Another user has the name' },
  QUOTA_EXCEEDED: { status: 409, title: 'The user has as many of them as one user may have' },
  SELF_LOCKOUT: { status: 409, title: 'The change would shut out the one who makes it' },
  PORT_IN_USE: { status: 409, title: 'Another tunnel has the port, or no port is free' },
  PORT_RESERVED: { status: 409, title: 'The gateway itself uses the port' },
  HOST_CONFLICT: { status: 409, title: 'Another host has the name and location' },
  GEO_UPDATE_RUNNING: { status: 409, title: 'The geo databases are already being updated' },
  GONE: { status: 410, title: 'It existed and is gone' },
  PRECONDITION_FAILED: { status: 412, title: 'It changed since it was read' },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'The body is too large' },
  URI_TOO_LONG: { status: 414, title: 'The address is too long' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The content type is not accepted here' },
  UNPROCESSABLE: { status: 422, title: 'The request is well formed but cannot be carried out' },
  VALIDATION_FAILED: { status: 422, title: 'Some fields are not acceptable' },
  LOCKED: { status: 423, title: 'It is locked' },
  RATE_LIMITED: { status: 429, title: 'Too many requests' },
  RATE_LIMIT_EXCEEDED: { status: 429, title: 'Requests come too fast' },
  GLOBAL_RATE_LIMIT_EXCEEDED: { status: 429, title: 'Too many requests come from this address' },
  APP_RATE_LIMIT_EXCEEDED: { status: 429, title: 'The application sends too many requests a minute' },
  APP_BURST_LIMIT_EXCEEDED: { status: 429, title: 'The application sends too many requests at once' },
  APP_IP_RATE_LIMIT_EXCEEDED: { status: 429, title: 'The application sends too many requests from this address' },
  USER_RATE_LIMIT_EXCEEDED: { status: 429, title: 'Too many requests are sent for the user' },
  ENDPOINT_GROUP_RATE_LIMIT_EXCEEDED: { status: 429, title: 'Too many requests to operations of this scope' },
  ENDPOINT_QUOTA_EXCEEDED: { status: 429, title: 'The quota of the operation is used up for today' },
  APP_DAILY_QUOTA_EXCEEDED: { status: 429, title: 'The quota of the application is used up for today' },
  USER_DAILY_QUOTA_EXCEEDED: { status: 429, title: 'The quota of the user is used up for today' },
  IP_COUNT_EXCEEDED: { status: 429, title: 'The credential was used from too many addresses today' },
  OPENAPI_COOLDOWN: { status: 429, title: 'The user has to pause' },
  HEADERS_TOO_LARGE: { status: 431, title: 'The request headers are too large' },
  INTERNAL: { status: 500, title: 'The service failed' },
  NOT_IMPLEMENTED: { status: 501, title: 'This build cannot do that' },
  UPSTREAM_FAILED: { status: 502, title: 'A server that was asked failed' },
  EDGE_UNAVAILABLE: { status: 503, title: "The gateway's data plane does not answer" },
  KERNEL_UNAVAILABLE: { status: 503, title: 'The proxy kernel does not answer' },
  SERVICE_UNAVAILABLE: { status: 503, title: 'The service cannot answer now' },
  UPSTREAM_TIMEOUT: { status: 504, title: 'A server that was asked did not answer in time' },
} as const satisfies Record<string, ErrorCodeEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** The catalogue entry of a code, with its literal types widened. */
export function errorEntry(code: ErrorCode): ErrorCodeEntry {
  return ERROR_CATALOGUE[code];
}
