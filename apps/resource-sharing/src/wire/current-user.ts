import { actorOf } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';

/** The login of the request. @throws UNAUTHORIZED without one. */
export const CurrentSignIn = createParamDecorator(
  (_: unknown, context: ExecutionContext): { userId: number; sessionId: number | null } => {
    const actor = actorOf(context.switchToHttp().getRequest<object>());
    if (actor?.userId == null) throw new AppError('UNAUTHORIZED');
    return { userId: actor.userId, sessionId: actor.credential === 'session' ? actor.credentialId : null };
  },
);

/** Id of the logged-in account. @throws UNAUTHORIZED without one. */
export const CurrentUserId = createParamDecorator((_: unknown, context: ExecutionContext): number => {
  const userId = actorOf(context.switchToHttp().getRequest<object>())?.userId;
  if (userId == null) throw new AppError('UNAUTHORIZED');
  return userId;
});
