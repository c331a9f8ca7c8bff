import { WebhookDeliveryModule } from '@gatehouse/webhooks';
import { Module } from '@nestjs/common';
import { EventSource } from './event-source.js';
import { WEBHOOK_SETUP } from './webhook-setup.js';

const DELIVERY = WebhookDeliveryModule.forRoot({ ...WEBHOOK_SETUP, source: EventSource });

/** Delivers events, wherever workers run. */
@Module({ imports: [DELIVERY], exports: [DELIVERY] })
export class WebhookJobsModule {}
