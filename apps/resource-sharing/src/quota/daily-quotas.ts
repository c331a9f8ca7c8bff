import { pgPool, runTraceably, UncertainCommitError, wasCommitted } from '@gatehouse/persistence';
import { JsonLogger } from '@gatehouse/platform';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** The use of one subject's quota on one day. */
export interface DayCount {
  readonly key: string;
  readonly day: string;
  /** The count in the table, when it was last read. */
  used: number;
  /** The count of this process that is not in the table yet; negative if something is given back. */
  pending: number;
  /** Monotonic milliseconds; 0: never. */
  readAt: number;
  reading: Promise<void> | undefined;
}

/** The pending part of each count when it was written. */
interface Written {
  readonly taken: readonly DayCount[];
  readonly amounts: readonly number[];
}

const FLUSH_MS = 1_000;
/** After this long without calls, other replicas may have used much of it. */
const STALE_MS = 2_000;
const MAX_COUNTS = 50_000;

const ADD = `INSERT INTO quota_used AS kept (key, day, used)
  SELECT key, day, count FROM unnest($1::text[], $2::date[], $3::bigint[]) AS c (key, day, count) ORDER BY key, day
  ON CONFLICT (key, day) DO UPDATE SET used = greatest(0, kept.used + excluded.used)
  RETURNING key, day::text AS day, used`;

const READ = `SELECT key, used FROM quota_used WHERE key = ANY ($1) AND day = $2`;

/**
 * Calls that count against daily quotas, by the days of the service. Reads are counted here and added to the table once
 * a second, which returns the total of all replicas; unlocks are reserved in the table one by one. Counts whose
 * connection ended at the commit are added once.
 */
@Injectable()
export class DailyQuotas implements OnModuleInit, BeforeApplicationShutdown {
  private counts = new Map<string, DayCount>();
  private dirty = new Set<DayCount>();
  private timer: NodeJS.Timeout | undefined;
  private flushing: Promise<void> | undefined;
  private uncertain: (Written & { readonly transactionId: string }) | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly logger: JsonLogger,
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => void this.flush(), FLUSH_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
    await this.flush();
  }

  count(key: string, day: string): DayCount {
    const id = `${day} ${key}`;
    let count = this.counts.get(id);
    if (count === undefined) {
      if (this.counts.size >= MAX_COUNTS) this.makeRoom();
      count = { key, day, used: 0, pending: 0, readAt: 0, reading: undefined };
      this.counts.set(id, count);
    }
    return count;
  }

  /** Waits if nothing is known yet; old values are refreshed after the call. */
  refresh(count: DayCount, now: number): Promise<void> | undefined {
    if (count.readAt !== 0 && now - count.readAt < STALE_MS) return undefined;
    count.reading ??= this.read(count).finally(() => {
      count.reading = undefined;
    });
    return count.readAt === 0 ? count.reading : undefined;
  }

  /** Adds one to each in this process: to be returned with add(count, -1) if the call turns out not to count. */
  add(count: DayCount, calls: number): void {
    count.pending += calls;
    this.dirty.add(count);
  }

  /** Another process has counted one more of each in the table. */
  reserved(counts: readonly DayCount[]): void {
    for (const count of counts) count.used += 1;
  }

  /**
   * Adds one to each for all replicas, or to none: then it returns the index of one that is used up. Rejects while the
   * database is away.
   */
  async reserve(keys: readonly string[], limits: readonly number[], day: string): Promise<number | undefined> {
    const { rows } = await pgPool(this.dataSource).query<{ exceeded: number }>({
      name: 'reserve_quota',
      text: 'SELECT exceeded FROM reserve_quota($1, $2, $3)',
      values: [keys, limits, day],
    });
    const exceeded = rows[0]?.exceeded ?? 0;
    return exceeded > 0 ? exceeded - 1 : undefined;
  }

  /** Never rejects: what could not be added is kept. */
  flush(): Promise<void> {
    this.flushing ??= this.write().finally(() => {
      this.flushing = undefined;
    });
    return this.flushing;
  }

  private async write(): Promise<void> {
    let written: Written | undefined;
    try {
      if (!(await this.settleUncertain())) return;
      const taken = [...this.dirty].filter(({ pending }) => pending !== 0);
      this.dirty = new Set();
      if (taken.length === 0) return;
      written = { taken, amounts: taken.map(({ pending }) => pending) };
      this.wrote(written, await this.store(written));
    } catch (error) {
      for (const count of written?.taken ?? []) this.dirty.add(count);
      if (written !== undefined && error instanceof UncertainCommitError) {
        this.uncertain = { ...written, transactionId: error.transactionId };
      }
      this.logger.warn('calls were not added to the quotas; they are kept', { error }, 'DailyQuotas');
    }
  }

  /** Resolves to what all replicas have used, by id. */
  private async store({ taken, amounts }: Written): Promise<ReadonlyMap<string, number>> {
    const values = [taken.map(({ key }) => key), taken.map(({ day }) => day), amounts];
    const rows = await runTraceably(this.dataSource, (tx) =>
      tx.query<{ key: string; day: string; used: number }[]>(ADD, values),
    );
    return new Map(rows.map((row) => [`${row.day} ${row.key}`, row.used]));
  }

  private wrote({ taken, amounts }: Written, used?: ReadonlyMap<string, number>): void {
    const now = performance.now();
    taken.forEach((count, index) => {
      const amount = amounts[index] ?? 0;
      count.used = used?.get(`${count.day} ${count.key}`) ?? Math.max(0, count.used + amount);
      count.pending -= amount;
      count.readAt = now;
    });
  }

  /** Asks whether the write whose connection ended at its commit was executed. False: unknown so far. */
  private async settleUncertain(): Promise<boolean> {
    if (this.uncertain === undefined) return true;
    const committed = await wasCommitted(this.dataSource, this.uncertain.transactionId);
    if (committed === undefined) return false;
    if (committed) this.wrote(this.uncertain);
    this.uncertain = undefined;
    return true;
  }

  /** Without the database, calls pass: the count begins with what this process knows. */
  private async read(count: DayCount): Promise<void> {
    try {
      const { rows } = await pgPool(this.dataSource).query<{ used: number }>({
        name: 'read_quota',
        text: READ,
        values: [[count.key], count.day],
      });
      count.used = Math.max(count.used, rows[0]?.used ?? 0);
    } catch (error) {
      this.logger.warn('a daily quota could not be read', { error }, 'DailyQuotas');
    }
    count.readAt = performance.now();
  }

  private makeRoom(): void {
    let left = MAX_COUNTS >> 4;
    for (const [id, count] of this.counts) {
      if (count.pending !== 0) continue;
      this.counts.delete(id);
      if (--left === 0) return;
    }
  }
}
