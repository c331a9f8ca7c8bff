import { Body, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ShareAdministration, type KnownShare } from '../../administration/share-administration.js';
import { actionForm, searchForm } from '../parts/forms.js';
import { FormValues } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { markup, type Content } from '../parts/markup.js';
import { done, noticeOf } from '../parts/notices.js';
import { PageController } from '../parts/page-controller.js';
import { priceText, storageName } from '../parts/share-words.js';
import { dataTable, pageNumber, pager } from '../parts/tables.js';
import { timesFor } from '../parts/times.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { sections } from './sections.js';

const PAGE_SIZE = 50;

@PageController('admin/shares', 'administrator')
export class AdminSharePagesController {
  constructor(private readonly shares: ShareAdministration) {}

  @Get()
  async list(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    const page = pageNumber((query as { page?: unknown }).page);
    const search = new FormValues(query).optional('search')?.slice(0, 100);
    const found = await this.shares.list({ search, limit: PAGE_SIZE + 1, offset: (page - 1) * PAGE_SIZE });
    const { words } = visitor;
    const rows = found.slice(0, PAGE_SIZE).map((share) => shareRow(visitor, share));
    const columns = [
      words.text('common.title'),
      words.text('share.service'),
      words.text('allShares.sharer'),
      words.text('shares.price'),
      words.text('common.created'),
      words.text('allShares.official'),
      '',
    ];
    const path = search === undefined ? '/admin/shares' : `/admin/shares?search=${encodeURIComponent(search)}`;
    const body = markup`${sections(visitor, '/admin/shares')}
${searchForm(visitor, '/admin/shares', words.text('allShares.search'), search ?? '')}
${dataTable(words.text('admin.shares'), columns, rows, words.text('allShares.none'))}
${pager(visitor, path, page, found.length > PAGE_SIZE)}`;
    sendPage(response, visitor, { title: words.text('allShares.title'), body, notice: noticeOf(visitor, query) });
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

function shareRow(visitor: Member, share: KnownShare): Content[] {
  const { words } = visitor;
  const name = share.title ?? share.slug;
  return [
    name,
    storageName(visitor, share.kind),
    markup`<a href="/admin/users/${share.ownerId}">${share.owner}</a>`,
    priceText(visitor, share.unlockPoints ?? 0),
    timesFor(visitor)(share.createdAt),
    actionForm(
      visitor,
      `/admin/shares/${share.slug}/official`,
      words.text(share.isOfficial ? 'allShares.undoOfficial' : 'allShares.makeOfficial'),
      { fields: { official: String(!share.isOfficial) }, about: name },
    ),
    actionForm(visitor, `/admin/shares/${share.slug}/delete`, words.text('common.delete'), {
      style: 'danger',
      about: name,
    }),
  ];
}
