import { CurrentActor, Requires } from '@gatehouse/auth';
import type { Actor } from '@gatehouse/auth';
import type { ItemList, ProfilePreview, RefreshResult, SubscriptionView } from '@gatehouse/contracts';
import { Answers, Fails, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { RequestRefresh } from './request-refresh.js';
import { ProfilePreviews } from './profile-previews.js';
import { NewSubscription, PreviewRequest, RefreshQuery, SubscriptionChanges } from './subscription.dto.js';
import { SubscriptionsService } from './subscriptions.service.js';

@Controller('subscriptions')
export class SubscriptionsController {
  constructor(
    private readonly subscriptions: SubscriptionsService,
    private readonly requestRefresh: RequestRefresh,
    private readonly previews: ProfilePreviews,
  ) {}

  @Get()
  @Answers('SubscriptionList', 'The subscriptions')
  @Requires('read')
  list(@CurrentActor() actor: Actor | null): Promise<ItemList<SubscriptionView>> {
    return this.subscriptions.list(actor);
  }

  @Get(':id')
  @Answers('SubscriptionView', 'One subscription')
  @Requires('read')
  get(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor | null): Promise<SubscriptionView> {
    return this.subscriptions.get(id, actor);
  }

  @Post()
  @Answers('SubscriptionView', 'Adds a subscription and fetches it')
  @Fails('CONFLICT')
  @Requires('write')
  create(@Body() body: NewSubscription, @CurrentActor() actor: Actor | null): Promise<SubscriptionView> {
    return this.subscriptions.create(body, actor);
  }

  @Post('preview')
  @Answers('ProfilePreview', 'Says what taking a profile would do')
  @Fails('UNPROCESSABLE', 'UPSTREAM_FAILED')
  @HttpCode(200)
  @Requires('write')
  preview(@Body() body: PreviewRequest, @CurrentActor() actor: Actor | null): Promise<ProfilePreview> {
    return this.previews.preview(body, actor);
  }

  @Put(':id')
  @Answers('SubscriptionView', 'Changes a subscription')
  @Fails('CONFLICT')
  @Requires('write')
  update(
    @Param('id', IdPipe) id: number,
    @Body() body: SubscriptionChanges,
    @CurrentActor() actor: Actor | null,
  ): Promise<SubscriptionView> {
    return this.subscriptions.update(id, body, actor);
  }

  @Delete(':id')
  @Answers('SubscriptionDeletedResponse', 'Deletes a subscription and the nodes that only it contained')
  @Requires('write')
  remove(@Param('id', IdPipe) id: number): ReturnType<SubscriptionsService['remove']> {
    return this.subscriptions.remove(id);
  }

  /** The result of the last refresh. */
  @Get(':id/refresh')
  @Answers('RefreshResult', 'The result of the last refresh')
  @Requires('read')
  lastRefresh(@Param('id', IdPipe) id: number): Promise<RefreshResult> {
    return this.subscriptions.lastRefresh(id);
  }

  @Post(':id/refresh')
  @Answers('RefreshResult', 'Fetches a subscription now')
  @Fails('UPSTREAM_TIMEOUT')
  @HttpCode(200)
  @Requires('write')
  refresh(@Param('id', IdPipe) id: number, @Query() query: RefreshQuery): Promise<RefreshResult> {
    return this.requestRefresh.run(id, query.force === 'true');
  }
}
