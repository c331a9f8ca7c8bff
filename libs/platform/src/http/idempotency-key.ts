import { hash } from 'node:crypto';
import type { Request } from 'express';
import { AppError } from '../errors/app-error.js';

/** A request that its client can repeat. */
export interface IdempotencyKey {
  readonly key: string;
  /** SHA-256 of method, address and body in hex: a repeat is the same request. */
  readonly requestHash: string;
}

/**
 * Reads Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07 section 2); null without one.
 * @throws INVALID_ARGUMENT for a key that is not 1 to 255 printable characters without spaces.
 */
export function idempotencyKeyOf(request: Request): IdempotencyKey | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    const message = 'must be 1 to 255 printable characters without spaces';
    throw new AppError('INVALID_ARGUMENT', `Idempotency-Key: ${message}`, {
      details: [{ field: 'Idempotency-Key', message }],
    });
  }
  const content = JSON.stringify([request.method, request.originalUrl, request.body ?? null]);
  return { key, requestHash: hash('sha256', content) };
}

/** For a repeat of a request that has not been answered yet. */
export function idempotencyKeyRunning(code: 'CONFLICT' | 'IDEMPOTENCY_KEY_IN_USE' = 'CONFLICT'): AppError {
  return new AppError(code, 'The first request with this Idempotency-Key is still running', {
    retryAfterSeconds: 1,
    // For clients of the version before: in the envelope the code was the status.
    ...(code === 'CONFLICT' ? {} : { members: { former_code: '409' } }),
  });
}

/** For a repeat of an executed request whose answer was lost with its process. */
export function idempotencyAnswerLost(): AppError {
  return new AppError(
    'CONFLICT',
    'The first request with this Idempotency-Key was carried out, at least in part, but its answer is lost: check what ' +
      'exists before you send it again with another key',
  );
}

/** For a request whose key was taken over while it ran: it has changed nothing. */
export function idempotencyKeyLost(): AppError {
  return new AppError('CONFLICT', 'Another request with this Idempotency-Key has taken its place', {
    retryAfterSeconds: 1,
  });
}

/** For a key that was used with another request. */
export function idempotencyKeyReused(): AppError {
  return new AppError('UNPROCESSABLE', 'This Idempotency-Key was used for another request');
}

/** Marks an answer as the one to the first request. */
export function markReplayed(request: Request): void {
  request.res?.setHeader('Idempotency-Replayed', 'true');
}
