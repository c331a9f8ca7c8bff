import { Get, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { IdPipe } from '../../wire/path-values.js';
import { RiskStates } from '../../risk/risk-states.service.js';
import { ResourceSharingSettings } from '../../settings.js';
import { SiteAccounts } from '../../site/site-accounts.service.js';
import { actionForm } from '../parts/forms.js';
import { sendPage } from '../parts/layout.js';
import { markup } from '../parts/markup.js';
import { done, noticeOf } from '../parts/notices.js';
import { PageController } from '../parts/page-controller.js';
import { dataTable } from '../parts/tables.js';
import { timeIn } from '../parts/times.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { sections } from './sections.js';

const MAX_RAISED = 200;
const COLUMNS = ['User', 'Tier', 'Since', 'Paused until', 'To be reviewed', ''];

@PageController('admin/risk', 'administrator')
export class AdminRiskPagesController {
  constructor(
    private readonly risk: RiskStates,
    private readonly accounts: SiteAccounts,
    private readonly settings: ResourceSharingSettings,
  ) {}

  @Get()
  async list(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    const found = await this.risk.listRaised({ limit: MAX_RAISED });
    const names = await this.accounts.namesOf(found.map(({ userId }) => userId));
    const time = timeIn(this.settings.timeZone);
    const rows = found.map(({ userId, tier, changedAt, pausedUntil, needsReview }) => [
      markup`<a href="/admin/users/${userId}">${names.get(userId) ?? userId}</a>`,
      tier,
      time(changedAt),
      time(pausedUntil, ''),
      needsReview ? 'yes' : '',
      actionForm(visitor, `/admin/risk/${userId}/reset`, 'Reset', { style: 'danger', about: names.get(userId) ?? '' }),
    ]);
    const body = markup`${sections('/admin/risk')}
<p>Tiers fall by one for every clean day. A reset holds nothing against the user any more.</p>
${dataTable('Users above tier 0 or to be reviewed', COLUMNS, rows, 'Nobody.')}`;
    sendPage(response, visitor, { title: 'Risk', body, notice: noticeOf(query) });
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
