import { runTraceably, UncertainCommitError, wasCommitted } from '@gatehouse/persistence';
import { halveRows, writeBatches } from '@gatehouse/postgres';
import { JsonLogger, MetricsRegistry } from '@gatehouse/platform';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { bucketOf, BUCKETS } from './latency-histogram.js';

/** Key of a counter: caller, operation and day. 0 stands for none. */
export interface UsageKey {
  readonly day: string;
  readonly applicationId: number;
  /** Id of a personal key; an application counts for all its secrets, and apart from that for all its test keys (-1). */
  readonly credentialId: number;
  readonly userId: number;
  readonly method: string;
  /** The route template. */
  readonly endpoint: string;
}

/** Calls that are not in the tables yet. */
export interface UsageCounts {
  readonly key: UsageKey;
  total: number;
  ok: number;
  latencyUs: number;
  readonly buckets: Uint32Array;
}

const FLUSH_MS = 1_000;
const MAX_KEYS = 20_000;
/** Rows per statement, so that none takes long. */
const BATCH = 2_000;

type Batch = readonly (readonly [string, UsageCounts])[];

/**
 * Counts calls in memory and adds them to the tables once a second and at the end: a crash loses the last second. While
 * the database is away, counts accumulate up to a limit. A batch whose connection ended at its commit is added once.
 */
@Injectable()
export class UsageRecorder implements OnModuleInit, BeforeApplicationShutdown {
  private counts = new Map<string, UsageCounts>();
  private timer: NodeJS.Timeout | undefined;
  private flushing: Promise<void> | undefined;
  private failing = false;
  private dropped = 0;
  /** Batches whose outcome is not known yet. */
  private uncertain: (readonly [batch: Batch, transactionId: string])[] = [];

  constructor(
    private readonly dataSource: DataSource,
    private readonly logger: JsonLogger,
    private readonly metrics: MetricsRegistry,
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => void this.flush(), FLUSH_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
    await this.flush();
  }

  /** `id` is equivalent to the key and is precomputed by the caller. A status below 400 is a success. */
  note(id: string, key: UsageKey, status: number, microseconds: number): void {
    let counts = this.counts.get(id);
    if (counts === undefined) {
      if (this.counts.size >= MAX_KEYS) return this.makeRoom();
      counts = { key, total: 0, ok: 0, latencyUs: 0, buckets: new Uint32Array(BUCKETS) };
      this.counts.set(id, counts);
    }
    counts.total += 1;
    if (status < 400) counts.ok += 1;
    counts.latencyUs += microseconds;
    const bucket = bucketOf(microseconds);
    counts.buckets[bucket] = (counts.buckets[bucket] ?? 0) + 1;
  }

  /** The result of a read of the tables, and the calls that are not in them: nothing is written in the meantime. */
  async beside<T>(read: () => Promise<T>): Promise<{ stored: T; pending: readonly UsageCounts[] }> {
    while (this.flushing !== undefined) await this.flushing;
    const pending = [...this.counts.values()].map((counts) => ({ ...counts, buckets: counts.buckets.slice() }));
    const reading = read();
    this.hold(reading);
    return { stored: await reading, pending };
  }

  /** Never rejects: a lost count must not fail a shutdown. */
  flush(): Promise<void> {
    this.flushing ??= this.write().finally(() => {
      this.flushing = undefined;
    });
    return this.flushing;
  }

  private hold(reading: Promise<unknown>): void {
    const over = (): void => {
      this.flushing = undefined;
    };
    this.flushing = reading.then(over, over);
  }

  private makeRoom(): void {
    this.dropped += 1;
    if (!this.failing) void this.flush();
  }

  private async write(): Promise<void> {
    try {
      await this.settleUncertain();
    } catch (error) {
      return this.failed(error);
    }
    if (this.counts.size === 0) return;
    const taken = [...this.counts];
    this.counts = new Map();
    const batches: Batch[] = [];
    for (let from = 0; from < taken.length; from += BATCH) batches.push(taken.slice(from, from + BATCH));
    try {
      await writeBatches(batches, {
        write: (batch) => this.add(batch.map(([, counts]) => counts)),
        halve: halveRows,
        setAside: (batch, error) => this.refused(batch, error),
      });
      this.recovered();
    } catch (error) {
      const uncertain = error instanceof UncertainCommitError ? batches.shift() : undefined;
      if (uncertain !== undefined) this.uncertain.push([uncertain, (error as UncertainCommitError).transactionId]);
      this.putBack(batches.flat());
      this.failed(error);
    }
  }

