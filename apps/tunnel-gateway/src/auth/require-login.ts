import { refuseApiKeys, type Actor } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';

/**
 * The user of a login. Keys act for their user in everything but credentials: one that leaks makes no others and ends no
 * logins. @throws AppError FORBIDDEN
 */
export function requireLogin(actor: Actor): number {
  refuseApiKeys(actor);
  if (actor.credential === 'session' && actor.userId !== null) return actor.userId;
  throw new AppError('FORBIDDEN', 'This needs the login of a user');
}
