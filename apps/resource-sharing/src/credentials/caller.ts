import { Public } from '@gatehouse/auth';
import { SkipThrottle } from '@gatehouse/platform';
import { applyDecorators, createParamDecorator, SetMetadata } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import { ApiExtension, ApiSecurity } from '@nestjs/swagger';

/** The scopes of operations of the open API. */
export const OPEN_SCOPES = ['meta', 'query', 'unlock', 'write', 'vip'] as const;
export type OpenScope = (typeof OPEN_SCOPES)[number];

/** The caller of the open API: a credential, and the user for whom it acts. Passed on as an argument. */
export interface Caller {
  /** Id of the application secret, test key or personal key; `api_key_id` of ping. Null if a public application sent its token alone. */
  readonly credentialId: number | null;
  readonly credentialKind: 'application' | 'personal';
  readonly credentialName: string;
  /** Called with a test key: the user is a test account, and everything happens in the layer of test mode. */
  readonly isTest: boolean;
  /** Null for a personal key. */
  readonly applicationId: number | null;
  /** The grant of the user token; null without one. */
  readonly grantId: number | null;
  /** From the user token, or else the user of the key or of the application. */
  readonly userId: number | null;
  /** The scopes that credential, grant and application have in common. */
  readonly scopes: readonly OpenScope[];
  /** Whether the user has Premium at this moment. */
  readonly isPremium: boolean;
  /** Permissions of the user: `share:manage`, `resource:notify`. */
  readonly permissions: readonly string[];
  /** Quota profile of the application; null: the default one. */
  readonly quotaProfile: string | null;
}

/** A caller of an operation that needs a user. */
export type UserCaller = Caller & { readonly userId: number };

export interface OpenOperationOptions {
  readonly scope: OpenScope;
  /** `required`: 403 OPENAPI_USER_REQUIRED without a user. `premium`: and 403 VIP_REQUIRED unless the user has Premium. */
  readonly user?: 'required' | 'premium';
}

export const OPEN_OPERATION = 'gatehouse:open-operation';

/** Marks an operation of `/api/open`: what its caller must be and may do. A login of the site is ignored here. */
export const OpenOperation = (options: OpenOperationOptions): MethodDecorator =>
  applyDecorators(
    SetMetadata(OPEN_OPERATION, options),
    Public(),
    // The open API has its own limits.
    SkipThrottle(),
    ApiSecurity('api_key'),
    ApiSecurity({ api_key: [], bearer: [] }),
    // Of a public application.
    ApiSecurity('bearer'),
    ApiExtension('x-scope', options.scope),
    ApiExtension('x-user', options.user ?? 'optional'),
  );

const CALLER = Symbol('caller');

interface Called {
  [CALLER]?: Caller;
}

/** Called by the guard that identified the caller. */
export function setCaller(request: object, caller: Caller): void {
  (request as Called)[CALLER] = caller;
}

/** Undefined outside the open API. */
export function callerOf(request: object): Caller | undefined {
  return (request as Called)[CALLER];
}

/** The Caller of the request; a UserCaller where the operation requires a user. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller | undefined =>
  callerOf(context.getArgByIndex<object>(0)),
);
