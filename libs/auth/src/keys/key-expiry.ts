import { AppError } from '@gatehouse/platform';

/** The error of a service for a field whose value is no good. */
export type RefuseField = (field: string, message: string) => AppError;

/** When a new key ends; null: never. @throws the error of `refuse` as assertKeyExpiry() */
export function readKeyExpiry(text: string | null | undefined, refuse?: RefuseField): Date | null {
  const expiresAt = text === null || text === undefined ? null : new Date(text);
  assertKeyExpiry(expiresAt, refuse);
  return expiresAt;
}

/** @throws the error of `refuse` for the field `expires_at` where that is not in the future; AppError INVALID_ARGUMENT without */
export function assertKeyExpiry(expiresAt: Date | null, refuse: RefuseField = invalidArgument): void {
  // Not `<=`: an invalid date must not pass.
  if (expiresAt === null || expiresAt.getTime() > Date.now()) return;
  throw refuse('expires_at', 'must be in the future');
}

function invalidArgument(field: string, message: string): AppError {
  return new AppError('INVALID_ARGUMENT', `${field}: ${message}`, { details: [{ field, message }] });
}
