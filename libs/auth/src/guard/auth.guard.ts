import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard as PassportGuard } from '@nestjs/passport';
import { AppError } from '@gatehouse/platform';
import { allows, refuseApiKeys, type Actor, type Scope } from './actor.js';
import type { AuthPolicy } from './authenticator.js';
import type { CredentialFailure, CredentialOptions, CredentialsStrategy } from './credentials-strategy.js';
import { COOKIE_ROUTE, NEEDED_SCOPE, NEEDS_LOGIN, PUBLIC_ROUTE } from './decorators.js';
import { setActor } from './request-actor.js';
import { refuseForeignOrigin } from './same-origin.js';
import type { HttpRequest } from './http-request.js';

interface RouteRule {
  readonly open: boolean;
  readonly cookieOnly: boolean;
  readonly scope: Scope | undefined;
  readonly login: boolean;
}

interface AuthenticatedRequest extends HttpRequest {
  readonly user: Actor;
}

const COOKIE_ONLY: CredentialOptions = { cookieOnly: true };
const ANY_CREDENTIAL: CredentialOptions = { cookieOnly: false };

/** Global guard: every route needs credentials of its scope unless it is marked @Public(). */
@Injectable()
export class AuthGuard extends PassportGuard() {
  private readonly rules = new WeakMap<object, WeakMap<object, RouteRule>>();
  private readonly reflector = new Reflector();
  private readonly realm: string;
  private readonly policy: AuthPolicy | undefined;

  constructor({ name }: CredentialsStrategy, realm: string, policy?: AuthPolicy) {
    super({ defaultStrategy: name, session: false });
    this.realm = realm;
    this.policy = policy;
  }

  /** Answers at once for open routes. */
  override canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const rule = this.ruleOf(context);
    return rule.open || this.admit(context, rule);
  }

  override getAuthenticateOptions(context: ExecutionContext): CredentialOptions {
    return this.ruleOf(context).cookieOnly ? COOKIE_ONLY : ANY_CREDENTIAL;
  }

  /**
   * The result of Passport: an actor, or the reason why there is none. @throws what the strategy raised; AppError
   * UNAUTHORIZED
   */
  override handleRequest<T = Actor>(
    error: unknown,
    actor: T | false | undefined,
    failure: CredentialFailure,
    context: ExecutionContext,
  ): T {
    if (error !== null && error !== undefined) throw error;
    if (actor !== false && actor !== undefined) return actor;
    return this.openActor(context.switchToHttp().getRequest<HttpRequest>(), failure) as T;
  }

  private async admit(context: ExecutionContext, rule: RouteRule): Promise<boolean> {
    await super.canActivate(context);
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const { user: actor } = request;
    const needed = rule.scope ?? (request.method === 'GET' || request.method === 'HEAD' ? 'read' : 'write');
    // Stored even if it is refused, because the audit log needs it.
    setActor(request, actor);
    if (!allows(actor, needed)) throw this.insufficientScope(needed);
    if (rule.login) refuseApiKeys(actor);
    return true;
  }

  private openActor(request: HttpRequest, failure: CredentialFailure): Actor {
    const open = this.policy?.openActor();
    if (open !== undefined) {
      // Without a credential, nothing else protects the service from a page of another site in the visitor's browser.
      refuseForeignOrigin(request);
      return open;
    }
    if (failure === 'none') throw this.unauthorized('Credentials are needed', '');
    throw this.unauthorized('The credentials are not valid', ', error="invalid_token"');
  }

  /** RFC 6750 section 3. */
  private unauthorized(message: string, parameters: string): AppError {
    return new AppError('UNAUTHORIZED', message, {
      headers: { 'WWW-Authenticate': `Bearer realm="${this.realm}"${parameters}` },
    });
  }

  private insufficientScope(needed: Scope): AppError {
    return new AppError('FORBIDDEN', `This needs the scope ${needed}`, {
      headers: { 'WWW-Authenticate': `Bearer realm="${this.realm}", error="insufficient_scope", scope="${needed}"` },
    });
  }

  /** Metadata of a route never changes, so it is read once. */
  private ruleOf(context: ExecutionContext): RouteRule {
    const controller = context.getClass();
    const handler = context.getHandler();
    const known = this.rules.get(controller)?.get(handler);
    if (known !== undefined) return known;
    const targets = [handler, controller];
    const rule: RouteRule = {
      open: this.reflector.getAllAndOverride<boolean | undefined>(PUBLIC_ROUTE, targets) === true,
      cookieOnly: this.reflector.getAllAndOverride<boolean | undefined>(COOKIE_ROUTE, targets) === true,
      scope: this.reflector.getAllAndOverride<Scope | undefined>(NEEDED_SCOPE, targets),
      login: this.reflector.getAllAndOverride<boolean | undefined>(NEEDS_LOGIN, targets) === true,
    };
    const ofController = this.rules.get(controller) ?? new WeakMap<object, RouteRule>();
    ofController.set(handler, rule);
    this.rules.set(controller, ofController);
    return rule;
  }
}
