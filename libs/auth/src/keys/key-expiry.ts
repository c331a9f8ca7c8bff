import { AppError } from '@gatehouse/platform';

/** When a new key ends; null: never. @throws AppError as assertKeyExpiry() */
export function readKeyExpiry(text: string | null | undefined, now = Date.now()): Date | null {
  const expiresAt = text === null || text === undefined ? null : new Date(text);
  assertKeyExpiry(expiresAt, now);
  return expiresAt;
}

/** @throws AppError INVALID_ARGUMENT for the field `expires_at` where that is not in the future */
export function assertKeyExpiry(expiresAt: Date | null, now = Date.now()): void {
  // Not `<=`: an invalid date must not pass.
  if (expiresAt === null || expiresAt.getTime() > now) return;
  const message = 'must be in the future';
  throw new AppError('INVALID_ARGUMENT', `expires_at: ${message}`, { details: [{ field: 'expires_at', message }] });
}
