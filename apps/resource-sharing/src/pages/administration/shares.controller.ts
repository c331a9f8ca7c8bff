import { Body, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ShareAdministration } from '../../administration/share-administration.js';
import { ResourceSharingSettings } from '../../settings.js';
import { actionForm } from '../parts/forms.js';
import { FormValues } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { markup } from '../parts/markup.js';
import { done, noticeOf } from '../parts/notices.js';
import { PageController } from '../parts/page-controller.js';
import { dataTable, pageNumber, pager } from '../parts/tables.js';
import { timeIn } from '../parts/times.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { searchForm, sections } from './sections.js';

const PAGE_SIZE = 50;
const COLUMNS = ['Title', 'Kind', 'Sharer', 'Points', 'Since', 'Official', ''];

@PageController('admin/shares', 'administrator')
export class AdminSharePagesController {
  constructor(
    private readonly shares: ShareAdministration,
    private readonly settings: ResourceSharingSettings,
  ) {}

  @Get()
  async list(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    const page = pageNumber((query as { page?: unknown }).page);
    const search = new FormValues(query).optional('search')?.slice(0, 100);
    const found = await this.shares.list({ search, limit: PAGE_SIZE + 1, offset: (page - 1) * PAGE_SIZE });
    const time = timeIn(this.settings.timeZone);
    const rows = found.slice(0, PAGE_SIZE).map((share) => [
      share.title ?? share.slug,
      share.kind,
      markup`<a href="/admin/users/${share.ownerId}">${share.owner}</a>`,
      share.unlockPoints ?? 'free',
      time(share.createdAt),
      actionForm(visitor, `/admin/shares/${share.slug}/official`, share.isOfficial ? 'Yes: undo' : 'No: make it so', {
        style: 'plain',
        fields: { official: String(!share.isOfficial) },
        about: share.title ?? share.slug,
      }),
      actionForm(visitor, `/admin/shares/${share.slug}/delete`, 'Take back', {
        style: 'danger',
        about: share.title ?? share.slug,
      }),
    ]);
    const path = search === undefined ? '/admin/shares' : `/admin/shares?search=${encodeURIComponent(search)}`;
    const body = markup`${sections('/admin/shares')}
${searchForm('/admin/shares', "A part of the title or of the sharer's name, or a slug", search ?? '')}
${dataTable('Shares', COLUMNS, rows, 'There are none.')}
${pager(path, page, found.length > PAGE_SIZE)}`;
    sendPage(response, visitor, { title: 'Shares of everybody', body, notice: noticeOf(query) });
  }

  @Post(':slug/official')
  async official(
    @CurrentVisitor() visitor: Member,
    @Param('slug') slug: string,
    @Body() body: object,
    @Res() response: Response,
  ): Promise<void> {
    await this.shares.setOfficial(visitor.account.id, slug, new FormValues(body).text('official') === 'true');
    response.redirect(303, done('/admin/shares', 'share'));
  }

  @Post(':slug/delete')
  async remove(
    @CurrentVisitor() visitor: Member,
    @Param('slug') slug: string,
    @Res() response: Response,
  ): Promise<void> {
    await this.shares.remove(visitor.account.id, slug);
    response.redirect(303, done('/admin/shares', 'share-removed'));
  }
}
