import { AppError } from '@gatehouse/platform';

/** The error of a service for an invalid field. */
export type RefuseField = (field: string, message: string) => AppError;

/**
 * When a new key ends; null: never.
 * @throws the error of `refuse` for the field `expires_at` where that is not in the future; AppError INVALID_ARGUMENT without
 */
export function readKeyExpiry(text: string | null | undefined, refuse: RefuseField = invalidArgument): Date | null {
  if (text === null || text === undefined) return null;
  const expiresAt = new Date(text);
  // Not `<=`: an invalid date must not pass.
  if (expiresAt.getTime() > Date.now()) return expiresAt;
  throw refuse('expires_at', 'must be in the future');
}

function invalidArgument(field: string, message: string): AppError {
  return new AppError('INVALID_ARGUMENT', `${field}: ${message}`, { details: [{ field, message }] });
}
