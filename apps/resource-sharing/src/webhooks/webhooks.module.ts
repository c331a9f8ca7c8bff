import { webhookStarter } from '@gatehouse/webhooks';
import { Module } from '@nestjs/common';
import { ApplicationEventFeed } from './application-event-feed.js';
import { WebhookJobsModule } from './webhook-jobs.module.js';
import { WebhookLog } from './webhook-log.js';
import { WebhooksController } from './webhooks.controller.js';
import { Webhooks } from './webhooks.service.js';

/** Webhooks of applications, for their developers. */
@Module({
  imports: [WebhookJobsModule],
  controllers: [WebhooksController],
  providers: [Webhooks, WebhookLog, ApplicationEventFeed, webhookStarter(ApplicationEventFeed)],
  exports: [Webhooks, WebhookLog],
})
export class WebhooksModule {}
