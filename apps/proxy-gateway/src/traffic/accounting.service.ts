import { randomUUID } from 'node:crypto';
import type { ConnectionRecord, TrafficDelta } from '@gatehouse/proxy-kernel';
import { isLockTimeout, UnitOfWork } from '@gatehouse/persistence';
import { MetricsRegistry } from '@gatehouse/platform';
import { Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { KernelService } from '../kernel-process/kernel.service.js';
import { Preferences } from '../preferences/preferences.service.js';
import type { AccountingBatch } from './accounting-batch.js';
import { AccountingQueue } from './accounting-queue.js';
import { sectionsOf, writeBatch } from './accounting-store.js';
import { createPartitions, dayOf, daysAhead, daysOf } from './log-partitions.js';
import type { Section } from './log-sections.js';
import { NodeDirectory } from './node-directory.js';
import { SpeedMeter } from './speed-meter.js';

/** Partitions made before they are needed. */
const DAYS_AHEAD = 2;
const LOOK_AHEAD_AGAIN_MS = 60_000;

/** Takes what the kernel counts and sees it into the database. */
@Injectable()
export class AccountingService implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(AccountingService.name);
  private readonly writerId = randomUUID();
  private readonly knownDays = new Set<number>();
  private nextLookAhead = 0;
  private readonly meter = new SpeedMeter();
  /** The section that the last batch has left open. */
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
    this.kernel.onClosed((records) => this.addRecords(records));
    this.kernel.onTraffic((delta) => this.addDelta(delta));
  }

  /** The kernel has told its last by now; the database closes in the stage after this one. */
  async beforeApplicationShutdown(): Promise<void> {
    if (!(await this.queue.close())) this.logger.error('The last traffic counts could not be written');
  }

  /** Resolves when everything counted so far is in the database, or would not go there. */
  flush(): Promise<boolean> {
    return this.queue.flush();
  }

  /** Bytes per second over the last second. */
  speed(): { upload: number; download: number } {
    return this.meter.read(Date.now());
  }

  private addRecords(records: readonly ConnectionRecord[]): void {
    this.queue.addRecords(records, this.preferences.get('traffic_log.enabled'));
  }

  private addDelta(delta: TrafficDelta): void {
    this.meter.add(delta, Date.now());
    this.queue.addDelta(delta);
  }

  private refused({ logs, domains, outbounds, rules }: AccountingBatch, error: unknown): void {
    const shown = { logs: logs.slice(0, 1), domains: [...domains.keys()].slice(0, 1) };
    const rows = logs.length + domains.size + outbounds.size + rules.size;
    this.metrics.noteRefusedRows('traffic', rows);
    this.logger.error(`The database refuses ${rows} rows about traffic; they are set aside`, { error, shown });
  }

  private async write(batch: AccountingBatch, sequence: number): Promise<void> {
    await this.ensurePartitions(daysOf(batch.logs.map((record) => record.endedAt)));
    await this.prepareDaysAhead();
    const names = await this.nodes.names(batch.logs.map((record) => record.nodeTag));
    const sections = sectionsOf(batch, names, this.section);
    await this.unitOfWork.run((tx) => writeBatch(tx, { writerId: this.writerId, sequence }, batch, names, sections));
    this.section = sections.open;
  }

  /** Days that are not needed yet wait while the table is locked, so that rows of today are not held up. */
  private async prepareDaysAhead(): Promise<void> {
    if (Date.now() < this.nextLookAhead) return;
    try {
      await this.ensurePartitions(daysAhead(Date.now(), DAYS_AHEAD));
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      this.nextLookAhead = Date.now() + LOOK_AHEAD_AGAIN_MS;
      this.logger.warn('The days ahead of traffic logs could not be made: somebody holds the table', error);
    }
  }

  private async ensurePartitions(days: readonly number[]): Promise<void> {
    const missing = days.filter((day) => !this.knownDays.has(day));
    if (missing.length === 0) return;
    await this.unitOfWork.run((tx) => createPartitions(tx, missing));
    for (const day of missing) this.knownDays.add(day);
    // Retention drops old days: they are looked up again rather than taken for present.
    for (const day of this.knownDays) if (day < dayOf(Date.now())) this.knownDays.delete(day);
  }
}
