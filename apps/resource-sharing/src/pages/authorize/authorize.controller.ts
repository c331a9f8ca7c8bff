import { AppError } from '@gatehouse/platform';
import { Body, Get, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AuthorizationService, type AuthorizationOptions } from '../../oauth/authorization.service.js';
import { AuthorizationRefused, OAuthError } from '../../oauth/oauth-error.js';
import { visibleName } from '../../applications/visible-name.js';
import { openScopes } from '../../credentials/credential-records.js';
import { FormValues } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { PageController } from '../parts/page-controller.js';
import { sendErrorPage } from '../parts/page-error.filter.js';
import { formTargetsOf } from '../parts/return-address.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
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
    private readonly memory: ConsentMemory,
  ) {}

  @Get(PATHS)
  async ask(
    @CurrentVisitor() visitor: Member,
    @Query() query: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await carryingBack(visitor, response, async () => {
      const userId = visitor.account.id;
      const preview = await this.authorization.preview(query, userId, optionsFor(request));
      const { application, grantableScopes, redirectUri } = preview.request;
      if (request.method === 'GET' && (await this.memory.covers(userId, application, grantableScopes))) {
        return this.confirm(query, visitor, request, { approved: true });
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
  async answer(
    @CurrentVisitor() visitor: Member,
    @Query() query: object,
    @Body() body: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const values = new FormValues(body);
    const approved = values.text('decision') === 'allow';
    const scopes = openScopes(values.list('scope'));
    await carryingBack(visitor, response, () => this.confirm(query, visitor, request, { approved, scopes }));
  }

  private async confirm(
    query: object,
    visitor: Member,
    request: Request,
    decision: Omit<Parameters<AuthorizationService['confirm']>[2], 'ip'>,
  ): Promise<string> {
    const full = { ...decision, ip: request.ip };
    const result = await this.authorization.confirm(query, visitor.account.id, full, optionsFor(request));
    return result.location;
  }
}

/** Redirects the browser to the result of `work`, or to the application with a refusal; other errors are shown here. */
async function carryingBack(
  visitor: Member,
  response: Response,
  work: () => Promise<string | undefined>,
): Promise<void> {
  response.setHeader('Referrer-Policy', 'no-referrer');
  try {
    const location = await work();
    if (location !== undefined) redirect(response, location);
  } catch (error) {
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
