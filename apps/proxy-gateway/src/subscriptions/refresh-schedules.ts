import { Jobs } from '@gatehouse/jobs';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { DataSource } from 'typeorm';

const QUEUE = 'subscription-refresh';
/** Schedulers of the queue itself, as earlier versions kept one per subscription. */
const FORMER_KEY = /^subscription-\d+$/;

/** At most so many go to the queue at one look, and so many wait there or run at a time, however many are due. */
const BATCH = 25;
const MAX_UNDER_WAY = 50;
const LONGEST_PAUSE_MS = 15_000;
const SHORTEST_PAUSE_MS = 1_000;
const PAUSE_WHEN_FULL_MS = 5_000;
/** What was sent and never came back is sent again. */
const LOST_AFTER = `interval '20 minutes'`;

/** Rows are claimed by one process each; a due one that is under way is left alone. */
const CLAIM = `
  UPDATE subscriptions SET dispatched_at = now()
  WHERE id IN (
    SELECT id FROM subscriptions
    WHERE enabled AND next_refresh_at <= now() AND (dispatched_at IS NULL OR dispatched_at < now() - ${LOST_AFTER})
    ORDER BY next_refresh_at
    LIMIT least(${BATCH}, greatest(0, ${MAX_UNDER_WAY} - (
      SELECT count(*) FROM subscriptions WHERE dispatched_at >= now() - ${LOST_AFTER})))
    FOR UPDATE SKIP LOCKED
  )
  RETURNING id`;

const NEXT = `
  SELECT extract(epoch FROM min(next_refresh_at) - now())::float8 AS seconds FROM subscriptions
  WHERE enabled AND (dispatched_at IS NULL OR dispatched_at < now() - ${LOST_AFTER})`;

/** After a start everything that has no time gets one, spread over an interval, an hour at most. */
const SETTLE = `
  UPDATE subscriptions SET next_refresh_at = now() + random() * least(interval_sec, 3600) * interval '1 second'
  WHERE enabled AND next_refresh_at IS NULL`;

/**
 * Sends what is due to the queue. Each enabled subscription has its schedule in its own row (`next_refresh_at`), so that a
 * start has nothing to set up, a failure can put off the next attempt, and what is shown is what happens. Every process
 * looks; the database sees to it that each is sent once.
 */
@Injectable()
export class RefreshSchedules implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Subscriptions');
  private timer: NodeJS.Timeout | null = null;
  private looking: Promise<void> | null = null;
  private stopped = false;

  constructor(
    private readonly jobs: Jobs,
    private readonly dataSource: DataSource,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.dataSource.query(SETTLE);
    this.lookIn(0);
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    if (this.timer) clearTimeout(this.timer);
    await this.looking;
  }

  /** Something is due sooner than was known. */
  wake(): void {
    this.lookIn(SHORTEST_PAUSE_MS);
  }

  private lookIn(ms: number): void {
    if (this.stopped) return;
    if (this.timer) clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.looking ??= this.look().finally(() => (this.looking = null));
    }, ms);
    this.timer.unref();
  }

  private async look(): Promise<void> {
    try {
      await this.forgetFormer();
      const sent = await this.dispatch();
      const pause = sent === BATCH ? PAUSE_WHEN_FULL_MS : await this.untilNext();
      this.lookIn(pause);
    } catch (error) {
      if (this.stopped) return;
      this.logger.warn(`Due refreshes could not be looked up: ${error instanceof Error ? error.message : 'failed'}`);
      this.lookIn(LONGEST_PAUSE_MS);
    }
  }

  /** How many were due. */
  private async dispatch(): Promise<number> {
    const [due]: [{ id: number }[], number] = await this.dataSource.query(CLAIM);
    for (const { id } of due) await this.send(id);
    return due.length;
  }

  private async send(id: number): Promise<void> {
    try {
      // The same name as a refresh that a person asks for: they are one.
      const options = { jobId: `subscription-${id}-refresh`, attempts: 1 };
      await this.jobs.add(QUEUE, { subscriptionId: id, trigger: 'schedule' }, options);
    } catch (error) {
      await this.dataSource.query('UPDATE subscriptions SET dispatched_at = NULL WHERE id = $1', [id]);
      throw error;
    }
  }

  private async untilNext(): Promise<number> {
    const [row]: { seconds: number | null }[] = await this.dataSource.query(NEXT);
    const ms = (row?.seconds ?? Infinity) * 1000;
    return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, ms));
  }

  private forgotten = false;

  private async forgetFormer(): Promise<void> {
    if (this.forgotten) return;
    const present = await this.jobs.schedulers(QUEUE);
    for (const key of present.filter((name) => FORMER_KEY.test(name))) await this.jobs.removeScheduler(QUEUE, key);
    this.forgotten = true;
  }
}
