import { AppError, classifyError, currentRequestId, JsonLogger } from '@gatehouse/platform';
import { Catch, Injectable, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { visitorOf, type Visitor } from '../../wire/visitor.js';
import { problemText, sendPage } from './layout.js';
import { markup } from './markup.js';
import { LoginNeeded } from './page-guard.js';
import { loginPath } from './return-address.js';
import { Visitors } from './visitors.js';

/** Shows an error as a page, and redirects visitors without a login to the login page. */
@Catch()
@Injectable()
export class PageErrorFilter implements ExceptionFilter {
  constructor(
    private readonly logger: JsonLogger,
    private readonly visitors: Visitors,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const error = classifyError(thrown);
    if (error.status >= 500) this.logger.error(error.message, { error: error.cause }, 'PageErrorFilter');
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const stranger = { account: null, sessionId: null, unreadNotices: 0, formToken: () => '' };
    if (error instanceof LoginNeeded) response.redirect(303, loginPath(error.returnTo));
    else sendErrorPage(visitorOf(request) ?? { ...stranger, ...this.visitors.view(request) }, response, error);
  }
}

/** An error on a separate page: no redirect to another site. */
export function sendErrorPage(visitor: Visitor, response: Response, error: AppError): void {
  const { words } = visitor;
  if (error.retryAfterSeconds !== undefined) {
    response.setHeader('Retry-After', String(Math.max(1, Math.ceil(error.retryAfterSeconds))));
  }
  const title = error.status >= 500 ? 'failed' : error.status === 404 ? 'notFound' : 'refused';
  // The address of a refused request is not repeated.
  sendPage(
    response,
    { ...visitor, path: '/' },
    {
      title: words.text(`errorPage.${title}`),
      status: error.status,
      narrow: true,
      body: markup`<p>${problemText(words, error)}</p>
<p class="muted">${words.text('errorPage.reference', { code: error.code, id: currentRequestId() })}</p>
<p><a href="/">${words.text('errorPage.home')}</a></p>`,
    },
  );
}
