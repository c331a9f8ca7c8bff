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
  UNAUTHORIZED: { status: 401, title: 'Valid credentials are needed' },
  LOGIN_FAILED: { status: 401, title: 'The user name or the password is wrong' },
  MISSING_API_KEY: { status: 401, title: 'No API key was sent' },
  INVALID_API_KEY: { status: 401, title: 'The API key is not known' },
  DISABLED_API_KEY: { status: 401, title: 'The API key is disabled' },
  EXPIRED_API_KEY: { status: 401, title: 'The API key has expired' },
  FORBIDDEN: { status: 403, title: 'The credentials do not allow this' },
  NOT_FOUND: { status: 404, title: 'There is nothing at this address' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The address exists, the method does not' },
  NOT_ACCEPTABLE: { status: 406, title: 'No representation matches the Accept header' },
  REQUEST_TIMEOUT: { status: 408, title: 'The request took too long to arrive' },
  CONFLICT: { status: 409, title: 'The change contradicts what is stored' },
  IN_USE: { status: 409, title: 'Something else still refers to it' },
  GEO_UPDATE_RUNNING: { status: 409, title: 'The geo databases are being updated already' },
  GONE: { status: 410, title: 'It existed and is gone' },
  PRECONDITION_FAILED: { status: 412, title: 'It changed since it was read' },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'The body is too large' },
  URI_TOO_LONG: { status: 414, title: 'The address is too long' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The content type is not accepted here' },
  UNPROCESSABLE: { status: 422, title: 'The request is well formed but cannot be carried out' },
  VALIDATION_FAILED: { status: 422, title: 'Some fields are not acceptable' },
  LOCKED: { status: 423, title: 'It is locked' },
  RATE_LIMITED: { status: 429, title: 'Too many requests' },
  HEADERS_TOO_LARGE: { status: 431, title: 'The request headers are too large' },
  INTERNAL: { status: 500, title: 'The service failed' },
  NOT_IMPLEMENTED: { status: 501, title: 'This build cannot do that' },
  UPSTREAM_FAILED: { status: 502, title: 'A server that was asked failed' },
  KERNEL_UNAVAILABLE: { status: 503, title: 'The proxy kernel does not answer' },
  SERVICE_UNAVAILABLE: { status: 503, title: 'The service cannot answer now' },
  UPSTREAM_TIMEOUT: { status: 504, title: 'A server that was asked did not answer in time' },
} as const satisfies Record<string, ErrorCodeEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** The catalogue entry of a code, with its literal types widened. */
export function errorEntry(code: ErrorCode): ErrorCodeEntry {
  return ERROR_CATALOGUE[code];
}
