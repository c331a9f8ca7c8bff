import { AppError, classifyError, currentRequestId, JsonLogger } from '@gatehouse/platform';
import { Catch, Injectable, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { sendPage } from './layout.js';
import { markup } from './markup.js';
import { LoginNeeded } from './page-guard.js';
import { loginPath } from './return-address.js';
import { visitorOf } from '../../wire/visitor.js';

/** What went wrong, as a page; who has to log in is sent to where they can. */
@Catch()
@Injectable()
export class PageErrorFilter implements ExceptionFilter {
  constructor(private readonly logger: JsonLogger) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const response = http.getResponse<Response>();
    const error = classifyError(thrown);
    if (error.status >= 500) this.logger.error(error.message, { error: error.cause }, 'PageErrorFilter');
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (error instanceof LoginNeeded) response.redirect(303, loginPath(error.returnTo));
    else sendErrorPage(http.getRequest<Request>(), response, error);
  }
}

/** An error as a page of its own: nothing is sent on to another site. */
export function sendErrorPage(request: Request, response: Response, error: AppError): void {
  if (error.retryAfterSeconds !== undefined) {
    response.setHeader('Retry-After', String(Math.max(1, Math.ceil(error.retryAfterSeconds))));
  }
  const visitor = visitorOf(request) ?? { account: null, sessionId: null, formToken: () => '' };
  sendPage(response, visitor, {
    title: error.status >= 500 ? 'Something failed' : error.status === 404 ? 'Not found' : 'This cannot be done',
    status: error.status,
    narrow: true,
    body: markup`<p>${error.message}.</p>
      <p class="quiet">${error.code} · request ${currentRequestId()}</p>
      <p><a href="/">To the start page</a></p>`,
  });
}
