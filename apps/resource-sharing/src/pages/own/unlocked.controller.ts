import { Get, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { UnlockHistory, type PastUnlock } from '../../unlocks/unlock-history.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { FormValues } from '../parts/form-values.js';
import { copyButton, searchForm } from '../parts/forms.js';
import { sendPage } from '../parts/layout.js';
import { linkTo, markup, type Content, type Html } from '../parts/markup.js';
import { PageController } from '../parts/page-controller.js';
import { card, dataTable, pageNumber, pager } from '../parts/tables.js';
import { timesFor } from '../parts/times.js';

const PAGE_SIZE = 30;

/** The shares that a member has unlocked, with their links. */
@PageController('unlocked')
export class UnlockedController {
  constructor(private readonly history: UnlockHistory) {}

  @Get()
  async list(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    const values = new FormValues(query);
    const search = values.text('search').trim();
    const page = pageNumber(values.text('page'));
    const found = await this.history.of(visitor.account.id, { search, page, pageSize: PAGE_SIZE });
    const { words } = visitor;
    const path = search === '' ? '/unlocked' : `/unlocked?search=${encodeURIComponent(search)}`;
    const list = found.unlocks.length > 0 ? unlockTable(visitor, found.unlocks) : none(visitor, search);
    const body = markup`${searchForm(visitor, '/unlocked', words.text('unlocked.search'), search)}
${card(words.text('unlocked.caption'), [list, pager(visitor, path, page, found.hasMore)])}`;
    sendPage(response, visitor, { title: words.text('unlocked.title'), body });
  }
}

export function unlockTable(visitor: Member, unlocks: readonly PastUnlock[]): Html {
  const { words } = visitor;
  const time = timesFor(visitor);
  const rows = unlocks.map(({ share, fullUrl, via, points, application, at }) => [
    [
      markup`<a href="/shares/${share.slug}">${share.title ?? share.media_title ?? share.tmdb_id}</a>`,
      application !== null && markup`<span class="second">${words.text('unlocked.through', { application })}</span>`,
    ],
    markup`<span class="shared-link"><code>${fullUrl}</code> ${copyButton(visitor, fullUrl)}</span>`,
    via === 'points' ? points : words.text(`unlocked.ways.${via}`),
    time(at),
  ]);
  const columns = [
    words.text('common.name'),
    words.text('share.link'),
    words.text('unlocked.paid'),
    words.text('unlocked.at'),
  ];
  return dataTable(words.text('unlocked.caption'), columns, rows, '');
}

function none({ words }: Member, search: string): Html {
  return markup`<p class="muted">${
    search === ''
      ? words.rich<Content, 'unlocked.none'>('unlocked.none', { a: linkTo('/titles') })
      : words.text('titles.nothing', { search })
  }</p>`;
}
