import { Fails } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { openText } from '../messages/open-api.js';
import { ApiIdempotent } from '../idempotency/api-idempotent.js';
import { IdempotentRequests } from '../idempotency/idempotent-requests.js';
import { CurrentCaller, OpenOperation, type Caller, type UserCaller } from '../credentials/caller.js';
import { ApiEnvelope, ApiEnvelopeList } from '../wire/api-envelope.js';
import { Enveloped } from '../wire/envelope.js';
import { ShareOffer } from './share-offer.js';
import { ShareReader } from './share-reader.js';
import { ShareWriter } from './share-writer.js';
import { CreateShareBody, ListSharesQuery, UpdateShareBody } from './share.dto.js';
import { ShareDetailView, ShareItemView, toShareItem } from './share.view.js';

const MAX_PAGE_SIZE = 100;

@ApiTags('shares')
@Controller('api/open/shares')
export class SharesController {
  constructor(
    private readonly reader: ShareReader,
    private readonly writer: ShareWriter,
    private readonly offer: ShareOffer,
    private readonly idempotent: IdempotentRequests,
  ) {}

  @Get()
  @OpenOperation({ scope: 'write', user: 'required' })
  @ApiOperation({ summary: "The caller's own shares, newest first" })
  @ApiEnvelopeList(ShareItemView, { paged: true })
  async list(@Query() query: ListSharesQuery, @CurrentCaller() { userId }: UserCaller): Promise<Enveloped> {
    const { page, include } = query;
    const pageSize = Math.min(Math.max(query.page_size, 1), MAX_PAGE_SIZE);
    const { rows, total } = await this.reader.ofOwner(userId, page, pageSize);
    const items = rows.map((row) => toShareItem(row, { withLink: include === 'link' }));
    return new Enveloped(items, { total, page, pageSize });
  }

  @Get(':slug')
  @OpenOperation({ scope: 'query' })
  @ApiOperation({ summary: 'A share, without its link and access code' })
  @ApiEnvelope(ShareDetailView)
  @Fails('NOT_FOUND')
  detail(@Param('slug') slug: string, @CurrentCaller() caller: Caller): Promise<ShareDetailView> {
    return this.offer.show(slug, caller);
  }

  @Post()
  @HttpCode(200)
  @OpenOperation({ scope: 'write', user: 'required' })
  @ApiOperation({ summary: 'Share a link' })
  @ApiIdempotent()
  @ApiEnvelope(ShareItemView)
  @Fails('SHARE_LINK_EXISTS', 'CONFLICT', 'IDEMPOTENCY_KEY_IN_USE', 'UNPROCESSABLE')
  create(
    @Req() request: Request,
    @Body() body: CreateShareBody,
    @CurrentCaller() caller: UserCaller,
  ): Promise<Enveloped> {
    return this.idempotent.run(request, caller, async (tx) => {
      const item = toShareItem(await this.writer.create(caller, body, tx));
      return new Enveloped(item, { message: openText('open.shared') });
    });
  }

  @Patch(':slug')
  @OpenOperation({ scope: 'write', user: 'required' })
  @ApiOperation({ summary: 'Change a share; null clears a field' })
  @ApiEnvelope(ShareItemView)
  @Fails('FORBIDDEN', 'NOT_FOUND', 'SHARE_LINK_EXISTS')
  async update(
    @Param('slug') slug: string,
    @Body() body: UpdateShareBody,
    @CurrentCaller() caller: UserCaller,
  ): Promise<Enveloped> {
    return new Enveloped(toShareItem(await this.writer.update(caller, slug, body)), {
      message: openText('open.updated'),
    });
  }

  @Delete(':slug')
  @OpenOperation({ scope: 'write', user: 'required' })
  @ApiOperation({ summary: 'Withdraw a share; users who unlocked it keep access' })
  @ApiEnvelope()
  @Fails('FORBIDDEN', 'NOT_FOUND')
  async delete(@Param('slug') slug: string, @CurrentCaller() caller: UserCaller): Promise<Enveloped> {
    await this.writer.delete(caller, slug);
    return new Enveloped(null, { message: openText('open.deleted') });
  }
}
