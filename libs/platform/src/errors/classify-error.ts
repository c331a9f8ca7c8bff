import { STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import { ERROR_CATALOGUE, type ErrorCode } from '@gatehouse/contracts';
import { mayPass } from '@gatehouse/postgres';
import { AppError } from './app-error.js';

/** The code for a bare HTTP status. */
const CODE_OF_STATUS = new Map<number, ErrorCode>([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHORIZED'],
  [403, 'FORBIDDEN'],
  [404, 'NOT_FOUND'],
  [405, 'METHOD_NOT_ALLOWED'],
  [406, 'NOT_ACCEPTABLE'],
  [408, 'REQUEST_TIMEOUT'],
  [409, 'CONFLICT'],
  [410, 'GONE'],
  [412, 'PRECONDITION_FAILED'],
  [413, 'PAYLOAD_TOO_LARGE'],
  [414, 'URI_TOO_LONG'],
  [415, 'UNSUPPORTED_MEDIA_TYPE'],
  [422, 'UNPROCESSABLE'],
  [423, 'LOCKED'],
  [429, 'RATE_LIMITED'],
  [431, 'HEADERS_TOO_LARGE'],
  [501, 'NOT_IMPLEMENTED'],
  [502, 'UPSTREAM_FAILED'],
  [503, 'SERVICE_UNAVAILABLE'],
  [504, 'UPSTREAM_TIMEOUT'],
]);

/** Any thrown value as an AppError; an unexpected one becomes INTERNAL with the original as its cause. */
export function classifyError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof HttpException) return fromHttpException(thrown);
  // decodeURIComponent on a bad path throws inside the router.
  if (thrown instanceof URIError)
    return new AppError('INVALID_ARGUMENT', 'The address is not valid', { cause: thrown });
  if (isUnstorableText(thrown)) {
    return new AppError('INVALID_ARGUMENT', 'A text contains characters that are not allowed', { cause: thrown });
  }
  if (mayPass(thrown)) {
    return new AppError('SERVICE_UNAVAILABLE', undefined, { cause: thrown, level: 'warn', retryAfterSeconds: 1 });
  }
  return new AppError('INTERNAL', undefined, { cause: thrown });
}

/** PostgreSQL refuses NUL in texts (22021) and in JSON (22P05): it can only come from a client. */
function isUnstorableText(thrown: unknown): boolean {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return code === '22021' || code === '22P05';
}

function fromHttpException(exception: HttpException): AppError {
  const status = exception.getStatus();
  const code = CODE_OF_STATUS.get(status) ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL');
  if (status >= 500) return new AppError(code, undefined, { cause: exception });
  const unknownRoute = status === 404 && /^Cannot [A-Z-]+ /.test(exception.message);
  const plain = unknownRoute || exception.message === STATUS_CODES[status];
  return new AppError(code, plain ? ERROR_CATALOGUE[code].title : exception.message, { cause: exception });
}
