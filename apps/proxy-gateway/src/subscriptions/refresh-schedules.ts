import { Jobs } from '@gatehouse/jobs';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SubscriptionEntity } from './subscription.entity.js';

const QUEUE = 'subscription-refresh';
const KEY = /^subscription-(\d+)$/;
/** A new subscription is fetched soon by itself; the one who added it usually asks at once. */
const FIRST_MS = 15_000;
const FIRST_JITTER_MS = 15_000;

type Scheduled = Pick<SubscriptionEntity, 'id' | 'enabled' | 'intervalSec'>;

/** One scheduler per enabled subscription, and none besides. */
@Injectable()
export class RefreshSchedules implements OnApplicationBootstrap {
  private readonly logger = new Logger('Subscriptions');

  constructor(
    private readonly jobs: Jobs,
    private readonly dataSource: DataSource,
  ) {}

  /** Sets right what a crash between a change and its scheduler left. */
  async onApplicationBootstrap(): Promise<void> {
    const rows = await this.dataSource
      .getRepository(SubscriptionEntity)
      .find({ select: { id: true, enabled: true, intervalSec: true } });
    const wanted = new Set(rows.filter(({ enabled }) => enabled).map(({ id }) => keyOf(id)));
    const present = await this.jobs.schedulers(QUEUE);
    const stale = present.filter((key) => KEY.test(key) && !wanted.has(key));
    for (const key of stale) await this.jobs.removeScheduler(QUEUE, key);
    for (const row of rows.filter(({ enabled }) => enabled)) await this.follow(row);
  }

  /** Makes the scheduler what the row says. A queue that does not answer is logged: the next start sets it right. */
  async follow(row: Scheduled): Promise<void> {
    if (!row.enabled) return this.forget(row.id);
    const everyMs = row.intervalSec * 1000;
    const jitterMs = Math.min(FIRST_JITTER_MS, everyMs / 4);
    const payload = { subscriptionId: row.id, trigger: 'schedule' } as const;
    await this.attempt(row.id, () =>
      this.jobs.upsertScheduler(QUEUE, keyOf(row.id), { everyMs, firstInMs: FIRST_MS, jitterMs }, payload),
    );
  }

  async forget(id: number): Promise<void> {
    await this.attempt(id, () => this.jobs.removeScheduler(QUEUE, keyOf(id)));
  }

  private async attempt(id: number, change: () => Promise<unknown>): Promise<void> {
    try {
      await change();
    } catch (error) {
      this.logger.error(`The schedule of subscription ${id} could not be changed; the next start does it`, error);
    }
  }
}

function keyOf(id: number): string {
  return `subscription-${id}`;
}
