import { Get, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { visibleName } from '../../applications/visible-name.js';
import { Grants } from '../../credentials/grants.service.js';
import { ResourceSharingSettings } from '../../settings.js';
import { actionForm } from '../parts/forms.js';
import { sendPage } from '../parts/layout.js';
import { markup } from '../parts/markup.js';
import { done, noticeOf } from '../parts/notices.js';
import { PageController } from '../parts/page-controller.js';
import { SCOPE_WORDS } from '../parts/scope-words.js';
import { dataTable } from '../parts/tables.js';
import { timeIn } from '../parts/times.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';

/** Applications that the visitor has authorised. */
@PageController('authorized')
export class AuthorizedController {
  constructor(
    private readonly grants: Grants,
    private readonly settings: ResourceSharingSettings,
  ) {}

  @Get()
  async list(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    const found = await this.grants.applicationsOf(visitor.account.id);
    const time = timeIn(this.settings.timeZone);
    const rows = found.map((application) => [
      [
        markup`<strong>${visibleName(application.name)}</strong>`,
        markup`<span class="hint">${application.description}</span>`,
      ],
      application.scopes.map((scope) => SCOPE_WORDS[scope].label).join(', '),
      time(application.firstGrantedAt),
      time(application.lastGrantedAt),
      actionForm(visitor, `/authorized/${application.clientId}/revoke`, 'End', {
        style: 'danger',
        about: visibleName(application.name),
      }),
    ]);
    const columns = ['Application', 'It may', 'Since', 'Last allowed', ''];
    const body = dataTable('Applications that act for you', columns, rows, 'No application acts for you.');
    sendPage(response, visitor, { title: 'Authorised applications', body, notice: noticeOf(query) });
  }

  @Post(':client_id/revoke')
  async revoke(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Res() response: Response,
  ): Promise<void> {
    await this.grants.revokeApplication(clientId, visitor.account.id);
    response.redirect(303, done('/authorized', 'revoked'));
  }
}
