import type { AppError } from '@gatehouse/platform';
import { Body, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { IdPipe } from '../../wire/path-values.js';
import { NewKeyBody } from '../../applications/applications.dto.js';
import { PersonalKeys } from '../../applications/personal-keys.service.js';
import { PasswordConfirmation, proofOf } from '../../site/password-confirmation.js';
import { FormValues, refusalOf, validated } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import type { Html } from '../parts/markup.js';
import { done, noticeOf } from '../parts/notices.js';
import { OneTimeTexts } from '../parts/one-time-texts.js';
import { PageController } from '../parts/page-controller.js';
import { shownOnce } from '../parts/tables.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { keysPage } from './keys.view.js';

interface State {
  readonly notice?: string | undefined;
  readonly shown?: Html;
  readonly values?: FormValues;
  readonly problem?: AppError | undefined;
}

/** Name of the page for its one-time text. */
const PAGE = 'keys';

@PageController('keys')
export class KeysPageController {
  constructor(
    private readonly keys: PersonalKeys,
    private readonly password: PasswordConfirmation,
    private readonly oneTime: OneTimeTexts,
  ) {}

  @Get()
  async list(
    @CurrentVisitor() visitor: Member,
    @Query() query: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const secret = await this.oneTime.take(visitor, PAGE, request);
    const shown = shownOnce(visitor, visitor.words.text('keys.created'), secret);
    await this.send(response, visitor, { notice: noticeOf(visitor, query), ...shown });
  }

  @Post()
  async create(
    @CurrentVisitor() visitor: Member,
    @Body() body: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const values = new FormValues(body);
    let secret = '';
    const problem = await refusalOf(async () => {
      secret = await this.issue(visitor.account.id, values, request);
    });
    if (problem !== undefined) return this.send(response, visitor, { values, problem });
    await this.oneTime.keep(visitor, PAGE, secret);
    response.redirect(303, done('/keys', 'new-key'));
  }

  @Post(':id/end')
  async end(
    @CurrentVisitor() visitor: Member,
    @Param('id', IdPipe) id: number,
    @Res() response: Response,
  ): Promise<void> {
    await this.keys.revoke(visitor.account.id, id);
    response.redirect(303, done('/keys', 'key'));
  }

  private async issue(userId: number, values: FormValues, request: Request): Promise<string> {
    const body = validated(NewKeyBody, {
      current_password: values.text('current_password'),
      code: values.optional('code'),
      name: values.text('name').trim(),
      scopes: values.list('scopes'),
      expires_at: values.optional('expires_at'),
      ip_allow: values.words('ip_allow'),
    });
    const { name, scopes, expires_at: expiresAt, ip_allow: ipAllow } = body;
    const { secret } = await this.password.during(userId, proofOf(body), request, (tx) =>
      this.keys.create(userId, { name, scopes, expiresAt, ipAllow }, tx),
    );
    return secret;
  }

  private async send(response: Response, visitor: Member, { notice, ...state }: State): Promise<void> {
    const keys = await this.keys.list(visitor.account.id);
    const body = keysPage(visitor, keys, state);
    sendPage(response, visitor, { title: visitor.words.text('keys.title'), body, notice, problem: state.problem });
  }
}
