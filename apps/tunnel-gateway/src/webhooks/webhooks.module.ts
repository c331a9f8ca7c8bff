import { webhookStarter } from '@gatehouse/webhooks';
import { Module } from '@nestjs/common';
import { EventFeed } from '../events/event-feed.js';
import { EventsApiModule } from '../events/events-api.module.js';
import { WebhookJobsModule } from './webhook-jobs.module.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhooksService } from './webhooks.service.js';

@Module({
  imports: [WebhookJobsModule, EventsApiModule],
  controllers: [WebhooksController],
  providers: [WebhooksService, webhookStarter(EventFeed)],
})
export class WebhooksModule {}
