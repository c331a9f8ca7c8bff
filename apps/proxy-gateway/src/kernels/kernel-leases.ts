import { guardPromise } from '@gatehouse/net';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { KernelService } from '../kernel-process/kernel.service.js';
import { readKernels, stateOf, type SeenKernel } from './seen-kernel.js';

const RENEW_MS = 5_000;
/** Three renewals may fail before a kernel counts as lost. */
const LEASE = '20 seconds';
/** How long a lost kernel is still shown. */
const SHOWN = '1 day';

/** A row of `kernels`. */
export interface KernelRow {
  id: string;
  name: string;
  version: string;
  public_host: string | null;
  state: 'serving' | 'draining' | 'waiting';
  generation: number;
  revision: string | null;
  connections: number;
  upload_speed: number;
  download_speed: number;
  loop_delay_ms: number;
  started_at: Date;
  lease_until: Date;
  /** By the database's clock. */
  lost: boolean;
}

const WRITE = `INSERT INTO kernels AS known (id, name, version, public_host, state, generation, revision, connections,
    upload_speed, download_speed, loop_delay_ms, started_at, lease_until)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, clock_timestamp() + interval '${LEASE}')
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, version = excluded.version, public_host = excluded.public_host,
    state = excluded.state, generation = excluded.generation, revision = excluded.revision,
    connections = excluded.connections, upload_speed = excluded.upload_speed,
    download_speed = excluded.download_speed, loop_delay_ms = excluded.loop_delay_ms,
    started_at = excluded.started_at, lease_until = greatest(known.lease_until, excluded.lease_until)`;

/**
 * Writes the leases of separate kernels, which have no way to the database themselves. Every service renews those of
 * the kernels that it is connected to.
 */
@Injectable()
export class KernelLeases implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Kernel');
  private timer: NodeJS.Timeout | undefined;
  private failed = false;
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly kernel: KernelService,
    private readonly dataSource: DataSource,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.kernel.runsElsewhere) return;
    this.kernel.onStarted(() => this.renew());
    this.timer = setInterval(() => guardPromise(null, this.renew()), RENEW_MS).unref();
    guardPromise(null, this.renew());
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.writing;
  }

  /** The kernels that some service reached within the last day. */
  async all(): Promise<KernelRow[]> {
    return this.dataSource.query(
      `SELECT *, lease_until < clock_timestamp() AS lost FROM kernels
       WHERE lease_until > clock_timestamp() - interval '${SHOWN}' ORDER BY name, id`,
    );
  }

  /** Writes one after the other. A database that is away is logged once. */
  renew(): Promise<void> {
    this.writing = this.writing
      .then(() => this.write())
      .then(
        () => {
          this.failed = false;
        },
        (error: unknown) => {
          if (!this.failed) this.logger.warn('The leases of kernels could not be written', error);
          this.failed = true;
        },
      );
    return this.writing;
  }

  private async write(): Promise<void> {
    const seen = await readKernels(this.kernel.kernels);
    for (const kernel of seen) await this.writeOne(kernel);
    if (seen.length > 0)
      await this.dataSource.query(`DELETE FROM kernels WHERE lease_until < clock_timestamp() - interval '${SHOWN}'`);
  }

  private async writeOne({ identity, figures }: SeenKernel): Promise<void> {
    if (!identity || !figures) return;
    await this.dataSource.query(WRITE, [
      identity.id,
      identity.name,
      identity.version,
      identity.publicHost,
      stateOf(figures),
      figures.generation,
      figures.revision,
      figures.connections,
      figures.uploadSpeed,
      figures.downloadSpeed,
      figures.loopDelayMs,
      new Date(identity.startedAt),
    ]);
  }
}