  /** Asks about each batch; one whose commit is still running is asked about again. */
  private async settleUncertain(): Promise<void> {
    for (const one of this.uncertain) {
      const [batch, transactionId] = one;
      const committed = await wasCommitted(this.dataSource, transactionId);
      if (committed === undefined) continue;
      this.uncertain = this.uncertain.filter((other) => other !== one);
      if (!committed) this.putBack(batch);
    }
  }

  private failed(error: unknown): void {
    if (!this.failing) this.logger.warn('usage was not stored; it is kept', { error }, 'UsageRecorder');
    this.failing = true;
  }

  private refused(batch: Batch, error: unknown): void {
    const [first] = batch;
    this.metrics.noteRefusedRows('usage', batch.length);
    const fields = { rows: batch.length, key: first?.[1].key, error };
    this.logger.error('the database refuses counts of usage; they are set aside', fields, 'UsageRecorder');
  }

  private recovered(): void {
    this.failing = false;
    if (this.dropped === 0) return;
    this.logger.warn('calls were not counted: too many at once', { calls: this.dropped }, 'UsageRecorder');
    this.dropped = 0;
  }

  private putBack(batch: Batch): void {
    for (const [id, counts] of batch) {
      const newer = this.counts.get(id);
      if (newer === undefined) this.counts.set(id, counts);
      else addTo(newer, counts);
    }
  }

  private async add(batch: readonly UsageCounts[]): Promise<void> {
    const column = (read: (counts: UsageCounts) => unknown): unknown[] => batch.map(read);
    await runTraceably(this.dataSource, (tx) =>
      tx.query(ADD_USAGE, [
        column(({ key }) => key.day),
        column(({ key }) => key.applicationId),
        column(({ key }) => key.credentialId),
        column(({ key }) => key.userId),
        column(({ key }) => key.method),
        column(({ key }) => key.endpoint),
        column(({ total }) => total),
        column(({ ok }) => ok),
        column(({ latencyUs }) => Math.round(latencyUs)),
        column(({ buckets }) => `{${buckets.subarray(0, buckets.findLastIndex((count) => count > 0) + 1).join(',')}}`),
      ]),
    );
  }
}

function addTo(sum: UsageCounts, { total, ok, latencyUs, buckets }: UsageCounts): void {
  sum.total += total;
  sum.ok += ok;
  sum.latencyUs += latencyUs;
  buckets.forEach((count, index) => (sum.buckets[index] = (sum.buckets[index] ?? 0) + count));
}

/**
 * Buckets above the slowest call are left out, because adding them up is most of the work. Rows are sorted by their
 * keys, so that replicas that flush at once do not deadlock.
 */
const ADD_USAGE = `
  WITH calls AS MATERIALIZED (
    SELECT * FROM unnest($1::date[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::bigint[],
      $8::bigint[], $9::bigint[], $10::text[])
    AS c (day, application_id, credential_id, user_id, method, endpoint, total, ok, latency_us, buckets)
  ), days AS (
    INSERT INTO usage_daily AS kept
      (day, application_id, credential_id, user_id, total_calls, success_calls, failed_calls, latency_us, buckets)
    SELECT day, application_id, credential_id, user_id, sum(total), sum(ok), sum(total - ok), sum(latency_us),
      sum_buckets(buckets::bigint[])
    FROM calls GROUP BY 2, 3, 1, 4 ORDER BY 2, 3, 1, 4
    ON CONFLICT (application_id, credential_id, day, user_id) DO UPDATE SET
      total_calls = kept.total_calls + excluded.total_calls,
      success_calls = kept.success_calls + excluded.success_calls,
      failed_calls = kept.failed_calls + excluded.failed_calls,
      latency_us = kept.latency_us + excluded.latency_us,
      buckets = add_buckets(kept.buckets, excluded.buckets)
  )
  INSERT INTO usage_endpoint_daily AS kept
    (day, application_id, credential_id, user_id, method, endpoint, total_calls, success_calls, failed_calls, latency_us)
  SELECT day, application_id, credential_id, user_id, method, endpoint, total, ok, total - ok, latency_us
  FROM calls ORDER BY application_id, credential_id, day, user_id, endpoint, method
  ON CONFLICT (application_id, credential_id, day, user_id, endpoint, method) DO UPDATE SET
    total_calls = kept.total_calls + excluded.total_calls,
    success_calls = kept.success_calls + excluded.success_calls,
    failed_calls = kept.failed_calls + excluded.failed_calls,
    latency_us = kept.latency_us + excluded.latency_us`;
