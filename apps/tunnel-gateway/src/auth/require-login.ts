import type { Actor } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';

/**
 * The user of a login. Keys act for their user in everything but credentials: one that leaks makes no others and ends no
 * logins. @throws AppError FORBIDDEN
 */
export function requireLogin({ credential, userId }: Actor): number {
  if (credential === 'session' && userId !== null) return userId;
  throw new AppError('FORBIDDEN', 'This needs a login; API keys may not do it');
}
