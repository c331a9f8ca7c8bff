import { errorEntry, type ErrorCode } from '@gatehouse/contracts';
import type { AppError } from './app-error.js';

/** proxy: `{error, code, details?, request_id}`; envelope: resource-sharing's; problem: RFC 9457. */
export type ErrorFormat = 'proxy' | 'envelope' | 'problem';

export interface ErrorBody {
  readonly contentType: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** An error with texts in the reader's language. */
interface ShownError extends Pick<
  AppError,
  'code' | 'status' | 'details' | 'members' | 'retryAfterSeconds' | 'message'
> {
  /** The meaning of the code. */
  readonly title: string;
}

/** The body of an error for a client. `say` translates a text for the reader; by default texts stay English. */
export function formatError(
  error: AppError,
  format: ErrorFormat,
  requestId: string | undefined,
  say = (text: string): string => text,
): ErrorBody {
  const { code, status, members, retryAfterSeconds } = error;
  const details = error.details.map(({ field, message }) => ({ field, message: say(message) }));
  const texts = { title: say(errorEntry(code).title), message: say(error.message), details };
  const shown: ShownError = { code, status, members, retryAfterSeconds, ...texts };
  switch (format) {
    case 'proxy':
      return { contentType: JSON_TYPE, body: proxyBody(shown, requestId) };
    case 'envelope':
      return { contentType: JSON_TYPE, body: envelopeBody(shown, requestId) };
    case 'problem':
      return { contentType: PROBLEM_TYPE, body: problemBody(shown, requestId) };
  }
}

function proxyBody(error: ShownError, requestId: string | undefined): Record<string, unknown> {
  return {
    error: error.message,
    code: error.code,
    ...(error.details.length > 0 ? { details: error.details } : {}),
    ...error.members,
    request_id: requestId ?? null,
  };
}

/** In the envelope, codes that are no more specific than their status are that status as text; others are unchanged. */
const STATUS_AS_CODE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'INVALID_ARGUMENT',
  'VALIDATION_FAILED',
  'UNAUTHORIZED',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'NOT_ACCEPTABLE',
  'REQUEST_TIMEOUT',
  'CONFLICT',
  'GONE',
  'PRECONDITION_FAILED',
  'PAYLOAD_TOO_LARGE',
  'URI_TOO_LONG',
  'UNSUPPORTED_MEDIA_TYPE',
  'UNPROCESSABLE',
  'HEADERS_TOO_LARGE',
  'INTERNAL',
  'NOT_IMPLEMENTED',
  'UPSTREAM_FAILED',
  'SERVICE_UNAVAILABLE',
  'UPSTREAM_TIMEOUT',
]);

function envelopeCode(error: ShownError): string {
  if (error.code === 'RATE_LIMITED') return 'RATE_LIMIT_EXCEEDED';
  return STATUS_AS_CODE.has(error.code) ? String(error.status) : error.code;
}

function envelopeBody(error: ShownError, requestId: string | undefined): Record<string, unknown> {
  const description = error.details.map(({ field, message }) => `${field}: ${message}`).join('; ');
  return {
    success: false,
    code: envelopeCode(error),
    message: error.message,
    description: description === '' ? error.title : description,
    data: null,
    ...(error.details.length > 0 ? { details: error.details } : {}),
    ...(error.retryAfterSeconds === undefined ? {} : { retry_after_seconds: error.retryAfterSeconds }),
    ...error.members,
    request_id: requestId ?? null,
  };
}

function problemBody(error: ShownError, requestId: string | undefined): Record<string, unknown> {
  const code = error.code.toLowerCase();
  return {
    type: `/docs/errors#${code}`,
    title: error.title,
    status: error.status,
    code,
    detail: error.message,
    ...(error.details.length > 0 ? { errors: error.details } : {}),
    ...error.members,
    request_id: requestId ?? null,
  };
}
