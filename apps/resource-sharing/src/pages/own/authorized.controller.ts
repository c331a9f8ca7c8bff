import { Get, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { visibleName } from '../../applications/visible-name.js';
import { Grants } from '../../credentials/grants.service.js';
import { actionForm } from '../parts/forms.js';
import { sendPage } from '../parts/layout.js';
import { markup } from '../parts/markup.js';
import { done, noticeOf } from '../parts/notices.js';
import { PageController } from '../parts/page-controller.js';
import { scopeNames } from '../parts/scope-words.js';
import { dataTable } from '../parts/tables.js';
import { timesFor } from '../parts/times.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';

/** Applications that the visitor has authorized. */
@PageController('authorized')
export class AuthorizedController {
  constructor(private readonly grants: Grants) {}

  @Get()
  async list(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    const found = await this.grants.applicationsOf(visitor.account.id);
    const { words } = visitor;
    const time = timesFor(visitor);
    const rows = found.map((application) => [
      [
        markup`<strong>${visibleName(application.name)}</strong>`,
        markup`<span class="second">${application.description}</span>`,
      ],
      scopeNames(visitor, application.scopes),
      time(application.firstGrantedAt),
      time(application.lastGrantedAt),
      actionForm(visitor, `/authorized/${application.clientId}/revoke`, words.text('common.revoke'), {
        style: 'danger',
        about: visibleName(application.name),
      }),
    ]);
    const columns = [
      words.text('authorized.application'),
      words.text('common.permissions'),
      words.text('authorized.since'),
      words.text('authorized.last'),
      '',
    ];
    const body = dataTable(words.text('authorized.caption'), columns, rows, words.text('authorized.none'));
    sendPage(response, visitor, { title: words.text('authorized.title'), body, notice: noticeOf(visitor, query) });
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
