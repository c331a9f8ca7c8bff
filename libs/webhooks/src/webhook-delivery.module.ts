import { Schedules } from '@gatehouse/jobs';
import { Module, type DynamicModule, type OnApplicationBootstrap } from '@nestjs/common';
import { WebhookAttempts } from './webhook-attempts.js';
import { WebhookFanOut } from './webhook-fan-out.js';
import { WebhookReplays } from './webhook-replays.js';
import { WebhookSecrets } from './webhook-secrets.js';
import { WebhookSender } from './webhook-sender.js';
import { WEBHOOK_SETUP, type WebhookOptions, type WebhookSetup } from './webhook-setup.js';
import { WebhookSource } from './webhook-source.js';
import { WebhookDeliveryHandler, WebhookFanOutHandler } from './webhook.handlers.js';

/** For events whose notification was lost, and for deliveries whose job was lost. */
const EVERY_MS = 10_000;

/** Delivers events, wherever workers run. */
@Module({})
export class WebhookDeliveryModule implements OnApplicationBootstrap {
  constructor(private readonly schedules: Schedules) {}

  static forRoot({ source, sourceNeeds = [], ...setup }: WebhookOptions): DynamicModule {
    return {
      module: WebhookDeliveryModule,
      providers: [
        { provide: WEBHOOK_SETUP, useValue: setup satisfies WebhookSetup },
        ...sourceNeeds,
        { provide: WebhookSource, useClass: source },
        WebhookSecrets,
        WebhookSender,
        WebhookAttempts,
        WebhookFanOut,
        WebhookReplays,
        WebhookFanOutHandler,
        WebhookDeliveryHandler,
      ],
      exports: [WebhookAttempts, WebhookReplays, WebhookSecrets],
    };
  }

  async onApplicationBootstrap(): Promise<void> {
    const payload = { requestedAt: Date.now() };
    await this.schedules.keepOne('webhook-fan-out', { key: 'webhook-fan-out', everyMs: EVERY_MS, payload });
  }
}
