import { randomUUID } from 'node:crypto';
import { guardPromise } from '@gatehouse/net';
import { isLockTimeout, UnitOfWork } from '@gatehouse/persistence';
import { MetricsRegistry } from '@gatehouse/platform';
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { SpoolRange } from '../common/spool-range.js';
import type { KernelOrigin } from '../kernel-process/kernel-events.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { Preferences } from '../preferences/preferences.service.js';
import type { AccountingBatch, GroupBytes } from './accounting-batch.js';
import { AccountingQueue } from './accounting-queue.js';
import { sectionsOf, storedRanges, WrittenBeforeError, writeBatch } from './accounting-store.js';
import { createPartitions, dayOf, daysAhead, daysOf } from './log-partitions.js';
import type { Section } from './log-sections.js';
import { NodeDirectory } from './node-directory.js';
import { SpeedMeters } from './speed-meter.js';

/** Partitions are created this many days ahead. */
const DAYS_AHEAD = 2;
const LOOK_AHEAD_AGAIN_MS = 60_000;
const RESUME_AGAIN_MS = 2_000;

/** Writes the kernel's records to the database. */
@Injectable()
export class AccountingService implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(AccountingService.name);
  private readonly writerId = randomUUID();
  private readonly knownDays = new Set<number>();
  private nextLookAhead = 0;
  private closing = false;
  private readonly meter = new SpeedMeters<KernelOrigin | undefined>();
  /** The section that the last batch left open. */
  private section: Section | null = null;
  private readonly queue = new AccountingQueue({
    write: (batch, sequence) => this.write(batch, sequence),
    onFailure: (error, retryMs) => this.logger.warn(`Traffic could not be written, next try in ${retryMs} ms`, error),
    onLost: (error, batch) => this.refused(batch, error),
    onDropped: (rows) => this.logger.warn(`${rows} traffic log rows did not fit in memory; their bytes are counted`),
  });

  constructor(
    private readonly kernel: KernelService,
    private readonly preferences: Preferences,
    private readonly nodes: NodeDirectory,
    private readonly unitOfWork: UnitOfWork,
    private readonly metrics: MetricsRegistry,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.prepareDaysAhead();
    this.kernel.onRecords((records) => this.queue.add(records, this.preferences.get('traffic_log.enabled')));
    this.kernel.onTraffic((delta, from) => this.meter.add(from, delta, Date.now()));
    this.kernel.onUnstored((spools, from) => guardPromise(null, this.resume(spools, [], from)));
  }

  /** Runs after the kernel has sent its last records and before the stage in which the database closes. */
  async beforeApplicationShutdown(): Promise<void> {
    this.closing = true;
    if (!(await this.queue.close())) this.logger.error('The last traffic counts could not be written');
  }

  /** Resolves when everything counted so far is in the database, or could not be written. */
  flush(): Promise<boolean> {
    return this.queue.flush();
  }

  /** Bytes of a group's finished flows that are not in the database yet. */
  waitingFor(group: string): GroupBytes {
    return this.queue.waitingFor(group);
  }

  /** Bytes per second over the last second. */
  speed(): { upload: number; download: number } {
    return this.meter.read(Date.now());
  }

  /**
   * Makes kernels repeat records that were not written. `lost` are those that they believe to be here. @param from the
   * kernel that asked; absent: those that have the lost records.
   */
  private async resume(spools: readonly string[], lost: readonly SpoolRange[], from?: KernelOrigin): Promise<void> {
    try {
      // After this, everything received from the kernel is either written or unknown here.
      if (!(await this.queue.flush())) throw new Error('the database does not accept earlier records');
      await this.kernel.resumeRecords(await this.unitOfWork.run((tx) => storedRanges(tx, spools)), lost, from);
    } catch (error) {
      if (this.closing) return;
      this.logger.warn(`Records that the kernel has kept will be requested again: ${(error as Error).message}`);
      const again = setTimeout(() => guardPromise(null, this.resume(spools, lost, from)), RESUME_AGAIN_MS);
      again.unref();
    }
  }

  private refused(batch: AccountingBatch, error: unknown): void {
    const { logs, domains, rows, sources } = batch;
    const shown = { logs: logs.slice(0, 1), domains: [...domains.keys()].slice(0, 1) };
    this.metrics.noteRefusedRows('traffic', rows);
    this.logger.error(`The database refuses ${rows} rows about traffic; they are set aside`, { error, shown });
    this.forget(sources);
  }

  private forget(sources: readonly SpoolRange[]): void {
    if (sources.length > 0) guardPromise(null, this.kernel.storedRecords(sources));
  }

  private async write(batch: AccountingBatch, sequence: number): Promise<void> {
    await this.ensurePartitions(daysOf(batch.logs.map((record) => record.endedAt)));
    await this.prepareDaysAhead();
    const names = await this.nodes.names(batch.logs.map((record) => record.nodeTag));
    const sections = sectionsOf(batch, names, this.section);
    const id = { writerId: this.writerId, sequence };
    try {
      await this.unitOfWork.run((tx) => writeBatch(tx, id, batch, names, sections));
    } catch (error) {
      if (!(error instanceof WrittenBeforeError)) throw error;
      // The kernel still has all of them and repeats what is missing.
      this.logger.warn(error.message);
      const spools = [...new Set(batch.sources.map(({ spool }) => spool))];
      setImmediate(() => guardPromise(null, this.resume(spools, batch.sources)));
      return;
    }
    this.section = sections.open;
    this.forget(batch.sources);
  }

  /**
   * Creates partitions that are not needed yet. If the table is locked, this waits, so that today's rows are not
   * delayed.
   */
  private async prepareDaysAhead(): Promise<void> {
    if (Date.now() < this.nextLookAhead) return;
    try {
      await this.ensurePartitions(daysAhead(Date.now(), DAYS_AHEAD));
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      this.nextLookAhead = Date.now() + LOOK_AHEAD_AGAIN_MS;
      this.logger.warn('The next partitions of the traffic log could not be created: the table is locked', error);
    }
  }

  private async ensurePartitions(days: readonly number[]): Promise<void> {
    const missing = days.filter((day) => !this.knownDays.has(day));
    if (missing.length === 0) return;
    await this.unitOfWork.run((tx) => createPartitions(tx, missing));
    for (const day of missing) this.knownDays.add(day);
    // Retention drops old partitions, so they must not count as existing.
    for (const day of this.knownDays) if (day < dayOf(Date.now())) this.knownDays.delete(day);
  }
}
