import { AppError, Fails } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, OpenOperation, type UserCaller } from '../credentials/caller.js';
import type { MediaType } from '../titles/titles.js';
import { ApiEnvelope, ApiEnvelopeList } from '../wire/api-envelope.js';
import { Enveloped } from '../wire/envelope.js';
import { IdPipe } from '../wire/path-values.js';
import { SubscriptionBody, SubscriptionsQuery } from './subscriptions.dto.js';
import { Subscriptions } from './subscriptions.service.js';
import { SubscriptionView, toSubscriptionView } from './subscriptions.view.js';

@ApiTags('subscriptions')
@Controller('api/open/subscriptions')
export class SubscriptionsController {
  constructor(private readonly subscriptions: Subscriptions) {}

  @Get()
  @OpenOperation({ scope: 'write', user: 'required' })
  @ApiOperation({ summary: 'Titles that the user subscribed to, newest first' })
  @ApiEnvelopeList(SubscriptionView, { paged: true })
  async list(@Query() query: SubscriptionsQuery, @CurrentCaller() { userId }: UserCaller): Promise<Enveloped> {
    const { q, page, page_size: pageSize } = query;
    const { rows, total } = await this.subscriptions.list(userId, q.trim(), page, pageSize);
    return new Enveloped(rows.map(toSubscriptionView), { total, page, pageSize });
  }

  @Post()
  @HttpCode(200)
  @OpenOperation({ scope: 'write', user: 'required' })
  @ApiOperation({ summary: 'Subscribe to a title: its new shares become messages' })
  @ApiEnvelope(SubscriptionView)
  @Fails('NOT_FOUND', 'CONFLICT', 'UNPROCESSABLE')
  async subscribe(
    @Body() { target_key: key, target_id: given }: SubscriptionBody,
    @CurrentCaller() { userId }: UserCaller,
  ): Promise<SubscriptionView> {
    const [type, number] = key.split(':') as [MediaType, string];
    const id = Number(number);
    if (given !== undefined && given !== id) {
      const message = 'is not the number of target_key';
      throw new AppError('UNPROCESSABLE', `target_id: ${message}`, { details: [{ field: 'target_id', message }] });
    }
    return toSubscriptionView(await this.subscriptions.subscribe(userId, type, id));
  }

  @Delete(':id')
  @OpenOperation({ scope: 'write', user: 'required' })
  @ApiOperation({ summary: 'End a subscription; its messages stay' })
  @ApiEnvelope()
  @Fails('NOT_FOUND')
  unsubscribe(@Param('id', IdPipe) id: number, @CurrentCaller() { userId }: UserCaller): Promise<void> {
    return this.subscriptions.unsubscribe(userId, id);
  }
}
