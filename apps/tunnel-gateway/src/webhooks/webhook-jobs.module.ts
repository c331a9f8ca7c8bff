import { Schedules } from '@gatehouse/jobs';
import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { WebhookAttempts } from './webhook-attempts.js';
import { WebhookFanOut } from './webhook-fan-out.js';
import { WebhookSecrets } from './webhook-secrets.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhookDeliveryHandler, WebhookFanOutHandler } from './webhook.handlers.js';

/** For events whose notification was lost, and for deliveries whose job was lost. */
const EVERY_MS = 10_000;

/** Delivers events, wherever workers run. */
@Module({
  providers: [
    WebhookSecrets,
    WebhookSender,
    WebhookAttempts,
    WebhookFanOut,
    WebhookFanOutHandler,
    WebhookDeliveryHandler,
  ],
  exports: [WebhookAttempts, WebhookSecrets],
})
export class WebhookJobsModule implements OnApplicationBootstrap {
  constructor(private readonly schedules: Schedules) {}

  async onApplicationBootstrap(): Promise<void> {
    const payload = { requestedAt: Date.now() };
    await this.schedules.keepOne('webhook-fan-out', { key: 'webhook-fan-out', everyMs: EVERY_MS, payload });
  }
}
