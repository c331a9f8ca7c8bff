import { createParamDecorator, SetMetadata, type CustomDecorator, type ExecutionContext } from '@nestjs/common';
import type { Actor, Scope } from './actor.js';
import { actorOf } from './request-actor.js';

export const PUBLIC_ROUTE = 'gatehouse:public';
export const NEEDED_SCOPE = 'gatehouse:scope';
export const NEEDS_LOGIN = 'gatehouse:login';
export const COOKIE_ROUTE = 'gatehouse:cookie';

/** Open to all callers: the guard ignores credentials. */
export const Public = (): CustomDecorator => SetMetadata(PUBLIC_ROUTE, true);

/** The scope a route needs. Without it: read for GET and HEAD, write for the rest. */
export const Requires = (scope: Scope): CustomDecorator => SetMetadata(NEEDED_SCOPE, scope);

/**
 * The route creates, deletes or changes credentials: API keys are refused, whatever their scopes. A leaked key must not
 * be able to create anything that outlives it.
 */
export const RequiresLogin = (): CustomDecorator => SetMetadata(NEEDS_LOGIN, true);

/**
 * A route whose only credential is the session cookie. Clients that send an API key or a token with every call send it
 * here as well; it is ignored, and cannot replace the cookie.
 */
export const CookieOnly = (): CustomDecorator => SetMetadata(COOKIE_ROUTE, true);

/** The Actor of the request; on a public route it is null. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor | null =>
  actorOf(context.switchToHttp().getRequest<object>()),
);

/** Whether the guard admits everyone to this route; for interface descriptions. */
export function isPublicRoute({ handler, controller }: { handler: object; controller: object }): boolean {
  return [handler, controller].some((target) => Reflect.getMetadata(PUBLIC_ROUTE, target) === true);
}
