import { PgListener } from '@gatehouse/persistence';
import type { CircuitChanged, HealthReport } from '@gatehouse/proxy-kernel';
import { Injectable, Logger } from '@nestjs/common';
import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { nodeTag } from '../kernel-config/kernel-config.mapper.js';
import type { KernelOrigin } from '../kernel-process/kernel-events.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { nodeIdOf } from '../data/flow-names.js';
import { NODE_HEALTH_CHANNEL } from '../measuring/health-channel.js';
import type { HealthNotice } from '../measuring/health-channel.js';
import { GENERAL_URL } from '../data/node-health.entity.js';

interface HealthRow {
  node_id: number;
  test_url: string;
  alive: boolean;
  delay_ms: number | null;
  last_tested_at: Date;
}

/** Locks nodes in the same order as other transactions. */
const RESET_CIRCUITS = `UPDATE nodes SET circuit_open_since = NULL WHERE id = ANY (ARRAY(
  SELECT id FROM nodes WHERE circuit_open_since IS NOT NULL ORDER BY id FOR NO KEY UPDATE))`;
const SELECT = 'SELECT node_id, test_url, alive, delay_ms, last_tested_at FROM node_health';

/** Sends the results of all measurements to the kernels of this process, and stores the circuits that they report. */
@Injectable()
export class KernelHealthFeed implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('Health');
  private stopListening: (() => Promise<void>) | undefined;
  /** Reports are sent one after the other, so that an older one cannot overtake a newer one. */
  private work: Promise<void> = Promise.resolve();

  constructor(
    private readonly kernel: KernelService,
    private readonly listener: PgListener,
    private readonly dataSource: DataSource,
  ) {}

  async onModuleInit(): Promise<void> {
    this.kernel.onStarted((kernel) => this.next(() => this.sendAll(kernel)));
    this.kernel.onCircuit((change) => void this.next(() => this.storeCircuit(change)));
    const onNotice = (payload: string): void => void this.next(() => this.send(JSON.parse(payload) as HealthNotice));
    this.stopListening = await this.listener.listen(NODE_HEALTH_CHANNEL, onNotice, () => {
      void this.next(() => this.sendAll());
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.stopListening?.();
    await this.work;
  }

  private next(step: () => Promise<void>): Promise<void> {
    this.work = this.work.then(step).catch((error: unknown) => {
      // A kernel that is down gets all results when it is back.
      if (this.kernel.state === 'running')
        this.logger.warn('The results of health tests could not be sent to the kernel', error);
    });
    return this.work;
  }

  private async send({ url, ids }: HealthNotice): Promise<void> {
    const rows: HealthRow[] = await this.dataSource.query(
      `${SELECT} WHERE test_url = $1 AND node_id = ANY($2::bigint[])`,
      [url, ids],
    );
    await this.report(rows);
  }

  /** @param to the only kernel to get them; absent: all of them. */
  private async sendAll(to?: KernelOrigin): Promise<void> {
    // A new kernel has no open circuits, but others may have some.
    if (!this.kernel.hasSeveral) await this.dataSource.query(RESET_CIRCUITS);
    const rows: HealthRow[] = await this.dataSource.query(SELECT);
    await this.report(rows, to);
  }

  private async report(rows: readonly HealthRow[], to?: KernelOrigin): Promise<void> {
    for (const [url, ofUrl] of Map.groupBy(rows, ({ test_url }) => test_url)) {
      await this.kernel.setHealth(url === GENERAL_URL ? null : url, toReport(ofUrl), to);
    }
  }

  private async storeCircuit({ tag, open, at }: CircuitChanged): Promise<void> {
    const id = nodeIdOf(tag);
    if (id === null) return;
    await this.dataSource.query('UPDATE nodes SET circuit_open_since = $2 WHERE id = $1', [
      id,
      open ? new Date(at) : null,
    ]);
  }
}

function toReport(rows: readonly HealthRow[]): HealthReport {
  return Object.fromEntries(
    rows.map(({ node_id, alive, delay_ms, last_tested_at }) => [
      nodeTag(node_id),
      { alive, delayMs: delay_ms, testedAt: last_tested_at.getTime() },
    ]),
  );
}
