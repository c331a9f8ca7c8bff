import { Schedules } from '@gatehouse/jobs';
import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { ClientLeases } from './client-leases.js';
import { Retention } from './retention.js';
import { RetentionHandler } from './retention.handler.js';

const TIMES = { everyMs: 600_000, firstInMs: 60_000, jitterMs: 60_000 };

/** Retention, wherever workers run. */
@Module({ providers: [Retention, RetentionHandler, ClientLeases], exports: [Retention] })
export class RetentionModule implements OnApplicationBootstrap {
  constructor(private readonly schedules: Schedules) {}

  async onApplicationBootstrap(): Promise<void> {
    const payload = { requestedAt: Date.now() };
    await this.schedules.keepOne('retention', { key: 'retention', ...TIMES, payload });
  }
}
