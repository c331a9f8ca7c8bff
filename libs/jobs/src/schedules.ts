import type { QueueName } from '@gatehouse/contracts';
import type { HealthRegistry, MetricsRegistry } from '@gatehouse/platform';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { KeptSchedules, type Schedule, type ScheduleReport, type ScheduleSource } from './kept-schedules.js';
import type { ScheduleStore } from './kept-schedules.js';

/** The maximum time for which a lost schedule is missing. */
export const LOOK_EVERY_MS = 60_000;
/** Faulty schedules are checked again after this time, so that /readyz does not report them for a minute too long. */
export const LOOK_AGAIN_MS = 5_000;

export interface SchedulesOptions {
  lookEveryMs?: number | undefined;
  /** Absent in programs without operations endpoints, such as tests of this library. */
  health?: HealthRegistry | undefined;
  metrics?: MetricsRegistry | undefined;
}

/**
 * Keeps schedules correct. Modules declare what should run repeatedly, and once a minute that is compared with the
 * store, so that a store that lost its data gets them back. Overdue ones are shown in /readyz and /metrics by queue.
 */
@Injectable()
export class Schedules implements OnModuleDestroy {
  private readonly logger = new Logger('Schedules');
  private readonly kept = new Map<QueueName, KeptSchedules>();
  private readonly report: ScheduleReport;
  private timers: NodeJS.Timeout[] = [];

  constructor(
    private readonly store: ScheduleStore,
    private readonly options: SchedulesOptions = {},
  ) {
    this.report = reportTo(this.logger, options.metrics);
  }

  /** Declares the schedules of a queue and sets them for the first time. Never rejects because of the store. */
  async keep<Name extends QueueName>(source: ScheduleSource<Name>): Promise<KeptSchedules> {
    const { queue } = source;
    if (this.kept.has(queue)) throw new TypeError(`The schedules of "${queue}" are kept already.`);
    const kept = new KeptSchedules(source as unknown as ScheduleSource, this.store, this.report);
    this.kept.set(queue, kept);
    this.options.health?.register(`schedule:${queue}`, () => kept.check(), { degrades: true });
    if (this.timers.length === 0) this.startLooking();
    await kept.look();
    return kept;
  }

  /** One schedule that never changes. */
  async keepOne<Name extends QueueName>(queue: Name, schedule: Schedule<Name>): Promise<void> {
    await this.keep({ queue, owns: (key) => key === schedule.key, wanted: () => [schedule] });
  }

  async onModuleDestroy(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    await Promise.all([...this.kept.values()].map((kept) => kept.settled()));
  }

  private startLooking(): void {
    this.timers = [
      setInterval(() => void this.lookAtAll(), this.options.lookEveryMs ?? LOOK_EVERY_MS).unref(),
      setInterval(() => this.lookAgain(), LOOK_AGAIN_MS).unref(),
    ];
  }

  private async lookAtAll(): Promise<void> {
    for (const kept of this.kept.values()) await kept.look();
  }

  private lookAgain(): void {
    for (const kept of this.kept.values()) if (!kept.isWell && !kept.isLooking) void kept.look();
  }
}

function reportTo(logger: Logger, metrics: MetricsRegistry | undefined): ScheduleReport {
  const overdue = metrics?.gauge('job_schedule_overdue_seconds', 'Seconds that a scheduled run is overdue by', [
    'queue',
  ]);
  const restored = metrics?.counter('job_schedules_restored_total', 'Schedules that were lost and put back', ['queue']);
  return {
    looked: (queue, overdueMs) => overdue?.set({ queue }, overdueMs / 1_000),
    restored: (queue, key, why) => {
      restored?.inc({ queue });
      logger.warn(`The schedule ${key} was put back: ${why}`);
    },
    failed: (queue, error) => logger.warn(`The schedules of ${queue} could not be looked at: ${error.message}`),
  };
}
