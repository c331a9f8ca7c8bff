import { Module } from '@nestjs/common';
import { EventsApiModule } from '../events/events-api.module.js';
import { WebhookJobsModule } from './webhook-jobs.module.js';
import { WebhookStarter } from './webhook-starter.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhooksService } from './webhooks.service.js';

@Module({
  imports: [WebhookJobsModule, EventsApiModule],
  controllers: [WebhooksController],
  providers: [WebhooksService, WebhookStarter],
})
export class WebhooksModule {}
