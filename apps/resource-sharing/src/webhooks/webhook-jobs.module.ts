import { WebhookDeliveryModule } from '@gatehouse/webhooks';
import { Module } from '@nestjs/common';
import { ServiceDays } from '../quota/service-days.js';
import { ApplicationEvents } from './application-events.js';
import { QuotaWarnings } from './quota-warnings.js';
import { WEBHOOK_SETUP } from './webhook-setup.js';

const DELIVERY = WebhookDeliveryModule.forRoot({
  ...WEBHOOK_SETUP,
  source: ApplicationEvents,
  sourceNeeds: [QuotaWarnings, ServiceDays],
});

/** Delivers events to applications, wherever workers run. */
@Module({ imports: [DELIVERY], exports: [DELIVERY] })
export class WebhookJobsModule {}
