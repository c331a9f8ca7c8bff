import { acceptedLanguage } from '@gatehouse/i18n';
import { Body, Controller, Get, Headers, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { siteMessages } from '../messages/index.js';
import { ApiEnvelope, ApiEnvelopeArray } from '../wire/api-envelope.js';
import { CurrentUserId } from '../wire/current-user.js';
import { IdPipe } from '../wire/path-values.js';
import { SiteNoticeView, toSiteNoticeView, UnreadNoticesView } from './notice.view.js';
import { NoticesQuery, ReadNoticesBody } from './notices.dto.js';
import { Notices } from './notices.service.js';

@ApiTags('site')
@Controller('api/site/notices')
export class NoticesController {
  constructor(private readonly notices: Notices) {}

  @Get()
  @ApiOperation({ summary: 'Notices of this account, newest first' })
  @ApiEnvelopeArray(SiteNoticeView)
  async list(
    @CurrentUserId() userId: number,
    @Query() { unread, before, limit }: NoticesQuery,
    @Headers('accept-language') accepted: string | undefined,
  ): Promise<SiteNoticeView[]> {
    const words = siteMessages(acceptedLanguage(accepted));
    const { notices } = await this.notices.list(userId, { unreadOnly: unread, before, limit });
    return notices.map((notice) => toSiteNoticeView(notice, words));
  }

  @Get('unread')
  @ApiOperation({ summary: 'How many notices are unread' })
  @ApiEnvelope(UnreadNoticesView)
  async unread(@CurrentUserId() userId: number): Promise<UnreadNoticesView> {
    return { unread: await this.notices.unread(userId) };
  }

  @Post('read')
  @HttpCode(200)
  @ApiOperation({ summary: 'Mark all notices as read, or those up to one' })
  @ApiEnvelope()
  readAll(@CurrentUserId() userId: number, @Body() { up_to: upTo }: ReadNoticesBody): Promise<void> {
    return this.notices.markAllRead(userId, upTo);
  }

  @Post(':id/read')
  @HttpCode(200)
  @ApiOperation({ summary: 'Mark one notice as read' })
  @ApiEnvelope()
  read(@CurrentUserId() userId: number, @Param('id', IdPipe) id: number): Promise<void> {
    return this.notices.markRead(userId, id);
  }
}
