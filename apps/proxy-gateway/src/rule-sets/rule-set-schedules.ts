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

/** Keeps one schedule for each enabled set with a source. */
@Injectable()
export class RuleSetSchedules implements OnApplicationBootstrap {
  private readonly logger = new Logger('RuleSets');

  constructor(
    private readonly jobs: Jobs,
    private readonly schedules: Schedules,
    private readonly dataSource: DataSource,
  ) {}

  /** Restores schedules that a crash left out, and at intervals those that the store lost. */
  async onApplicationBootstrap(): Promise<void> {
    await this.schedules.keep({ queue: QUEUE, owns: (key) => KEY.test(key), wanted: () => this.wanted() });
  }

  /**
   * Brings the schedule in line with the row. If the queue does not answer, that is logged and the next check repairs
   * it.
   */
  async follow(row: Scheduled): Promise<void> {
    if (!isScheduled(row)) return this.forget(row.id);
    const { key, payload, ...times } = scheduleOf(row);
    await this.attempt(row.id, () => this.jobs.upsertScheduler(QUEUE, key, times, payload));
  }

  /** Requests a refresh once the transaction is committed, even if this process ends then. */
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
      this.logger.error(`The schedule of rule set ${id} could not be changed; the next check will do so`, error);
    }
  }
}

function isScheduled({ type, enabled }: Scheduled): boolean {
  return enabled && type !== 'inline';
}

function scheduleOf({ id, intervalSec }: Scheduled): Schedule<typeof QUEUE> {
  const everyMs = intervalSec * 1000;
  // The first fetch was requested when the set was created; the jitter lets sets that were added together drift apart.
  const times = { everyMs, firstInMs: everyMs, jitterMs: Math.min(MAX_JITTER_MS, everyMs / 10) };
  return { key: keyOf(id), ...times, payload: { ruleSetId: id, trigger: 'schedule' } };
}

function keyOf(id: number): string {
  return `rule-set-${id}`;
}
