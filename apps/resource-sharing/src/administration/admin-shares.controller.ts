import { Requires } from '@gatehouse/auth';
import { Fails } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, Param, Patch, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentUserId } from '../wire/current-user.js';
import { ApiEnvelope, ApiEnvelopeArray } from '../wire/api-envelope.js';
import { SearchQuery, ShareChangeBody } from './administration.dto.js';
import { KnownShareView, toKnownShareView } from './administration.view.js';
import { ShareAdministration } from './share-administration.js';

@ApiTags('administration')
@Requires('admin')
@Controller('api/site/admin/shares')
export class AdminSharesController {
  constructor(private readonly shares: ShareAdministration) {}

  @Get()
  @ApiOperation({ summary: 'Live shares of all users, newest first' })
  @ApiEnvelopeArray(KnownShareView)
  async list(@Query() { search, page, page_size: limit }: SearchQuery): Promise<KnownShareView[]> {
    const found = await this.shares.list({ search, limit, offset: (page - 1) * limit });
    return found.map(toKnownShareView);
  }

  @Patch(':slug')
  @ApiOperation({ summary: 'Mark a share as official or remove the mark' })
  @ApiEnvelope()
  @Fails('NOT_FOUND')
  change(
    @CurrentUserId() actorId: number,
    @Param('slug') slug: string,
    @Body() { is_official: isOfficial }: ShareChangeBody,
  ): Promise<void> {
    return this.shares.setOfficial(actorId, slug, isOfficial);
  }

  @Delete(':slug')
  @ApiOperation({ summary: 'Withdraw a share; users who unlocked it keep access' })
  @ApiEnvelope()
  @Fails('NOT_FOUND')
  remove(@CurrentUserId() actorId: number, @Param('slug') slug: string): Promise<void> {
    return this.shares.remove(actorId, slug);
  }
}
