import { Jobs } from '@gatehouse/jobs';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { DataSource } from 'typeorm';

const QUEUE = 'subscription-refresh';
/** Earlier versions kept a scheduler of the queue for each subscription. */
const FORMER_KEY = /^subscription-\d+$/;

/** The most refreshes sent at once, and waiting or running at a time, however many are due. */
const BATCH = 25;
const MAX_UNDER_WAY = 50;
const LONGEST_PAUSE_MS = 15_000;
const SHORTEST_PAUSE_MS = 1_000;
const PAUSE_WHEN_FULL_MS = 5_000;
/** A refresh that was sent and never finished is sent again after this time. */
const LOST_AFTER = `interval '20 minutes'`;

/** Claims due rows for one process, except those that are under way. */
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

/** Gives a time to rows without one, spread over an interval of at most an hour. */
const SETTLE = `
  UPDATE subscriptions SET next_refresh_at = now() + random() * least(interval_sec, 3600) * interval '1 second'
  WHERE enabled AND next_refresh_at IS NULL`;

/**
 * Sends due refreshes to the queue. Each enabled subscription has its schedule in its own row (`next_refresh_at`): a
 * start needs no setup, a failure can delay the next attempt, and the API shows the real time. Every process checks,
 * and the database ensures that each refresh is sent once.
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

  /** Checks earlier than planned, because a schedule changed. */
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

  /** Returns how many refreshes were due. */
  private async dispatch(): Promise<number> {
    const [due]: [{ id: number }[], number] = await this.dataSource.query(CLAIM);
    for (const { id } of due) await this.send(id);
    return due.length;
  }

  private async send(id: number): Promise<void> {
    try {
      // The same job id as for a refresh requested by a user, so that the two become one.
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
