import type { AppError } from '@gatehouse/platform';
import { Body, Get, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { EmailVerification } from '../../site/email-verification.js';
import { PasswordReset } from '../../site/password-reset.js';
import { EmailVerificationBody, PasswordResetBody, PasswordResetRequestBody } from '../../site/site.dto.js';
import { CurrentVisitor, type Visitor } from '../../wire/visitor.js';
import { FormValues, refusalOf, validated } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { done } from '../parts/notices.js';
import { PageController } from '../parts/page-controller.js';
import { forgottenForm, resetForm, verificationForm } from './recovery.view.js';

/** What the links in mails lead to. Opening a link changes nothing, because mail programs open links, too. */
@PageController('', 'everybody')
export class RecoveryPagesController {
  constructor(
    private readonly reset: PasswordReset,
    private readonly verification: EmailVerification,
  ) {}

  @Get('forgot-password')
  showForgotten(@CurrentVisitor() visitor: Visitor, @Res() response: Response): void {
    sendForgotten(response, visitor);
  }

  @Post('forgot-password')
  async forgotten(
    @CurrentVisitor() visitor: Visitor,
    @Body() body: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const given = { account: new FormValues(body).text('account').trim() };
    const problem = await refusalOf(async () => {
      const { account } = validated(PasswordResetRequestBody, given);
      await this.reset.request(account, request.ip ?? '', visitor.words.language);
    });
    if (problem === undefined) response.redirect(303, done('/login', 'reset-sent'));
    else sendForgotten(response, visitor, given.account, problem);
  }

  @Get('reset-password')
  async showReset(
    @CurrentVisitor() visitor: Visitor,
    @Query() query: object,
    @Res() response: Response,
  ): Promise<void> {
    await this.sendReset(response, visitor, tokenOf(query));
  }

  @Post('reset-password')
  async completeReset(
    @CurrentVisitor() visitor: Visitor,
    @Body() body: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const token = tokenOf(body);
    const problem = await refusalOf(async () => {
      const given = validated(PasswordResetBody, { token, new_password: new FormValues(body).text('new_password') });
      await this.reset.complete(given.token, given.new_password, request.ip);
    });
    if (problem === undefined) response.redirect(303, done('/login', 'password-reset'));
    else await this.sendReset(response, visitor, token, problem);
  }

  @Get('verify-email')
  showVerification(@CurrentVisitor() visitor: Visitor, @Query() query: object, @Res() response: Response): void {
    sendVerification(response, visitor, tokenOf(query));
  }

  @Post('verify-email')
  async verify(@CurrentVisitor() visitor: Visitor, @Body() body: object, @Res() response: Response): Promise<void> {
    const token = tokenOf(body);
    const problem = await refusalOf(() => this.verification.confirm(validated(EmailVerificationBody, { token }).token));
    if (problem === undefined) {
      response.redirect(303, done(visitor.account === null ? '/login' : '/account', 'email-verified'));
    } else sendVerification(response, visitor, token, problem);
  }

  private async sendReset(response: Response, visitor: Visitor, token: string, problem?: AppError): Promise<void> {
    const isUsable = await this.reset.isUsable(token);
    sendPage(
      response,
      // Not its own address: the token would stand in a form of the page.
      { ...visitor, path: '/login' },
      {
        title: visitor.words.text('recovery.resetTitle'),
        body: resetForm(visitor, { token, isUsable, problem }),
        status: isUsable ? (problem?.status ?? 200) : 400,
        problem: isUsable ? problem : undefined,
        narrow: true,
        secretive: true,
      },
    );
  }
}

function sendForgotten(response: Response, visitor: Visitor, account?: string, problem?: AppError): void {
  sendPage(response, visitor, {
    title: visitor.words.text('recovery.forgottenTitle'),
    body: forgottenForm(visitor, account, problem),
    problem,
    narrow: true,
  });
}

function sendVerification(response: Response, visitor: Visitor, token: string, problem?: AppError): void {
  sendPage(
    response,
    { ...visitor, path: '/account' },
    {
      title: visitor.words.text('recovery.verifyTitle'),
      body: verificationForm(visitor, token),
      problem,
      narrow: true,
      secretive: true,
    },
  );
}

function tokenOf(source: object): string {
  return new FormValues(source).text('token');
}
