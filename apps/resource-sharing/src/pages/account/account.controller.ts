import type { AppError } from '@gatehouse/platform';
import { Body, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { IdPipe } from '../../wire/path-values.js';
import { AccountChanges } from '../../site/account-changes.js';
import { AccountExport } from '../../site/account-export.js';
import { EmailVerification } from '../../site/email-verification.js';
import { ProfileChanges } from '../../site/profile-changes.js';
import { SiteSessions } from '../../site/site-sessions.js';
import { AccountDeletionBody, PasswordChangeBody, ProfileChangeBody } from '../../site/site.dto.js';
import { FormValues, refusalOf, validated } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { done, noticeOf } from '../parts/notices.js';
import { PageController } from '../parts/page-controller.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { AccountOverviews } from './account-overviews.js';
import { accountPage, type AccountForm } from './account.view.js';

interface Refused {
  readonly form: AccountForm;
  readonly problem: AppError;
  readonly values: FormValues;
}

@PageController('account')
export class AccountPageController {
  constructor(
    private readonly overviews: AccountOverviews,
    private readonly changes: AccountChanges,
    private readonly profiles: ProfileChanges,
    private readonly sessions: SiteSessions,
    private readonly verification: EmailVerification,
    private readonly exports: AccountExport,
  ) {}

  @Get()
  show(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    return this.send(response, visitor, { notice: noticeOf(visitor, query) });
  }

  @Post('profile')
  async profile(@CurrentVisitor() visitor: Member, @Body() body: object, @Res() response: Response): Promise<void> {
    const values = new FormValues(body);
    const problem = await refusalOf(async () => {
      const given = { nickname: values.text('nickname'), email: values.optional('email') ?? null };
      await this.profiles.update(visitor.account.id, validated(ProfileChangeBody, given), visitor.words.language);
    });
    if (problem === undefined) response.redirect(303, done('/account', 'profile'));
    else await this.send(response, visitor, { refused: { form: 'profile', problem, values } });
  }

  /** A file, so that a browser saves it. */
  @Get('export')
  async exportAll(
    @CurrentVisitor() visitor: Member,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const data = await this.exports.of(visitor.account.id, request.ip);
    response
      .setHeader('Content-Type', 'application/json; charset=utf-8')
      .setHeader('Content-Disposition', 'attachment; filename="gatehouse-account.json"')
      .setHeader('Cache-Control', 'no-store')
      .end(JSON.stringify(data, null, 2));
  }

  @Post('email-verification')
  async verifyEmail(@CurrentVisitor() visitor: Member, @Res() response: Response): Promise<void> {
    const problem = await refusalOf(() => this.verification.repeat(visitor.account.id, visitor.words.language));
    if (problem === undefined) response.redirect(303, done('/account', 'email-sent'));
    else await this.send(response, visitor, { refused: { form: 'email', problem, values: new FormValues({}) } });
  }

  @Post('password')
  async password(
    @CurrentVisitor() visitor: Member,
    @Body() body: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const values = new FormValues(body);
    const problem = await refusalOf(async () => {
      const given = {
        current_password: values.text('current_password'),
        code: values.optional('code'),
        new_password: values.text('new_password'),
        revoke_keys: values.isChecked('revoke_keys'),
      };
      const change = validated(PasswordChangeBody, given);
      await this.changes.changePassword(visitor.account.id, change, request, response);
    });
    if (problem === undefined) response.redirect(303, done('/account', 'password'));
    else await this.send(response, visitor, { refused: { form: 'password', problem, values } });
  }

  @Post('sessions/end-all')
  async endSessions(
    @CurrentVisitor() visitor: Member,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.sessions.endAll(visitor.account.id);
    await this.sessions.close(request, response);
    response.redirect(303, '/login');
  }

  @Post('sessions/:id/end')
  async endSession(
    @CurrentVisitor() visitor: Member,
    @Param('id', IdPipe) id: number,
    @Res() response: Response,
  ): Promise<void> {
    await this.sessions.end(visitor.account.id, id);
    response.redirect(303, done('/account', 'session'));
  }

  @Post('delete')
  async delete(
    @CurrentVisitor() visitor: Member,
    @Body() body: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const values = new FormValues(body);
    const problem = await refusalOf(async () => {
      const given = { password: values.text('password'), code: values.optional('code') };
      await this.changes.delete(visitor.account.id, validated(AccountDeletionBody, given), request, response);
    });
    if (problem === undefined) response.redirect(303, done('/', 'deleted'));
    else await this.send(response, visitor, { refused: { form: 'delete', problem, values } });
  }

  private async send(
    response: Response,
    visitor: Member,
    { notice, refused }: { notice?: string | undefined; refused?: Refused },
  ): Promise<void> {
    const overview = await this.overviews.of(visitor.account.id);
    const body = accountPage(visitor, overview, refused);
    sendPage(response, visitor, {
      title: visitor.words.text('account.title'),
      body,
      notice,
      problem: refused?.problem,
    });
  }
}
