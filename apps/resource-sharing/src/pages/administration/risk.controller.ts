import { AppError } from '@gatehouse/platform';
import { Body, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { RISK_FIELDS, RiskSettings, type RiskFieldName, type RiskValues } from '../../risk/risk-settings.js';
import { RiskStates } from '../../risk/risk-states.service.js';
import { SiteAccounts } from '../../site/site-accounts.service.js';
import { IdPipe } from '../../wire/path-values.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { FormValues, refusalOf } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { done, noticeOf } from '../parts/notices.js';
import { PageController } from '../parts/page-controller.js';
import { riskPage } from './risk.view.js';

const MAX_RAISED = 200;

/** Users whose unlocks are watched, with the reasons. */
@PageController('admin/risk', 'administrator')
export class AdminRiskPagesController {
  constructor(
    private readonly risk: RiskStates,
    private readonly settings: RiskSettings,
    private readonly accounts: SiteAccounts,
  ) {}

  @Get()
  list(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    return this.send(response, visitor, { notice: noticeOf(visitor, query) });
  }

  @Post('settings')
  async save(@CurrentVisitor() visitor: Member, @Body() body: object, @Res() response: Response): Promise<void> {
    const values = new FormValues(body);
    const problem = await refusalOf(() => this.settings.save(riskValuesOf(values), visitor.account.id));
    if (problem === undefined) response.redirect(303, done('/admin/risk', 'risk-settings'));
    else await this.send(response, visitor, { values, problem });
  }

  @Post(':user_id/reset')
  async reset(
    @CurrentVisitor() visitor: Member,
    @Param('user_id', IdPipe) userId: number,
    @Res() response: Response,
  ): Promise<void> {
    await this.risk.reset(userId, visitor.account.id);
    response.redirect(303, done('/admin/risk', 'risk'));
  }

  private async send(
    response: Response,
    visitor: Member,
    { notice, ...state }: { values?: FormValues; problem?: AppError; notice?: string | undefined },
  ): Promise<void> {
    const raised = await this.risk.listRaised({ limit: MAX_RAISED });
    const names = await this.accounts.namesOf(raised.map(({ userId }) => userId));
    const body = riskPage(visitor, { raised, names, settings: await this.settings.read(), ...state });
    sendPage(response, visitor, { title: visitor.words.text('admin.risk'), body, notice, problem: state.problem });
  }
}

/** @throws AppError INVALID_ARGUMENT with each field that is out of range */
function riskValuesOf(values: FormValues): RiskValues {
  const names = Object.keys(RISK_FIELDS) as RiskFieldName[];
  const details = names.flatMap((field) => {
    const { min, max } = RISK_FIELDS[field];
    const value = values.wholeNumber(field) ?? Number.NaN;
    return value >= min && value <= max ? [] : [{ field, message: `must be a whole number from ${min} to ${max}` }];
  });
  if (details.length > 0) throw new AppError('INVALID_ARGUMENT', undefined, { details });
  return Object.fromEntries(names.map((name) => [name, values.wholeNumber(name)])) as RiskValues;
}
