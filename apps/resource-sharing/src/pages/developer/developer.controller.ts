import type { AppError } from '@gatehouse/platform';
import { Body, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { IdPipe } from '../../wire/path-values.js';
import { ApplicationSecrets } from '../../applications/application-secrets.service.js';
import { APPLICATION_KINDS } from '../../applications/application-rows.js';
import { Applications } from '../../applications/applications.service.js';
import { redirectUriProblem } from '../../applications/redirect-uri.js';
import { Registration } from '../../applications/registration.js';
import { errorText } from '../../messages/error-text.js';
import { FormValues, refusalOf } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { done, noticeOf } from '../parts/notices.js';
import { OneTimeTexts } from '../parts/one-time-texts.js';
import { PageController } from '../parts/page-controller.js';
import { shownOnce } from '../parts/tables.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { ApplicationForms } from './application-forms.js';
import { ApplicationPages } from './application-pages.js';
import { applicationsPage } from './developer.view.js';
import type { ApplicationPageState } from './application.view.js';

@PageController('developer')
export class DeveloperController {
  constructor(
    private readonly applications: Applications,
    private readonly registration: Registration,
    private readonly secrets: ApplicationSecrets,
    private readonly forms: ApplicationForms,
    private readonly pages: ApplicationPages,
    private readonly oneTime: OneTimeTexts,
  ) {}

  @Get()
  list(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    return this.sendList(response, visitor, { notice: noticeOf(visitor, query) });
  }

  @Post()
  async register(@CurrentVisitor() visitor: Member, @Body() body: object, @Res() response: Response): Promise<void> {
    const values = new FormValues(body);
    let registered: { clientId: string; secret: string } | undefined;
    const problem = await refusalOf(async () => {
      const { application, issued } = await this.registration.register(
        visitor.account.id,
        this.forms.registration(values),
      );
      registered = { clientId: application.clientId, secret: issued.secret };
    });
    if (registered === undefined) return this.sendList(response, visitor, { values, problem });
    const { clientId, secret } = registered;
    await this.oneTime.keep(visitor, clientId, secret);
    response.redirect(303, done(`/developer/${clientId}`, 'registered'));
  }

  /** Checks redirect URIs while they are typed, one per line; called by the script of the page. */
  @Get('redirect-check')
  checkRedirects(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): void {
    const values = new FormValues(query);
    const kind = APPLICATION_KINDS.find((known) => known === values.text('kind')) ?? 'confidential';
    const problems = values.words('redirect_uris').flatMap((uri) => {
      const problem = redirectUriProblem(uri, kind);
      return problem === undefined ? [] : [`${uri.slice(0, 100)}: ${errorText(visitor.words.language, problem)}`];
    });
    response.setHeader('Cache-Control', 'no-store').json({ problems });
  }

  @Get(':client_id')
  async one(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Query() query: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const secret = await this.oneTime.take(visitor, clientId, request);
    const shown = shownOnce(visitor, visitor.words.text('developer.newSecret'), secret);
    const showsTestCalls = new FormValues(query).text('calls') === 'test';
    await this.sendOne(response, visitor, clientId, { notice: noticeOf(visitor, query), showsTestCalls, ...shown });
  }

  @Post(':client_id')
  async update(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Body() body: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const values = new FormValues(body);
    const sender = { ownerId: visitor.account.id, clientId, request };
    const problem = await refusalOf(() => this.forms.change(values, sender));
    if (problem === undefined) response.redirect(303, done(`/developer/${clientId}`, 'application'));
    else await this.sendOne(response, visitor, clientId, { values, problem });
  }

  @Post(':client_id/secrets')
  async rotate(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Body() body: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const values = new FormValues(body);
    let made = '';
    const problem = await refusalOf(async () => {
      made = await this.forms.rotation(values, { ownerId: visitor.account.id, clientId, request });
    });
    if (problem !== undefined) return this.sendOne(response, visitor, clientId, { problem });
    await this.oneTime.keep(visitor, clientId, made);
    response.redirect(303, done(`/developer/${clientId}`, 'new-secret'));
  }

  @Post(':client_id/secrets/:id/end')
  async endSecret(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Param('id', IdPipe) id: number,
    @Res() response: Response,
  ): Promise<void> {
    await this.secrets.revoke(visitor.account.id, clientId, id);
    response.redirect(303, done(`/developer/${clientId}`, 'secret'));
  }

  @Post(':client_id/delete')
  async remove(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Res() response: Response,
  ): Promise<void> {
    await this.applications.remove(visitor.account.id, clientId);
    response.redirect(303, done('/developer', 'application-removed'));
  }

  private async sendList(
    response: Response,
    visitor: Member,
    state: { notice?: string | undefined; values?: FormValues; problem?: AppError | undefined },
  ): Promise<void> {
    const found = await this.applications.listOf(visitor.account.id);
    const body = applicationsPage(visitor, found, state);
    sendPage(response, visitor, {
      title: visitor.words.text('developer.title'),
      body,
      notice: state.notice,
      problem: state.problem,
    });
  }

  private async sendOne(
    response: Response,
    visitor: Member,
    clientId: string,
    state: ApplicationPageState & { notice?: string | undefined },
  ): Promise<void> {
    const { name, body } = await this.pages.render(visitor, clientId, state);
    sendPage(response, visitor, { title: name, body, notice: state.notice, problem: state.problem });
  }
}
