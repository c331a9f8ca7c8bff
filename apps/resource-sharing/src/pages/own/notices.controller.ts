import { Body, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Notices, type NoticePage } from '../../notices/notices.service.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { IdPipe } from '../../wire/path-values.js';
import { FormValues } from '../parts/form-values.js';
import { actionForm } from '../parts/forms.js';
import { sendPage } from '../parts/layout.js';
import { markup, type Html } from '../parts/markup.js';
import { noticeTable } from '../parts/notice-table.js';
import { done, noticeOf } from '../parts/notices.js';
import { PageController } from '../parts/page-controller.js';
import { card } from '../parts/tables.js';

const PAGE_SIZE = 30;

/** What a member should know of, and has or has not read yet. */
@PageController('notices')
export class NoticesPageController {
  constructor(private readonly notices: Notices) {}

  @Get()
  async list(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    const values = new FormValues(query);
    const unreadOnly = values.text('unread') === 'true';
    const given = values.wholeNumber('before');
    const before = given === undefined || Number.isNaN(given) ? undefined : given;
    const page = await this.notices.list(visitor.account.id, { unreadOnly, before, limit: PAGE_SIZE });
    const body = noticesPage(visitor, page, { unreadOnly, isFirstPage: before === undefined });
    sendPage(response, visitor, { title: visitor.words.text('notice.title'), body, notice: noticeOf(visitor, query) });
  }

  @Post('read')
  async readAll(@CurrentVisitor() visitor: Member, @Body() body: object, @Res() response: Response): Promise<void> {
    const upTo = new FormValues(body).wholeNumber('up_to');
    if (upTo !== undefined && !Number.isNaN(upTo)) await this.notices.markAllRead(visitor.account.id, upTo);
    response.redirect(303, done('/notices', 'read'));
  }

  @Post(':id/read')
  async read(
    @CurrentVisitor() visitor: Member,
    @Param('id', IdPipe) id: number,
    @Res() response: Response,
  ): Promise<void> {
    await this.notices.markRead(visitor.account.id, id);
    response.redirect(303, '/notices');
  }
}

function noticesPage(
  visitor: Member,
  { notices, next }: NoticePage,
  { unreadOnly, isFirstPage }: { unreadOnly: boolean; isFirstPage: boolean },
): Html {
  const { words, unreadNotices } = visitor;
  const path = unreadOnly ? '/notices?unread=true' : '/notices';
  const [newest] = notices;
  const caption = words.text(unreadOnly ? 'notice.unreadCaption' : 'notice.caption');
  const list = noticeTable(visitor, caption, notices, words.text(unreadOnly ? 'notice.noneUnread' : 'notice.none'));
  const markAll =
    isFirstPage &&
    newest !== undefined &&
    unreadNotices > 0 &&
    actionForm(visitor, '/notices/read', words.text('notice.markAllRead'), {
      size: 'normal',
      fields: { up_to: newest.id },
    });
  const pages = markup`<nav class="pager" aria-label="${words.text('common.pages')}">
${!isFirstPage && markup`<a class="button" href="${path}">${words.text('common.newest')}</a>`}
${next !== null && markup`<a class="button" href="${path}${unreadOnly ? '&' : '?'}before=${next}" rel="next">${words.text('common.older')}</a>`}
</nav>`;
  return markup`<div class="actions spaced">${markAll}
<a class="button" href="${unreadOnly ? '/notices' : '/notices?unread=true'}">${words.text(unreadOnly ? 'notice.showAll' : 'notice.onlyUnread')}</a></div>
${card(caption, [list, (!isFirstPage || next !== null) && pages])}`;
}
