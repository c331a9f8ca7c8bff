import type { QueueName, QueuePayloads } from '@gatehouse/contracts';
import type { SchedulerOptions } from './job-types.js';

/** A job that should run repeatedly. */
export interface Schedule<Name extends QueueName = QueueName> extends SchedulerOptions {
  key: string;
  payload: QueuePayloads[Name];
}

/** The schedules of one queue as they should be at this moment. */
export interface ScheduleSource<Name extends QueueName = QueueName> {
  queue: Name;
  /** Whether a key of the queue belongs to this source: unwanted ones of its own are deleted. */
  owns: (key: string) => boolean;
  wanted: () => readonly Schedule<Name>[] | Promise<readonly Schedule<Name>[]>;
}

/** A schedule in the store. Times in milliseconds. */
export interface StoredSchedule {
  key: string;
  everyMs: number;
  /** The next due time, since the epoch. */
  next: number;
}

/** The requests of a check to the store; every call may reject. */
export interface ScheduleStore {
  list(queue: QueueName): Promise<StoredSchedule[]>;
  put(queue: QueueName, schedule: Schedule): Promise<void>;
  remove(queue: QueueName, key: string): Promise<void>;
  /** Whether a worker is running a job of the queue now. */
  isBusy(queue: QueueName): Promise<boolean>;
  /** Whether the job of a schedule's next run still exists and has not ended. */
  hasNextJob(queue: QueueName, stored: StoredSchedule): Promise<boolean>;
}

export interface ScheduleReport {
  /** A schedule was missing or could no longer run, and was restored. */
  restored(queue: QueueName, key: string, why: string): void;
  failed(queue: QueueName, error: Error): void;
  looked(queue: QueueName, overdueMs: number): void;
}

/** A run that is late by less than this counts as on time: workers may be busy. */
const SHORTEST_GRACE_MS = 60_000;
const LONGEST_GRACE_MS = 600_000;
/** Maximum difference between the clocks of two machines. */
const CLOCK_SLACK_MS = 30_000;

/** Compares the schedules of one source with the store, and corrects them. */
export class KeptSchedules {
  private looking: Promise<void> | undefined;
  private again = false;
  private hasLooked = false;
  private overdueMs = 0;
  private failure: Error | undefined;

  constructor(
    private readonly source: ScheduleSource,
    private readonly store: ScheduleStore,
    private readonly report: ScheduleReport,
  ) {}

  get queue(): QueueName {
    return this.source.queue;
  }

  get isWell(): boolean {
    return this.failure === undefined && this.overdueMs === 0;
  }

  get isLooking(): boolean {
    return this.looking !== undefined;
  }

  /** Rejects with the reason if a run is overdue, or if the schedules could not be checked. */
  check(): Promise<void> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    if (this.overdueMs === 0) return Promise.resolve();
    return Promise.reject(new Error(`overdue by ${Math.round(this.overdueMs / 1_000)} s: does a worker run?`));
  }

  /** Updates the schedules after a change. It never rejects: the next check tries again. */
  look(): Promise<void> {
    // A running check may have missed the change, so one more follows.
    this.again = true;
    this.looking ??= this.lookWhileAsked().finally(() => {
      this.looking = undefined;
    });
    return this.looking;
  }

  /** Resolves when no check is running. */
  async settled(): Promise<void> {
    await this.looking;
  }

  private async lookWhileAsked(): Promise<void> {
    while (this.again) {
      this.again = false;
      try {
        await this.putRight();
        this.failure = undefined;
        this.hasLooked = true;
      } catch (error) {
        if (this.failure === undefined) this.report.failed(this.queue, error as Error);
        this.failure = error as Error;
      }
    }
  }

  private async putRight(): Promise<void> {
    const { queue, owns } = this.source;
    // In this order, a schedule that is created in the meantime is at worst set twice, and never deleted as unwanted.
    const stored = (await this.store.list(queue)).filter(({ key }) => owns(key));
    const wanted = await this.source.wanted();
    const keys = new Set(wanted.map(({ key }) => key));
    for (const { key } of stored.filter((other) => !keys.has(other.key))) await this.store.remove(queue, key);
    const byKey = new Map(stored.map((schedule) => [schedule.key, schedule]));
    let overdueMs = 0;
    for (const schedule of wanted) {
      overdueMs = Math.max(overdueMs, await this.follow(schedule, byKey.get(schedule.key)));
    }
    this.overdueMs = overdueMs;
    this.report.looked(queue, overdueMs);
  }

  /** Corrects one schedule; resolves to the milliseconds by which its run is overdue. */
  private async follow(schedule: Schedule, stored: StoredSchedule | undefined): Promise<number> {
    const { queue, store } = this;
    if (stored === undefined) {
      await store.put(queue, schedule);
      this.logRepair(schedule.key, 'it was gone');
      return 0;
    }
    const { everyMs, firstInMs = 0, jitterMs = 0 } = schedule;
    if (stored.everyMs !== everyMs) return this.replace(schedule);
    const inMs = stored.next - Date.now();
    if (inMs > Math.max(everyMs, firstInMs + jitterMs) + CLOCK_SLACK_MS) {
      return this.replace(schedule, 'its next run was too far away: a clock was set back');
    }
    const graceMs = Math.min(LONGEST_GRACE_MS, Math.max(SHORTEST_GRACE_MS, everyMs));
    if (-inMs <= graceMs || (await store.isBusy(queue))) return 0;
    if (await store.hasNextJob(queue, stored)) return -inMs;
    return this.replace(schedule, 'its next run was gone');
  }

  /** An upsert alone would keep the time of the next run. */
  private async replace(schedule: Schedule, why?: string): Promise<0> {
    await this.store.remove(this.queue, schedule.key);
    await this.store.put(this.queue, schedule);
    if (why !== undefined) this.logRepair(schedule.key, why);
    return 0;
  }

  /** A first start finds no schedules, which needs no report. */
  private logRepair(key: string, why: string): void {
    if (this.hasLooked) this.report.restored(this.queue, key, why);
  }
}
