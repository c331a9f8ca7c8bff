import { Get, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { IdPipe } from '../../wire/path-values.js';
import { RiskStates } from '../../risk/risk-states.service.js';
import { SiteAccounts } from '../../site/site-accounts.service.js';
import { actionForm } from '../parts/forms.js';
import { sendPage } from '../parts/layout.js';
import { markup } from '../parts/markup.js';
import { done, noticeOf } from '../parts/notices.js';
import { PageController } from '../parts/page-controller.js';
import { badge, dataTable } from '../parts/tables.js';
import { timesFor } from '../parts/times.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { sections } from './sections.js';

const MAX_RAISED = 200;

@PageController('admin/risk', 'administrator')
export class AdminRiskPagesController {
  constructor(
    private readonly risk: RiskStates,
    private readonly accounts: SiteAccounts,
  ) {}

  @Get()
  async list(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    const found = await this.risk.listRaised({ limit: MAX_RAISED });
    const names = await this.accounts.namesOf(found.map(({ userId }) => userId));
    const { words } = visitor;
    const time = timesFor(visitor);
    const rows = found.map(({ userId, tier, changedAt, pausedUntil, needsReview }) => [
      markup`<a href="/admin/users/${userId}">${names.get(userId) ?? userId}</a>`,
      tier,
      time(changedAt),
      time(pausedUntil, ''),
      needsReview ? badge('fair', words.text('common.yes')) : '',
      actionForm(visitor, `/admin/risk/${userId}/reset`, words.text('risk.reset'), {
        style: 'danger',
        about: names.get(userId) ?? '',
      }),
    ]);
    const columns = [
      words.text('risk.user'),
      words.text('risk.tier'),
      words.text('risk.since'),
      words.text('risk.pausedUntil'),
      words.text('risk.needsReview'),
      '',
    ];
    const body = markup`${sections(visitor, '/admin/risk')}
<p>${words.text('risk.intro')}</p>
${dataTable(words.text('risk.caption'), columns, rows, words.text('risk.none'))}`;
    sendPage(response, visitor, { title: words.text('admin.risk'), body, notice: noticeOf(visitor, query) });
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
}
