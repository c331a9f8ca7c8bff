import { actorOf } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';

/** Id of the logged-in account. @throws UNAUTHORIZED without one. */
export const CurrentUserId = createParamDecorator((_: unknown, context: ExecutionContext): number => {
  const userId = actorOf(context.switchToHttp().getRequest<object>())?.userId;
  if (userId == null) throw new AppError('UNAUTHORIZED');
  return userId;
});
