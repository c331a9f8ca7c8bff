import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, OpenOperation, type UserCaller } from '../credentials/caller.js';
import { ApiEnvelope, ApiEnvelopeList } from '../wire/api-envelope.js';
import { Enveloped } from '../wire/envelope.js';
import { Inbox } from './inbox.service.js';
import { MessagesQuery, ReadMessagesBody, UnreadQuery } from './subscriptions.dto.js';
import { MessageView, toMessageView, UnreadMessagesView } from './subscriptions.view.js';

@ApiTags('subscriptions')
@Controller('api/open/messages')
export class MessagesController {
  constructor(private readonly inbox: Inbox) {}

  @Get()
  @OpenOperation({ scope: 'write', user: 'required' })
  @ApiOperation({ summary: 'Messages about shares of subscribed titles, newest first' })
  @ApiEnvelopeList(MessageView, { paged: true })
  async list(@Query() query: MessagesQuery, @CurrentCaller() { userId }: UserCaller): Promise<Enveloped> {
    const { status, page, page_size: pageSize } = query;
    const read = status === undefined ? null : status === 'read';
    const { rows, total } = await this.inbox.list(userId, read, page, pageSize);
    return new Enveloped(rows.map(toMessageView), { total, page, pageSize });
  }

  @Get('unread-count')
  @OpenOperation({ scope: 'write', user: 'required' })
  @ApiOperation({ summary: 'How many messages are unread' })
  @ApiEnvelope(UnreadMessagesView)
  async unread(@Query() _query: UnreadQuery, @CurrentCaller() { userId }: UserCaller): Promise<UnreadMessagesView> {
    return { unread_count: await this.inbox.unread(userId) };
  }

  @Post('read')
  @HttpCode(200)
  @OpenOperation({ scope: 'write', user: 'required' })
  @ApiOperation({ summary: 'Mark messages as read' })
  @ApiEnvelope()
  read(@Body() { ids }: ReadMessagesBody, @CurrentCaller() { userId }: UserCaller): Promise<void> {
    return this.inbox.markRead(userId, ids);
  }

  @Post('read-all')
  @HttpCode(200)
  @OpenOperation({ scope: 'write', user: 'required' })
  @ApiOperation({ summary: 'Mark all messages as read' })
  @ApiEnvelope()
  readAll(@CurrentCaller() { userId }: UserCaller): Promise<void> {
    return this.inbox.markAllRead(userId);
  }
}
