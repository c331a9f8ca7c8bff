import { Jobs, Schedules } from '@gatehouse/jobs';
import type { Schedule } from '@gatehouse/jobs';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { RuleSetEntity } from '../data/rule-set.entity.js';

const QUEUE = 'rule-set-refresh';
const KEY = /^rule-set-(\d+)$/;
const MAX_JITTER_MS = 60_000;

type Scheduled = Pick<RuleSetEntity, 'id' | 'type' | 'enabled' | 'intervalSec'>;

/** One scheduler per enabled set that has a source, and none besides. */
@Injectable()
export class RuleSetSchedules implements OnApplicationBootstrap {
  private readonly logger = new Logger('RuleSets');

  constructor(
    private readonly jobs: Jobs,
    private readonly schedules: Schedules,
    private readonly dataSource: DataSource,
  ) {}

  /** Puts right what a crash between a change and its scheduler left, and whatever the store loses later. */
  async onApplicationBootstrap(): Promise<void> {
    await this.schedules.keep({ queue: QUEUE, owns: (key) => KEY.test(key), wanted: () => this.wanted() });
  }

  /** Makes the scheduler what the row says. A queue that does not answer is logged: the next look puts it right. */
  async follow(row: Scheduled): Promise<void> {
    if (!isScheduled(row)) return this.forget(row.id);
    const { key, payload, ...times } = scheduleOf(row);
    await this.attempt(row.id, () => this.jobs.upsertScheduler(QUEUE, key, times, payload));
  }

  /** Once the transaction is committed, whatever happens to this process then. */
  refreshSoon(tx: EntityManager, id: number): Promise<void> {
    return this.jobs.enqueueAfterCommit(tx, QUEUE, { ruleSetId: id, trigger: 'manual' });
  }

  async forget(id: number): Promise<void> {
    await this.attempt(id, () => this.jobs.removeScheduler(QUEUE, keyOf(id)));
  }

  private async wanted(): Promise<Schedule<typeof QUEUE>[]> {
    const select = { id: true, type: true, enabled: true, intervalSec: true };
    const rows = await this.dataSource.getRepository(RuleSetEntity).find({ select });
    return rows.filter(isScheduled).map(scheduleOf);
  }

  private async attempt(id: number, change: () => Promise<unknown>): Promise<void> {
    try {
      await change();
    } catch (error) {
      this.logger.error(`The schedule of rule set ${id} could not be changed; the next look does it`, error);
    }
  }
}

function isScheduled({ type, enabled }: Scheduled): boolean {
  return enabled && type !== 'inline';
}

function scheduleOf({ id, intervalSec }: Scheduled): Schedule<typeof QUEUE> {
  const everyMs = intervalSec * 1000;
  // The first fetch is asked for by whoever made the set; sets made together then drift apart.
  const times = { everyMs, firstInMs: everyMs, jitterMs: Math.min(MAX_JITTER_MS, everyMs / 10) };
  return { key: keyOf(id), ...times, payload: { ruleSetId: id, trigger: 'schedule' } };
}

function keyOf(id: number): string {
  return `rule-set-${id}`;
}
