import { AppError } from '@gatehouse/platform';
import { Get, Param, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ShareReader } from '../../shares/share-reader.js';
import { TitleSearch } from '../../titles/title-search.js';
import { MEDIA_TYPES, TMDB_ID, type MediaType } from '../../titles/titles.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { FormValues } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { PageController } from '../parts/page-controller.js';
import { pageNumber } from '../parts/tables.js';
import { titleName, titlePage, titlesPage } from './titles.view.js';

const PAGE_SIZE = 30;

/** Titles that have shares, and the shares of each. */
@PageController('titles')
export class TitlesController {
  constructor(
    private readonly titles: TitleSearch,
    private readonly reader: ShareReader,
  ) {}

  @Get()
  async search(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    const values = new FormValues(query);
    const search = values.text('search').trim();
    const page = pageNumber(values.text('page'));
    const { titles, hasMore } = await this.titles.find(search, page, PAGE_SIZE);
    const body = titlesPage(visitor, { titles, search, page, hasMore });
    sendPage(response, visitor, { title: visitor.words.text('titles.title'), body });
  }

  @Get(':type/:tmdb_id')
  async title(
    @CurrentVisitor() visitor: Member,
    @Param('type') type: string,
    @Param('tmdb_id') tmdbId: string,
    @Query() query: object,
    @Res() response: Response,
  ): Promise<void> {
    if (!isMediaType(type) || !TMDB_ID.test(tmdbId)) throw new AppError('NOT_FOUND', 'The title does not exist');
    const page = pageNumber(new FormValues(query).text('page'));
    const asked = { page, pageSize: PAGE_SIZE };
    const { rows: shares, total } = await this.reader.ofTitle({ type, tmdbId }, visitor.account.id, asked);
    const name = titleName(visitor, {
      mediaType: type,
      tmdbId,
      name: shares.find((row) => row.media_title)?.media_title ?? null,
    });
    const body = titlePage(visitor, {
      mediaType: type,
      tmdbId,
      shares,
      page,
      hasMore: page * PAGE_SIZE < total,
    });
    sendPage(response, visitor, { title: name, body });
  }
}

function isMediaType(text: string): text is MediaType {
  return (MEDIA_TYPES as readonly string[]).includes(text);
}
