import { AppError } from '@gatehouse/platform';
import { Body, Get, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { refusedAt } from '../../oauth/authorization-request.js';
import {
  AuthorizationService,
  type AuthorizationDecision,
  type AuthorizationOptions,
} from '../../oauth/authorization.service.js';
import { isSilent, mustAsk, SIGNED_IN_AFTER } from '../../oauth/identity-request.js';
import { AuthorizationRefused, OAuthError } from '../../oauth/oauth-error.js';
import { SignInNeeded, SignIns } from '../../oauth/sign-ins.js';
import { visibleName } from '../../applications/visible-name.js';
import { grantScopes } from '../../credentials/grant-scopes.js';
import { FormValues } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { Audience, PageController } from '../parts/page-controller.js';
import { sendErrorPage } from '../parts/page-error.filter.js';
import { LoginNeeded } from '../parts/page-guard.js';
import { postedRequest } from '../parts/posted-request.js';
import { formTargetsOf, withParameter } from '../parts/return-address.js';
import { CurrentVisitor, isMember, type Member, type Visitor } from '../../wire/visitor.js';
import { consentPage } from './authorize.view.js';
import { ConsentMemory } from './consent-memory.js';

const PATHS = ['openapi/authorize', 'oauth2/authorize'];

/**
 * The page on which a user allows or refuses an application. The request stays in the address, so that it survives a
 * login; errors are sent to an address only if it belongs to the application (RFC 9700 section 2.1).
 */
@PageController()
export class AuthorizeController {
  constructor(
    private readonly authorization: AuthorizationService,
    private readonly signIns: SignIns,
    private readonly memory: ConsentMemory,
  ) {}

  /** Everybody, because a request with prompt=none gets an answer without a login. */
  @Get(PATHS)
  @Audience('everybody')
  async ask(
    @CurrentVisitor() visitor: Visitor,
    @Query() query: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await carryingBack(visitor, request, response, async () => {
      if (!isMember(visitor)) {
        await this.authorization.refuseIfSilent(query, optionsFor(request));
        throw new LoginNeeded(request.originalUrl);
      }
      const userId = visitor.account.id;
      const preview = await this.authorization.preview(query, userId, optionsFor(request));
      await this.signIns.check(preview.request, { userId, sessionId: visitor.sessionId });
      const { application, grantableScopes, redirectUri, identity } = preview.request;
      const mayGoOn = request.method === 'GET' && !mustAsk(identity);
      if (mayGoOn && (await this.memory.covers(userId, application, grantableScopes))) {
        return this.confirm(query, visitor, request, { approved: true });
      }
      if (isSilent(identity)) {
        throw refusedAt(preview.request, new OAuthError('consent_required', 'The user has to be asked'));
      }
      sendPage(response, visitor, {
        title: visitor.words.text('consent.title', { application: visibleName(application.name) }),
        body: consentPage(visitor, preview, request.originalUrl),
        formTargets: formTargetsOf(redirectUri),
        secretive: true,
        narrow: true,
      });
      return undefined;
    });
  }

  @Post(PATHS)
  @Audience('everybody')
  async answer(
    @CurrentVisitor() visitor: Visitor,
    @Query() query: object,
    @Body() body: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const posted = postedRequest(request);
    if (posted !== undefined) return response.redirect(303, posted);
    if (!isMember(visitor)) throw new LoginNeeded(request.originalUrl);
    const values = new FormValues(body);
    const approved = values.text('decision') === 'allow';
    const scopes = grantScopes(values.list('scope'));
    return carryingBack(visitor, request, response, () => this.confirm(query, visitor, request, { approved, scopes }));
  }

  private async confirm(
    query: object,
    visitor: Member,
    request: Request,
    decision: Omit<AuthorizationDecision, 'ip' | 'sessionId'>,
  ): Promise<string> {
    const full = { ...decision, sessionId: visitor.sessionId, ip: request.ip };
    const result = await this.authorization.confirm(query, visitor.account.id, full, optionsFor(request));
    return result.location;
  }
}

/** Redirects the browser to the result of `work`, or to the application with a refusal; other errors are shown here. */
async function carryingBack(
  visitor: Visitor,
  request: Request,
  response: Response,
  work: () => Promise<string | undefined>,
): Promise<void> {
  response.setHeader('Referrer-Policy', 'no-referrer');
  try {
    const location = await work();
    if (location !== undefined) redirect(response, location);
  } catch (error) {
    if (error instanceof SignInNeeded) {
      throw new LoginNeeded(withParameter(request.originalUrl, SIGNED_IN_AFTER, String(Math.floor(error.after))));
    }
    if (error instanceof AuthorizationRefused) redirect(response, error.location);
    else if (error instanceof OAuthError) sendErrorPage(visitor, response, asPage(error));
    else throw error;
  }
}

/** 303, so that no browser forwards the form (RFC 9700 section 4.12). The address is sent exactly as registered. */
function redirect(response: Response, location: string): void {
  response.status(303).setHeader('Location', location).setHeader('Cache-Control', 'no-store').end();
}

function asPage(error: OAuthError): AppError {
  return new AppError(error.code, error.message, { cause: error });
}

function optionsFor(request: Request): AuthorizationOptions {
  return { responseTypeRequired: request.path.startsWith('/oauth2/') };
}
