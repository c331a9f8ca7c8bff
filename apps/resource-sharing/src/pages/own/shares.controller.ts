import type { AppError } from '@gatehouse/platform';
import { Body, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ShareReader } from '../../shares/share-reader.js';
import { ShareWriter } from '../../shares/share-writer.js';
import { CreateShareBody } from '../../shares/share.dto.js';
import { siteSharer } from '../../shares/site-sharer.js';
import { FormValues, refusalOf, validated } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { done, noticeOf } from '../parts/notices.js';
import { PageController } from '../parts/page-controller.js';
import { pageNumber } from '../parts/tables.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { sharesPage } from './shares.view.js';

const PAGE_SIZE = 50;

interface State {
  readonly page: number;
  readonly notice?: string | undefined;
  readonly values?: FormValues;
  readonly problem?: AppError | undefined;
}

@PageController('shares')
export class SharesPageController {
  constructor(
    private readonly reader: ShareReader,
    private readonly writer: ShareWriter,
  ) {}

  @Get()
  list(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    const { page } = query as { page?: unknown };
    return this.send(response, visitor, { page: pageNumber(page), notice: noticeOf(visitor, query) });
  }

  @Post()
  async create(@CurrentVisitor() visitor: Member, @Body() body: object, @Res() response: Response): Promise<void> {
    const values = new FormValues(body);
    const problem = await refusalOf(async () => {
      await this.writer.create(siteSharer(visitor.account), readShare(values));
    });
    if (problem === undefined) response.redirect(303, done('/shares', 'shared'));
    else await this.send(response, visitor, { page: 1, values, problem });
  }

  @Post(':slug/delete')
  async delete(
    @CurrentVisitor() visitor: Member,
    @Param('slug') slug: string,
    @Res() response: Response,
  ): Promise<void> {
    await this.writer.delete(siteSharer({ id: visitor.account.id, permissions: [] }), slug);
    response.redirect(303, done('/shares', 'share-removed'));
  }

  private async send(response: Response, visitor: Member, { page, notice, ...state }: State): Promise<void> {
    const { rows, total } = await this.reader.ofOwner(visitor.account.id, page, PAGE_SIZE);
    const body = sharesPage(visitor, { rows, page, hasMore: total > page * PAGE_SIZE, ...state });
    sendPage(response, visitor, { title: visitor.words.text('shares.title'), body, notice, problem: state.problem });
  }
}

/** @throws INVALID_ARGUMENT */
function readShare(values: FormValues): CreateShareBody {
  return validated(CreateShareBody, {
    url: values.text('url').trim(),
    access_code: values.optional('access_code'),
    title: values.optional('title'),
    tmdb_id: values.optional('tmdb_id'),
    media_type: values.optional('media_type'),
    remark: values.optional('remark'),
    unlock_points: values.wholeNumber('unlock_points'),
    is_anonymous: values.isChecked('is_anonymous'),
  });
}
