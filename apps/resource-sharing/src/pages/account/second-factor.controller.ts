import { Body, Get, Post, Query, Req, Res } from '@nestjs/common';
import type { AppError } from '@gatehouse/platform';
import type { Request, Response } from 'express';
import { OwnFactor } from '../../site/own-factor.js';
import { proofOf } from '../../site/password-confirmation.js';
import { ProofBody, SecondFactorCodeBody } from '../../site/site.dto.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { FormValues, refusalOf, validated } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { done, noticeOf, type Notice } from '../parts/notices.js';
import { OneTimeTexts } from '../parts/one-time-texts.js';
import { PageController } from '../parts/page-controller.js';
import { factorPage, type FactorForm, type ShownOnce } from './second-factor.view.js';

const PATH = '/account/second-factor';
/** Names of the pages for their one-time texts. */
const SECRET = 'second factor';
const CODES = 'recovery codes';

/** Turning a second factor on and off, without scripts. */
@PageController('account/second-factor')
export class SecondFactorPageController {
  constructor(
    private readonly factor: OwnFactor,
    private readonly oneTime: OneTimeTexts,
  ) {}

  @Get()
  async show(
    @CurrentVisitor() visitor: Member,
    @Query() query: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const secret = await this.oneTime.take(visitor, SECRET, request);
    const codes = await this.oneTime.take(visitor, CODES, request);
    const shown = { ...(secret !== undefined && { secret }), ...(codes !== undefined && { codes: codes.split('\n') }) };
    await this.send(response, visitor, { notice: noticeOf(visitor, query), shown });
  }

  @Post()
  begin(
    @CurrentVisitor() visitor: Member,
    @Body() body: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.answer(response, visitor, 'begin', undefined, async () => {
      const { secret } = await this.factor.begin(visitor.account.id, proofOf(proofIn(body)), request);
      await this.oneTime.keep(visitor, SECRET, secret);
    });
  }

  @Post('confirm')
  confirm(@CurrentVisitor() visitor: Member, @Body() body: object, @Res() response: Response): Promise<void> {
    return this.answer(response, visitor, 'confirm', 'factor-on', async () => {
      const { code } = validated(SecondFactorCodeBody, { code: new FormValues(body).text('code').trim() });
      const codes = await this.factor.confirm(visitor.account.id, code);
      await this.oneTime.keep(visitor, CODES, codes.join('\n'));
    });
  }

  @Post('recovery-codes')
  renew(
    @CurrentVisitor() visitor: Member,
    @Body() body: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.answer(response, visitor, 'codes', 'new-codes', async () => {
      const codes = await this.factor.renewRecoveryCodes(visitor.account.id, proofOf(proofIn(body)), request);
      await this.oneTime.keep(visitor, CODES, codes.join('\n'));
    });
  }

  @Post('disable')
  end(
    @CurrentVisitor() visitor: Member,
    @Body() body: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.answer(response, visitor, 'end', 'factor-off', () =>
      this.factor.end(visitor.account.id, proofOf(proofIn(body)), request),
    );
  }

  private async answer(
    response: Response,
    visitor: Member,
    form: FactorForm,
    notice: Notice | undefined,
    work: () => Promise<void>,
  ): Promise<void> {
    const problem = await refusalOf(work);
    if (problem !== undefined) await this.send(response, visitor, { refused: { form, problem } });
    else response.redirect(303, notice === undefined ? PATH : done(PATH, notice));
  }

  private async send(
    response: Response,
    visitor: Member,
    state: { notice?: string | undefined; shown?: ShownOnce; refused?: { form: FactorForm; problem: AppError } },
  ): Promise<void> {
    const found = await this.factor.state(visitor.account.id);
    sendPage(response, visitor, {
      title: visitor.words.text('factor.title'),
      body: factorPage(visitor, found, state.shown ?? {}, state.refused),
      notice: state.notice,
      problem: state.refused?.problem,
    });
  }
}

function proofIn(body: object): ProofBody {
  const values = new FormValues(body);
  return validated(ProofBody, { current_password: values.text('current_password'), code: values.optional('code') });
}
